//! An SSH server within the test that asks questions (keyboard-interactive), any that a server
//! could.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::borrow::Cow;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use comeback::host::ssh::Config;
use russh::keys::{Algorithm, load_secret_key};
use russh::server::{
    self, Auth, ChannelOpenHandle, Handler, Msg, PublicKeyOffer, Response, Session,
    VerifiedPublicKey,
};
use russh::{Channel, ChannelId, Disconnect, MethodKind, MethodSet, Preferred};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// One round: what is said, and the prompts with whether the answer is shown.
#[derive(Debug, Clone, Default)]
pub struct Round {
    pub name: &'static str,
    pub says: &'static str,
    pub prompts: Vec<(&'static str, bool)>,
}

/// What the server does.
#[derive(Clone)]
pub struct Plan {
    pub rounds: Vec<Round>,
    /// The answers that it takes, all rounds together; any, where there are none.
    pub right: Vec<&'static str>,
    /// The last round is asked for ever.
    pub endless: bool,
    /// What it wants after right answers.
    pub then: Option<MethodKind>,
    /// The password that it takes.
    pub password: &'static str,
    /// What it takes at first.
    pub takes: Vec<MethodKind>,
    /// RSA keys are to sign with SHA-1, as old servers want it.
    pub old: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            rounds: Vec::new(),
            right: Vec::new(),
            endless: false,
            then: None,
            password: "",
            takes: vec![MethodKind::KeyboardInteractive],
            old: false,
        }
    }
}

/// The server, until it is dropped.
pub struct Questions {
    folder: TempDir,
    port: u16,
    answers: Arc<Mutex<Vec<Vec<String>>>>,
    signed: Arc<Mutex<Vec<String>>>,
    sessions: Arc<Mutex<Vec<server::Handle>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Questions {
    pub async fn start(plan: Plan) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("host");
        super::server::keygen("ed25519", "", &key);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        fs::create_dir_all(folder.path().join(".ssh")).unwrap();
        let public = fs::read_to_string(key.with_extension("pub")).unwrap();
        let known = format!("[127.0.0.1]:{port} {public}");
        fs::write(folder.path().join(".ssh/known_hosts"), known).unwrap();
        let config = Arc::new(server::Config {
            keys: vec![load_secret_key(&key, None).unwrap()],
            methods: MethodSet::from(plan.takes.as_slice()),
            auth_rejection_time: Duration::ZERO,
            max_auth_attempts: 6,
            preferred: if plan.old {
                Preferred {
                    key: vec![Algorithm::Ed25519, Algorithm::Rsa { hash: None }].into(),
                    ..Preferred::default()
                }
            } else {
                Preferred::default()
            },
            ..server::Config::default()
        });
        let answers = Arc::new(Mutex::new(Vec::new()));
        let signed = Arc::new(Mutex::new(Vec::new()));
        let sessions = Arc::new(Mutex::new(Vec::new()));
        let task = tokio::spawn({
            let sessions = Arc::clone(&sessions);
            let answers = Arc::clone(&answers);
            let signed = Arc::clone(&signed);
            async move {
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    let asking = Asking {
                        plan: plan.clone(),
                        answers: Arc::clone(&answers),
                        signed: Arc::clone(&signed),
                        round: 0,
                        given: Vec::new(),
                        passed: false,
                    };
                    let config = Arc::clone(&config);
                    let sessions = Arc::clone(&sessions);
                    tokio::spawn(async move {
                        if let Ok(session) = server::run_stream(config, stream, asking).await {
                            sessions.lock().unwrap().push(session.handle());
                            let _ = session.await;
                        }
                    });
                }
            }
        });
        Self {
            folder,
            port,
            answers,
            signed,
            sessions,
            task,
        }
    }

    pub fn target(&self) -> String {
        format!("ann@127.0.0.1:{}", self.port)
    }

    pub fn config(&self) -> Config {
        Config::in_home(self.folder.path())
    }

    pub fn set(&self, ssh_config: &str) {
        fs::write(self.folder.path().join(".ssh/config"), ssh_config).unwrap();
    }

    /// The answers of each round, in order.
    pub fn answers(&self) -> Vec<Vec<String>> {
        self.answers.lock().unwrap().clone()
    }

    /// Ends all connections.
    pub async fn cut(&self) {
        let all: Vec<_> = self.sessions.lock().unwrap().drain(..).collect();
        for session in all {
            let nothing = String::new();
            let _ = session
                .disconnect(Disconnect::ByApplication, "cut".to_owned(), nothing)
                .await;
        }
    }

    /// With which algorithms keys have signed.
    pub fn signed(&self) -> Vec<String> {
        self.signed.lock().unwrap().clone()
    }

    /// A file in the home of who logs in.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Questions {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Asking {
    plan: Plan,
    answers: Arc<Mutex<Vec<Vec<String>>>>,
    signed: Arc<Mutex<Vec<String>>>,
    round: usize,
    given: Vec<String>,
    passed: bool,
}

