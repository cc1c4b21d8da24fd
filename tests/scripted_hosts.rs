//! Sessions on scripted hosts, by a clock that stands still: who waits for whom.
#![cfg(test)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use comeback::engine::{
    Connected, Control, GONE_AFTER, Missing, Sitting, examine, plan_of, session_id,
};
use comeback::event::{
    EndState, Facts, HostState, Order, RunChange, RunState, Sink, SinkError, Together, What,
};
use comeback::host::HostError;
use comeback::host::scripted::{Act, ScriptedHost};
use comeback::method::{Bound, Catalogue, HostInfo, Pick, Request, bind};
use tokio::time::Instant;

const HOUR: Duration = Duration::from_hours(1);

const WORK: &str = r#"
title = "work"
family = "test"
subject = "dir"
own = "may"
roles = ["source"]
series = "full"
[[step]]
name = "work"
phase = "protect"
clock = "host"
run = "work"
"#;

const LOOKS: &str = r#"
title = "looks"
family = "test"
subject = "dir"
own = "may"
roles = ["source"]
series = "full"
[[check]]
run = "look ahead"
[[step]]
name = "work"
phase = "protect"
clock = "host"
run = "work"
"#;

const PAIR: &str = r#"
title = "pair"
family = "test"
subject = "dir"
own = "may"
roles = ["source", "target"]
series = "full"
[[step]]
name = "work"
phase = "protect"
clock = "host"
run = "pair"
[[step]]
name = "there"
phase = "restore"
clock = "host"
on = "target"
run = "pair"
"#;

/// Keeps what is told, and when.
#[derive(Default)]
struct Heard(Mutex<Vec<(Instant, What)>>);

impl Sink for Heard {
    fn tell(&self, what: What) {
        self.0.lock().unwrap().push((Instant::now(), what));
    }

    fn commit(&self) -> Result<(), SinkError> {
        Ok(())
    }
}

impl Heard {
    /// `+r1` for a start, `-r1` for an end, in their order; starts without an end between them
    /// may have come in any.
    fn order(&self) -> String {
        let all = self.0.lock().unwrap();
        let said = all.iter().filter_map(|(_, what)| match what {
            What::Run(RunChange { run, state }) => match state {
                RunState::Queued => None,
                RunState::Started { .. } => Some(format!("+{run}")),
                RunState::Ended { end, .. } if end.is_good() => Some(format!("-{run}")),
                RunState::Ended { end, .. } => Some(format!("-{run}:{end}")),
            },
            _ => None,
        });
        let mut said: Vec<String> = said.collect();
        for starts in said.chunk_by_mut(|a, b| a.starts_with('+') && b.starts_with('+')) {
            starts.sort();
        }
        said.join(" ")
    }

    fn downs(&self) -> Vec<String> {
        let all = self.0.lock().unwrap();
        let down = all.iter().filter_map(|(_, what)| match what {
            What::Host(change) if change.state == HostState::Down => Some(change.host.clone()),
            _ => None,
        });
        down.collect()
    }

    /// When a run ended, since the begin.
    fn ended(&self, name: &str) -> Duration {
        let all = self.0.lock().unwrap();
        let is_end = |what: &What| matches!(what, What::Run(RunChange { run, state: RunState::Ended { .. } }) if run.as_str() == name);
        let at = all.iter().find(|(_, what)| is_end(what)).unwrap().0;
        at - all[0].0
    }
}

/// Hosts, and what runs on them.
struct Scene {
    hosts: Vec<(ScriptedHost, Connected)>,
    control: Control,
    missing: Missing,
    heard: Arc<Heard>,
}

impl Scene {
    /// Hosts whose work takes so many seconds.
    fn new(hosts: &[(&str, f64)]) -> Self {
        let made = hosts.iter().map(|&(name, seconds)| {
            let host = host(name, vec![Act::wait(seconds), Act::exit(0)]);
            (host.clone(), connected(&host, GONE_AFTER))
        });
        Self {
            hosts: made.collect(),
            control: Control::default(),
            missing: Missing::new(),
            heard: Arc::default(),
        }
    }

