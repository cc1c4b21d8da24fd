//! How long it takes to show any moment of a long recording, and what it takes to be able to.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use comeback::event::{
    Binding, Bytes, Clock, End, EndState, Event, FORMAT, Header, Labels, LogChunk, Nanos, Order,
    Origin, Phase, Plan, PlannedCommand, PlannedRun, Progress, ProgressKind, RunChange, RunId,
    RunState, Sample, StepChange, StepEnd, StepId, StepState, Stream, Together, What, to_line,
};
use comeback::recording::{Change, Player, Reading, Reel, Summary, load};
use comeback::session::Session;

use crate::figures::{Row, Table};
use crate::lab::Lab;

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let events = if quick { 50_000 } else { 1_000_000 };
    [
        ("many runs", events / 2000, 8),
        ("one run of one step", 1, 1),
    ]
    .into_iter()
    .map(|(name, runs, steps)| {
        let path = lab.folder().join("seek.jsonl");
        let written = Tape::create(&path)?.tell(runs.max(1), steps, events)?;
        let table = one(&path, name, written, quick)?;
        fs::remove_file(&path)?;
        Ok(table)
    })
    .collect()
}

fn one(path: &Path, name: &str, events: u64, quick: bool) -> Result<Table> {
    let size = fs::metadata(path)?.len();
    let before = resident()?;
    let mut whole = Row::new("folded from the first event");
    for _ in 0..if quick { 1 } else { 3 } {
        let begin = Instant::now();
        load(path)?;
        whole.values.push(ms(begin));
    }
    let mut open = Row::new("opened, until the first moment is there, ms");
    let mut known = Row::new("read in the background, ms");
    let mut summary = Row::new("told in short, ms");
    let begin = Instant::now();
    let told = Summary::read(path);
    summary.values.push(ms(begin));
    ensure!(told.trouble.is_none(), "{:?}", told.trouble);
    let begin = Instant::now();
    let mut player = Player::new(Reel::open(path)?);
    player.pause(Duration::ZERO);
    let mut session = Session::default();
    while shows(&mut player, &mut session)? == 0 {}
    open.values.push(ms(begin));
    while matches!(player.reel().reading(), Reading::GoesOn(_)) {
        std::thread::sleep(Duration::from_millis(1));
    }
    known.values.push(ms(begin));
    ensure!(
        player.reel().reading() == Reading::Done,
        "{:?}",
        player.reel().reading()
    );
    let mut memory = Row::new("memory that it takes, MiB");
    memory
        .values
        .push((resident()? - before) / f64::from(1 << 20));

    let length = player.reel().length().0;
    let (mut far, mut near) = (Row::new("any moment"), Row::new("one moment back"));
    // The same places in every run, all over the recording.
    let mut place = 0.618_034_f64;
    for _ in 0..if quick { 20 } else { 200 } {
        place = (place + 0.618_034).fract();
        let to = Nanos((place * length as f64) as u64);
        let begin = Instant::now();
        player.seek(Duration::ZERO, to);
        shows(&mut player, &mut session)?;
        far.values.push(ms(begin));
        let begin = Instant::now();
        // The first one goes to the last event before that place, which is folded already.
        player.step(Duration::ZERO, false);
        player.step(Duration::ZERO, false);
        shows(&mut player, &mut session)?;
        near.values.push(ms(begin));
    }
    Ok(Table {
        title: format!(
            "{events} events of {name}, {}: ms until a moment is there",
            Bytes(size)
        ),
        rows: vec![whole, far, near],
        beside: vec![open, known, summary, memory],
    })
}