impl Asking {
    fn refuse(&self, next: Option<MethodKind>, partial: bool) -> Auth {
        let next = next.map_or(self.plan.takes.clone(), |next| vec![next]);
        Auth::Reject {
            proceed_with_methods: Some(MethodSet::from(next.as_slice())),
            partial_success: partial,
        }
    }
}

impl Handler for Asking {
    type Error = russh::Error;

    async fn auth_password(&mut self, _user: &str, password: &str) -> Result<Auth, russh::Error> {
        let expected = self.plan.then != Some(MethodKind::Password) || self.passed;
        Ok(if expected && password == self.plan.password {
            Auth::Accept
        } else {
            self.refuse(None, false)
        })
    }

    async fn auth_keyboard_interactive<'a>(
        &'a mut self,
        _user: &str,
        _submethods: &str,
        response: Option<Response<'a>>,
    ) -> Result<Auth, russh::Error> {
        match response {
            None => {
                self.round = 0;
                self.given.clear();
            }
            Some(response) => {
                let answers: Vec<String> = response
                    .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                    .collect();
                self.given.extend(answers.iter().cloned());
                self.answers.lock().unwrap().push(answers);
                if !self.plan.endless || self.round + 1 < self.plan.rounds.len() {
                    self.round += 1;
                }
            }
        }
        if let Some(round) = self.plan.rounds.get(self.round) {
            let prompts: Vec<(Cow<'static, str>, bool)> = round
                .prompts
                .iter()
                .map(|(text, echo)| (Cow::Borrowed(*text), *echo))
                .collect();
            return Ok(Auth::Partial {
                name: round.name.into(),
                instructions: round.says.into(),
                prompts: prompts.into(),
            });
        }
        let right = self.plan.right.is_empty() || self.plan.right == self.given;
        Ok(match (right, self.plan.then) {
            (true, None) => Auth::Accept,
            (true, next) => {
                self.passed = true;
                self.refuse(next, true)
            }
            (false, _) => self.refuse(None, false),
        })
    }

    async fn auth_publickey_offered(
        &mut self,
        _user: &str,
        _offer: PublicKeyOffer<'_>,
    ) -> Result<Auth, russh::Error> {
        Ok(Auth::Accept)
    }

    async fn auth_publickey(
        &mut self,
        _user: &str,
        key: VerifiedPublicKey<'_>,
    ) -> Result<Auth, russh::Error> {
        let algorithm = key.algorithm.as_str().to_owned();
        self.signed.lock().unwrap().push(algorithm);
        Ok(Auth::Accept)
    }

    async fn channel_open_session(
        &mut self,
        _channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        reply.accept().await;
        Ok(())
    }

    /// Runs it here.
    async fn exec_request(
        &mut self,
        channel: ChannelId,
        data: &[u8],
        session: &mut Session,
    ) -> Result<(), russh::Error> {
        let command = String::from_utf8_lossy(data).into_owned();
        let handle = session.handle();
        session.channel_success(channel)?;
        tokio::spawn(async move {
            let output = tokio::process::Command::new("sh")
                .args(["-c", &command])
                .stdin(Stdio::null())
                .output()
                .await
                .unwrap();
            let _ = handle.data(channel, output.stdout).await;
            let _ = handle.extended_data(channel, 1, output.stderr).await;
            let code = output.status.code().unwrap_or(255);
            let _ = handle
                .exit_status_request(channel, u32::try_from(code).unwrap())
                .await;
            let _ = handle.eof(channel).await;
            let _ = handle.close(channel).await;
        });
        Ok(())
    }
}
