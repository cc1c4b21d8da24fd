//! Steps whose input or output goes through here.

use std::time::Duration;

use comeback::host::supervisor::{Ends, Launch, Link, Part, Side, pipe_script};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

use crate::bench::{Bench, LIMIT, gather, on_each_shell, until};

const WRITES: Ends = Ends {
    reads: false,
    writes: true,
};
const READS: Ends = Ends {
    reads: true,
    writes: false,
};

async fn side(bench: &Bench, step: &str, command: &str, ends: Ends) -> Side {
    let launch = Launch::default();
    let begun = bench.supervisor.side(step, command, launch, ends).await;
    begun.unwrap()
}

async fn all(from: &mut Side) -> (Vec<u8>, bool) {
    let mut bytes = Vec::new();
    let work = async {
        while let Some(part) = from.output.recv().await {
            match part {
                Part::Bytes(more) => bytes.extend(more),
                Part::End => return true,
            }
        }
        false
    };
    let whole = timeout(LIMIT, work).await.expect("the stream has no end");
    (bytes, whole)
}

#[test]
fn bytes_come_and_go_unchanged() {
    on_each_shell(|bench| async move {
        let (path, quoted) = bench.file("arrived");
        let command = pipe_script(&[
            "head -c 3000000 /dev/urandom; echo warned >&2".into(),
            "tee /dev/stderr 2>/dev/null | cat".into(),
        ]);
        let mut from = side(&bench, "from", &command, WRITES).await;
        let (bytes, whole) = all(&mut from).await;
        assert!(whole && bytes.len() == 3_000_000);
        let done = gather(&mut from.job).await;
        assert_eq!(done.outcome().status, [0, 0]);
        assert_eq!(done.err, b"warned\n");
        assert!(done.links.is_empty() && done.outcome().stamps.is_some());

        let command = format!("cat >{quoted}; echo got $?; exit 5");
        let mut to = side(&bench, "to", &command, READS).await;
        to.input.write_all(&bytes).await.unwrap();
        to.input.shutdown().await.unwrap();
        let fed = timeout(LIMIT, to.link.wait_for(|link| *link != Link::Open)).await;
        assert_eq!(*fed.unwrap().unwrap(), Link::Fed);
        // It has all, and does not know it.
        assert!(
            timeout(Duration::from_millis(300), to.job.next())
                .await
                .is_err()
        );
        to.whole.tell().await.unwrap();
        let done = gather(&mut to.job).await;
        assert_eq!(done.text(), "got 0\n");
        assert_eq!(done.outcome().status, [5]);
        assert_eq!(std::fs::read(path).unwrap(), bytes);
        assert!(bench.processes().is_empty());
    });
}

#[test]
fn what_reads_and_writes_is_in_the_middle() {
    on_each_shell(|bench| async move {
        let both = Ends {
            reads: true,
            writes: true,
        };
        let mut middle = side(&bench, "middle", "tr a-z A-Z", both).await;
        middle.input.write_all(b"small letters").await.unwrap();
        middle.input.shutdown().await.unwrap();
        middle
            .link
            .wait_for(|link| *link == Link::Fed)
            .await
            .unwrap();
        middle.whole.tell().await.unwrap();
        assert_eq!(all(&mut middle).await, (b"SMALL LETTERS".to_vec(), true));
        assert_eq!(gather(&mut middle.job).await.outcome().status, [0]);
    });
}

#[test]
fn a_cut_stream_never_looks_whole() {
    on_each_shell(|bench| async move {
        for hard in [true, false] {
            let name = if hard { "hard" } else { "soft" };
            let (arrived, quoted) = bench.file(&format!("{name}-arrived"));
            let (ended, quoted_end) = bench.file(&format!("{name}-ended"));
            let command = format!("cat >{quoted}; touch {quoted_end}");
            let mut to = side(&bench, &format!("to-{name}"), &command, READS).await;
            let mut from = side(&bench, &format!("from-{name}"), "yes", WRITES).await;
            to.input.write_all(b"half").await.unwrap();
            until("half of it is there", || {
                std::fs::read(&arrived).is_ok_and(|bytes| bytes == b"half")
            })
            .await;
            assert!(matches!(from.output.recv().await, Some(Part::Bytes(_))));
            if hard {
                bench.cable.cut();
            } else {
                bench.cable.cut_softly();
            }
            assert!(!all(&mut from).await.1);
            to.link.wait_for(|link| *link == Link::Lost).await.unwrap();
            drop(to.input);
            tokio::time::sleep(Duration::from_millis(300)).await;
            assert!(!ended.exists(), "it took a cut for the end");
            bench.cable.mend();
            for (step, job) in [("to", to.job), ("from", from.job)] {
                let step = format!("{step}-{name}");
                let proof = bench.supervisor.stopper(&step).unwrap().stop(LIMIT).await;
                assert!(proof.gone, "{step}: {:?}", proof.left);
                drop(job);
            }
            assert!(!ended.exists() && bench.processes().is_empty());
        }
    });
}

#[test]
fn a_stream_ends_with_its_session() {
    on_each_shell(|bench| async move {
        let keeper = bench.supervisor.keeper().await.unwrap();
        let (ended, quoted) = bench.file("ended");
        let to = side(&bench, "to", &format!("cat; touch {quoted}"), READS).await;
        let from = side(&bench, "from", "sleep 1000", WRITES).await;
        assert_eq!(bench.supervisor.living().await.unwrap().running.len(), 2);
        drop(keeper);
        until("nothing runs", || bench.processes().is_empty()).await;
        assert!(!ended.exists());
        drop((to, from));
    });
}

#[test]
fn what_fails_or_is_refused_says_so() {
    on_each_shell(|bench| async move {
        let mut from = side(&bench, "s1", "echo part; exit 3", WRITES).await;
        assert_eq!(all(&mut from).await, (b"part\n".to_vec(), true));
        assert_eq!(gather(&mut from.job).await.outcome().status, [3]);
        // A step is begun once.
        let again = bench
            .supervisor
            .side("s1", "true", Launch::default(), WRITES);
        assert!(again.await.is_err());
    });
}
