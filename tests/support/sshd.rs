//! A real OpenSSH server on loopback, with keys, a known-hosts file and a home of its own.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use comeback::host::ssh::{self, SshHost};
use tempfile::TempDir;

/// The longest wait for a server to speak, or for a process to be gone.
const PATIENCE: Duration = Duration::from_secs(20);
/// Where Debian and its kin look for the server; others have it in the path.
const PLACES: [&str; 3] = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/sbin/sshd"];

/// What runs a command in a new mount namespace without the file systems of other tests.
pub const OWN_MOUNTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/own-mounts.sh");

/// A server; it ends, with all that it has started, when it is dropped.
pub struct Sshd {
    folder: TempDir,
    port: u16,
    user: String,
    program: PathBuf,
    /// What root does in a mount namespace of the server's own before it starts.
    prelude: Option<String>,
    child: Option<Child>,
}

impl Sshd {
    /// Starts a server that lets the current user in with [`Sshd::key`]; its host key is known
    /// in [`Sshd::config`]. Nothing where there is no sshd: the test is skipped, loudly, but
    /// fails under `CI=true`.
    pub fn start() -> Option<Self> {
        Self::start_with("")
    }

    /// The same with further lines of `sshd_config`, which win over the usual ones.
    pub fn start_with(settings: &str) -> Option<Self> {
        Some(Self::start_as(program("sshd")?, settings))
    }

    /// The same with another program that runs sshd.
    pub fn start_as(program: PathBuf, settings: &str) -> Self {
        Self::start_somewhere(program, None, settings, &std::env::temp_dir())
    }

    /// The same in a mount namespace of its own, after root has run `prelude` there; what the
    /// server needs stands in `folder`, open for every user.
    pub fn start_in(prelude: &str, settings: &str, folder: &Path) -> Option<Self> {
        Some(Self::start_somewhere(
            program("sshd")?,
            Some(prelude),
            settings,
            folder,
        ))
    }

