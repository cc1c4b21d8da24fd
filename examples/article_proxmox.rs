//! Makes a recording of the figures that the Proxmox article prints, from a copy of them.
//!
//!     cargo run --example article_proxmox -- recordings/published.json recordings/article-proxmox.jsonl
//!
//! What the article does not print is not in it: no value is computed here, and none is put in an
//! order that is not printed.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::Parser;
use comeback::event::{
    Binding, Bytes, Clock, DiskFact, End, EndState, Event, FORMAT, Facts, Header, Labels, Level,
    Nanos, Note, Order, Origin, Place, Placement, Plan, PlannedRun, Proof, Published, RunChange,
    RunId, RunState, Sample, Subject, What, to_line,
};
use serde::Deserialize;

/// What the article calls its node.
const HOST: &str = "article";
/// When its figures were copied.
const COPIED: &str = "2026-11-30T00:00:00Z";
/// GiB, in which the logs print what they call GB.
const GIB: f64 = 1_073_741_824.0;

/// Makes a recording of the figures that the Proxmox article prints.
#[derive(Parser)]
struct Args {
    /// The figures, as JSON
    figures: PathBuf,
    /// The recording
    recording: PathBuf,
}

#[derive(Deserialize)]
struct Figures {
    proxmox_article: Article,
}

#[derive(Deserialize)]
struct Article {
    host: Host,
    guest: Guest,
    payload: Payload,
    repetitions: u32,
    methods: Methods,
}

#[derive(Deserialize)]
struct Host {
    pve_manager: String,
    kernel: String,
    cpu: String,
    disk: String,
    disk_bytes: u64,
    storage: String,
}

#[derive(Deserialize)]
struct Guest {
    vmid: u32,
    disk_gib: u64,
}

#[derive(Deserialize)]
struct Payload {
    bytes: u64,
    zstd3_sample_in: u64,
    zstd3_sample_out: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Methods {
    pve_snapshot: Snapshot,
    pve_vzdump: Vzdump,
    pve_pbs: Pbs,
}

#[derive(Deserialize)]
struct Snapshot {
    protect_api_seconds: Vec<f64>,
    protect_task_seconds: Vec<f64>,
    stored_bytes: u64,
    restore_task_seconds: Vec<f64>,
    guest_state_after: String,
}

#[derive(Deserialize)]
struct Vzdump {
    mode: String,
    compress: String,
    storage: String,
    protect_task_seconds: Vec<f64>,
    archive_bytes: Vec<f64>,
    archive_median: f64,
    sparse_gib: Vec<f64>,
    restore_task_seconds: Vec<f64>,
    restore_100_percent_seconds: Vec<f64>,
    restore_bytes_read: u64,
    ssh_answers_after_start_seconds: f64,
}

#[derive(Deserialize)]
struct Pbs {
    pbs: String,
    mode: String,
    datastore: String,
    empty_datastore_bytes: f64,
    protect_task_seconds: Vec<f64>,
    reused_gib: f64,
    reused_percent: Vec<f64>,
    datastore_bytes: Vec<f64>,
    datastore_median: f64,
    restore_task_seconds: Vec<f64>,
    ssh_answers_after_start_seconds: f64,
}

/// A column: its name, unit, clock, resolution, and a value a run.
struct Column<'a> {
    name: &'a str,
    unit: &'a str,
    clock: Option<Clock>,
    resolution: f64,
    values: Vec<f64>,
}

impl<'a> Column<'a> {
    /// Seconds of the task index.
    fn task(name: &'a str, values: &[f64]) -> Self {
        Self::of(name, "s", Some(Clock::Task), 1.0, values)
    }

    fn bytes(name: &'a str, values: &[f64]) -> Self {
        Self::of(name, "B", None, 1.0, values)
    }

