//! Connections that break, and what dies with them.

use std::time::Duration;

use comeback::host::supervisor::{Caps, Launch};

use crate::bench::{Done, LIMIT, gather, on_each_shell, running, until};

#[test]
fn a_lost_connection_stops_nothing() {
    on_each_shell(|bench| async move {
        let (go, quoted) = bench.file("go");
        let command = format!(
            "i=0; while [ ! -e {quoted} ]; do i=$((i+1)); echo line $i; sleep 0.01; done; echo last; exit 5"
        );
        let mut job = bench.launch("s1", &command).await;
        let mut done = Done::default();
        while done.out.is_empty() {
            done.take(job.next().await.unwrap());
        }
        bench.cable.cut();
        while done.links.is_empty() {
            done.take(job.next().await.unwrap());
        }
        assert!(!bench.processes().is_empty());
        tokio::time::sleep(Duration::from_millis(300)).await;
        bench.cable.mend();
        while done.links.len() < 2 {
            done.take(job.next().await.unwrap());
        }
        std::fs::write(go, "").unwrap();
        let rest = async {
            while let Some(heard) = job.next().await {
                done.take(heard);
            }
        };
        tokio::time::timeout(LIMIT, rest).await.unwrap();
        // Told for each reason that was met, and once when it was over.
        done.links.dedup();
        assert_eq!(done.links, [false, true]);
        assert_eq!(done.outcome().status, [5]);
        // Every line once, in its order.
        let text = done.text();
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().take(lines.len() - 1).enumerate() {
            assert_eq!(*line, format!("line {}", at + 1));
        }
        assert_eq!(lines.last(), Some(&"last"));
    });
}

#[test]
fn on_a_machine_that_has_restarted_nothing_goes_on() {
    on_each_shell(|bench| async move {
        // A step that has ended keeps its end.
        let mut ended = bench.launch("s1", "echo out; exit 5").await;
        assert_eq!(gather(&mut ended).await.outcome().status, [5]);
        // As after a restart: the kernel tells another one.
        std::fs::write(bench.state().join("boot-id"), "an earlier one\n").unwrap();
        let again = bench.supervisor.attach("s1", Caps::default());
        assert_eq!(gather(&mut again.unwrap()).await.outcome().status, [5]);
        let (mark, quoted) = bench.file("mark");
        let done = bench.run("s2", &format!("touch {quoted}")).await;
        let outcome = done.outcome();
        assert!(outcome.restarted && outcome.lost && outcome.status.is_empty());
        assert!(!mark.exists());
        // One that nobody knows the end of.
        let done = bench.supervisor.attach("s3", Caps::default());
        assert!(gather(&mut done.unwrap()).await.outcome().restarted);
        // A session that begins there begins anew.
        bench.supervisor.prepare().await.unwrap();
        assert_eq!(bench.run("s4", "true").await.outcome().status, [0]);
    });
}

#[test]
fn a_step_that_ends_while_the_connection_is_gone_is_told_in_full() {
    on_each_shell(|bench| async move {
        let (go, quoted) = bench.file("go");
        let mut job = bench
            .launch(
                "s1",
                &format!(
                    "while [ ! -e {quoted} ]; do sleep 0.05; done; yes | head -c 300000; exit 9"
                ),
            )
            .await;
        bench.cable.cut();
        std::fs::write(go, "").unwrap();
        let status = bench.state().join("steps/s1/status");
        until("the status", || status.exists()).await;
        bench.cable.mend();
        let done = gather(&mut job).await;
        assert_eq!(done.outcome().status, [9]);
        assert_eq!(done.out, b"y\n".repeat(150_000));
        assert_eq!(done.gaps, []);
    });
}

#[test]
fn a_launch_that_breaks_off_runs_nothing_or_all() {
    on_each_shell(|bench| async move {
        for step in ["s1", "s2", "s3", "s4", "s5"] {
            let (made, quoted) = bench.file(step);
            let command = format!("echo >>{quoted}; sleep 1");
            let mut launch = Box::pin(bench.supervisor.launch(step, &command, Launch::default()));
            let wait = Duration::from_millis(u64::from(step.as_bytes()[1] - b'1') * 2);
            let early = tokio::time::timeout(wait, &mut launch).await;
            bench.cable.cut();
            let job = match early {
                Ok(job) => job,
                Err(_) => launch.await,
            };
            bench.cable.mend();
            let begun = match job {
                Ok(mut job) => gather(&mut job).await.outcome().begun,
                Err(_) => false,
            };
            tokio::time::sleep(Duration::from_millis(100)).await;
            assert_eq!(made.exists(), begun, "{step}");
            if begun {
                assert_eq!(std::fs::read_to_string(made).unwrap(), "\n");
            }
        }
    });
}

#[test]
fn loads_die_with_the_session_and_nothing_else_does() {
    on_each_shell(|bench| async move {
        let keeper = bench.supervisor.keeper().await.unwrap();
        assert!(bench.supervisor.living().await.unwrap().kept);
        let load = Launch {
            load: true,
            ..Launch::default()
        };
        let mut job = bench
            .supervisor
            .launch("load", "trap '' TERM; sleep 1000", load)
            .await
            .unwrap();
        let (go, quoted) = bench.file("go");
        let mut other = bench
            .launch(
                "task",
                &format!("while [ ! -e {quoted} ]; do sleep 0.05; done"),
            )
            .await;
        let pid = bench.state().join("steps/load/pid");
        until("the load", || pid.exists()).await;
        assert_eq!(running(&bench.supervisor).await, ["load", "task"]);
        // The program is killed: its pipes end, and nobody comes back.
        bench.cable.cut_softly();
        until("the end of the load", || {
            bench.state().join("steps/load/status").exists()
        })
        .await;
        bench.cable.mend();
        assert_eq!(running(&bench.supervisor).await, ["task"]);
        let done = gather(&mut job).await;
        assert_eq!(done.outcome().status, [137]);
        std::fs::write(go, "").unwrap();
        assert_eq!(gather(&mut other).await.outcome().status, [0]);
        keeper.close().await;
        assert!(!bench.supervisor.living().await.unwrap().kept);
    });
}

#[test]
fn a_keeper_comes_back_with_the_connection_and_its_close_ends_the_loads() {
    on_each_shell(|bench| async move {
        let keeper = bench.supervisor.keeper().await.unwrap();
        let pid = || std::fs::read_to_string(bench.state().join("keeper")).unwrap();
        let first = pid();
        bench.cable.cut();
        bench.cable.mend();
        until(
            "another keeper",
            || !matches!(pid(), pid if pid == first || pid.is_empty()),
        )
        .await;
        assert!(bench.supervisor.living().await.unwrap().kept);
        let load = Launch {
            load: true,
            ..Launch::default()
        };
        let mut job = bench
            .supervisor
            .launch("load", "exec sleep 1000", load)
            .await
            .unwrap();
        keeper.close().await;
        assert_eq!(gather(&mut job).await.outcome().status, [143]);
        let living = bench.supervisor.living().await.unwrap();
        assert!(!living.kept && living.running.is_empty());
    });
}
