//! What can be typed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

use crate::event::Order;
use crate::method::{Kind, SettingValue};

const CODES: &str = "Exit codes:
  0    done, and everything verified
  1    a run or a proof failed
  2    the arguments or a file are wrong
  3    a host cannot be reached, logged into or trusted
  4    refused by the guard or a preflight check
  130  stopped by the operator
Where several apply, the highest. Data goes to standard output, talk to standard error.";

/// How fast does your data come back?
#[derive(Debug, Parser)]
#[command(name = "comeback", version, about, after_help = CODES, subcommand_precedence_over_arg = true)]
pub struct Cli {
    /// Hosts of the dashboard: `[user@]name[:port]`, or local
    pub hosts: Vec<String>,
    /// Configuration file
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Theme of the dashboard
    #[arg(long, global = true, value_name = "NAME")]
    pub theme: Option<String>,
    /// Colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    /// What to do; the dashboard where nothing is said.
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Cli {
    /// Reads what was typed.
    ///
    /// # Errors
    /// What is wrong with it, or the help that was asked for.
    pub fn read(
        typed: impl IntoIterator<Item: Into<OsString> + Clone>,
    ) -> Result<Self, clap::Error> {
        let cli = Self::try_parse_from(typed)?;
        // clap's own rule for this takes each word after a global flag for a host.
        match (cli.hosts.first(), &cli.command) {
            (Some(host), Some(_)) => {
                let why = format!(
                    "hosts without a command are those of the dashboard: unexpected {host:?} before a command"
                );
                Err(Self::command().error(ErrorKind::ArgumentConflict, why))
            }
            _ => Ok(cli),
        }
    }
}

/// When colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// Where the terminal can, and `NO_COLOR` is not set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a terminal.
    Table,
    /// For a page.
    Markdown,
    /// A row a sample.
    Csv,
    /// `comeback-report/1`.
    Json,
}

/// How bindings take turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderArg {
    /// A B C, B C A, …
    Interleaved,
    /// A A A, B B B, …
    ByMethod,
}

impl From<OrderArg> for Order {
    fn from(order: OrderArg) -> Self {
        match order {
            OrderArg::Interleaved => Self::Interleaved,
            OrderArg::ByMethod => Self::ByMethod,
        }
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run methods without the dashboard, and report
    Run(RunArgs),
    /// Facts of the hosts; what would run, what is missing, and why
    Check(RunArgs),
    /// List methods, or show one with its settings filled in
    Methods(MethodsArgs),
    /// Replay a recording in the dashboard
    Replay(ReplayArgs),
    /// Report on recordings
    Report(ReportArgs),
    /// Tell how long other disks would take, from what was measured
    Project(ProjectArgs),
    /// Name what a session left on a host, and take it away
    Recover(RecoverArgs),
    /// Versions and paths
    Info,
    /// Completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What to run.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Host to run on; repeats each method on each [default: local]
    #[arg(long, value_name = "H")]
    pub host: Vec<String>,
    /// Method to run
    #[arg(long, value_name = "M")]
    pub method: Vec<String>,
    /// Host of another role of the methods
    #[arg(long, value_name = "ROLE=HOST")]
    pub role: Vec<String>,
    /// Subject: dir, subvolume, dataset, lv, vm, ct or vmdk
    #[arg(long, value_name = "[HOST/]KIND:ID")]
    pub subject: Vec<String>,
    /// Folder that takes the scratch folders [default: /var/tmp]
    #[arg(long, value_name = "DIR")]
    pub sandbox: Option<String>,
    /// Repetitions of each method
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub reps: u32,
    /// How methods take turns
    #[arg(long, value_enum, default_value_t = OrderArg::Interleaved)]
    pub order: OrderArg,
    /// Two methods that each run alone and both at once
    #[arg(long, value_name = "METHOD,METHOD")]
    pub together: Vec<Pair>,
    /// Of two at once, start the one that is done first again as long as the other goes on [default: it waits]
    #[arg(long)]
    pub restart: bool,
    /// Change a setting
    #[arg(long, value_name = "[METHOD.]KEY=VALUE")]
    pub set: Vec<String>,
    /// Allow that a marked subject is destroyed; NAME is its name, typed as a word for it
    #[arg(long, value_name = "[HOST/]KIND:ID=NAME")]
    pub destroy: Vec<String>,
    /// Recording; must not exist [default: a new file in the data folder]
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Write the recording's lines to standard output as they happen
    #[arg(long, conflicts_with = "format")]
    pub events: bool,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Print the commands and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Allow probing alone
    #[arg(long)]
    pub read_only: bool,
}

/// Which methods to show.
#[derive(Debug, Args)]
pub struct MethodsArgs {
    /// List, or show one
    #[command(subcommand)]
    pub action: Option<MethodsAction>,
}

/// What to do with methods.
#[derive(Debug, Subcommand)]
pub enum MethodsAction {
    /// List all
    List,
    /// Show one, with its settings filled in
    Show {
        /// Its name
        name: String,
        /// Change a setting
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
}

/// What to replay.
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The recording; without one, the list of all in the data folder
    pub file: Option<PathBuf>,
    /// How fast
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub speed: f64,
    /// As text, at once, without a dashboard
    #[arg(long, requires = "file")]
    pub plain: bool,
}

/// What to report on.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Recordings
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// What to carry over to which disks.
#[derive(Debug, Args)]
pub struct ProjectArgs {
    /// Recording that holds the rates
    pub file: PathBuf,
    /// A disk to move, once for each: 50GB, 400GiB [default: one as big as what was measured]
    #[arg(long, value_name = "SIZE", value_parser = disk)]
    pub disk: Vec<u64>,
    /// Two methods, the second of which begins with a disk when the first has done with it [default: those that were measured together]
    #[arg(long, value_name = "METHOD,METHOD")]
    pub pipeline: Option<Pair>,
    /// Format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
}

/// Two methods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair(pub [String; 2]);

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(',') {
            Some((one, other)) if !one.is_empty() && !other.is_empty() && !other.contains(',') => {
                Ok(Self([one.to_owned(), other.to_owned()]))
            }
            _ => Err(format!(
                "expected two methods such as esxi-clone,copy-ftp, not {text:?}"
            )),
        }
    }
}

