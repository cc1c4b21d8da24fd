//! Questions in the dashboard.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use crate::event::{Answer, AskId, Asker, Question};
use crate::tui::Message;

/// Shows a question in the dashboard, and waits for the answer that comes back as an effect.
#[derive(Clone)]
pub(super) struct Board {
    messages: mpsc::Sender<Message>,
    open: Arc<Mutex<Waiting>>,
}

#[derive(Default)]
struct Waiting {
    /// Nobody is there any more.
    over: bool,
    asked: u64,
    answers: BTreeMap<AskId, oneshot::Sender<Answer>>,
}

impl Board {
    pub fn new(messages: mpsc::Sender<Message>) -> Self {
        Self {
            messages,
            open: Arc::default(),
        }
    }

    /// What the operator said.
    pub fn answered(&self, ask: &AskId, answer: Answer) {
        if let Some(waiting) = self.lock().answers.remove(ask) {
            // Who asked may have gone on without.
            let _ = waiting.send(answer);
        }
    }

    /// The operator has left: all that is asked, or will be, is answered by no.
    pub fn close(&self) {
        let mut waiting = self.lock();
        waiting.over = true;
        waiting.answers.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asker for Board {
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        async move {
            let (answer, answered) = oneshot::channel();
            let ask = {
                let mut waiting = self.lock();
                if waiting.over {
                    return Answer::No;
                }
                waiting.asked += 1;
                let ask = AskId::from(format!("q{}", waiting.asked));
                waiting.answers.insert(ask.clone(), answer);
                ask
            };
            let _shown = Shown {
                board: self,
                ask: ask.clone(),
            };
            if self
                .messages
                .send(Message::Ask(ask, question))
                .await
                .is_err()
            {
                return Answer::No;
            }
            answered.await.unwrap_or(Answer::No)
        }
        .boxed()
    }

    fn is_there(&self) -> bool {
        !self.lock().over
    }
}

/// A question that is on the screen, until it is answered or taken back.
struct Shown<'a> {
    board: &'a Board,
    ask: AskId,
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        if self.board.lock().answers.remove(&self.ask).is_some() {
            let (messages, ask) = (self.board.messages.clone(), self.ask.clone());
            tokio::spawn(async move { messages.send(Message::Settled(ask)).await });
        }
    }
}
