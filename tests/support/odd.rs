//! An SSH server in this process that does what no proper one does.
#![cfg(test)]

use std::sync::Arc;
use std::time::Duration;

use comeback::host::ssh::Config;
use russh::server::{self, Auth, ChannelOpenHandle, Msg, Session};
use russh::{Channel, ChannelId, Disconnect, Sig};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::server::keygen;

/// What the program's scripts say first, on both streams.
const MARK: &str = "comeback-begins\n";

/// The server; it ends when it is dropped. What a command does is named in its script, behind
/// `odd:`.
pub struct Odd {
    folder: TempDir,
    port: u16,
    task: JoinHandle<()>,
}

impl Odd {
    /// Starts one that takes so many bytes of standard input at first.
    pub async fn start(window_size: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("host_ed25519");
        keygen("ed25519", "", &key);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        std::fs::create_dir(folder.path().join(".ssh")).unwrap();
        let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
        let known = format!("[127.0.0.1]:{port} {public}");
        std::fs::write(folder.path().join(".ssh/known_hosts"), known).unwrap();
        let config = Arc::new(server::Config {
            keys: vec![russh::keys::load_secret_key(&key, None).unwrap()],
            window_size,
            nodelay: true,
            ..server::Config::default()
        });
        let task = tokio::spawn(async move {
            let mut sessions = tokio::task::JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let config = Arc::clone(&config);
                sessions.spawn(async move {
                    if let Ok(session) =
                        server::run_stream(config, stream, Behaviour::default()).await
                    {
                        let _ = session.await;
                    }
                });
            }
        });
        Self { folder, port, task }
    }

    /// `user@127.0.0.1:port`.
    pub fn target(&self, user: &str) -> String {
        format!("{user}@127.0.0.1:{}", self.port)
    }

    /// Files by which it is known.
    pub fn config(&self) -> Config {
        Config::in_home(self.folder.path())
    }
}

impl Drop for Odd {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Default)]
struct Behaviour {
    user: String,
    /// A channel that is neither opened nor refused.
    pending: Option<ChannelOpenHandle>,
    echoes: bool,
}

impl server::Handler for Behaviour {
    type Error = russh::Error;

    async fn auth_none(&mut self, user: &str) -> Result<Auth, russh::Error> {
        user.clone_into(&mut self.user);
        Ok(Auth::Accept)
    }

    async fn channel_open_session(
        &mut self,
        _channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _session: &mut Session,
    ) -> Result<(), russh::Error> {
        if self.user == "unopened" {
            self.pending = Some(reply);
        } else {
            reply.accept().await;
        }
        Ok(())
    }

    async fn data(
        &mut self,
        channel: ChannelId,
        data: &[u8],
        session: &mut Session,
    ) -> Result<(), russh::Error> {
        if self.echoes {
            session.data(channel, data.to_vec())?;
        }
        Ok(())
    }

    async fn channel_eof(
        &mut self,
        channel: ChannelId,
        session: &mut Session,
    ) -> Result<(), russh::Error> {
        if self.echoes {
            session.exit_status_request(channel, 0)?;
            session.eof(channel)?;
            session.close(channel)?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_lines, reason = "a list")]
    async fn exec_request(
        &mut self,
        channel: ChannelId,
        data: &[u8],
        session: &mut Session,
    ) -> Result<(), russh::Error> {
        let line = String::from_utf8_lossy(data).into_owned();
        let odd = line.split("odd:").nth(1).unwrap();
        // The script's last line, within what quotes it.
        let odd = odd.trim_end_matches(['\'', ')', '"']);
        match odd {
            "unconfirmed" => return Ok(()),
            "refused" => return session.channel_failure(channel),
            _ => session.channel_success(channel)?,
        }
        match odd {
            "never begun" => return Ok(()),
            "never begun, status 0" => {
                session.exit_status_request(channel, 0)?;
                return session.close(channel);
            }
            "never begun, closed" => return session.close(channel),
            "endless" => {
                for _ in 0..200 {
                    session.data(channel, vec![b'x'; 30_000])?;
                }
                return Ok(());
            }
            _ => {}
        }
        if odd != "status, then the mark" {
            session.data(channel, MARK)?;
            session.extended_data(channel, 1, MARK)?;
        }
        match odd {
            "status, then output" => {
                session.exit_status_request(channel, 7)?;
                session.data(channel, "out")?;
                session.eof(channel)?;
                session.close(channel)?;
            }
            "status, then the mark" => {
                session.exit_status_request(channel, 7)?;
                session.data(channel, MARK)?;
                session.data(channel, "out")?;
                session.close(channel)?;
            }
            "status after the end of the output" => {
                session.data(channel, "out")?;
                session.eof(channel)?;
                session.exit_status_request(channel, 7)?;
                session.close(channel)?;
            }
            "late output" => {
                session.exit_status_request(channel, 7)?;
                let handle = session.handle();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    handle.data(channel, "out").await.unwrap();
                    handle.close(channel).await.unwrap();
                });
            }
            "status, then silence" => {
                session.data(channel, "out")?;
                session.exit_status_request(channel, 7)?;
            }
            "two statuses" => {
                session.exit_status_request(channel, 7)?;
                session.exit_status_request(channel, 0)?;
                session.data(channel, "out")?;
                session.close(channel)?;
            }
            "strange stream" => {
                session.extended_data(channel, 7, "strange")?;
                session.data(channel, "out")?;
                session.exit_status_request(channel, 7)?;
                session.close(channel)?;
            }
            "signal" => {
                session.data(channel, "out")?;
                session.exit_signal_request(channel, Sig::TERM, false, "", "")?;
                session.close(channel)?;
            }
            "no status" => {
                session.data(channel, "out")?;
                session.eof(channel)?;
                session.close(channel)?;
            }
            "closed" => session.close(channel)?,
            "goodbye" => {
                session.data(channel, "out")?;
                session.disconnect(Disconnect::ByApplication, "the machine goes down", "")?;
            }
            "gone" => return Err(russh::Error::Disconnect),
            "deaf" => {
                let handle = session.handle();
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_secs(5)).await;
                    handle.exit_status_request(channel, 7).await.unwrap();
                    handle.close(channel).await.unwrap();
                });
            }
            "echo" => self.echoes = true,
            // Fine but for the end of the output, which is not told.
            "fine" => {
                session.data(channel, "out")?;
                session.exit_status_request(channel, 7)?;
                session.close(channel)?;
            }
            other => panic!("{other}"),
        }
        Ok(())
    }
}
