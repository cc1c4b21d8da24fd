//! A hundred hosts at once: how long it takes until a command has run on each, and what a
//! connection costs in memory.

use std::fmt::Write;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use comeback::host::ssh::{self, Config, SshHost};
use comeback::host::{Exit, ask};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::figures::{Row, Table};
use crate::lab::{Lab, said, sshd};

const HOSTS: usize = 100;
/// Logins at once at one server, as comeback has it.
const LOGINS: usize = 4;
/// Addresses that one sshd listens on; it takes no more than 16.
const ADDRESSES: usize = 10;
const PATIENCE: Duration = Duration::from_mins(1);

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let rounds = if quick { 1 } else { 7 };
    let servers = Servers::start(lab)?;
    let runtime = Runtime::new()?;
    let config = Config {
        file: Some(servers.config.clone()),
        ..Config::default()
    };
    let mut many = [Row::new("ssh, all at once"), Row::new("comeback")];
    let mut one = [Row::new("ssh, 4 at once"), Row::new("comeback")];
    let mut memory = [Row::new("ssh"), Row::new("comeback")];
    let mut rest = Row::new("comeback, of that kept after the last is gone");
    for _ in 0..rounds {
        for (rows, prefix, at_once) in [(&mut many, "many", HOSTS), (&mut one, "one", LOGINS)] {
            let [theirs, ours] = rows;
            theirs.values.push(servers.ssh(prefix, at_once)?);
            let before = resident()?;
            let begin = Instant::now();
            let hosts = runtime.block_on(connect(prefix, &config))?;
            ours.values.push(begin.elapsed().as_secs_f64());
            let connected = resident()?;
            drop(hosts);
            std::thread::sleep(Duration::from_millis(300));
            let after = resident()?;
            if prefix == "many" {
                let each = |bytes: f64| bytes / 1024.0 / HOSTS as f64;
                let [theirs, ours] = &mut memory;
                theirs.values.push(servers.memory()? / 1024.0);
                ours.values.push(each(connected - before));
                rest.values.push(each(after - before));
            }
        }
    }
    let mut memory = Table::new("memory of a connection: KiB", memory);
    memory.beside.push(rest);
    Ok(vec![
        Table::new("100 hosts, connected and `true` run on each: s", many),
        Table::new("100 names of one server, 4 logins at once: s", one),
        memory,
    ])
}

/// Connects to all hosts and runs a command on each.
async fn connect(prefix: &'static str, config: &Config) -> Result<Vec<Arc<SshHost>>> {
    let mut all = JoinSet::new();
    for number in 0..HOSTS {
        let config = config.clone();
        all.spawn(async move {
            let host = ssh::connect(&format!("{prefix}{number}"), &config).await?;
            let answer = ask(&*host, "true", b"", 0, PATIENCE).await?;
            ensure!(answer.exit == Exit::Code(0), "{:?}", answer.exit);
            Ok(host)
        });
    }
    all.join_all().await.into_iter().collect()
}

/// Bytes of memory that this process has just now (proc(5), `VmRSS`).
fn resident() -> Result<f64> {
    field("/proc/self/status", "VmRSS:")
}

fn field(file: &str, name: &str) -> Result<f64> {
    let text = fs::read_to_string(file).with_context(|| file.to_owned())?;
    let kibibytes: f64 = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB"))
        .with_context(|| format!("{file}: no {name}"))?
        .trim()
        .parse()?;
    Ok(kibibytes * 1024.0)
}

/// Servers on a hundred addresses of this machine, which take any number of logins at once.
struct Servers {
    config: PathBuf,
    running: Vec<Child>,
}

