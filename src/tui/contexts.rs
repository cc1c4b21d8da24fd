//! Which keys mean something, by what is on the screen.

use crate::event::Origin;
use crate::session::Session;

use super::keys::Context;
use super::layer::Layer;
use super::model::{Model, Pane, PickPane, Screen, is_active};

/// Whether it holds what was printed elsewhere, and no step of any run: there is nothing to play.
#[must_use]
pub fn is_unplayed(session: &Session) -> bool {
    let header = session.header.as_ref();
    let is_published = header.is_some_and(|header| header.origin == Origin::Published);
    is_published && session.runs.iter().all(|run| run.steps.is_empty())
}

impl Model {
    /// Where keys mean something now, the nearest first.
    #[must_use]
    pub fn contexts(&self, session: &Session) -> Vec<Context> {
        self.contexts_in(session, self.layers.last())
    }

    /// The same, below what lies on top.
    #[must_use]
    pub fn contexts_below(&self, session: &Session) -> Vec<Context> {
        self.contexts_in(session, self.layers.iter().rev().nth(1))
    }

    fn contexts_in(&self, session: &Session, layer: Option<&Layer>) -> Vec<Context> {
        match layer {
            Some(Layer::Help(_) | Layer::Notes(_)) => {
                vec![Context::Overlay, Context::Lists, Context::Always]
            }
            Some(Layer::Settings(form)) if form.typing.is_some() => {
                vec![Context::Entry, Context::Always]
            }
            Some(Layer::Themes(_)) => {
                vec![Context::Themes, Context::Lists, Context::Always]
            }
            Some(Layer::Settings(_)) => {
                vec![
                    Context::Settings,
                    Context::Lists,
                    Context::Everywhere,
                    Context::Always,
                ]
            }
            Some(Layer::Chapters(_)) => {
                vec![
                    Context::Chapters,
                    Context::Lists,
                    Context::Everywhere,
                    Context::Always,
                ]
            }
            Some(Layer::Palette(_)) => vec![Context::Palette, Context::Always],
            Some(Layer::Copying(_)) => vec![Context::Copying, Context::Lists, Context::Always],
            Some(Layer::Dialog(_)) => vec![Context::Dialog, Context::Always],
            Some(Layer::Entry(_)) => vec![Context::Entry, Context::Always],
            None => {
                let mut contexts = self.screen_contexts(session);
                contexts.extend([Context::Lists, Context::Everywhere, Context::Always]);
                contexts
            }
        }
    }

    fn screen_contexts(&self, session: &Session) -> Vec<Context> {
        match self.screen {
            Screen::Picking if self.picking.pane == PickPane::Methods => {
                vec![Context::Methods, Context::Picking]
            }
            Screen::Picking if self.picking.pane == PickPane::Subject => {
                vec![Context::Subject, Context::Picking]
            }
            Screen::Picking => vec![Context::Picking],
            Screen::Watching => {
                let pane = match self.watching.pane {
                    Pane::Steps => Some(Context::Steps),
                    Pane::Log => Some(Context::Log),
                    Pane::Plan | Pane::Medians | Pane::Bytes => None,
                };
                let session = if self.replay.is_some() && is_unplayed(session) {
                    None
                } else if self.replay.is_some() {
                    Some(Context::Replay)
                } else if is_active(session) {
                    Some(Context::Live)
                } else {
                    session.end.as_ref().map(|_| Context::Over)
                };
                let all = [pane, session, Some(Context::Watching)];
                all.into_iter().flatten().collect()
            }
            Screen::Comparing if self.replay.is_some() && !is_unplayed(session) => {
                vec![Context::Compare, Context::Replay]
            }
            Screen::Comparing => vec![Context::Compare],
            Screen::Projecting => vec![Context::Project],
            Screen::Recordings => vec![Context::Recordings],
        }
    }
}
