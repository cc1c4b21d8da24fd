//! What a step is given, and what comes back.

use std::path::Path;

use comeback::event::Stream;
use comeback::host::supervisor::{Heard, Journal, Launch, pipe_script};
use proptest::prelude::*;

use crate::bench::{Done, LIMIT, ODD, gather, on_each_shell};

#[test]
fn streams_status_and_stamps_come_back() {
    on_each_shell(|bench| async move {
        let done = bench.run("s1", "echo out; echo err >&2; exit 7").await;
        assert_eq!(done.out, b"out\n");
        assert_eq!(done.err, b"err\n");
        let outcome = done.outcome();
        assert_eq!(outcome.status, [7]);
        assert!(outcome.begun && !outcome.lost);
        assert_eq!(outcome.survivors, 0);
        assert!(outcome.seconds().unwrap() >= 0.0);
        assert!(outcome.resolution > 0.0 && outcome.resolution <= 1.0);
        assert_eq!(done.links, [] as [bool; 0]);
    });
}

#[test]
fn a_slow_step_is_heard_while_it_runs() {
    on_each_shell(|bench| async move {
        let (go, quoted) = bench.file("go");
        let mut job = bench
            .launch(
                "s1",
                &format!("echo begun; while [ ! -e {quoted} ]; do sleep 0.05; done; echo ended"),
            )
            .await;
        let first = tokio::time::timeout(LIMIT, job.next())
            .await
            .unwrap()
            .unwrap();
        assert_eq!(
            first,
            Heard::Output {
                stream: Stream::Out,
                offset: 0,
                bytes: b"begun\n".to_vec()
            }
        );
        std::fs::write(go, "").unwrap();
        let mut done = Done {
            out: b"begun\n".to_vec(),
            ..Done::default()
        };
        while let Some(heard) = job.next().await {
            done.take(heard);
        }
        assert_eq!(done.text(), "begun\nended\n");
        assert_eq!(done.outcome().status, [0]);
    });
}

#[test]
fn the_command_runs_in_a_clean_place() {
    on_each_shell(|bench| async move {
        let command =
            "echo $LC_ALL; echo $PATH; umask; cat; echo $COMEBACK_STEP; cat /proc/$$/stat";
        let text = bench.run("s1", command).await.text();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "C");
        assert!(lines[1].contains("/usr/sbin"));
        let umask = std::process::Command::new("sh")
            .args(["-c", "umask"])
            .output()
            .unwrap();
        assert_eq!(
            lines[2].trim_start_matches('0'),
            String::from_utf8(umask.stdout)
                .unwrap()
                .trim()
                .trim_start_matches('0')
        );
        assert_eq!(lines[3], format!("{}/steps/s1/", bench.session));
        let stat: Vec<&str> = lines[4].split(' ').collect();
        // Leader of its group and of its session, without a terminal.
        assert_eq!(stat[0], stat[4]);
        assert_eq!(stat[0], stat[5]);
        assert_eq!(stat[6], "0");
    });
}

#[test]
fn the_command_inherits_its_three_streams_alone() {
    on_each_shell(|bench| async move {
        let command = "sh -c 'ls /proc/self/fd' | tr '\\n' ' '";
        let plain = comeback::host::ask(&*bench.shell, command, b"", 1000, LIMIT)
            .await
            .unwrap();
        assert_eq!(bench.run("s1", command).await.out, plain.out);
    });
}

#[test]
fn the_state_folder_is_private_and_goes() {
    use std::os::unix::fs::PermissionsExt;

    on_each_shell(|bench| async move {
        let done = bench.run("s1", "true").await;
        assert_eq!(done.outcome().status, [0]);
        for dir in [bench.state(), &bench.state().join("steps/s1")] {
            let mode = std::fs::metadata(dir).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o700, "{}", dir.display());
        }
        std::fs::write(bench.state().join("journal"), "open").unwrap();
        bench.supervisor.finish(Journal::Keep).await.unwrap();
        let left: Vec<_> = std::fs::read_dir(bench.state()).unwrap().collect();
        assert_eq!(left.len(), 1);
        bench.supervisor.finish(Journal::Remove).await.unwrap();
        assert!(!bench.state().exists());
        // Twice does no harm.
        bench.supervisor.finish(Journal::Remove).await.unwrap();
        // And nothing slipped out of its quotes.
        let names: Vec<_> = std::fs::read_dir(bench.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, [ODD]);
        assert!(!Path::new("slipped").exists());
    });
}