    fn of(
        name: &'a str,
        unit: &'a str,
        clock: Option<Clock>,
        resolution: f64,
        values: &[f64],
    ) -> Self {
        let values = values.to_vec();
        Self {
            name,
            unit,
            clock,
            resolution,
            values,
        }
    }
}

/// A method of the article.
struct Method<'a> {
    name: &'a str,
    title: &'a str,
    series: &'a str,
    settings: Vec<(&'a str, String)>,
    /// Where the copy stands, on the one disk there is.
    copy: String,
    columns: Vec<Column<'a>>,
    /// Name, statistic, value, unit.
    published: Vec<(&'a str, &'a str, f64, &'a str)>,
    remarks: Vec<String>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let text = fs::read_to_string(&args.figures)
        .with_context(|| format!("cannot read {}", args.figures.display()))?;
    let lines = recording(&text)
        .with_context(|| format!("{} is not what is expected", args.figures.display()))?;
    fs::write(&args.recording, lines)
        .with_context(|| format!("cannot write {}", args.recording.display()))
}

/// The recording, from the text of the figures.
///
/// # Errors
/// Where they are not what is expected.
pub fn recording(text: &str) -> anyhow::Result<String> {
    let figures: Figures = serde_json::from_str(text)?;
    let article = &figures.proxmox_article;
    let mut lines = String::new();
    for (seq, what) in (0..).zip(events(article)) {
        let t = Nanos(0);
        lines.push_str(&to_line(&Event { seq, t, what })?);
        lines.push('\n');
    }
    Ok(lines)
}

fn events(article: &Article) -> Vec<What> {
    let methods = [
        snapshot(&article.methods.pve_snapshot),
        vzdump(&article.methods.pve_vzdump),
        pbs(&article.methods.pve_pbs),
    ];
    let mut told = vec![What::Header(Box::new(header(article, &methods)))];
    told.push(remark(None, about(article)));
    for (at, method) in methods.iter().enumerate() {
        tell(article, at, method, &mut told);
    }
    told.push(What::End(End {
        exit: 0,
        reason: "published figures, not measured here".to_owned(),
    }));
    told
}

fn snapshot(figures: &Snapshot) -> Method<'static> {
    let api = &figures.protect_api_seconds;
    let task = &figures.protect_task_seconds;
    let (low, high) = (
        f64::min as fn(f64, f64) -> f64,
        f64::max as fn(f64, f64) -> f64,
    );
    let end = |all: &[f64], which: fn(f64, f64) -> f64| all.iter().copied().reduce(which);
    let mut published = Vec::new();
    for (name, values) in [("backup", task), ("request", api)] {
        published.extend(end(values, low).map(|value| (name, "min", value, "s")));
        published.extend(end(values, high).map(|value| (name, "max", value, "s")));
    }
    Method {
        name: "pve-snapshot",
        title: "qm snapshot, then qm rollback",
        series: "running",
        settings: vec![("vmstate", "false".to_owned())],
        copy: "snapshot".to_owned(),
        columns: vec![Column::task("restore", &figures.restore_task_seconds)],
        published,
        remarks: vec![
            format!(
                "The rollback leaves the guest {}: starting it is not in its time.",
                figures.guest_state_after
            ),
            format!(
                "The snapshot itself takes {} bytes, extents are shared; which of its times is which run's is not printed.",
                figures.stored_bytes
            ),
        ],
    }
}