impl Servers {
    fn start(lab: &Lab) -> Result<Self> {
        let folder = lab.folder().join("hosts");
        fs::create_dir_all(&folder)?;
        let at = lab.folder().display();
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?
            .local_addr()?
            .port();
        let key = fs::read_to_string(lab.folder().join("host.pub"))?;
        fs::write(folder.join("known_hosts"), format!("lab {key}"))?;
        let config = folder.join("ssh_config");
        let mut hosts = String::new();
        for number in 0..HOSTS {
            let address = address(number);
            writeln!(hosts, "Host many{number}\n  HostName {address}")?;
            writeln!(hosts, "Host one{number}\n  HostName {}", self::address(0))?;
        }
        let user = said(Command::new("id").arg("-un"))?;
        write!(
            hosts,
            "Host *\n  Port {port}\n  User {user}\n  IdentityFile {at}/user\n  IdentitiesOnly yes\n  \
             UserKnownHostsFile {at}/hosts/known_hosts\n  HostKeyAlias lab\n  \
             StrictHostKeyChecking yes\n  BatchMode yes\n",
        )?;
        fs::write(&config, hosts)?;
        let mut servers = Self {
            config,
            running: Vec::new(),
        };
        for first in (0..HOSTS).step_by(ADDRESSES) {
            let file = folder.join(format!("sshd{first}"));
            let mut text = String::new();
            for number in first..first + ADDRESSES {
                writeln!(text, "ListenAddress {}:{port}", address(number))?;
            }
            write!(
                text,
                "HostKey {at}/host\nPidFile none\nAuthorizedKeysFile {at}/authorized_keys\n\
                 StrictModes no\nUsePAM no\nPasswordAuthentication no\n\
                 KbdInteractiveAuthentication no\nMaxStartups 1000\nSetEnv HOME={at}/home\n"
            )?;
            fs::write(&file, text)?;
            let child = Command::new(sshd()?)
                .args(["-D", "-E"])
                .arg(folder.join("log"))
                .arg("-f")
                .arg(&file)
                .stdin(Stdio::null())
                .spawn()
                .context("sshd")?;
            servers.running.push(child);
            let begin = Instant::now();
            while TcpStream::connect((address(first), port)).is_err() {
                if begin.elapsed() > PATIENCE {
                    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
                    bail!("no answer from sshd: {log}");
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(servers)
    }

    fn one(&self, host: &str) -> Command {
        let mut ssh = Command::new("ssh");
        ssh.arg("-F")
            .arg(&self.config)
            .arg(host)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        ssh
    }

    /// Seconds until `true` has run on each host, so many at once.
    fn ssh(&self, prefix: &str, at_once: usize) -> Result<f64> {
        let begin = Instant::now();
        let mut waiting = 0..HOSTS;
        let mut running: Vec<Child> = Vec::new();
        loop {
            while running.len() < at_once
                && let Some(number) = waiting.next()
            {
                running.push(self.one(&format!("{prefix}{number}")).arg("true").spawn()?);
            }
            // In the order in which they began: the others end meanwhile.
            if running.is_empty() {
                return Ok(begin.elapsed().as_secs_f64());
            }
            let mut ended = None;
            for (at, child) in running.iter_mut().enumerate() {
                if let Some(status) = child.try_wait()? {
                    ensure!(status.success(), "ssh: {status}");
                    ended = Some(at);
                    break;
                }
            }
            match ended {
                Some(at) => drop(running.swap_remove(at)),
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    /// Bytes that an `ssh` has to itself while it is connected, its share of what all of them
    /// share included (proc(5), `Pss`); the mean of ten.
    fn memory(&self) -> Result<f64> {
        let mut running = Vec::new();
        for number in 0..10 {
            let mut ssh = self.one(&format!("many{number}"));
            let mut child = ssh
                .arg("echo on; exec sleep 60")
                .stdout(Stdio::piped())
                .spawn()?;
            let mut said = [0; 3];
            std::io::Read::read_exact(&mut child.stdout.take().context("no pipe")?, &mut said)?;
            running.push(child);
        }
        let all = running
            .iter()
            .map(|child| field(&format!("/proc/{}/smaps_rollup", child.id()), "Pss:"))
            .sum::<Result<f64>>();
        for mut child in running {
            child.kill()?;
            child.wait()?;
        }
        Ok(all? / 10.0)
    }
}

fn address(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 1, 1 + number as u8)
}

impl Drop for Servers {
    fn drop(&mut self) {
        for child in &mut self.running {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