    fn bounds(&self, picks: &[(&str, &str)], target: &str) -> Vec<Bound> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("work.toml"), WORK).unwrap();
        std::fs::write(folder.path().join("pair.toml"), PAIR).unwrap();
        std::fs::write(folder.path().join("looks.toml"), LOOKS).unwrap();
        let catalogue = Catalogue::load(Some(folder.path())).unwrap();
        let infos = self
            .hosts
            .iter()
            .map(|(_, known)| (known.info.name.clone(), known.info.clone()))
            .collect();
        let mut request = Request::default();
        for (host, method) in picks {
            // `pair>c` has a target of its own.
            let (method, own) = method.split_once('>').unwrap_or((method, ""));
            let mut pick = Pick::new(host, method);
            if !own.is_empty() {
                pick.roles.insert("target".to_owned(), own.to_owned());
            }
            request.picks.push(pick);
        }
        if picks.iter().any(|(_, method)| *method == "pair") {
            request.roles.insert("target".to_owned(), target.to_owned());
        }
        bind(&catalogue, &request, &infos).unwrap()
    }

    /// Runs methods on hosts, and says how it ended: exit code, reason, order of the runs.
    async fn run(&self, picks: &[(&str, &str)], target: &str, reps: u32) -> (i32, String, String) {
        let bounds = self.bounds(picks, target);
        let plan = plan_of(&bounds, Together::default(), reps, Order::ByMethod).unwrap();
        let hosts = self
            .hosts
            .iter()
            .map(|(_, known)| (known.info.name.clone(), known.clone()))
            .collect();
        let sitting = Sitting {
            session: session_id(),
            bounds,
            plan,
            hosts,
            missing: self.missing.clone(),
            consents: Vec::new(),
            confirmed: Vec::new(),
            sink: Arc::clone(&self.heard) as Arc<dyn Sink>,
            control: self.control.clone(),
            asker: std::sync::Arc::new(comeback::event::Nobody),
        };
        let end = sitting.conduct().await;
        (end.exit, end.reason, self.heard.order())
    }
}

/// A host whose work goes like this.
fn host(name: &str, work: Vec<Act>) -> ScriptedHost {
    let host = ScriptedHost::new(name);
    host.step("^true$", vec![Act::exit(0)]).unwrap();
    host.step("^pair$", vec![Act::wait(60.0), Act::exit(0)])
        .unwrap();
    host.step("^work$", work).unwrap();
    host.on(".", vec![Act::exit(0)]).unwrap();
    host
}

fn connected(host: &ScriptedHost, gone_after: Duration) -> Connected {
    use comeback::host::Host;
    let facts = Facts {
        state: "/var/lib/comeback".to_owned(),
        state_writable: true,
        ..Facts::default()
    };
    Connected {
        info: HostInfo {
            name: host.name().to_owned(),
            login: None,
            address: host.address(),
            facts,
        },
        host: Arc::new(host.clone()),
        gone_after,
    }
}

/// A tree of millions of files is no reason to begin nothing at all.
#[tokio::test(start_paused = true)]
async fn a_look_ahead_that_does_not_end_is_told_of_its_method_alone() {
    let slow = ScriptedHost::new("slow");
    slow.on("look ahead", vec![Act::wait(3600.0), Act::exit(0)])
        .unwrap();
    // Its scratch folder can be made.
    let room = ["open", "/", "99999999"].map(Act::line);
    slow.on(".", [&room[..], &[Act::exit(0)]].concat()).unwrap();
    let mut scene = Scene::new(&[]);
    scene
        .hosts
        .push((slow.clone(), connected(&slow, GONE_AFTER)));
    let bounds = scene.bounds(&[("slow", "looks")], "");
    let hosts = scene.hosts.iter();
    let hosts = hosts
        .map(|(_, known)| (known.info.name.clone(), known.clone()))
        .collect();
    let check = examine(&hosts, &bounds[0], &[]).await.unwrap();
    let why = check.refusal().unwrap_or_default();
    assert!(why.contains("could not be looked through in 60 s"), "{why}");
}

#[tokio::test(start_paused = true)]
async fn a_slow_host_holds_up_no_other() {
    let scene = Scene::new(&[("slow", 600.0), ("fast", 60.0)]);
    let (exit, reason, order) = scene
        .run(&[("slow", "work"), ("fast", "work")], "", 2)
        .await;
    // Nothing was proved, which is no success.
    assert_eq!(
        (exit, reason.as_str()),
        (1, "4 of 4 runs done; not all were verified")
    );
    assert_eq!(order, "+r1 +r3 -r3 +r4 -r4 -r1 +r2 -r2");
    assert!(scene.heard.ended("r2") < Duration::from_mins(21));
}

#[tokio::test(start_paused = true)]
async fn two_names_of_one_machine_are_one_queue() {
    let mut scene = Scene::new(&[("a", 60.0), ("alias", 60.0), ("b", 60.0)]);
    for at in [0, 1] {
        scene.hosts[at].1.info.facts.machine = "7d3f".to_owned();
    }
    scene.hosts[2].1.info.facts.machine = "other".to_owned();
    let picks = [("a", "work"), ("alias", "work"), ("b", "work")];
    let (_, _, order) = scene.run(&picks, "", 1).await;
    let at = |what: &str| order.split(' ').position(|one| one == what).unwrap();
    assert!(at("-r1") < at("+r2") && at("+r3") < at("-r1"), "{order}");
}

#[tokio::test(start_paused = true)]
async fn a_run_on_two_hosts_waits_for_both_and_nobody_overtakes_it() {
    let scene = Scene::new(&[("a", 600.0), ("b", 60.0)]);
    let picks = [("a", "work"), ("b", "work"), ("a", "pair"), ("b", "work")];
    let (_, _, order) = scene.run(&picks, "b", 1).await;
    assert_eq!(order, "+r1 +r2 -r2 -r1 +r3 -r3 +r4 -r4");
}

