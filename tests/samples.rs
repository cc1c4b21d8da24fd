//! What Proxmox VE prints is read to what stands beside it: logs of our own of every shape that was seen
//! (more stand in `tests/fixtures/logs`), and samples of the real ones, where somebody has a folder of them:
//!
//!     COMEBACK_SAMPLES=FOLDER cargo test --test samples -- --ignored
//!
//! `logs/*.md` in it hold a log and the values expected of it, as JSON; `pve-transcripts/*.txt` a command, its
//! exit status, and the pieces in which its output came.
#![cfg(test)]

use std::fs;
use std::path::{Path, PathBuf};

use comeback::event::Stream;
use comeback::progress::task::{Upid, Verdict, last_line};
use comeback::progress::{Finding, Line, Lines, reader};
use serde_json::Value;

/// Names and texts of the files of a folder with this ending.
fn files(folder: &Path, ending: &str) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let mut all: Vec<_> = entries
        .map(|entry| entry.unwrap())
        .filter_map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            let name = name.strip_suffix(ending)?.to_owned();
            Some((name, fs::read_to_string(entry.path()).unwrap()))
        })
        .collect();
    all.sort();
    all
}

/// A folder of samples of the real ones.
fn shared(folder: &str) -> PathBuf {
    let root = std::env::var("COMEBACK_SAMPLES");
    Path::new(&root.expect("COMEBACK_SAMPLES names the folder of the samples")).join(folder)
}

/// The reader of a program's output, where there is one.
fn program(text: &str) -> Option<&'static str> {
    let word = |name: &str| text.split([' ', '/', '-', '\'']).any(|word| word == name);
    if word("vzdump") {
        Some("vzdump")
    } else if word("qmrestore") || word("restore") {
        Some("qmrestore")
    } else {
        None
    }
}

fn read(name: &str, pieces: &[(Stream, &[u8])]) -> Vec<Finding> {
    let mut reader = reader(name).unwrap();
    let (mut lines, mut found) = (Lines::default(), Vec::new());
    let mut take = |line: Line<'_>| reader.line(line, &mut found);
    for (stream, piece) in pieces {
        lines.feed(*stream, piece, &mut take);
    }
    lines.finish(&mut take);
    reader.finish(&mut found);
    found
}

fn causes(found: &[Finding]) -> Vec<&str> {
    let causes = found.iter().filter_map(|one| match one {
        Finding::Cause(text) => Some(text.as_str()),
        _ => None,
    });
    causes.collect()
}

fn figures(found: &[Finding], wanted: &str) -> Vec<(f64, f64)> {
    let figure = |one: &Finding| match one {
        Finding::Figure {
            name,
            value,
            resolution,
            ..
        } if *name == wanted => Some((*value, *resolution)),
        _ => None,
    };
    found.iter().filter_map(figure).collect()
}

fn values<'a>(found: &'a [Finding], wanted: &str) -> Vec<&'a str> {
    let value = |one: &'a Finding| match one {
        Finding::Value { name, value } if *name == wanted => Some(value.as_str()),
        _ => None,
    };
    found.iter().filter_map(value).collect()
}

/// The last percent that is told.
fn percent(found: &[Finding]) -> Option<f64> {
    let percent = |one: &Finding| match one {
        Finding::Progress { percent, .. } => *percent,
        _ => None,
    };
    found.iter().rev().find_map(percent)
}

/// `636 MiB (printed "MB")`, `1.92 GiB / 24%`, 878131200: bytes, or seconds, or percent.
fn number(expected: &Value) -> Option<f64> {
    if let Some(number) = expected.as_f64() {
        return Some(number);
    }
    // What is a sum has no figure of its own.
    let text = expected.as_str().filter(|text| !text.contains(" + "))?;
    let mut words = text.split([' ', '/']);
    let value: f64 = words.next()?.parse().ok()?;
    let unit = match words.next().unwrap_or_default() {
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "B" | "" => 1.0,
        _ => return None,
    };
    Some(value * unit)
}

