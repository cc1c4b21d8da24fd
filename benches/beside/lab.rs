//! An `sshd` of our own on loopback, and the `ssh` that reaches it over one kept connection.

use std::io::Read;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

/// A running `sshd` with keys, `known_hosts` and `ssh_config` of its own; gone when dropped.
pub struct Lab {
    folder: TempDir,
    server: Child,
    config: PathBuf,
}

impl Lab {
    /// Starts it and waits until it answers.
    pub fn start() -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("comeback-bench-")
            .tempdir()?;
        let at = folder.path();
        for name in ["host", "user"] {
            let key = at.join(name);
            run(Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"])
                .arg(key))?;
        }
        fs::copy(at.join("user.pub"), at.join("authorized_keys"))?;

        // What a login shell reads at its start is the user's own affair and would be in each figure.
        fs::create_dir(at.join("home"))?;
        // The port may be taken by somebody else between these lines; then sshd ends, and says so.
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let here = at.display();
        fs::write(
            at.join("sshd_config"),
            format!(
                "ListenAddress 127.0.0.1:{port}\nHostKey {here}/host\nPidFile none\n\
                 AuthorizedKeysFile {here}/authorized_keys\nStrictModes no\nUsePAM no\n\
                 PasswordAuthentication no\nKbdInteractiveAuthentication no\n\
                 SetEnv HOME={here}/home\n"
            ),
        )?;
        let host_key = fs::read_to_string(at.join("host.pub"))?;
        fs::write(
            at.join("known_hosts"),
            format!("[127.0.0.1]:{port} {host_key}"),
        )?;
        let config = at.join("ssh_config");
        let user = said(Command::new("id").arg("-un"))?;
        fs::write(
            &config,
            format!(
                "Host lab vault\n  HostName 127.0.0.1\n  Port {port}\n  User {user}\n  IdentityFile {here}/user\n  \
                 IdentitiesOnly yes\n  UserKnownHostsFile {here}/known_hosts\n  \
                 StrictHostKeyChecking yes\n  BatchMode yes\n  ControlMaster auto\n  \
                 ControlPath {here}/control-%n\n  ControlPersist 600\n"
            ),
        )?;
        let server = Command::new(sshd()?)
            .arg("-D")
            .arg("-E")
            .arg(at.join("sshd.log"))
            .arg("-f")
            .arg(at.join("sshd_config"))
            .stdin(Stdio::null())
            .spawn()
            .context("sshd")?;
        let mut lab = Self {
            folder,
            server,
            config,
        };
        lab.wait_for_banner(port)?;
        // The first call makes the connection that all others share.
        run(lab.ssh().arg("true"))?;
        Ok(lab)
    }

    /// `ssh` to it, over the kept connection; the remote command is to be added.
    pub fn ssh(&self) -> Command {
        self.ssh_as("lab")
    }

    /// `ssh` to it by another of its names.
    pub fn ssh_as(&self, name: &str) -> Command {
        let mut ssh = Command::new("ssh");
        ssh.arg("-F")
            .arg(&self.config)
            .arg(name)
            .stdin(Stdio::null());
        ssh
    }

    /// The configuration that names it.
    pub fn config(&self) -> &Path {
        &self.config
    }

    /// The same as words for a shell.
    pub fn ssh_words(&self) -> String {
        format!("ssh -F {} lab", self.config.display())
    }

    /// A folder that goes with it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn wait_for_banner(&mut self, port: u16) -> Result<()> {
        let patience = Duration::from_secs(10);
        let begin = Instant::now();
        while begin.elapsed() < patience {
            if let Some(status) = self.server.try_wait()? {
                let log = fs::read_to_string(self.folder().join("sshd.log")).unwrap_or_default();
                bail!("sshd ended at once: {status}: {log}");
            }
            let mut banner = [0; 4];
            if let Ok(mut stream) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                stream.set_read_timeout(Some(patience))?;
                if stream.read_exact(&mut banner).is_ok() && &banner == b"SSH-" {
                    return Ok(());
                }
            }
            thread::sleep(Duration::from_millis(20));
        }
        bail!("no answer from sshd within {} s", patience.as_secs())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // Whatever fails here has ended already.
        for name in ["lab", "vault"] {
            let _ = self
                .ssh_as(name)
                .args(["-O", "exit"])
                .stderr(Stdio::null())
                .status();
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Runs a command to its end; what it says goes nowhere.
pub fn run(command: &mut Command) -> Result<()> {
    said(command).map(|_| ())
}

/// Runs a command to its end; gives what it says.
pub fn said(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(
        output.status.success(),
        "{command:?}: {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// How many seconds a command takes.
pub fn seconds(command: &mut Command) -> Result<f64> {
    let begin = Instant::now();
    run(command)?;
    Ok(begin.elapsed().as_secs_f64())
}

/// sshd starts itself again for each connection, and wants to be called by its full path for that.
pub fn sshd() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/local/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join("sshd"))
        .find(|sshd| sshd.is_file())
        .context("sshd is not installed (Debian: openssh-server)")
}
