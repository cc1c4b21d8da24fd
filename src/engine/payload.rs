//! Seeded bytes that do not compress, and change sets in them.
//!
//! The bytes are an AES-128-CTR key stream made by `openssl` on the host; where there is none they
//! come from here, through the script's standard input.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::event::count;
use crate::host::hashing::hex;
use crate::host::{Answer, Channel, Exit, Host, HostError, Said};

use super::control::Control;
use super::shell::{quote, reason, text_of};

/// A script, and how many bytes it reads from its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Made {
    /// Shell text.
    pub script: String,
    /// Bytes that it reads from here; none where the host makes them.
    pub streamed: Option<u64>,
    /// Seed of the bytes.
    pub seed: [u8; 32],
}

/// Folder within the payload that holds the seeded files.
const FILES: &str = "files";

/// A seed that is the same for every binding of one size, and another for each repetition.
pub(super) fn seed(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// How long a script may take to read and write its bytes.
const PATIENCE: Duration = Duration::from_hours(6);

/// Sends the bytes of a payload to its script. None where the operator stopped it; else what
/// the script printed, or why it failed.
///
/// # Errors
/// Where the host is lost.
pub(super) async fn stream(
    host: &dyn Host,
    made: &Made,
    control: &Control,
) -> Result<Option<Result<String, String>>, HostError> {
    let Channel {
        mut stdin,
        mut output,
    } = host.exec(&made.script).await?;
    let mut bytes = Stream::new(made);
    let feed = async move {
        let mut buffer = vec![0; 256 * 1024];
        loop {
            let count = bytes.fill(&mut buffer);
            let Some(part) = buffer.get(..count).filter(|part| !part.is_empty()) else {
                break;
            };
            // A script that gives up breaks this pipe; its exit says why.
            if stdin.write_all(part).await.is_err() {
                break;
            }
        }
        let _ = stdin.shutdown().await;
    };
    let read = async {
        let mut answer = Answer {
            out: Vec::new(),
            err: Vec::new(),
            exit: Exit::Unknown,
        };
        while let Some(said) = output.recv().await {
            match said {
                Said::Out(more) => answer
                    .out
                    .extend(more.iter().take(KEEP - answer.out.len().min(KEEP))),
                Said::Err(more) => answer
                    .err
                    .extend(more.iter().take(KEEP - answer.err.len().min(KEEP))),
                Said::Exit(exit) => answer.exit = exit,
            }
        }
        answer
    };
    let both = async { tokio::join!(feed, read).1 };
    let answer = tokio::select! {
        answer = timeout(PATIENCE, both) => answer,
        () = control.stopped() => return Ok(None),
    };
    Ok(Some(match answer {
        Ok(answer) if answer.exit == Exit::Code(0) => Ok(text_of(&answer.out)),
        Ok(answer) => Err(reason(&answer)),
        Err(_late) => Err(format!("it took more than {} s", PATIENCE.as_secs())),
    }))
}

/// What is kept of what a script prints.
const KEEP: usize = 64 * 1024;

/// The bytes of a seed, made here.
pub(super) struct Stream {
    random: StdRng,
    left: u64,
}

impl Stream {
    pub fn new(made: &Made) -> Self {
        Self {
            random: StdRng::from_seed(made.seed),
            left: made.streamed.unwrap_or(0),
        }
    }

    /// Fills the buffer with the next bytes, and says how many there are.
    pub fn fill(&mut self, buffer: &mut [u8]) -> usize {
        let count = usize::try_from(self.left).map_or(buffer.len(), |left| left.min(buffer.len()));
        if let Some(part) = buffer.get_mut(..count) {
            self.random.fill_bytes(part);
        }
        self.left -= count as u64;
        count
    }
}

fn bytes_of(seed: &[u8; 32], from: usize, count: usize) -> String {
    hex(seed.get(from..from + count).unwrap_or_default())
}

fn by(openssl: bool) -> &'static str {
    if openssl {
        "made on the host by openssl"
    } else {
        "sent from here"
    }
}

