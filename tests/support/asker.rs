//! An operator who answers from a script, and what they were asked.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use comeback::event::{Answer, Asker, Question, QuestionKind};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// One answer of the script.
#[derive(Debug, Clone)]
pub enum Say {
    /// This is entered.
    Enter(&'static str),
    /// This is entered after a while.
    Later(Duration, &'static str),
    /// Escape.
    No,
}

/// Answers in order; whatever is asked beyond the script is answered by no.
#[derive(Default)]
pub struct Script {
    answers: Mutex<VecDeque<Say>>,
    asked: Mutex<Vec<Question>>,
}

impl Script {
    pub fn new(answers: &[Say]) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::new(answers.iter().cloned().collect()),
            asked: Mutex::default(),
        })
    }

    /// Answers for further questions.
    pub fn then(&self, answers: &[Say]) {
        self.answers.lock().unwrap().extend(answers.iter().cloned());
    }

    /// All questions so far.
    pub fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }

    /// Title and lines of a question, as one text.
    pub fn text(&self, place: usize) -> String {
        let question = &self.asked()[place];
        format!("{}\n{}", question.title, question.lines.join("\n"))
    }

    /// What kinds of answers were wanted.
    pub fn kinds(&self) -> Vec<QuestionKind> {
        self.asked().into_iter().map(|one| one.kind).collect()
    }
}

impl Asker for Script {
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        self.asked.lock().unwrap().push(question);
        let say = self.answers.lock().unwrap().pop_front();
        async move {
            match say {
                Some(Say::Enter(text)) => Answer::Entered(text.to_owned().into()),
                Some(Say::Later(pause, text)) => {
                    tokio::time::sleep(pause).await;
                    Answer::Entered(text.to_owned().into())
                }
                Some(Say::No) | None => Answer::No,
            }
        }
        .boxed()
    }
}