fn disk(text: &str) -> Result<u64, String> {
    match Kind::Bytes.parse(text)? {
        SettingValue::Bytes(bytes) if bytes > 0 => Ok(bytes),
        _ => Err(format!(
            "expected a size above 0 such as 50GB, not {text:?}"
        )),
    }
}

/// What to recover.
#[derive(Debug, Args)]
pub struct RecoverArgs {
    /// The recording of the session
    #[arg(conflicts_with = "host")]
    pub file: Option<PathBuf>,
    /// The host, by its journals
    #[arg(long, value_name = "H")]
    pub host: Vec<String>,
    /// Take away what is left
    #[arg(long)]
    pub remove: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<Cli, String> {
        Cli::read(std::iter::once(&"comeback").chain(words)).map_err(|why| why.to_string())
    }

    /// Flags that hold everywhere, each with a value.
    const GLOBAL: [[&str; 2]; 3] = [
        ["--config", "/tmp/c.toml"],
        ["--theme", "nord"],
        ["--color", "never"],
    ];

    #[test]
    fn a_global_flag_may_stand_before_and_behind_every_command() {
        let commands: [&[&str]; 9] = [
            &["run", "--method", "files-cp", "--reps", "2"],
            &["check", "--host", "local"],
            &["methods", "show", "files-cp", "--set", "size=1MiB"],
            &["replay", "a.jsonl", "--speed", "4"],
            &["report", "a.jsonl", "--format", "json"],
            &["project", "a.jsonl", "--disk", "50GB"],
            &["recover", "--host", "local", "--remove"],
            &["info"],
            &["completions", "bash"],
        ];
        let known: Vec<_> = Cli::command()
            .get_subcommands()
            .map(|c| c.get_name().to_owned())
            .collect();
        let tried: Vec<_> = commands.iter().map(|words| words[0].to_owned()).collect();
        assert_eq!(known, tried);
        for words in commands {
            let plain = format!("{:?}", read(words).unwrap().command.unwrap());
            for flag in GLOBAL {
                for typed in [[&flag, words].concat(), [words, &flag].concat()] {
                    let cli = read(&typed).unwrap_or_else(|why| panic!("{typed:?}: {why}"));
                    assert_eq!(format!("{:?}", cli.command.unwrap()), plain, "{typed:?}");
                    assert!(cli.hosts.is_empty());
                }
            }
            let all = [GLOBAL.concat().as_slice(), words].concat();
            let cli = read(&all).unwrap();
            assert_eq!(cli.theme.as_deref(), Some("nord"));
            assert_eq!(cli.color, Color::Never);
            assert!(cli.config.is_some() && cli.command.is_some());
        }
    }

    #[test]
    fn hosts_are_those_of_the_dashboard() {
        let cli = read(&[
            "--theme",
            "nord",
            "pve1",
            "root@nas:2222",
            "--color",
            "always",
        ])
        .unwrap();
        assert_eq!(cli.hosts, ["pve1", "root@nas:2222"]);
        assert!(cli.command.is_none());
        let why = read(&["pve1", "replay", "a.jsonl", "--speed", "2"]).unwrap_err();
        assert!(why.contains("pve1"), "{why}");
        // A host that is named like a command.
        assert_eq!(read(&["--", "run"]).unwrap().hosts, ["run"]);
    }
}