/// Looks until nothing more happens; gives how many events the moment is made of.
fn shows(player: &mut Player, session: &mut Session) -> Result<u64> {
    let mut folded = 0;
    loop {
        match player.look(Duration::ZERO) {
            Change::Nothing => break,
            Change::More(events) => {
                folded += events.len() as u64;
                for event in &events {
                    session.apply(event);
                }
            }
            Change::Moment(moment) => {
                folded += moment.events;
                *session = *moment;
            }
        }
    }
    let trouble = player.standing(Duration::ZERO).trouble;
    ensure!(trouble.is_none(), "{trouble:?}");
    Ok(folded)
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

fn resident() -> Result<f64> {
    let all = fs::read_to_string("/proc/self/statm")?;
    let pages = all.split(' ').nth(1).context("statm")?;
    Ok(pages.parse::<f64>()? * 4096.0)
}

/// A recording that is made up.
struct Tape {
    file: BufWriter<File>,
    seq: u64,
}

impl Tape {
    fn create(path: &Path) -> Result<Self> {
        Ok(Self {
            file: BufWriter::new(File::create(path)?),
            seq: 0,
        })
    }

    fn event(&mut self, what: What) -> Result<()> {
        let event = Event {
            seq: self.seq,
            t: Nanos(self.seq * 20_000_000),
            what,
        };
        self.seq += 1;
        writeln!(self.file, "{}", to_line(&event)?)?;
        Ok(())
    }

    /// So many runs with so many steps each, and logs and progress until there are so many events.
    fn tell(mut self, runs: u64, steps: u64, events: u64) -> Result<u64> {
        let id = |run: u64| RunId(format!("r{run}"));
        let planned = |run| PlannedRun {
            run: id(run),
            binding: "b1".into(),
            rep: run as u32 + 1,
            beside: None,
        };
        self.event(What::Header(Box::new(Header {
            format: FORMAT.into(),
            program: "comeback".into(),
            origin: Origin::Captured,
            started: "2026-01-01T00:00:00Z".parse()?,
            session: "cb-00000000".into(),
            plan: Plan {
                bindings: vec![Binding {
                    id: "b1".into(),
                    method: "files-cp".into(),
                    ..Binding::default()
                }],
                reps: runs as u32,
                order: Order::default(),
                runs: (0..runs).map(planned).collect(),
                together: Together::default(),
            },
            facts: std::collections::BTreeMap::new(),
            masked: Vec::new(),
        })))?;
        let each = events / (runs * steps) - 6;
        for run in 0..runs {
            self.event(What::Run(RunChange {
                run: id(run),
                state: RunState::Started {
                    binding: "b1".into(),
                    rep: run as u32 + 1,
                    order: run as u32 + 1,
                    series: "full".into(),
                    labels: Labels::new(),
                },
            }))?;
            for step in 0..steps {
                self.step(&id(run), &format!("s{run}.{step}"), each)?;
            }
            let state = RunState::Ended {
                end: EndState::Ok,
                cause: None,
            };
            self.event(What::Run(RunChange {
                run: id(run),
                state,
            }))?;
        }
        self.event(What::End(End {
            exit: 0,
            reason: "done".into(),
        }))?;
        self.file.flush()?;
        Ok(self.seq)
    }

    fn step(&mut self, run: &RunId, name: &str, each: u64) -> Result<()> {
        let step = StepId(name.to_owned());
        let changed = |state| {
            What::Step(Box::new(StepChange {
                step: step.clone(),
                state,
            }))
        };
        self.event(changed(StepState::Planned(PlannedCommand {
            run: run.clone(),
            name: "restore".into(),
            phase: Phase::Restore,
            host: "local".into(),
            action: "run".into(),
            command: "cp -a --sparse=auto --reflink=never -- /var/tmp/a /var/tmp/b".into(),
            shows: None,
            timed: true,
            destroys: None,
            background: false,
            labels: Labels::new(),
        })))?;
        self.event(changed(StepState::Started))?;
        for at in 0..each {
            let what = if at % 3 == 0 {
                What::Progress(Progress {
                    step: step.clone(),
                    kind: ProgressKind::Exact,
                    percent: None,
                    done: Some(Bytes(at << 20)),
                    total: Some(Bytes(each << 20)),
                    says: None,
                })
            } else {
                What::Log(LogChunk {
                    step: step.clone(),
                    stream: Stream::Out,
                    offset: at * 90,
                    text: Some(format!(
                        "INFO: {:3}% ({at:7} of {each} blocks) in {:4}s, read: 412.6 MiB/s, write: 398.1 MiB/s\n",
                        at * 100 / each,
                        at / 50
                    )),
                    base64: None,
                })
            };
            self.event(what)?;
        }
        self.event(changed(StepState::Ended(StepEnd {
            end: EndState::Ok,
            status: vec![0],
            seconds: Some(1.0),
            clock: Some(Clock::Host),
            resolution: 1e-9,
            host: None,
            sides: Vec::new(),
            here: None,
            cause: None,
        })))?;
        self.event(What::Sample(Sample {
            run: run.clone(),
            step: Some(step),
            name: "restore".into(),
            series: "full".into(),
            value: 1.0,
            unit: "s".into(),
            clock: Some(Clock::Host),
            resolution: 1e-9,
            labels: Labels::new(),
        }))
    }
}