    fn start_somewhere(
        program: PathBuf,
        prelude: Option<&str>,
        settings: &str,
        parent: &Path,
    ) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("sshd-")
            .tempdir_in(parent)
            .unwrap();
        // sshd's helper process wants an empty folder, which only root needs and can make.
        if rustix::process::geteuid().is_root() {
            fs::create_dir_all("/run/sshd").unwrap();
        }
        let mut sshd = Self {
            port: 0,
            user: String::from_utf8(output("id", &["-un"]))
                .unwrap()
                .trim()
                .to_owned(),
            program,
            prelude: prelude.map(str::to_owned),
            child: None,
            folder,
        };
        fs::create_dir_all(sshd.path("home/.ssh")).unwrap();
        keygen("ed25519", "", &sshd.path("host_ed25519"));
        keygen("ed25519", "", &sshd.key());
        fs::copy(
            sshd.path("home/.ssh/id_ed25519.pub"),
            sshd.path("authorized"),
        )
        .unwrap();
        sshd.launch(settings);
        sshd.know("host_ed25519.pub");
        sshd
    }

    /// Tries ports until one is free: somebody else may take it in between.
    fn launch(&mut self, settings: &str) {
        for _ in 0..10 {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            self.port = listener.local_addr().unwrap().port();
            drop(listener);
            self.write_config(settings);
            if self.spawn() {
                return;
            }
        }
        panic!("sshd does not start: {}", self.log());
    }

    fn write_config(&self, settings: &str) {
        let path = |name| self.path(name).display().to_string();
        // Of this word the last value counts.
        let startups = if settings.contains("MaxStartups") {
            ""
        } else {
            "MaxStartups 100:30:200\n"
        };
        let base = format!(
            "{settings}\nListenAddress 127.0.0.1\nPort {}\nHostKey {}\nAuthorizedKeysFile {}\n\
             PidFile none\nUsePAM no\nStrictModes no\nUseDNS no\nPermitRootLogin yes\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\n\
             {startups}LogLevel VERBOSE\n\
             SetEnv SHLVL=1\n",
            self.port,
            path("host_ed25519"),
            path("authorized"),
        );
        // Newer servers shut out an address after failed logins; older ones do not know the word.
        let lenient = format!("{base}PerSourcePenalties no\n");
        let file = self.path("sshd_config");
        fs::write(&file, lenient).unwrap();
        let known = Command::new(&self.program)
            .args(["-t", "-f"])
            .arg(&file)
            .stderr(Stdio::null())
            .status();
        if !known.unwrap().success() {
            fs::write(&file, base).unwrap();
        }
    }

    /// Whether the server has said its banner.
    fn spawn(&mut self) -> bool {
        let mut command = match &self.prelude {
            None => Command::new(&self.program),
            Some(prelude) => {
                let mut command = Command::new("unshare");
                let text = format!("set -e\n{prelude}\nexec \"$@\"");
                command
                    .args(["--mount", "sh", OWN_MOUNTS, "sh", "-c", &text, "sh"])
                    .arg(&self.program);
                command
            }
        };
        let child = command
            .args(["-D", "-f"])
            .arg(self.path("sshd_config"))
            .arg("-E")
            .arg(self.path("log"))
            .stdin(Stdio::null())
            .spawn();
        let child = self.child.insert(child.unwrap());
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if child.try_wait().unwrap().is_some() {
                return false;
            }
            if speaks(self.port) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Kills the server and everything that it has started, at once.
    pub fn kill(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        let mut all = descendants(child.id());
        let _ = child.kill();
        let _ = child.wait();
        // A session may have been started while the list was made.
        let until = Instant::now() + PATIENCE;
        while !all.is_empty() && Instant::now() < until {
            for pid in &all {
                kill(*pid);
            }
            std::thread::sleep(Duration::from_millis(10));
            all.retain(|pid| is_alive(*pid));
        }
    }

    /// Ends all connections as a broken network does: at once. The server listens on, and what
    /// was started through them lives.
    pub fn cut(&self) {
        self.cut_but(|_| false);
    }

    /// The same, but for those behind which such a command runs.
    pub fn cut_but(&self, spared: impl Fn(&str) -> bool) {
        let read =
            |pid, name| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let listener = self.child.as_ref().unwrap().id();
        for pid in descendants(listener) {
            let spares = |pid: &u32| spared(&read(*pid, "cmdline"));
            if read(pid, "comm").starts_with("sshd") && !descendants(pid).iter().any(spares) {
                kill(pid);
            }
        }
    }

    /// Ends all connections and takes no new ones while something is done.
    pub fn shut(&mut self, meanwhile: impl FnOnce()) {
        self.cut();
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
        meanwhile();
        assert!(self.spawn(), "sshd does not start again: {}", self.log());
    }

    /// Starts it again on the same port.
    pub fn restart(&mut self) {
        self.kill();
        assert!(self.spawn(), "sshd does not start again: {}", self.log());
    }

    /// Starts another program in its place, on the same port.
    pub fn run_as(&mut self, program: PathBuf) {
        self.program = program;
        self.restart();
    }

    /// A file in the server's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The private key that the server takes.
    pub fn key(&self) -> PathBuf {
        self.path("home/.ssh/id_ed25519")
    }

    /// The login name.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The server's process.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// The TCP port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `user@127.0.0.1:port`.
    pub fn target(&self) -> String {
        format!("{}@127.0.0.1:{}", self.user, self.port)
    }

    /// The files of the test's home: its key and known hosts, no agent, nothing global.
    pub fn config(&self) -> ssh::Config {
        ssh::Config::in_home(&self.path("home"))
    }

    /// A host that is connected to it.
    pub async fn host(&self) -> Arc<SshHost> {
        match ssh::connect(&self.target(), &self.config()).await {
            Ok(host) => host,
            Err(error) => panic!("{error}\n{}", self.log()),
        }
    }

    /// The file that [`Sshd::config`] knows hosts by.
    pub fn known_hosts(&self) -> PathBuf {
        self.path("home/.ssh/known_hosts")
    }

    /// Makes a public key of the folder the known one, in place of all others.
    pub fn know(&self, public: &str) {
        let key = fs::read_to_string(self.path(public)).unwrap();
        let line = format!("[127.0.0.1]:{} {key}", self.port);
        fs::write(self.known_hosts(), line).unwrap();
    }

    /// What the server has to say.
    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A real ssh-agent; it ends when it is dropped.
pub struct Agent {
    folder: TempDir,
    child: Child,
}

impl Agent {
    /// Starts one that holds no key.
    pub fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("agent-").tempdir().unwrap();
        let socket = folder.path().join("socket");
        let child = Command::new("ssh-agent")
            .args(["-D", "-a"])
            .arg(&socket)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let until = Instant::now() + PATIENCE;
        while !socket.exists() {
            assert!(Instant::now() < until, "ssh-agent does not start");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { folder, child }
    }

    /// Its socket.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    /// Gives it a key that needs no passphrase.
    pub fn add(&self, key: &Path) {
        let status = Command::new("ssh-add")
            .arg("-q")
            .arg(key)
            .env("SSH_AUTH_SOCK", self.socket())
            .stdin(Stdio::null())
            .status();
        assert!(status.unwrap().success(), "ssh-add {}", key.display());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes a key pair, as `ssh-keygen` does.
pub fn keygen(kind: &str, passphrase: &str, path: &Path) {
    let status = Command::new("ssh-keygen")
        .args(["-q", "-t", kind, "-N", passphrase, "-C", "test", "-f"])
        .arg(path)
        .stdin(Stdio::null())
        .status();
    assert!(status.unwrap().success(), "ssh-keygen {}", path.display());
}

/// A key's fingerprint, as `ssh-keygen -l` prints it.
pub fn fingerprint(key: &Path) -> String {
    let line = output("ssh-keygen", &["-lf", key.to_str().unwrap()]);
    let line = String::from_utf8(line).unwrap();
    line.split(' ').nth(1).unwrap().to_owned()
}

/// Where a server program is; nothing, said loudly, where it is not, which under `CI=true` is a
/// failure.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .chain(
            PLACES
                .iter()
                .map(PathBuf::from)
                .filter(|place| place.ends_with(name)),
        )
        .find(|place| place.is_file());
    if found.is_none() {
        assert!(
            std::env::var("CI").as_deref() != Ok("true"),
            "{name} is not installed, and CI=true asks for every test"
        );
        eprintln!("SKIPPED: {name} is not installed");
    }
    found
}

fn output(program: &str, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}");
    output.stdout
}

/// Whether an SSH server says its banner on a port of this machine.
pub fn speaks(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let mut banner = [0; 4];
    stream.read_exact(&mut banner).is_ok() && &banner == b"SSH-"
}

/// All processes below one, by what `/proc` says of their parents.
pub fn descendants(root: u32) -> Vec<u32> {
    let mut parents = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        if let Some(parent) = parent(pid) {
            parents.push((pid, parent));
        }
    }
    let mut all = vec![root];
    let mut next = 0;
    while let Some(parent) = all.get(next).copied() {
        all.extend(
            parents
                .iter()
                .filter(|(_, of)| *of == parent)
                .map(|(pid, _)| *pid),
        );
        next += 1;
    }
    all.remove(0);
    all
}

/// The fourth field; the second, in parentheses, may hold anything.
fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    fields.nth(1)?.parse().ok()
}

fn is_alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit_once(')')
            .is_some_and(|(_, rest)| rest.starts_with(" Z"))
    })
}

/// Kills a process at once.
pub fn kill(pid: u32) {
    use rustix::process::{Pid, Signal, kill_process};

    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}