fn vzdump(figures: &Vzdump) -> Method<'static> {
    let sparse: Vec<f64> = figures.sparse_gib.iter().map(|gib| gib * GIB).collect();
    let read = figures.restore_bytes_read;
    Method {
        name: "pve-vzdump",
        title: "vzdump, then qmrestore",
        series: "full",
        settings: vec![
            ("compress", figures.compress.clone()),
            ("mode", figures.mode.clone()),
            ("storage", figures.storage.clone()),
        ],
        copy: figures.storage.clone(),
        columns: vec![
            Column::task("backup", &figures.protect_task_seconds),
            Column::task("restore", &figures.restore_task_seconds),
            Column::of(
                "restore to 100 %",
                "s",
                Some(Clock::Log),
                1.0,
                &figures.restore_100_percent_seconds,
            ),
            Column::bytes("archive", &figures.archive_bytes),
            Column::of("sparse", "B", None, 0.01 * GIB, &sparse),
        ],
        published: vec![
            ("archive", "median", figures.archive_median, "B"),
            (
                "SSH answers after the start",
                "one value",
                figures.ssh_answers_after_start_seconds,
                "s",
            ),
        ],
        remarks: vec![
            "The article explains the time after 100 % by volumes being created and the rescan. The source does not agree: volumes are created and mapped before the first progress line, percent counts what was read of the archive, and after 100 % come the drain and the flush of each disk, then the rescan. Most of it is likely write-back; nothing is attributed here.".to_owned(),
            format!(
                "The {read} bytes that the restore reads are 16 GiB and 9 clusters of 64 KiB, for the EFI disk of 528 KiB: what is counted are clusters of the archive, not bytes of the disk."
            ),
        ],
    }
}

fn pbs(figures: &Pbs) -> Method<'static> {
    Method {
        name: "pve-pbs",
        title: "vzdump to a Proxmox Backup Server, then qmrestore",
        series: "first",
        settings: vec![
            ("datastore", "own".to_owned()),
            ("mode", figures.mode.clone()),
        ],
        copy: "datastore".to_owned(),
        columns: vec![
            Column::task("backup", &figures.protect_task_seconds),
            Column::task("restore", &figures.restore_task_seconds),
            Column::bytes("archive", &figures.datastore_bytes),
            Column::of("reused share", "%", None, 1.0, &figures.reused_percent),
        ],
        published: vec![
            ("archive", "median", figures.datastore_median, "B"),
            (
                "empty datastore",
                "one value",
                figures.empty_datastore_bytes,
                "B",
            ),
            ("reused", "one value", figures.reused_gib * GIB, "B"),
            (
                "SSH answers after the start",
                "one value",
                figures.ssh_answers_after_start_seconds,
                "s",
            ),
        ],
        remarks: vec![
            format!(
                "Proxmox Backup Server {}, a guest on the same node; the datastore is a {}. Its bytes are apparent sizes (du -sb): an empty one allocates some 260 MB on ext4.",
                figures.pbs, figures.datastore
            ),
            "What a first backup calls reused are zeros.".to_owned(),
        ],
    }
}

fn about(article: &Article) -> String {
    let Host {
        pve_manager,
        kernel,
        cpu,
        disk,
        storage,
        ..
    } = &article.host;
    let Payload {
        bytes,
        zstd3_sample_in,
        zstd3_sample_out,
    } = &article.payload;
    format!(
        "Figures as a Proxmox article prints them: pve-manager {pve_manager}, kernel {kernel}, {cpu}, one {disk} that holds everything, guest on {storage}; {bytes} bytes of payload that do not compress ({zstd3_sample_in} of them become {zstd3_sample_out} with zstd -3). Times are of the task index, in whole seconds."
    )
}

fn remark(run: Option<RunId>, text: String) -> What {
    What::Note(Note {
        level: Level::Remark,
        text,
        host: None,
        run,
        step: None,
    })
}

