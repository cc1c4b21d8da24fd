use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use chrono::{DateTime, Offset as _};

use super::*;
use crate::event::{Binding, Labels, Phase, Plan, RunChange, StepChange, to_line};
use crate::session::Session;

/// A recording of one run with two steps.
struct Tape {
    events: Vec<Event>,
}

impl Tape {
    fn new() -> Self {
        let binding = Binding {
            id: "b1".into(),
            method: "files/../cp \u{1b}[31m".into(),
            ..Binding::default()
        };
        let header = Header {
            format: crate::event::FORMAT.into(),
            started: DateTime::from_timestamp(1_790_000_000, 0).unwrap(),
            session: "cb-51f0c0de".into(),
            plan: Plan {
                bindings: vec![binding],
                ..Plan::default()
            },
            program: "comeback".into(),
            origin: crate::event::Origin::Captured,
            facts: BTreeMap::new(),
            masked: Vec::new(),
        };
        let mut tape = Self { events: Vec::new() };
        tape.tell(0.0, What::Header(Box::new(header)));
        let state = RunState::Started {
            binding: "b1".into(),
            rep: 2,
            order: 1,
            series: "full".into(),
            labels: Labels::new(),
        };
        let run = "r1".into();
        tape.tell(0.0, What::Run(RunChange { run, state }));
        tape.step("s1", "backup", "tar -cf /x .\nsync\n");
        tape.step("s2", "load", "yes");
        tape
    }

    fn tell(&mut self, seconds: f64, what: What) {
        let t = Nanos((seconds * 1e9) as u64);
        let seq = self.events.len() as u64;
        self.events.push(Event { seq, t, what });
    }

    fn step(&mut self, id: &str, name: &str, command: &str) {
        let planned = PlannedCommand {
            run: "r1".into(),
            name: name.into(),
            phase: Phase::Protect,
            host: "nas".into(),
            action: "run".into(),
            command: command.into(),
            timed: true,
            destroys: None,
            background: false,
            shows: None,
            labels: Labels::new(),
        };
        for state in [StepState::Planned(planned), StepState::Started] {
            let step = id.into();
            self.tell(1.0, What::Step(Box::new(StepChange { step, state })));
        }
    }

    fn print(&mut self, seconds: f64, step: &str, text: &str) {
        let chunk = LogChunk {
            step: step.into(),
            stream: Stream::Out,
            offset: 0,
            text: Some(text.into()),
            base64: None,
        };
        self.tell(seconds, What::Log(chunk));
    }

    fn save(&self, folder: &Path, step: Option<&str>, stamps: Stamps) -> Result<Saved, String> {
        let file = folder.join("recording.jsonl");
        let lines: Vec<String> = self
            .events
            .iter()
            .map(|event| to_line(event).unwrap())
            .collect();
        fs::write(&file, lines.join("\n") + "\n").unwrap();
        let wanted = Wanted {
            run: "r1".into(),
            step: step.map(Into::into),
            stamps,
            zone: Utc.fix(),
        };
        save(&file, &wanted, &[folder.join("logs")])
    }
}