/// Of each program, what the samples call a figure, and what it is here.
const FIGURES: [(&str, &str, &str); 26] = [
    ("vzdump", "bytes_written", "written"),
    ("vzdump", "bytes", "written"),
    ("vzdump", "archive_size", "archive_size"),
    ("vzdump", "archive", "archive_size"),
    ("vzdump", "task_s", "backup"),
    ("vzdump", "task_s_log", "backup"),
    ("vzdump", "backup_s", "backup"),
    ("vzdump", "wall_s_from_timestamps", "stamped"),
    ("vzdump", "seconds", "copy"),
    ("vzdump", "transferred_s", "copy"),
    ("vzdump", "downtime_s", "downtime"),
    ("vzdump", "pause_s", "pause"),
    ("vzdump", "disk_bytes", "disks"),
    ("vzdump", "sparse", "sparse"),
    ("vzdump", "sparse_bytes", "sparse"),
    ("vzdump", "reused", "reused"),
    ("vzdump", "dirty", "dirty"),
    ("qmrestore", "total_bytes", "read"),
    ("qmrestore", "sparse_bytes", "sparse"),
    ("qmrestore", "zero_bytes", "sparse"),
    ("qmrestore", "extract_s", "extract"),
    ("qmrestore", "zero4k_pct", "zero_4k_share"),
    ("qmrestore", "data_bytes_written", "written"),
    ("qmrestore", "data_bytes", "written"),
    ("qmrestore", "speed", "rate"),
    ("qmrestore", "bytes", "read"),
];

/// Why what was found is not what is expected.
fn objections(program: &str, found: &[Finding], expected: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let last = expected.get("final").and_then(Value::as_str);
    let last = last.unwrap_or_default();
    let failed = last.starts_with("ERROR");
    for (_, key, name) in FIGURES.iter().filter(|one| one.0 == program) {
        let all = figures(found, name);
        match expected.get(key) {
            Some(Value::Null) if !all.is_empty() => wrong.push(format!("{key}: {all:?}, not none")),
            Some(one) => {
                if let Some(want) = number(one)
                    && !all.is_empty()
                    && all
                        .iter()
                        .all(|(is, fine)| (is - want).abs() > fine.max(want * 1e-9))
                {
                    wrong.push(format!("{key}: {all:?}, not {want}"));
                } else if number(one).is_some() && all.is_empty() && !failed {
                    wrong.push(format!("{key}: nothing, not {one}"));
                }
            }
            None => {}
        }
    }
    for key in ["percent", "percent_last"] {
        let is = percent(found);
        match expected.get(key) {
            Some(want) if want.as_f64() != is => wrong.push(format!("{key}: {is:?}, not {want}")),
            _ => {}
        }
    }
    for (key, name, says) in [
        ("mode", "mode", None),
        ("mode_used", "mode", None),
        ("guest", "guest", None),
        (
            "freeze",
            "freeze",
            Some([("yes", "done"), ("SKIPPED", "skipped")]),
        ),
    ] {
        let Some(want) = expected.get(key).and_then(Value::as_str) else {
            continue;
        };
        let want = says
            .and_then(|says| says.into_iter().find(|(sign, _)| want.starts_with(sign)))
            .map_or(want, |(_, is)| is);
        if values(found, name).last() != Some(&want) {
            wrong.push(format!("{key}: {:?}, not {want}", values(found, name)));
        }
    }
    let why = causes(found);
    if failed && why.is_empty() {
        wrong.push("no cause".to_owned());
    }
    if last.to_lowercase().starts_with("ok") && !why.is_empty() {
        wrong.push(format!("it ended well, not: {why:?}"));
    }
    if let Some(count) = expected.get("causes")
        && count.as_u64() != Some(why.len() as u64)
    {
        wrong.push(format!("told {} times: {why:?}", why.len()));
    }
    // Where the sample has the words of the log, with what it leaves out as `...`.
    if let Some(want) = expected
        .get("cause")
        .and_then(Value::as_str)
        .filter(|want| want.contains(": "))
    {
        let parts: Vec<_> = want.split("...").map(str::trim).collect();
        if !why
            .first()
            .is_some_and(|is| parts.iter().all(|part| is.contains(part)))
        {
            wrong.push(format!("cause: {why:?}, not {want:?}"));
        }
    }
    wrong
}

fn between<'a>(text: &'a str, begin: &str) -> Option<&'a str> {
    Some(text.split_once(begin)?.1.split_once("\n```")?.0)
}

