//! Stops, and supervisors that are hit themselves.

use std::time::Duration;

use comeback::host::supervisor::{Caps, Journal, Launch};
use rustix::process::Signal;

use crate::bench::{LIMIT, gather, on_each_shell, running, until};
use crate::cable::signal_process;

#[test]
fn a_stop_reaches_every_process() {
    on_each_shell(|bench| async move {
        let ready = ["one", "two", "three"].map(|name| bench.file(name));
        // A child that ignores TERM, one in a session of its own that ignores it too, and one
        // that has left its parent.
        let command = format!(
            "trap '' TERM; sh -c 'touch {}; while :; do sleep 1; done' & \
             setsid sh -c 'touch {}; while :; do sleep 1; done' </dev/null >/dev/null 2>&1 & \
             (setsid sh -c 'touch {}; exec sleep 1000' &) ; while :; do sleep 1; done",
            ready[0].1, ready[1].1, ready[2].1
        );
        let mut job = bench.launch("s1", &command).await;
        until("three children", || {
            ready.iter().all(|(path, _)| path.exists())
        })
        .await;
        assert!(bench.processes().len() >= 4, "{:?}", bench.processes());
        let stopper = job.stopper();
        let (proof, done) = tokio::join!(stopper.stop(Duration::from_millis(10)), gather(&mut job));
        assert!(proof.gone, "{:?}", proof.left);
        assert_eq!(bench.processes(), []);
        assert_eq!(done.outcome().status, [137]);
        assert!(!done.outcome().lost);
        // Again, and it is still so.
        assert!(stopper.stop(Duration::ZERO).await.gone);
    });
}

#[test]
fn a_stop_lets_a_command_tidy_up() {
    on_each_shell(|bench| async move {
        let (ready, quoted) = bench.file("ready");
        let command =
            format!("trap 'echo tidy; exit 4' TERM; touch {quoted}; while :; do sleep 0.05; done");
        let mut job = bench.launch("s1", &command).await;
        until("the trap", || ready.exists()).await;
        let stopper = job.stopper();
        let (proof, done) = tokio::join!(stopper.stop(LIMIT), gather(&mut job));
        assert!(proof.gone, "{:?}", proof.left);
        assert_eq!(done.outcome().status, [4]);
        assert_eq!(done.text(), "tidy\n");
    });
}

#[test]
fn a_term_alone_says_what_is_left() {
    on_each_shell(|bench| async move {
        let (ready, quoted) = bench.file("ready");
        let mut job = bench
            .launch(
                "s1",
                &format!("trap '' TERM; touch {quoted}; exec sleep 1000"),
            )
            .await;
        until("the trap", || ready.exists()).await;
        let proof = job.stopper().terminate(Duration::ZERO).await;
        assert!(!proof.gone);
        assert!(proof.left[0].contains("sleep"), "{:?}", proof.left);
        assert!(job.stop(Duration::ZERO).await.gone);
        assert_eq!(gather(&mut job).await.outcome().status, [137]);
    });
}

#[test]
fn a_step_that_was_stopped_before_it_began_never_begins() {
    on_each_shell(|bench| async move {
        assert!(
            bench
                .supervisor
                .stopper("s1")
                .unwrap()
                .stop(Duration::ZERO)
                .await
                .gone
        );
        let (made, quoted) = bench.file("made");
        let launched = bench
            .supervisor
            .launch("s1", &format!("touch {quoted}"), Launch::default())
            .await;
        assert!(launched.is_err());
        assert!(!made.exists());
        let mut job = bench.supervisor.attach("s1", Caps::default()).unwrap();
        assert!(!gather(&mut job).await.outcome().begun);
        let mut job = bench.supervisor.attach("s2", Caps::default()).unwrap();
        assert!(!gather(&mut job).await.outcome().begun);
    });
}

#[test]
fn the_supervisor_keeps_the_status_through_a_term() {
    on_each_shell(|bench| async move {
        let (go, quoted) = bench.file("go");
        let mut job = bench
            .launch(
                "s1",
                &format!("while [ ! -e {quoted} ]; do sleep 0.05; done; exit 7"),
            )
            .await;
        let pid_file = bench.state().join("steps/s1/pid");
        until("the pid", || {
            std::fs::read_to_string(&pid_file).is_ok_and(|pid| pid.contains('\n'))
        })
        .await;
        let supervisor = std::fs::read_to_string(bench.state().join("steps/s1/sup")).unwrap();
        for signal in [Signal::TERM, Signal::HUP, Signal::TERM] {
            signal_process(&supervisor, signal);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        std::fs::write(go, "").unwrap();
        assert_eq!(gather(&mut job).await.outcome().status, [7]);
    });
}

#[test]
fn without_a_supervisor_the_end_is_lost_and_not_before_the_command_is_gone() {
    on_each_shell(|bench| async move {
        let (go, quoted) = bench.file("go");
        let mut job = bench
            .launch(
                "s1",
                &format!("echo begun; while [ ! -e {quoted} ]; do sleep 0.05; done; echo ended"),
            )
            .await;
        let pid_file = bench.state().join("steps/s1/pid");
        until("the pid", || {
            std::fs::read_to_string(&pid_file).is_ok_and(|pid| pid.contains('\n'))
        })
        .await;
        let supervisor = std::fs::read_to_string(bench.state().join("steps/s1/sup")).unwrap();
        signal_process(&supervisor, Signal::KILL);
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(running(&bench.supervisor).await, ["s1"]);
        assert!(bench.supervisor.finish(Journal::Remove).await.is_err());
        std::fs::write(go, "").unwrap();
        let done = gather(&mut job).await;
        assert!(done.outcome().lost);
        assert_eq!(done.outcome().status, [] as [i32; 0]);
        assert_eq!(done.text(), "begun\nended\n");
    });
}

#[test]
fn what_outlives_the_command_in_its_group_is_ended() {
    on_each_shell(|bench| async move {
        let command =
            "sleep 1000 & sh -c 'trap \"\" TERM; while :; do sleep 1; done' & yes & exit 0";
        let done = bench.run("s1", command).await;
        assert_eq!(done.outcome().status, [0]);
        assert!(done.outcome().survivors >= 3, "{:?}", done.outcome());
        assert_eq!(bench.processes(), []);
    });
}
