//! Questions to the operator, told to the recording of the session that goes on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::event::{Answer, Ask, Asker, Question, QuestionKind, Sink, What};

/// Puts questions through another asker, and says so where a session goes on. What was
/// answered is told to nobody.
pub(super) struct Asking {
    asker: Arc<dyn Asker>,
    sink: Mutex<Option<Arc<dyn Sink>>>,
    asked: AtomicU64,
}

impl Asking {
    /// Through this one.
    pub fn through(asker: Arc<dyn Asker>) -> Self {
        Self {
            asker,
            sink: Mutex::default(),
            asked: AtomicU64::new(1),
        }
    }

    /// From here on questions belong to a session, or to none any more.
    pub fn tell_to(&self, sink: Option<Arc<dyn Sink>>) {
        *self.sink.lock().unwrap_or_else(PoisonError::into_inner) = sink;
    }

    fn sink(&self) -> Option<Arc<dyn Sink>> {
        let sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.clone()
    }
}

/// A question that is open until it is answered or taken back, and the session that it belongs
/// to.
struct Open {
    sink: Option<Arc<dyn Sink>>,
    ask: Ask,
}

impl Open {
    fn tell(&self) {
        if let Some(sink) = &self.sink {
            sink.tell(What::Ask(self.ask.clone()));
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.ask.answered = true;
        self.tell();
    }
}

// What is agreed to stands in the lines of a question, not in its title alone.
fn told(question: &Question) -> String {
    match question.kind {
        QuestionKind::YesNo { .. } => {
            let lines = question.lines.iter().map(String::as_str);
            let all: Vec<&str> = std::iter::once(question.title.as_str())
                .chain(lines)
                .collect();
            all.join("\n")
        }
        _ => question.title.clone(),
    }
}

impl Asker for Asking {
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        async move {
            let number = self.asked.fetch_add(1, Ordering::Relaxed);
            let ask = Ask {
                ask: format!("ask-{number}").into(),
                kind: question.kind.word().to_owned(),
                text: told(&question),
                answered: false,
            };
            let open = Open {
                sink: self.sink(),
                ask,
            };
            open.tell();
            self.asker.ask(question).await
        }
        .boxed()
    }

    fn is_there(&self) -> bool {
        self.asker.is_there()
    }
}