fn source(openssl: bool, seed: &[u8; 32], bytes: &str) -> String {
    if openssl {
        format!(
            "openssl enc -aes-128-ctr -nosalt -K {key} -iv {iv} -in /dev/zero 2>/dev/null | head -c {bytes} | ",
            key = bytes_of(seed, 0, 16),
            iv = bytes_of(seed, 16, 16),
        )
    } else {
        String::new()
    }
}

/// A new tree: `files` files of equal size in one folder, and the entries that a copy most often
/// loses: an empty folder, links, modes, an odd name.
pub(super) fn tree(path: &str, size: u64, files: u64, openssl: bool, seed: [u8; 32]) -> Made {
    let files = files.max(1);
    let each = (size / files).max(1);
    let total = each * files;
    let (what, bytes) = (count(files, "file"), count(each, "byte"));
    let script = format!(
        r#"# {what} of {bytes} that do not compress, {by}
set -e
d={path}
if [ -e "$d" ] || [ -L "$d" ]; then echo "there is something at $d already" >&2; exit 1; fi
mkdir -m 755 -- "$d"
cd -- "$d"
mkdir {FILES} empty
{source}split -b {each} -a 5 - {FILES}/f
n=$(find {FILES} -type f | wc -l); b=$(find {FILES} -type f -exec stat -c %s {{}} + | awk '{{ s += $1 }} END {{ printf "%.0f", s }}')
if [ "$n" -ne {files} ] || [ "$b" != {total} ]; then echo "$n files with $b bytes were made, not {files} with {total}: is the disk full?" >&2; exit 1; fi
first=$(ls {FILES} | head -n 1)
chmod 600 "{FILES}/$first"
ln "{FILES}/$first" hard-link
ln -s {FILES} symbolic-link
printf 'an odd name\n' >"odd name: \"quotes\", a
new line"
chmod 640 odd*
if command -v setfattr >/dev/null 2>&1; then setfattr -n user.comeback -v payload hard-link 2>/dev/null || :; fi
sync
{sample}"#,
        path = quote(path),
        by = by(openssl),
        source = source(openssl, &seed, &total.to_string()),
        sample = sample(total),
    );
    Made {
        script,
        streamed: (!openssl).then_some(total),
        seed,
    }
}

/// Packs the first 8 MiB, so that nobody measures a compressor.
fn sample(total: u64) -> String {
    let part = total.min(8 << 20);
    format!(
        r#"if command -v zstd >/dev/null 2>&1; then c='zstd -q -3 -c'; else c='gzip -1 -c'; fi
part() {{ find {FILES} -type f -exec cat {{}} + 2>/dev/null | head -c {part}; }}
got=$(part | wc -c); out=$(part | $c | wc -c)
if [ "$got" -ne {part} ]; then echo "$got bytes of {part} could be read of the files that were made" >&2; exit 1; fi
echo "sample: $((got)) bytes pack to $out by ${{c%% *}}""#
    )
}

/// How many files a share of `files` is: at least one where any was asked for.
fn share(files: u64, percent: f64) -> u64 {
    if percent <= 0.0 || files == 0 {
        return 0;
    }
    ((files as f64 * percent / 100.0).round() as u64).clamp(1, files)
}

