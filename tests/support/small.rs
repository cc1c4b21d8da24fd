//! A small machine: `BusyBox` and nothing else, as a host that is reached through a chroot.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use comeback::host::{Channel, Host, HostError, LocalHost};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// What runs a command in a new mount namespace without the file systems of other tests.
const OWN_MOUNTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/own-mounts.sh");

/// The machine; what it has is gone with it.
pub struct Small {
    root: tempfile::TempDir,
}

impl Small {
    /// A machine without the given programs. Nothing for who may not make one: the test is
    /// skipped, loudly, but fails under `CI=true`.
    pub fn new(without: &[&str]) -> Option<Arc<Self>> {
        if !rustix::process::geteuid().is_root() {
            assert!(
                std::env::var("CI").as_deref() != Ok("true"),
                "a chroot needs root, and CI=true asks for every test"
            );
            eprintln!("SKIPPED: a chroot needs root");
            return None;
        }
        let root = tempfile::tempdir().unwrap();
        for dir in ["bin", "dev", "proc", "root", "tmp", "var/lib", "etc"] {
            std::fs::create_dir_all(root.path().join(dir)).unwrap();
        }
        let busybox = ["/bin/busybox", "/usr/bin/busybox"]
            .into_iter()
            .find(|path| Path::new(path).exists())
            .expect("busybox is not installed here, and this test needs it");
        std::fs::copy(busybox, root.path().join("bin/busybox")).unwrap();
        for library in words(&run("ldd", &[busybox])).filter(|word| word.starts_with('/')) {
            let there = root.path().join(library.trim_start_matches('/'));
            std::fs::create_dir_all(there.parent().unwrap()).unwrap();
            std::fs::copy(library, there).unwrap();
        }
        for name in run(busybox, &["--list"]).lines() {
            if name != "busybox" && !without.contains(&name) {
                let link = root.path().join("bin").join(name);
                std::os::unix::fs::symlink("/bin/busybox", link).unwrap();
            }
        }
        for (name, minor) in [("null", "3"), ("zero", "5")] {
            let device = root.path().join("dev").join(name).display().to_string();
            run("mknod", &["-m", "666", &device, "c", "1", minor]);
        }
        Some(Arc::new(Self { root }))
    }

    /// The machine's file system, seen from outside.
    pub fn root(&self) -> &Path {
        self.root.path()
    }
}

fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {output:?}"
    );
    String::from_utf8(output.stdout).unwrap()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}

impl Host for Small {
    fn name(&self) -> &'static str {
        "small"
    }

    fn address(&self) -> Option<String> {
        None
    }

    fn exec<'a>(&'a self, script: &'a str) -> BoxFuture<'a, Result<Channel, HostError>> {
        // The mount is this shell's alone, and goes with it.
        let enter = format!(
            "exec unshare --mount sh {OWN_MOUNTS} sh -c 'mount --bind \"$0\" \"$0\" && mount -t proc proc \"$0/proc\" && \
             exec chroot \"$0\" /bin/busybox env -i PATH=/bin HOME=/root /bin/sh -c \"$1\"' {} {}",
            self.root.path().display(),
            shlex::try_quote(script).unwrap()
        );
        async move { LocalHost::new().exec(&enter).await }.boxed()
    }
}
