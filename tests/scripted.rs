//! Steps on the scripted host, by a clock that stands still: what takes hours takes no time.
#![cfg(test)]

use std::sync::Arc;
use std::time::Duration;

use comeback::event::Stream;
use comeback::host::facts::{Wanted, probe};
use comeback::host::scripted::{Act, ScriptedHost};
use comeback::host::supervisor::{Caps, Heard, Job, Journal, Launch, Outcome, Supervisor};
use comeback::host::{Exit, HostError, ask};
use tokio::time::Instant;

async fn ready(host: &ScriptedHost) -> Supervisor {
    let supervisor = Supervisor::new(Arc::new(host.clone()), "/var/lib/comeback/cb-1".to_owned());
    supervisor.prepare().await.unwrap();
    supervisor
}

async fn rest(job: &mut Job) -> (Vec<u8>, Vec<u8>, Vec<bool>, Outcome) {
    let (mut out, mut err, mut links) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(heard) = job.next().await {
        match heard {
            Heard::Output {
                stream,
                offset,
                bytes,
            } => {
                let all = if stream == Stream::Out {
                    &mut out
                } else {
                    &mut err
                };
                assert_eq!(offset, all.len() as u64);
                all.extend(bytes);
            }
            Heard::Gap { .. } => panic!("a gap"),
            Heard::LinkLost { .. } => links.push(false),
            Heard::LinkBack => links.push(true),
            Heard::Ended(outcome) => return (out, err, links, outcome),
        }
    }
    panic!("no end")
}