fn header(article: &Article, methods: &[Method<'_>]) -> Header {
    let host = &article.host;
    let place = |source: &str| Place {
        host: HOST.to_owned(),
        source: source.to_owned(),
        disks: vec![host.disk.clone()],
        ..Place::default()
    };
    let subject = Subject {
        kind: "vm".to_owned(),
        id: article.guest.vmid.to_string(),
        own: false,
        marked: true,
    };
    let bindings = methods.iter().enumerate().map(|(at, method)| Binding {
        id: binding(at).into(),
        method: method.name.to_owned(),
        title: method.title.to_owned(),
        family: "proxmox".to_owned(),
        roles: [("source".to_owned(), HOST.to_owned())].into(),
        subject: subject.clone(),
        settings: (method.settings.iter())
            .map(|(key, value)| ((*key).to_owned(), value.clone()))
            .collect(),
        placement: Some(Placement {
            original: place(&host.storage),
            copy: place(&method.copy),
        }),
        labels: Labels::new(),
        steps: Vec::new(),
    });
    let facts = Facts {
        system: format!("Proxmox VE {}", host.pve_manager),
        kernel: host.kernel.clone(),
        cpu: host.cpu.clone(),
        disks: vec![DiskFact {
            model: host.disk.clone(),
            size: Bytes(host.disk_bytes),
            ..DiskFact::default()
        }],
        ..Facts::default()
    };
    let runs = (0..methods.len()).flat_map(|at| {
        (1..=article.repetitions).map(move |rep| PlannedRun {
            run: run(article, at, rep),
            binding: binding(at).into(),
            rep,
            beside: None,
        })
    });
    Header {
        format: FORMAT.to_owned(),
        program: "published figures".to_owned(),
        origin: Origin::Published,
        started: COPIED.parse().unwrap_or_default(),
        session: "cb-article-proxmox".to_owned().into(),
        plan: Plan {
            bindings: bindings.collect(),
            reps: article.repetitions,
            order: Order::ByMethod,
            runs: runs.collect(),
            ..Plan::default()
        },
        facts: [(HOST.to_owned(), facts)].into(),
        masked: Vec::new(),
    }
}

fn binding(at: usize) -> String {
    format!("b{}", at + 1)
}

fn number(article: &Article, at: usize, rep: u32) -> u32 {
    u32::try_from(at).unwrap_or(0) * article.repetitions + rep
}

fn run(article: &Article, at: usize, rep: u32) -> RunId {
    format!("r{}", number(article, at, rep)).into()
}

fn tell(article: &Article, at: usize, method: &Method<'_>, told: &mut Vec<What>) {
    for rep in 1..=article.repetitions {
        let run = run(article, at, rep);
        let series = method.series.to_owned();
        let change = |state| {
            What::Run(RunChange {
                run: run.clone(),
                state,
            })
        };
        told.push(change(RunState::Started {
            binding: binding(at).into(),
            rep,
            order: number(article, at, rep),
            series: series.clone(),
            labels: Labels::new(),
        }));
        for column in &method.columns {
            let Some(value) = column.values.get(rep as usize - 1) else {
                continue;
            };
            told.push(What::Sample(Sample {
                run: run.clone(),
                step: None,
                name: column.name.to_owned(),
                series: series.clone(),
                value: *value,
                unit: column.unit.to_owned(),
                clock: column.clock,
                resolution: column.resolution,
                labels: Labels::new(),
            }));
        }
        let (bytes, disk) = (article.payload.bytes, article.guest.disk_gib);
        told.push(What::Proof(Proof {
            run: run.clone(),
            step: "s0".to_owned().into(),
            of: "restored".to_owned(),
            by: "sha256".to_owned(),
            series: None,
            verdict: true,
            expected: None,
            got: None,
            bytes: Some(Bytes(bytes)),
            share: format!("payload, {} of {disk} GiB", bytes >> 30),
            differences: Vec::new(),
        }));
        if rep == 1 {
            let remarks = method.remarks.iter().cloned();
            told.extend(remarks.map(|text| remark(Some(run.clone()), text)));
        }
        told.push(change(RunState::Ended {
            end: EndState::Ok,
            cause: None,
        }));
    }
    for (name, statistic, value, unit) in &method.published {
        told.push(What::Published(Published {
            binding: binding(at).into(),
            name: (*name).to_owned(),
            series: method.series.to_owned(),
            statistic: (*statistic).to_owned(),
            value: *value,
            unit: (*unit).to_owned(),
            source: "the article's table".to_owned(),
            projected: None,
        }));
    }
}