#[tokio::test(start_paused = true)]
async fn pairs_with_different_targets_go_on_together() {
    let scene = Scene::new(&[("a", 60.0), ("b", 60.0), ("c", 60.0), ("d", 60.0)]);
    let picks = [("a", "pair>b"), ("c", "pair>d"), ("a", "pair>d")];
    let (_, reason, order) = scene.run(&picks, "", 1).await;
    let together = order.starts_with("+r1 +r2 -r") && order.ends_with(" +r3 -r3");
    assert!(together, "{order}: {reason}");
}

#[tokio::test(start_paused = true)]
async fn a_failure_ends_the_queues_of_its_hosts_alone() {
    let mut scene = Scene::new(&[("a", 600.0), ("c", 60.0)]);
    let bad = host("bad", vec![Act::Err(b"disk full\n".to_vec()), Act::exit(1)]);
    scene.hosts.push((bad.clone(), connected(&bad, GONE_AFTER)));
    // The pair needs the one that failed, and another.
    let picks = [("a", "work"), ("bad", "work"), ("c", "work"), ("c", "pair")];
    let (exit, reason, order) = scene.run(&picks, "bad", 2).await;
    assert_eq!(exit, 1);
    assert_eq!(
        order.matches(":failed").count(),
        1,
        "the second on it is not started: {order}"
    );
    for run in ["-r1", "-r2", "-r5", "-r6"] {
        assert!(order.split(' ').any(|one| one == run), "{run}: {order}");
    }
    assert!(!order.contains("r7") && !order.contains("r8"), "{order}");
    assert!(
        reason.starts_with(
            "4 of 8 runs done; not all were verified; bad: run 3 failed: work: disk full"
        ),
        "{reason}"
    );
    assert!(reason.ends_with("; 3 runs were not started"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_come_back_ends_alone() {
    let mut scene = Scene::new(&[("b", 1800.0)]);
    let work = [
        Act::wait(10.0),
        Act::LoseLink(1000 * HOUR),
        Act::wait(20.0),
        Act::exit(0),
    ];
    let gone = host("a", work.to_vec());
    let limit = Duration::from_mins(10);
    scene.hosts.push((gone.clone(), connected(&gone, limit)));
    let (exit, reason, order) = scene.run(&[("a", "work"), ("b", "work")], "", 2).await;
    assert_eq!(exit, 3, "{reason}");
    assert_eq!(order, "+r1 +r3 -r1:lost -r3 +r4 -r4");
    assert_eq!(scene.heard.downs(), ["a"]);
    let lost = scene.heard.ended("r1");
    assert!(
        lost >= Duration::from_mins(10) && lost < Duration::from_mins(12),
        "{lost:?}"
    );
    assert!(
        reason.contains("a: run 1 lost: work: its host is gone"),
        "{reason}"
    );
    assert!(reason.ends_with("1 run was not started"), "{reason}");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_cannot_be_opened_is_told_and_its_runs_are_over() {
    let mut scene = Scene::new(&[("a", 60.0), ("b", 60.0)]);
    scene.hosts[0].0.cut();
    scene.missing.insert(
        "c".to_owned(),
        HostError::Login {
            host: "c".to_owned(),
            why: "no key was taken".to_owned(),
        },
    );
    let (exit, reason, order) = scene.run(&[("a", "work"), ("b", "work")], "", 2).await;
    assert_eq!(exit, 3);
    for over in ["-r1:failed", "-r2:failed", "-r3", "-r4"] {
        assert!(order.split(' ').any(|one| one == over), "{over}: {order}");
    }
    assert!(!order.contains("+r1"), "{order}");
    assert_eq!(scene.heard.downs(), ["c", "a"]);
    for says in [
        "not connected: c: login: no key was taken",
        "could not open a: connect: ",
    ] {
        assert!(reason.contains(says), "{says:?}: {reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_every_host_and_a_stop_ends_them_all() {
    let scene = Scene::new(&[("a", 60.0), ("b", 100.0)]);
    let control = scene.control.clone();
    let steer = async {
        tokio::time::sleep(Duration::from_secs(30)).await;
        control.pause(true);
        tokio::time::sleep(HOUR).await;
        let order = scene.heard.order();
        assert_eq!(order, "+r1 +r4 -r1 -r4", "one began in spite of the pause");
        control.pause(false);
        tokio::time::sleep(Duration::from_secs(30)).await;
        control.stop();
    };
    let (ended, ()) = tokio::join!(scene.run(&[("a", "work"), ("b", "work")], "", 3), steer);
    let (exit, reason, order) = ended;
    assert_eq!(
        (exit, reason.as_str()),
        (130, "stopped after 2 of 6 runs; not all were verified")
    );
    assert!(order.starts_with("+r1 +r4 -r1 -r4 +r"), "{order}");
    assert_eq!(
        order.matches(&format!(":{}", EndState::Stopped)).count(),
        2,
        "{order}"
    );
    assert_eq!(order.split(' ').count(), 8, "{order}");
}