#[tokio::test(start_paused = true)]
async fn a_step_says_its_lines_in_their_time() {
    let host = ScriptedHost::new("pve1");
    host.step(
        "^vzdump 104",
        vec![
            Act::line("INFO: starting"),
            Act::wait(20.0),
            Act::Err(b"warning\n".to_vec()),
            Act::wait(8.5),
            Act::line("INFO: done"),
            Act::Exit(vec![0, 3]),
        ],
    )
    .unwrap();
    let supervisor = ready(&host).await;
    let launch = Launch {
        stdin: Some(b"input".to_vec()),
        ..Launch::default()
    };
    let begun = Instant::now();
    let mut job = supervisor
        .launch("s1", "vzdump 104 --mode stop", launch)
        .await
        .unwrap();
    let first = job.next().await.unwrap();
    assert!(matches!(first, Heard::Output { offset: 0, .. }));
    assert!(begun.elapsed() < Duration::from_secs(1));
    let second = job.next().await.unwrap();
    assert!(matches!(
        second,
        Heard::Output {
            stream: Stream::Err,
            ..
        }
    ));
    assert_eq!(begun.elapsed().as_secs(), 20);
    let third = job.next().await.unwrap();
    let expected = b"INFO: done\n".to_vec();
    assert_eq!(
        third,
        Heard::Output {
            stream: Stream::Out,
            offset: 15,
            bytes: expected
        }
    );
    let Some(Heard::Ended(outcome)) = job.next().await else {
        panic!("no end")
    };
    assert_eq!(outcome.status, [0, 3]);
    assert!((outcome.seconds().unwrap() - 28.5).abs() < 1e-4);
    assert!((outcome.stamps.unwrap().uptime - 28.5).abs() < 0.02);
    assert_eq!(job.next().await, None);
    assert_eq!(host.commands()[0].text, "vzdump 104 --mode stop");
    assert_eq!(host.commands()[0].stdin, b"input");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_gone_for_hours_loses_nothing() {
    let host = ScriptedHost::new("pve1");
    let mut acts = Vec::new();
    for number in 0..200 {
        acts.push(Act::line(&format!("line {number}")));
        acts.push(Act::wait(60.0));
        if number == 50 {
            acts.push(Act::LoseLink(Duration::from_hours(1)));
        }
    }
    acts.push(Act::exit(7));
    host.step("restore", acts).unwrap();
    let supervisor = ready(&host).await;
    let mut job = supervisor
        .launch("s1", "restore", Launch::default())
        .await
        .unwrap();
    let (out, _, links, outcome) = rest(&mut job).await;
    let expected: String = (0..200)
        .map(|number| format!("line {number}\n"))
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    assert_eq!(links.first(), Some(&false));
    assert_eq!(links.iter().filter(|back| **back).count(), 1);
    assert_eq!(outcome.status, [7]);
    assert!((outcome.seconds().unwrap() - 12_000.0).abs() < 1e-3);
}

#[tokio::test(start_paused = true)]
async fn an_end_without_a_status_is_lost() {
    let host = ScriptedHost::new("pve1");
    host.step(".", vec![Act::line("half"), Act::wait(5.0), Act::Vanish])
        .unwrap();
    let supervisor = ready(&host).await;
    let mut job = supervisor
        .launch("s1", "x", Launch::default())
        .await
        .unwrap();
    let (out, _, _, outcome) = rest(&mut job).await;
    assert_eq!(out, b"half\n");
    assert!(outcome.lost && outcome.status.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_step_that_never_ends_can_be_stopped() {
    let host = ScriptedHost::new("pve1");
    host.step(".", vec![Act::line("x"), Act::wait(1e6)])
        .unwrap();
    let supervisor = ready(&host).await;
    let load = Launch {
        load: true,
        ..Launch::default()
    };
    let mut job = supervisor.launch("load", "fio", load).await.unwrap();
    assert_eq!(supervisor.living().await.unwrap().running[0].step, "load");
    assert!(supervisor.finish(Journal::Remove).await.is_err());
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert!(job.stop(Duration::from_secs(1)).await.gone);
    let (out, _, _, outcome) = rest(&mut job).await;
    assert_eq!(
        (out.as_slice(), outcome.status.as_slice()),
        (&b"x\n"[..], &[143][..])
    );
    assert_eq!(outcome.seconds().unwrap().round() as i64, 100);
    supervisor.finish(Journal::Remove).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_flood_is_told_up_to_its_caps() {
    let host = ScriptedHost::new("pve1");
    let flood: Vec<u8> = (0..500_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    host.step(
        ".",
        vec![Act::Out(flood.clone()), Act::wait(9.0), Act::exit(0)],
    )
    .unwrap();
    let supervisor = ready(&host).await;
    let caps = Caps {
        head: 100_000,
        tail: 1000,
        file: 1 << 30,
    };
    let launch = Launch {
        caps,
        ..Launch::default()
    };
    let mut job = supervisor.launch("s1", "x", launch).await.unwrap();
    let mut heard = Vec::new();
    let mut gap = None;
    while let Some(next) = job.next().await {
        match next {
            Heard::Output { bytes, .. } => heard.extend(bytes),
            Heard::Gap { offset, bytes, .. } => gap = Some((offset, bytes)),
            _ => {}
        }
    }
    assert_eq!(gap, Some((100_000, Some(399_000))));
    assert_eq!(heard[..100_000], flood[..100_000]);
    assert_eq!(heard[100_000..], flood[499_000..]);
}

#[tokio::test(start_paused = true)]
async fn rules_have_their_turn() {
    let host = ScriptedHost::new("pve1");
    host.step_times(1, "backup", vec![Act::exit(1)]).unwrap();
    host.step("backup", vec![Act::exit(0)]).unwrap();
    host.on("uptime", vec![Act::line("up"), Act::exit(4)])
        .unwrap();
    host.on("gone", vec![Act::LoseLink(Duration::from_secs(1))])
        .unwrap();
    host.facts("system Debian\ntool tar tar (GNU tar) 1.34");
    let supervisor = ready(&host).await;
    for (step, status) in [("s1", 1), ("s2", 0), ("s3", 0)] {
        let mut job = supervisor
            .launch(step, "backup", Launch::default())
            .await
            .unwrap();
        assert_eq!(rest(&mut job).await.3.status, [status]);
    }
    let refused = supervisor.launch("s4", "restore", Launch::default()).await;
    assert!(refused.err().unwrap().to_string().contains("restore"));

    let second = Duration::from_secs(1);
    let answer = ask(&host, "uptime -p", b"in", 100, second).await.unwrap();
    assert_eq!(
        (answer.out.as_slice(), answer.exit),
        (&b"up\n"[..], Exit::Code(4))
    );
    assert_eq!(host.scripts()[0].stdin, b"in");
    assert_eq!(
        ask(&host, "what", b"", 100, second).await.unwrap().exit,
        Exit::Code(127)
    );
    let lost = ask(&host, "gone", b"", 100, 10 * second).await.unwrap_err();
    assert!(matches!(lost, HostError::Down { .. }));
    assert!(
        ask(&host, "uptime", b"", 100, second)
            .await
            .unwrap_err()
            .is_transient()
    );
    tokio::time::sleep(2 * second).await;
    ask(&host, "uptime", b"", 100, second).await.unwrap();

    let facts = probe(&host, &Wanted::default()).await.unwrap();
    assert_eq!(facts.system, "Debian");
    assert_eq!(facts.tools["tar"], "tar (GNU tar) 1.34");
}

#[tokio::test(start_paused = true)]
async fn a_launch_over_a_lost_connection_says_that_nothing_was_begun() {
    let host = ScriptedHost::new("pve1");
    host.step(".", vec![Act::exit(0)]).unwrap();
    let supervisor = ready(&host).await;
    host.cut();
    let error = supervisor
        .launch("s1", "x", Launch::default())
        .await
        .err()
        .unwrap();
    assert!(error.is_transient());
    assert!(host.commands().is_empty());
    host.mend();
    let mut job = supervisor.attach("s1", Caps::default()).unwrap();
    assert!(!rest(&mut job).await.3.begun);
}
