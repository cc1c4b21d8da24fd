//! A machine with `BusyBox` and nothing else, and one that cannot even make a session.

use std::sync::Arc;
use std::time::Duration;

use comeback::event::Facts;
use comeback::host::facts::{Wanted, probe};
use comeback::host::hashing::{Counted, Lists, hash_tree, parse, tree_script};
use comeback::host::supervisor::{Journal, Launch, Supervisor, pipe_script};
use tokio_util::sync::CancellationToken;

use crate::bench::{LIMIT, gather, running, until};
use crate::machine::Small;

async fn supervisor(machine: &Arc<Small>) -> Supervisor {
    let supervisor = Supervisor::new(machine.clone(), "/var/lib/comeback/cb-small".to_owned());
    supervisor.prepare().await.unwrap();
    supervisor
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_works_on_a_small_machine() {
    for without in [&[][..], &["setsid"], &["timeout", "nproc", "usleep"]] {
        let Some(machine) = Small::new(without) else {
            return;
        };
        println!("without {without:?}");
        let paths = ["/var/lib/x".to_owned()];
        let wanted = Wanted {
            paths: &paths,
            ..Wanted::default()
        };
        let facts = probe(&*machine, &wanted).await.unwrap();
        assert_eq!(facts.tools["sh"], "BusyBox ash");
        assert!(
            facts
                .tools
                .values()
                .all(|version| version.starts_with("BusyBox")),
            "{:?}",
            facts.tools
        );
        assert_eq!(
            facts.tools.contains_key("setsid"),
            !without.contains(&"setsid")
        );
        assert!(facts.paths["/var/lib/x"].free.0 > 0);
        assert_eq!(facts.state, "/var/lib/comeback");

        let supervisor = supervisor(&machine).await;
        let keeper = supervisor.keeper().await.unwrap();
        let launch = Launch {
            stdin: Some(b"given".to_vec()),
            ..Launch::default()
        };
        let mut job = supervisor
            .launch("s1", "cat; echo e >&2; sleep 0.3; exit 7", launch)
            .await
            .unwrap();
        let done = gather(&mut job).await;
        assert_eq!(
            (done.out.as_slice(), done.err.as_slice()),
            (&b"given"[..], &b"e\n"[..])
        );
        assert_eq!(done.outcome().status, [7]);
        let seconds = done.outcome().seconds().unwrap();
        assert!((0.25..30.0).contains(&seconds), "{seconds}");

        let pipe = pipe_script(&["exit 3".to_owned(), "cat; exit 4".to_owned()]);
        let mut job = supervisor
            .launch("s2", &pipe, Launch::default())
            .await
            .unwrap();
        assert_eq!(gather(&mut job).await.outcome().status, [3, 4]);

        let ready = machine.root().join("tmp/ready");
        let command =
            "trap '' TERM; (trap '' TERM; touch /tmp/ready; while :; do sleep 1; done) & wait";
        let mut job = supervisor
            .launch("s3", command, Launch::default())
            .await
            .unwrap();
        until("the child", || ready.exists()).await;
        assert_eq!(running(&supervisor).await, ["s3"]);
        assert!(supervisor.finish(Journal::Remove).await.is_err());
        let proof = job.stop(Duration::from_millis(1)).await;
        assert!(proof.gone, "{:?}", proof.left);
        assert_eq!(gather(&mut job).await.outcome().status, [137]);

        let load = Launch {
            load: true,
            ..Launch::default()
        };
        let mut job = supervisor
            .launch("s4", "exec sleep 1000", load)
            .await
            .unwrap();
        keeper.close().await;
        assert_eq!(gather(&mut job).await.outcome().status, [143]);

        let tree = machine.root().join("tmp/tree");
        std::fs::create_dir(&tree).unwrap();
        std::fs::write(tree.join("a b"), "x").unwrap();
        std::os::unix::fs::symlink("a\tb", tree.join("link")).unwrap();
        let lists = Lists {
            folder: "/tmp/kept".to_owned(),
        };
        let facts = Facts::default();
        let script = tree_script("/tmp/tree", &lists, &facts);
        let mut job = supervisor
            .launch("s5", &script, Launch::default())
            .await
            .unwrap();
        let said = gather(&mut job).await.out;
        let there = parse(&String::from_utf8(said).unwrap(), &facts).unwrap();
        let here = hash_tree(&tree, 1, &CancellationToken::new(), &Counted::default()).unwrap();
        assert_eq!(
            (&there.files, there.count, there.bytes),
            (&here.files, 1, 1)
        );
        assert!(there.meta.is_some() && there.xattrs.is_none());

        tokio::time::timeout(LIMIT, supervisor.finish(Journal::Remove))
            .await
            .unwrap()
            .unwrap();
        assert!(!machine.root().join("var/lib/comeback/cb-small").exists());
    }
}
