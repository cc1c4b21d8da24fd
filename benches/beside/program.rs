//! The program itself, with a home folder of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::lab::Lab;
use crate::session::{HERE, LAB};

/// Where cargo has put it.
pub const PATH: &str = env!("CARGO_BIN_EXE_comeback");

/// How often its memory is looked at. What is told is a maximum, so nothing is missed but the
/// last moment.
const LOOK: Duration = Duration::from_millis(5);

/// A home folder in which the lab and a method are known.
pub struct Program {
    home: PathBuf,
}

impl Program {
    /// Makes the home folder.
    pub fn new(lab: &Lab) -> Result<Self> {
        let home = lab.folder().join("operator");
        fs::create_dir_all(home.join(".ssh"))?;
        fs::create_dir_all(home.join(".config/comeback/methods"))?;
        fs::copy(lab.config(), home.join(".ssh/config"))?;
        let state = home.join("state");
        let state = state.display();
        let hosts = [HERE, LAB].map(|host| format!("[host.{host}]\nstate = '{state}'\n"));
        fs::write(home.join(".config/comeback/config.toml"), hosts.concat())?;
        Ok(Self { home })
    }

    /// To be given its arguments.
    pub fn command(&self) -> Command {
        let mut command = Command::new(PATH);
        command
            .env("HOME", &self.home)
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_DATA_HOME")
            .stdin(Stdio::null());
        command
    }

    /// Runs a method on a host into a recording; gives the most memory that it had, in bytes.
    pub fn run(&self, method: &str, host: &str, recording: &Path) -> Result<u64> {
        fs::write(
            self.home.join(".config/comeback/methods/bench.toml"),
            method,
        )?;
        let said = self.home.join("said");
        let mut child = self
            .command()
            .args(["run", "--method", "bench", "--reps", "1", "--host", host])
            .arg("--record")
            .arg(recording)
            .stdout(Stdio::null())
            .stderr(fs::File::create(&said)?)
            .spawn()
            .context(PATH)?;
        let memory = watch(&mut child)?;
        let said = fs::read_to_string(said)?;
        // Nothing is restored, so nothing is verified: that is exit 1.
        ensure!(said.contains("1 of 1 runs done"), "comeback: {said}");
        Ok(memory)
    }
}

fn watch(child: &mut Child) -> Result<u64> {
    let mut most = 0;
    loop {
        // Gone when it has ended.
        if let Some(memory) = most_memory(child.id()) {
            most = memory;
        }
        if child.try_wait()?.is_some() {
            return Ok(most);
        }
        thread::sleep(LOOK);
    }
}

/// The high-water mark of a process (proc(5), `VmHWM`).
fn most_memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kibibytes: u64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"))?
        .parse()
        .ok()?;
    Some(kibibytes * 1024)
}
