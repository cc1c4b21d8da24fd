//! Hosts for the tests of what runs on a host: this machine through each shell that a host may
//! have.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use comeback::host::{Channel, Host, HostError, LocalHost};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// A shell, and how it is started.
#[derive(Debug, Clone)]
pub struct Shell {
    pub name: &'static str,
    pub path: String,
    /// A folder of programs that come before all others.
    first: Option<Arc<tempfile::TempDir>>,
}

/// Every shell that is installed here; dash, bash and `BusyBox` have to be.
pub fn shells() -> Vec<Shell> {
    ["dash", "bash", "busybox"].map(shell).into()
}

pub fn shell(name: &'static str) -> Shell {
    let found = ["/bin", "/usr/bin", "/usr/local/bin"]
        .iter()
        .map(|dir| Path::new(dir).join(name))
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("{name} is not installed here, and these tests need it"));
    if name != "busybox" {
        return Shell {
            name,
            path: found.display().to_string(),
            first: None,
        };
    }
    // All programs that BusyBox has are BusyBox's, as on a small machine.
    let dir = busybox_dir(&found);
    Shell {
        name,
        path: dir.path().join("sh").display().to_string(),
        first: Some(Arc::new(dir)),
    }
}

/// A folder with a link for each of `BusyBox`'s programs.
fn busybox_dir(busybox: &Path) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    // For other users, too.
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let list = std::process::Command::new(busybox)
        .arg("--list")
        .output()
        .unwrap();
    for name in String::from_utf8(list.stdout).unwrap().lines() {
        std::os::unix::fs::symlink(busybox, dir.path().join(name)).unwrap();
    }
    dir
}

/// This machine through a shell.
pub struct ShellHost {
    shell: Shell,
    /// Scripts that were run.
    pub scripts: Mutex<Vec<String>>,
}

impl ShellHost {
    pub fn new(shell: Shell) -> Arc<Self> {
        Arc::new(Self {
            shell,
            scripts: Mutex::default(),
        })
    }
}

impl Host for ShellHost {
    fn name(&self) -> &str {
        self.shell.name
    }

    fn address(&self) -> Option<String> {
        None
    }

    fn exec<'a>(&'a self, script: &'a str) -> BoxFuture<'a, Result<Channel, HostError>> {
        self.scripts.lock().unwrap().push(script.to_owned());
        let path = self.shell.first.as_ref().map_or_else(String::new, |first| {
            format!("PATH={}:$PATH; export PATH; ", first.path().display())
        });
        let wrapped = format!(
            "{path}exec {} -c {}",
            self.shell.path,
            shlex::try_quote(script).unwrap()
        );
        async move { LocalHost::new().exec(&wrapped).await }.boxed()
    }
}