#[test]
fn input_reaches_the_command_and_leaves_no_trace() {
    on_each_shell(|bench| async move {
        let secret = b"correct horse\0battery\n\xff".to_vec();
        let launch = Launch {
            stdin: Some(secret.clone()),
            ..Launch::default()
        };
        let mut job = bench
            .supervisor
            .launch("s1", "cat # no newline at the end", launch)
            .await
            .unwrap();
        let done = gather(&mut job).await;
        assert_eq!(done.out, secret);
        for entry in std::fs::read_dir(bench.state().join("steps/s1")).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().unwrap() != "out" {
                let bytes = std::fs::read(&path).unwrap();
                assert!(
                    !bytes.windows(5).any(|part| part == b"horse"),
                    "{}",
                    path.display()
                );
            }
        }
        // Nor is it in a script, which anybody on the host can see.
        let scripts = bench.shell.scripts.lock().unwrap();
        assert!(!scripts.iter().any(|script| script.contains("horse")));
    });
}

#[test]
fn a_long_command_is_no_argument() {
    on_each_shell(|bench| async move {
        let command = format!("echo begin\n: {}\necho end", "x".repeat(300_000));
        assert_eq!(bench.run("s1", &command).await.text(), "begin\nend\n");
    });
}

#[test]
fn a_step_is_run_once() {
    on_each_shell(|bench| async move {
        bench.run("s1", "true").await;
        let again = bench
            .supervisor
            .launch("s1", "true", Launch::default())
            .await;
        let error = again.err().unwrap().to_string();
        assert!(error.contains("s1") && error.contains("exists"), "{error}");
    });
}

#[test]
fn each_member_of_a_pipe_tells_its_status() {
    on_each_shell(|bench| async move {
        let members = [
            "echo a; exit 3",
            "cat; exit 0 # done",
            "tr a \"b\"; kill -KILL $$",
        ];
        let script = pipe_script(&members.map(String::from));
        let done = bench.run("s1", &script).await;
        assert_eq!(done.text(), "b\n");
        assert_eq!(done.outcome().status, [3, 0, 137]);

        let script = pipe_script(&["true".to_owned(), "cat".to_owned()]);
        let launch = Launch {
            stdin: Some(b"unread".to_vec()),
            ..Launch::default()
        };
        let done = gather(
            &mut bench
                .supervisor
                .launch("s2", &script, launch)
                .await
                .unwrap(),
        )
        .await;
        assert_eq!(done.outcome().status, [0, 0]);
        assert_eq!(done.err, b"");

        // A member that no shell can read fails; it does not spoil its neighbours.
        let script = pipe_script(&["echo 'a".to_owned(), "cat >/dev/null; echo ok".to_owned()]);
        let done = bench.run("s3", &script).await;
        assert_eq!(done.outcome().status.len(), 2);
        assert_ne!(done.outcome().status[0], 0);
        assert_eq!(done.outcome().status[1], 0);
        assert_eq!(done.text(), "ok\n");
    });
}

#[test]
fn any_text_goes_through_any_shell_as_it_is() {
    on_each_shell(|bench| async move {
        let bench = &bench;
        let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
            cases: 12,
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        let word = proptest::collection::vec(
            prop_oneof![
                "[-$`\"'\\\\ \n*?(){};&|<>!#~=%]{1,8}",
                "\\$\\(touch [a-z]\\)",
                "\\PC{1,6}",
                "-[a-z-]{1,5}",
            ],
            1..5,
        )
        .prop_map(|parts| parts.concat());
        let handle = tokio::runtime::Handle::current();
        let result = tokio::task::block_in_place(|| {
            let count = std::cell::Cell::new(0);
            runner.run(&(word.clone(), word), |(first, second)| {
                count.set(count.get() + 1);
                let quote = |text: &str| shlex::try_quote(text).unwrap().into_owned();
                let command = format!("printf '%s\\0' {} {}", quote(&first), quote(&second));
                let step = format!("{} {first}", count.get());
                let prefix: String = step.chars().take(20).collect();
                let done = handle.block_on(bench.run(&prefix, &command));
                let expected = format!("{first}\0{second}\0");
                prop_assert_eq!(String::from_utf8_lossy(&done.out), expected);
                Ok(())
            })
        });
        result.unwrap();
    });
}

/// How fast it is here; run with `--ignored --nocapture` on a quiet machine.
#[test]
#[ignore = "prints figures"]
fn measure() {
    on_each_shell(|bench| async move {
        let median = |mut values: Vec<f64>| {
            values.sort_by(f64::total_cmp);
            values[values.len() / 2] * 1e3
        };
        let mut host = Vec::new();
        let mut here = Vec::new();
        for number in 0..41 {
            let begun = std::time::Instant::now();
            let done = bench.run(&format!("true-{number}"), "true").await;
            here.push(begun.elapsed().as_secs_f64());
            host.push(done.outcome().seconds().unwrap());
        }
        println!(
            "{:?}: supervised true: {:.1} ms by the host's clock, {:.1} ms in all",
            bench.supervisor.clock(),
            median(host),
            median(here)
        );
        let mut sleeps = Vec::new();
        for number in 0..5 {
            let done = bench.run(&format!("sleep-{number}"), "sleep 1").await;
            sleeps.push(done.outcome().seconds().unwrap() - 1.0);
        }
        println!("sleep 1 reads {:+.1} ms", median(sleeps));
    });
}