#[test]
fn a_run_is_saved_with_its_commands_and_times() {
    let folder = tempfile::tempdir().unwrap();
    let mut tape = Tape::new();
    tape.print(1.5, "s1", "\u{1b}]0;title\u{7}one\n10%\r");
    tape.print(2.0, "s2", "y\n");
    tape.print(2.5, "s1", "20%\r99%\nlast");
    let saved = tape.save(folder.path(), None, Stamps::SinceBegin).unwrap();
    let name = saved.path.file_name().unwrap().to_str().unwrap();
    assert_eq!(name, "cb-51f0c0de-files-..-cp-31m-2.log");
    assert!(saved.path.is_absolute());
    let mode = fs::metadata(&saved.path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(&saved.path).unwrap();
    let wanted = "\
# cb-51f0c0de, files/../cp [31m, repetition 2
# control sequences are left out; a line that was rewritten stands as it was last

# backup on nas, began 14:13:21.000
# $ tar -cf /x .
# $ sync

# load on nas, began 14:13:21.000
# $ yes

# backup on nas, began 14:13:21.000
# $ tar -cf /x .
# $ sync
      +0.500  one

# load on nas, began 14:13:21.000
# $ yes
      +1.000  y

# backup on nas, began 14:13:21.000
# $ tar -cf /x .
# $ sync
      +1.500  99%
      +1.500  last
";
    assert_eq!(text, wanted);
    assert_eq!(saved.lines as usize, text.lines().count());
}

#[test]
fn a_step_is_saved_alone_and_nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let mut tape = Tape::new();
    tape.print(1.5, "s1", "one\n");
    tape.print(2.0, "s2", "y\n");
    let first = tape.save(folder.path(), Some("s1"), Stamps::Off).unwrap();
    let text = fs::read_to_string(&first.path).unwrap();
    assert!(text.ends_with("# $ sync\none\n"), "{text}");
    assert!(
        first
            .path
            .ends_with("cb-51f0c0de-files-..-cp-31m-2-backup.log")
    );
    fs::write(&first.path, "mine").unwrap();
    let second = tape.save(folder.path(), Some("s1"), Stamps::Off).unwrap();
    assert!(
        second
            .path
            .ends_with("cb-51f0c0de-files-..-cp-31m-2-backup-2.log")
    );
    assert_eq!(fs::read_to_string(&first.path).unwrap(), "mine");
}

#[test]
fn the_next_folder_is_taken_where_the_first_takes_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("recording.jsonl");
    let mut tape = Tape::new();
    tape.print(1.5, "s1", "one\n");
    tape.save(folder.path(), None, Stamps::Off).unwrap();
    let wanted = Wanted {
        run: "r1".into(),
        step: None,
        stamps: Stamps::Off,
        zone: Utc.fix(),
    };
    let folders = [file.join("no folder"), folder.path().join("state/logs")];
    let saved = save(&file, &wanted, &folders).unwrap();
    assert!(
        saved
            .path
            .starts_with(folder.path().canonicalize().unwrap().join("state/logs"))
    );
    let why = save(&file, &wanted, &folders[..1]).unwrap_err();
    assert!(why.contains("no folder"), "{why}");
}

#[test]
fn a_subject_takes_no_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut tape = Tape::new();
    tape.print(1.5, "s1", "one\n");
    let home = folder.path().join("logs");
    fs::create_dir(&home).unwrap();
    let What::Header(header) = &mut tape.events[0].what else {
        panic!("no header");
    };
    let binding = &mut header.plan.bindings[0];
    binding.roles = BTreeMap::from([("source".into(), "local".into())]);
    binding.subject.kind = "dir".into();
    binding.subject.id = home.display().to_string();
    let why = tape.save(folder.path(), None, Stamps::Off).unwrap_err();
    assert!(why.contains("stands in the subject"), "{why}");
    let file = folder.path().join("recording.jsonl");
    let wanted = Wanted {
        run: "r1".into(),
        step: None,
        stamps: Stamps::Off,
        zone: Utc.fix(),
    };
    let folders = [home.join("deeper"), folder.path().join("state")];
    let saved = save(&file, &wanted, &folders).unwrap();
    assert!(saved.path.parent().unwrap().ends_with("state"));
    assert_eq!(fs::read_dir(&home).unwrap().count(), 0);
}

/// An empty line takes 14 bytes in memory, and one here.
const LINES: usize = 5_500_000;

#[test]
fn what_memory_keeps_no_more_is_saved_too() {
    let folder = tempfile::tempdir().unwrap();
    let mut tape = Tape::new();
    tape.print(1.5, "s1", "the very first\n");
    for _ in 0..LINES / 50_000 {
        tape.print(2.0, "s1", &"\n".repeat(50_000));
    }
    let mut session = Session::default();
    for event in &tape.events {
        session.apply(event);
    }
    let dropped = session.log.dropped(&"s1".into());
    assert!(dropped > 0, "the test needs more lines");
    let saved = tape.save(folder.path(), Some("s1"), Stamps::Off).unwrap();
    let text = fs::read_to_string(&saved.path).unwrap();
    let (head, output) = text.split_once("\nthe very first\n").unwrap();
    assert_eq!(output.lines().count(), LINES);
    assert_eq!(saved.lines as usize, head.lines().count() + 1 + LINES);
}