/// Reads each log of Proxmox VE in a folder, whole and in pieces.
fn assert_read(folder: &Path, least: usize) {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, text) in files(folder, ".md") {
        let Some(program) = program(&name).filter(|_| name.starts_with("pve-")) else {
            continue;
        };
        count += 1;
        let log = between(&text, "```text\n")
            .unwrap()
            .replace('\u{240d}', "\r");
        let expected: Value = serde_json::from_str(between(&text, "```json\n").unwrap()).unwrap();
        let whole = read(program, &[(Stream::Out, log.as_bytes())]);
        for size in 1..8 {
            let pieces = log.as_bytes().chunks(size);
            let pieces: Vec<_> = pieces.map(|piece| (Stream::Out, piece)).collect();
            if read(program, &pieces) != whole {
                wrong.push(format!(
                    "{name}: in pieces of {size} it says something else"
                ));
            }
        }
        let objections = objections(program, &whole, &expected);
        wrong.extend(objections.iter().map(|why| format!("{name}: {why}")));
    }
    assert!(count >= least, "{count} logs");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn logs_of_every_shape_are_read_to_what_stands_beside_them() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/samples");
    assert_read(Path::new(folder), 12);
}

#[test]
#[ignore = "needs a folder of samples"]
fn so_are_the_real_ones() {
    assert_read(&shared("logs"), 20);
}

/// Exit status, the pieces in their order, the task's log behind them.
struct Transcript<'a> {
    command: &'a str,
    exit: i32,
    pieces: Vec<(Stream, Vec<u8>)>,
    log: Option<(&'a str, &'a str)>,
}

fn transcript(text: &str) -> Option<Transcript<'_>> {
    let command = text.lines().next()?.strip_prefix("COMMAND: ")?;
    let exit = text.lines().find_map(|line| line.strip_prefix("EXIT: "))?;
    let exit = exit.split_whitespace().next()?.parse().ok()?;
    let (mut pieces, mut log) = (Vec::<(Stream, Vec<u8>)>::new(), None);
    let mut rows = text.split_once("--- chunks")?.1.split_once('\n')?.1;
    if let Some((before, behind)) = rows.split_once("\n--- task log: ") {
        rows = before;
        let (head, lines) = behind.split_once('\n')?;
        let name = head.split_whitespace().next()?.rsplit('/').next()?;
        log = Some((name, lines.split("\n--- ").next()?));
    }
    for row in rows.lines() {
        // `   1010 O| text`; what goes on of the same piece has a blank for the bar.
        let Some((stream, text)) = row.trim_start().split_once(' ').and_then(|(at, rest)| {
            at.parse::<u64>().ok()?;
            let stream = match rest.chars().next()? {
                'E' => Stream::Err,
                'O' | 'T' => Stream::Out,
                _ => return None,
            };
            Some((stream, rest.get(3..)?))
        }) else {
            continue;
        };
        let text = text
            .strip_suffix('\u{b6}')
            .map_or_else(|| text.to_owned(), |line| format!("{line}\n"));
        pieces.push((stream, text.into_bytes()));
    }
    Some(Transcript {
        command,
        exit,
        pieces,
        log,
    })
}

#[test]
#[ignore = "needs a folder of samples"]
fn transcripts_end_as_their_commands_did() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (name, text) in files(&shared("pve-transcripts"), ".txt") {
        let Some(seen) = transcript(&text) else {
            continue;
        };
        count += 1;
        // Then status and output are the shell's.
        let of_shell = seen.command.starts_with("bash -c");
        if let Some((upid, log)) = seen.log {
            // A Backup Server's have a field more.
            if Upid::parse(upid).is_none() && upid.matches(':').count() == 8 {
                wrong.push(format!("{name}: {upid} is no task's name"));
            }
            let verdict = last_line(log.trim_end().lines().last().unwrap_or_default());
            let good = matches!(verdict, Verdict::Ok | Verdict::Warnings(_));
            // `pvesh create` ends with 0 all the same.
            if good != (seen.exit == 0) && !of_shell && !seen.command.starts_with("pvesh ") {
                wrong.push(format!("{name}: exit {}, {verdict:?}", seen.exit));
            }
        }
        let Some(program) = program(seen.command).filter(|_| !of_shell) else {
            continue;
        };
        let pieces: Vec<_> = seen
            .pieces
            .iter()
            .map(|(stream, piece)| (*stream, piece.as_slice()))
            .collect();
        let found = read(program, &pieces);
        let why = causes(&found);
        // One that a signal ended said nothing.
        if ![0, 129, 137].contains(&seen.exit) && (why.is_empty() || why[0] == "job errors") {
            wrong.push(format!(
                "{name}: exit {}, and the cause is {why:?}",
                seen.exit
            ));
        }
        // A command that ends with 0 may have printed errors; they count only where it failed.
        if seen.exit == 0 && text.contains("O| INFO: 100%") && percent(&found) != Some(100.0) {
            wrong.push(format!("{name}: not at 100 %"));
        }
    }
    assert!(count > 100, "{count} transcripts");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
