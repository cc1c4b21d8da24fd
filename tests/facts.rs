//! Facts of this machine, through each shell that a host may have.

#![cfg(test)]

#[path = "support/shells.rs"]
mod shells;

use comeback::host::facts::{ClockSource, Wanted, overhead, probe};
use comeback::host::supervisor::{Journal, Supervisor};
use shells::{ShellHost, shell, shells};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_machine_is_told_in_one_round_trip() {
    for shell in shells() {
        let name = shell.name;
        println!("on {name}");
        let dir = tempfile::tempdir().unwrap();
        let odd = format!(
            "{}/it's \"here\" $(touch {}) \\ `x`\n* -rf/not yet/made",
            dir.path().display(),
            dir.path().join("slipped").display()
        );
        let paths = vec![
            "/".to_owned(),
            odd.clone(),
            dir.path().display().to_string(),
            "-rf /".to_owned(),
            String::new(),
            "/proc/self".to_owned(),
        ];
        let tools = [
            "sh",
            "no-such-program",
            "id",
            "touch; touch slipped",
            "../bin/id",
        ];
        let tools = tools.map(String::from);
        let wanted = Wanted {
            tools: &tools,
            paths: &paths,
            state: None,
        };
        let host = ShellHost::new(shell);
        let facts = probe(&*host, &wanted).await.unwrap();
        assert_eq!(host.scripts.lock().unwrap().len(), 1);

        assert!(!facts.system.is_empty() && !facts.cpu.is_empty());
        assert!(facts.kernel.starts_with("Linux "), "{}", facts.kernel);
        assert!(facts.cpus >= 1);
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
        assert_eq!(facts.machine, boot.trim());
        assert!(facts.memory.0 > 1 << 26);
        let me = std::process::Command::new("id").arg("-u").output().unwrap();
        assert_eq!(
            facts.uid.to_string(),
            String::from_utf8(me.stdout).unwrap().trim()
        );
        assert!(facts.state.ends_with("/comeback"), "{}", facts.state);

        let expected = match name {
            "dash" => "dash",
            "bash" => "bash 5",
            _ => "BusyBox ash",
        };
        assert!(
            facts.tools["sh"].starts_with(expected),
            "{:?}",
            facts.tools["sh"]
        );
        let expected = if name == "busybox" {
            "BusyBox v1"
        } else {
            "tar (GNU tar)"
        };
        assert!(
            facts.tools["tar"].starts_with(expected),
            "{:?}",
            facts.tools["tar"]
        );
        assert!(facts.tools.contains_key("id"));
        assert!(!facts.tools.contains_key("no-such-program"));
        assert!(!facts.tools.keys().any(|tool| tool.contains(['/', ';'])));

        let source = ClockSource::by_name(&facts.clock_source).unwrap();
        let expected = if name == "dash" {
            ClockSource::DateNanos
        } else {
            ClockSource::EpochRealtime
        };
        assert_eq!(source, expected);
        assert!(facts.clock_resolution <= 1e-6);

        let root = facts.filesystems.iter().find(|at| at.at == "/").unwrap();
        assert!(root.size.0 > 0 && !root.kind.is_empty(), "{root:?}");
        assert!(!facts.filesystems.iter().any(|at| at.kind == "proc"));

        assert_eq!(facts.paths.len(), paths.len());
        let place = &facts.paths["/"];
        assert_eq!((place.at.as_str(), &place.filesystem), ("/", &root.kind));
        assert_eq!(place.host, name);
        let here = &facts.paths[&dir.path().display().to_string()];
        let place = &facts.paths[&odd];
        assert_eq!((&place.at, &place.source), (&here.at, &here.source));
        assert_eq!(
            (&place.filesystem, &place.disks),
            (&here.filesystem, &here.disks)
        );
        assert!(!here.at.is_empty() && here.free.0 > 0);
        let slipped = std::fs::read_dir(dir.path()).unwrap().count();
        assert_eq!(slipped, 0, "something slipped out of its quotes");
    }
}

#[tokio::test]
async fn very_many_paths_take_more_calls() {
    let paths: Vec<String> = (0..600)
        .map(|n| format!("/{}{n}", "x".repeat(200)))
        .collect();
    let host = ShellHost::new(shell("dash"));
    let wanted = Wanted {
        paths: &paths,
        ..Wanted::default()
    };
    let facts = probe(&*host, &wanted).await.unwrap();
    assert!(host.scripts.lock().unwrap().len() > 1);
    assert!(paths.iter().all(|path| facts.paths[path].at == "/"));
}

#[tokio::test]
async fn a_state_folder_that_is_set_is_told_and_nothing_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("a/b");
    let wanted = Wanted {
        state: state.to_str(),
        ..Wanted::default()
    };
    let facts = probe(&*ShellHost::new(shell("dash")), &wanted)
        .await
        .unwrap();
    assert_eq!(facts.state, state.display().to_string());
    assert!(facts.state_writable);
    assert!(!dir.path().join("a").exists());
    let wanted = Wanted {
        state: Some("/proc/nothing/here"),
        ..Wanted::default()
    };
    let facts = probe(&*ShellHost::new(shell("dash")), &wanted)
        .await
        .unwrap();
    assert!(!facts.state_writable || facts.uid == 0);
}

#[tokio::test]
async fn a_path_with_a_nul_byte_is_refused_by_name() {
    let paths = ["a\0b".to_owned()];
    let wanted = Wanted {
        paths: &paths,
        ..Wanted::default()
    };
    let error = probe(&*ShellHost::new(shell("dash")), &wanted)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("a\\0b"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_overhead_is_measured_and_may_be_measured_again() {
    for shell in shells() {
        let dir = tempfile::tempdir().unwrap();
        let path = shell.path.clone();
        let state = dir
            .path()
            .join(format!("cb-overhead-{}", std::process::id()));
        let supervisor =
            Supervisor::with_shell(ShellHost::new(shell), state.display().to_string(), &path);
        supervisor.prepare().await.unwrap();
        for _ in 0..2 {
            let seconds = overhead(&supervisor).await.unwrap();
            assert!(seconds > 0.0 && seconds < 10.0, "{seconds}");
        }
        supervisor.finish(Journal::Remove).await.unwrap();
    }
}