/// Overwrites, deletes and creates shares of a tree made by [`tree`].
pub(super) fn change(
    path: &str,
    made: (u64, u64),
    (overwrite, delete, create): (f64, f64, f64),
    openssl: bool,
    seed: [u8; 32],
) -> Made {
    let (size, files) = (made.0, made.1.max(1));
    let each = (size / files).max(1);
    let written = share(files, overwrite);
    let deleted = share(
        files.saturating_sub(written),
        delete * files as f64 / files.saturating_sub(written).max(1) as f64,
    );
    let created = share(files, create);
    let total = (written + created) * each;
    // `dd` by whole blocks and a rest: exact from a pipe, with little memory, on every system.
    let put = format!(
        r#"put() {{ said=$({{ {whole}{rest}:; }} 2>/dev/null | dd of="$1" conv=notrunc bs=65536 2>&1) || {{ printf '%s\n' "$said" | head -n 1 >&2; return 1; }}; }}"#,
        whole = if each >= 65536 {
            format!("dd bs=65536 count={} iflag=fullblock; ", each / 65536)
        } else {
            String::new()
        },
        rest = if each % 65536 > 0 {
            format!("dd bs={} count=1 iflag=fullblock; ", each % 65536)
        } else {
            String::new()
        },
    );
    let (what, bytes) = (count(files, "file"), count(each, "byte"));
    let script = format!(
        r#"# {written} of {what} overwritten, {deleted} deleted, {created} created, {bytes} each, {by}
set -e
cd -- {path}/{FILES}
{put}
set -- *
if [ $# -ne {files} ]; then echo "$# files are there, not {files}" >&2; exit 1; fi
{source}(
i=0; while [ $i -lt {written} ]; do put "$1"; shift; i=$((i+1)); done
i=0; n=0; while [ $i -lt {created} ]; do if [ ! -e "new$n" ]; then put "new$n"; i=$((i+1)); fi; n=$((n+1)); done
)
i=0; while [ $i -lt {written} ]; do shift; i=$((i+1)); done
i=0; while [ $i -lt {deleted} ]; do rm -- "$1"; shift; i=$((i+1)); done
for f in new*; do if [ -e "$f" ] && [ "$(stat -c %s -- "$f")" != {each} ]; then echo "$f has not {each} bytes: is the disk full?" >&2; exit 1; fi; done
n=$(ls | wc -l); if [ "$n" -ne {left} ]; then echo "$n files are left, not {left}" >&2; exit 1; fi
sync
echo "{written} overwritten, {deleted} deleted, {created} created, {bytes} each""#,
        path = quote(path),
        by = by(openssl),
        source = source(openssl, &seed, &total.to_string()),
        left = files - deleted + created,
    );
    Made {
        script,
        streamed: (!openssl).then_some(total),
        seed,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::symlink;
    use std::process::{Command, Output, Stdio};

    use super::*;

    fn run(made: &Made) -> Output {
        let zeros = Stdio::from(File::open("/dev/zero").unwrap());
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(&made.script).stdin(zeros);
        shell.output().unwrap()
    }

    #[test]
    fn more_files_than_a_command_takes_are_sampled_all_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().join("tree").display().to_string();
        let mut made = super::tree(&tree, 14000, 14000, true, [7; 32]);
        made.script = format!("ulimit -s 1024\n{}", made.script);
        let ran = run(&made);
        let said = String::from_utf8_lossy(&ran.stdout);
        let sample = said
            .lines()
            .find_map(|line| line.strip_prefix("sample: 14000 bytes pack to "));
        let packed = sample.and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
        assert!(
            ran.status.success() && packed.is_some_and(|packed| packed > 13_000),
            "{ran:?}"
        );
    }

    #[test]
    fn a_change_set_that_finds_no_room_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().join("tree").display().to_string();
        let (made, shares) = ((40_000, 4), (25.0, 0.0, 0.0));
        let change = |seed| super::change(&tree, made, shares, false, seed);
        let files = format!("{tree}/{FILES}");
        std::fs::create_dir_all(&files).unwrap();
        for name in ["fa", "fb", "fc", "fd"] {
            std::fs::write(format!("{files}/{name}"), vec![7; 10_000]).unwrap();
        }
        let ran = run(&change([1; 32]));
        assert!(ran.status.success(), "{ran:?}");
        assert_eq!(std::fs::read(format!("{files}/fa")).unwrap(), [0; 10_000]);
        assert_eq!(std::fs::read(format!("{files}/fb")).unwrap(), [7; 10_000]);

        std::fs::remove_file(format!("{files}/fa")).unwrap();
        symlink("/dev/full", format!("{files}/fa")).unwrap();
        let ran = run(&change([2; 32]));
        assert!(!ran.status.success());
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(said.contains("No space left on device"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
