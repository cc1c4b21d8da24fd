use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::event::{Act, ActKind, Clock, Labels, Nanos, Sample};

fn event(seq: u64, text: &str) -> Event {
    Event {
        seq,
        t: Nanos(seq),
        what: What::Act(Act {
            act: ActKind::Note,
            text: text.to_owned(),
        }),
    }
}

#[test]
fn lines_are_in_the_file_after_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/folder/a.jsonl");
    let writer = Writer::create(&path).unwrap();
    writer.write(&event(0, "one"));
    writer.write(&event(1, "two"));
    writer.commit().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 2);
    assert!(text.ends_with('\n'));
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_line_reaches_the_file_without_a_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let writer = Writer::create(&path).unwrap();
    writer.write(&event(0, "one"));
    let begun = Instant::now();
    while fs::metadata(&path).unwrap().len() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(writer);
}

#[test]
fn nothing_is_left_behind_when_it_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let writer = Writer::create(&path).unwrap();
    for seq in 0..5000 {
        writer.write(&event(seq, "some text that fills a buffer"));
    }
    drop(writer);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 5000);
}

#[test]
fn a_file_that_is_there_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, "precious").unwrap();
    let error = Writer::create(&path).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "the recording {} is there already; name another file, it is never overwritten",
            path.display()
        )
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let path = folder.path().join("file/a.jsonl");
    let error = Writer::create(&path).unwrap_err().to_string();
    assert!(error.contains("file cannot be made: "), "{error}");
}

#[test]
fn what_cannot_be_read_back_is_told_and_leaves_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let writer = Writer::create(&path).unwrap();
    let mut sample = event(0, "");
    sample.what = What::Sample(Sample {
        run: "r1".into(),
        step: None,
        name: "restore".into(),
        series: "full".into(),
        value: f64::NAN,
        unit: "s".into(),
        clock: Some(Clock::Host),
        resolution: 0.0,
        labels: Labels::new(),
    });
    writer.write(&sample);
    writer.write(&event(1, &"x".repeat(MOST_LINE)));
    writer.write(&event(2, "fine"));
    for _ in 0..2 {
        let error = writer.commit().unwrap_err().to_string();
        assert!(error.contains("a figure is not a number"), "{error}");
    }
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<Event> = text
        .lines()
        .map(|line| crate::event::parse_line(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert!(matches!(lines[0].what, What::Note(_)));
    assert!(matches!(lines[1].what, What::Note(_)));
    assert_eq!(lines[2], event(2, "fine"));
}

/// A writer whose file takes nothing, as on a full disk.
fn full_disk() -> Writer {
    let file = OpenOptions::new().append(true).open("/dev/full").unwrap();
    let shared = Arc::new(Shared {
        path: "/dev/full".into(),
        file,
        state: Mutex::default(),
        changed: Condvar::new(),
    });
    let with_thread = Arc::clone(&shared);
    Writer {
        shared,
        flusher: Some(std::thread::spawn(move || with_thread.flush_in_time())),
    }
}

#[test]
fn a_full_disk_is_told_by_the_next_commit_and_costs_bounded_memory() {
    let writer = full_disk();
    writer.write(&event(0, "one"));
    let error = writer.commit().unwrap_err().to_string();
    assert!(
        error.starts_with("the recording /dev/full cannot be written: "),
        "{error}"
    );
    let text = "x".repeat(100_000);
    for seq in 1..200 {
        writer.write(&event(seq, &text));
    }
    assert!(writer.shared.lock().pending.len() <= KEPT);
    for _ in 0..2 {
        assert!(writer.commit().is_err());
    }
    assert!(writer.shared.lock().lost.is_some());
}

#[test]
fn a_lock_is_waited_for_and_its_absence_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, "").unwrap();
    let (asks, writes) = (File::open(&path).unwrap(), File::open(&path).unwrap());
    asks.lock_shared().unwrap();
    let why = lock(&writes).unwrap_err().to_string();
    assert_eq!(why, "another program holds a lock on it");
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| lock(&writes));
        std::thread::sleep(Duration::from_millis(200));
        asks.unlock().unwrap();
        waits.join().unwrap().unwrap();
    });
    assert!(asks.try_lock_shared().is_err());
}
