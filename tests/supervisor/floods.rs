//! More output than anybody wants.

use std::time::Duration;

use comeback::event::Stream;
use comeback::host::supervisor::{Caps, Launch};

use crate::bench::{gather, on, on_each_shell, until};
use crate::shells::shell;

#[test]
fn a_daemon_outlives_its_step_and_its_flood_is_bounded() {
    on_each_shell(|bench| async move {
        let (pid, quoted) = bench.file("pid");
        let caps = Caps {
            head: 1 << 20,
            tail: 1 << 10,
            file: 4 << 20,
        };
        let command = format!(
            "setsid sh -c 'echo $$ >{quoted}; exec yes' & while [ ! -s {quoted} ]; do sleep 0.02; done"
        );
        let launch = Launch {
            caps,
            ..Launch::default()
        };
        let mut job = bench
            .supervisor
            .launch("s1", &command, launch)
            .await
            .unwrap();
        let done = gather(&mut job).await;
        assert_eq!(done.outcome().status, [0]);
        assert!(!bench.processes().is_empty());
        // It is cut back while it goes on.
        let out = bench.state().join("steps/s1/out");
        let cut = bench.state().join("steps/s1/cut.out");
        until("a cut", || cut.exists()).await;
        assert!(
            bench
                .supervisor
                .stopper("s1")
                .unwrap()
                .stop(Duration::ZERO)
                .await
                .gone
        );
        assert_eq!(bench.processes(), []);
        assert!(pid.exists() && out.exists());
    });
}

#[test]
fn hostile_output_comes_as_it_is() {
    on_each_shell(|bench| async move {
        let command = r"printf '\033[2J\033]0;evil\007\377\376\000\r\nx'; printf '\303\050' >&2";
        let done = bench.run("s1", command).await;
        assert_eq!(done.out, b"\x1b[2J\x1b]0;evil\x07\xff\xfe\x00\r\nx");
        assert_eq!(done.err, b"\xc3\x28");
    });
}

#[test]
fn a_flood_is_bounded_here_and_there() {
    on_each_shell(|bench| async move {
        let caps = Caps {
            head: 1 << 20,
            tail: 4096,
            file: 512 << 20,
        };
        // One line of 100 MB.
        let command = "head -c 100000000 /dev/zero | tr '\\000' x; echo; echo the end; echo e >&2";
        let launch = Launch {
            caps,
            ..Launch::default()
        };
        let mut job = bench
            .supervisor
            .launch("s1", command, launch)
            .await
            .unwrap();
        let done = gather(&mut job).await;
        assert_eq!(done.outcome().status, [0]);
        assert_eq!(done.out.len(), (1 << 20) + 4096);
        assert!(done.out.ends_with(b"x\nthe end\n"));
        assert_eq!(done.err, b"e\n");
        let missing = 100_000_009 - (1 << 20) - 4096;
        assert_eq!(done.gaps, [(Stream::Out, 1 << 20, Some(missing))]);
    });
}

#[test]
fn a_flood_is_cut_back_on_the_host() {
    on(shell("dash"), |bench| async move {
        let caps = Caps {
            head: 1 << 20,
            tail: 4096,
            file: 4 << 20,
        };
        let cut = bench.state().join("steps/s1/cut.out");
        let quoted = shlex::try_quote(cut.to_str().unwrap())
            .unwrap()
            .into_owned();
        let command = format!(
            "echo first; while [ ! -e {quoted} ]; do head -c 1000000 /dev/zero; done; echo last"
        );
        let launch = Launch {
            caps,
            ..Launch::default()
        };
        let mut job = bench
            .supervisor
            .launch("s1", &command, launch)
            .await
            .unwrap();
        let done = gather(&mut job).await;
        assert!(done.out.starts_with(b"first\n\0"));
        assert!(done.out.ends_with(b"last\n"));
        assert_eq!(done.gaps, [(Stream::Out, 1 << 20, None)]);
    });
}

#[test]
fn a_slow_listener_holds_no_connection_and_misses_nothing() {
    on_each_shell(|bench| async move {
        let mut job = bench.launch("s1", "yes | head -c 20000000").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        // Others are served meanwhile.
        assert_eq!(bench.run("s2", "echo hello").await.text(), "hello\n");
        let done = gather(&mut job).await;
        assert_eq!(done.out.len(), 20_000_000);
        assert!(done.out.chunks(2).all(|line| line == b"y\n"));
        assert_eq!(done.gaps, []);
    });
}
