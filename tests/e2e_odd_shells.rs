//! Login shells, start-up files and environments as people have them, over a real server.
#![cfg(test)]

#[path = "support/events.rs"]
mod events;
#[path = "support/house.rs"]
mod house;
#[path = "support/missing.rs"]
mod missing;
#[path = "support/processes.rs"]
mod processes;
#[path = "support/sshd.rs"]
mod server;
#[path = "support/world.rs"]
mod world;

use std::fs;
use std::time::Duration;

use comeback::host::SharedHost;
use comeback::host::supervisor::{Heard, Journal, Launch, Supervisor};
use house::{House, Plan};
use missing::have_tool;
use world::SMALL;

/// Hosts on which everything works.
const GOOD: [(&str, &str); 8] = [
    ("fish", "/usr/bin/fish"),
    ("tcsh", "/bin/tcsh"),
    ("zsh", "/usr/bin/zsh"),
    ("ash", "bin/ash"),
    ("bare", "/bin/bash"),
    ("strict", "/bin/bash"),
    ("open", "/bin/sh"),
    ("homeless", "/bin/sh"),
];

fn house() -> Option<House> {
    let shells = ["fish", "tcsh", "zsh", "busybox"];
    if !shells.iter().all(|shell| have_tool(shell)) {
        return None;
    }
    let more = [
        ("nologin", "/usr/sbin/nologin"),
        ("false", "/bin/false"),
        ("gone", "/no/such/shell"),
        ("forced", "/bin/sh"),
    ];
    let users = [&GOOD[..], &more[..]].concat();
    let house = House::new(&Plan {
        users: &users,
        ..Plan::default()
    })?;
    let noise = "echo 'Welcome, <you>!'; echo comeback:facts uid 7; echo 'no mail' >&2\n";
    house.write("fish", ".config/fish/config.fish", noise);
    house.write(
        "tcsh",
        ".cshrc",
        "echo 'Welcome!'\nsh -c 'echo no mail >&2'\nset noclobber\numask 000\n",
    );
    house.write(
        "zsh",
        ".zshenv",
        &format!("{noise}setopt noclobber nounset nomatch\numask 077\n"),
    );
    // No path at all, and a locale of its own.
    house.write(
        "bare",
        ".bashrc",
        "export PATH= LANG=de_DE.UTF-8 LC_ALL=ja_JP.UTF-8\nunset TERM\nprintf 'no line end'\n",
    );
    // What changes shells and programs further down.
    house.write(
        "strict",
        ".bashrc",
        &format!(
            "{noise}set -o noclobber -o nounset\nexport SHELLOPTS PATH=/usr/bin:/bin CDPATH=.:/\n\
             export TIME_STYLE=long-iso BLOCK_SIZE=human-readable POSIXLY_CORRECT=1\n\
             export TAR_OPTIONS='--exclude=*' IFS=/ ENV=/no/such\numask 077\n"
        ),
    );
    house.restrict("open", "environment=\"TERM=\",no-pty");

    fs::remove_dir(house.path("home/homeless")).unwrap();
    house.restrict("forced", "command=\"echo backup only\"");
    Some(house)
}

#[test]
fn whatever_the_login_shell_is() {
    let Some(house) = house() else { return };
    let world = &house.world;
    let state = house.path("home/state-homeless");
    fs::create_dir(&state).unwrap();
    std::os::unix::fs::chown(&state, Some(house.id("homeless")), None).unwrap();
    // Without a home there is no state folder: that is said, and how to name another.
    house.configure("");
    let check = world.run(&["check", "--host", "homeless", "--method", "files-cp"]);
    assert_eq!(check.code, 4, "{}", check.err);
    for word in [
        "homeless",
        "/home/homeless/.local/state/comeback",
        "host.homeless.state",
    ] {
        assert!(check.out.contains(word), "{word}: {}", check.out);
    }
    house.configure("[host.homeless]\nstate = \"/home/state-homeless\"\n");
    let mut arguments = vec!["run", "--record"];
    let record = world.text("r.jsonl");
    arguments.push(&record);
    for (host, _) in GOOD {
        arguments.extend(["--host", host]);
    }
    arguments.extend([
        "--sandbox",
        "/var/tmp",
        "--method",
        "files-tar",
        "--reps",
        "1",
    ]);
    arguments.extend(SMALL);
    let run = world.run(&arguments);
    let recording = events::Recording::read(&world.path("r.jsonl"));
    assert_eq!(
        recording.ends(),
        ["ok"; GOOD.len()],
        "{}\n{}",
        run.out,
        run.err
    );
    run.assert_good();
    let facts = &recording.of("header").next().unwrap()["facts"];
    for (host, _) in GOOD {
        assert_eq!(facts[host]["user"], host);
        assert_eq!(facts[host]["uid"], house.id(host), "{host}");
        // In sbin, and read in the C locale.
        assert!(facts[host]["tools"]["losetup"].is_string(), "{host}");
    }
    assert_eq!(processes::left_of(&recording.session()), [""; 0]);
    house.assert_empty();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn output_is_whole_and_a_stop_reaches_it() {
    let Some(house) = house() else { return };
    for (user, _) in GOOD {
        let host: SharedHost = house.host(user).await.unwrap();
        let state = format!("/home/tmp/cb-odd-{user}-{}", std::process::id());
        let supervisor = Supervisor::new(host, state.clone());
        supervisor.prepare().await.unwrap();
        let mut job = supervisor
            .launch(
                "s1",
                "echo out; echo err >&2; printf end; exit 3",
                Launch::default(),
            )
            .await
            .unwrap();
        let (mut said, mut status) = (Vec::new(), Vec::new());
        while let Some(heard) = job.next().await {
            match heard {
                Heard::Output { bytes, .. } => said.extend(bytes),
                Heard::Ended(outcome) => status = outcome.status,
                _ => {}
            }
        }
        said.sort_unstable();
        let mut expected = b"out\nenderr\n".to_vec();
        expected.sort_unstable();
        assert_eq!(said, expected, "{user}");
        assert_eq!(status, [3], "{user}");
        let command = "trap '' TERM; (sleep 1000) & sleep 1000";
        let job = supervisor
            .launch("s2", command, Launch::default())
            .await
            .unwrap();
        let proof = job.stop(Duration::from_millis(1)).await;
        assert!(proof.gone, "{user}: {:?}", proof.left);
        supervisor.finish(Journal::Remove).await.unwrap();
        house.assert_empty();
    }
}

#[test]
fn a_login_that_runs_nothing_says_so() {
    let Some(house) = house() else { return };
    let cases = [
        ("nologin", "not available"),
        ("false", "status 1"),
        ("forced", "backup only"),
        // Its server takes no login at all.
        ("gone", "login: the host refuses `gone`"),
    ];
    for (user, said) in cases {
        let check = house.world.run(&["check", "--host", user]);
        check.assert_refused(3, &[user, said, "name another user"]);
    }
}
