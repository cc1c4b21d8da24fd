//! What is being done to reach a host, told as it happens.

use std::fmt;
use std::sync::Arc;

type Listener = Arc<dyn Fn(&str) + Send + Sync>;

/// Tells a listener, where there is one. Clones tell the same.
#[derive(Clone, Default)]
pub struct Stage(Option<Listener>);

impl Stage {
    /// Tells this listener. It is called in the middle of connecting: it must not wait.
    pub fn to(listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// Says what is done now, in a few words.
    pub fn tell(&self, doing: &str) {
        if let Some(listener) = &self.0 {
            listener(doing);
        }
    }

    /// The same for a host on the way.
    pub(super) fn through(&self, jump: &str) -> Self {
        let (whole, jump) = (self.clone(), jump.to_owned());
        match self.0 {
            Some(_) => Self::to(move |doing| whole.tell(&format!("jump host {jump}: {doing}"))),
            None => Self::default(),
        }
    }
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() {
            "Stage(heard)"
        } else {
            "Stage(unheard)"
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn a_jump_host_is_named() {
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let all = Arc::clone(&heard);
        let stage = Stage::to(move |doing| all.lock().unwrap().push(doing.to_owned()));
        stage.tell("logging in");
        stage.through("gate").tell("connecting");
        Stage::default().through("gate").tell("nobody hears this");
        assert_eq!(
            *heard.lock().unwrap(),
            ["logging in", "jump host gate: connecting"]
        );
    }
}
