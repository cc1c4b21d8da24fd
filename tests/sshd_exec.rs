//! Commands on a real OpenSSH server on loopback: what they read and say, how they end, and what
//! one does to another.
#![cfg(test)]

#[path = "support/channel.rs"]
mod channel;
#[path = "support/sshd.rs"]
mod server;

use std::fmt::Write;
use std::fs;
use std::sync::Arc;
use std::time::{Duration, Instant};

use channel::{PATIENCE, rest, run, said};
use comeback::host::{Channel, Exit, Host, HostError, Said, ask};
use server::Sshd;
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;
use tokio::time::timeout;

/// A job that keeps the channel's output open for as long as the server's folder is there.
fn left_behind(sshd: &Sshd) -> String {
    let folder = sshd.path("home");
    format!("(while [ -e {} ]; do sleep 0.2; done)", folder.display())
}

#[tokio::test]
async fn a_server_killed_in_the_middle_ends_the_output_without_an_exit() {
    let Some(mut sshd) = Sshd::start() else {
        return;
    };
    let host = sshd.host().await;
    let mut channel = host
        .exec("while echo tick; do sleep 0.05; done")
        .await
        .unwrap();
    assert!(matches!(said(&mut channel).await, Some(Said::Out(_))));
    sshd.kill();
    assert_eq!(rest(&mut channel).await.1, None);
    let error = host.exec("true").await.err().unwrap();
    assert!(
        matches!(
            error,
            HostError::Down {
                phase: "connect",
                ..
            }
        ),
        "{error}"
    );

    sshd.restart();
    assert_eq!(run(&*host, "echo back").await.out, b"back\n");
}

#[tokio::test]
async fn commands_wait_for_one_of_four_places() {
    let Some(sshd) = Sshd::start() else { return };
    let host = sshd.host().await;
    let folder = sshd.path("running");
    fs::create_dir(&folder).unwrap();
    // Each one counts how many there are while it runs.
    let script = format!(
        "cd {} && : >$$ && sleep 0.2 && ls | wc -l && rm $$",
        folder.display()
    );
    let mut all = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let (host, script) = (Arc::clone(&host), script.clone());
        all.spawn(async move { run(&*host, &script).await });
    }
    let mut most = 0;
    for answer in all.join_all().await {
        assert_eq!(answer.exit, Exit::Code(0));
        let count: usize = String::from_utf8(answer.out)
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        most = most.max(count);
    }
    assert!((1..=4).contains(&most), "{most} ran at once");
    let logins = sshd.log().matches("Accepted publickey").count();
    assert!(logins <= 4, "{logins} logins");
}

#[tokio::test]
async fn commands_share_a_connection_where_another_cannot_be_had() {
    let Some(sshd) = Sshd::start() else { return };
    let host = sshd.host().await;
    fs::write(sshd.path("authorized"), "").unwrap();
    let mut first = host.exec("read line; echo $line").await.unwrap();
    assert_eq!(run(&*host, "echo second").await.out, b"second\n");
    first.stdin.write_all(b"first\n").await.unwrap();
    assert_eq!(
        rest(&mut first).await,
        (b"first\n".to_vec(), Some(Exit::Code(0)))
    );
}

#[tokio::test]
async fn a_command_given_up_while_it_starts_harms_no_other() {
    let Some(sshd) = Sshd::start() else { return };
    let host = sshd.host().await;
    for tenths in 0..30 {
        let limit = Duration::from_micros(tenths * 100);
        let _ = timeout(limit, host.exec("true")).await;
    }
    for _ in 0..8 {
        assert_eq!(run(&*host, "true").await.exit, Exit::Code(0));
    }
}

#[tokio::test]
async fn an_unread_flood_is_held_back_and_stalls_nothing_else() {
    let Some(sshd) = Sshd::start() else { return };
    let host = sshd.host().await;
    let sent = sshd.path("sent");
    // 1 GB, which counts how many megabytes have gone.
    let script = format!(
        "n=0; while [ $n -lt 1000 ]; do head -c 1000000 /dev/zero; n=$((n+1)); echo $n >{}; done",
        sent.display()
    );
    let mut flood = host.exec(&script).await.unwrap();
    assert!(matches!(said(&mut flood).await, Some(Said::Out(_))));
    for _ in 0..50 {
        assert_eq!(run(&*host, "true").await.exit, Exit::Code(0));
    }
    // What is not read is not sent, beyond what the buffers on the way take.
    let mut before = String::new();
    let stalled = timeout(PATIENCE, async {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let now = fs::read_to_string(&sent).unwrap_or_default();
            if now == before {
                break now.trim().parse::<u32>().unwrap_or_default();
            }
            before = now;
        }
    });
    let stalled = stalled.await.unwrap();
    assert!(
        stalled < 100,
        "{stalled} MB were taken, and nobody read them"
    );
    eprintln!("held back after {stalled} MB");
    // It goes on where it was.
    let mut bytes = 0;
    while bytes < 64 << 20 {
        match said(&mut flood).await {
            Some(Said::Out(more)) => bytes += more.len(),
            other => panic!("{other:?}"),
        }
    }
    // Nobody listens any more: the channel goes, and its place with it.
    drop(flood);
    for _ in 0..8 {
        assert_eq!(run(&*host, "true").await.exit, Exit::Code(0));
    }
}

#[tokio::test]
async fn output_of_any_size_arrives_whole_and_before_the_exit() {
    let Some(sshd) = Sshd::start() else { return };
    let host = sshd.host().await;
    let mut channel = host
        .exec("dd if=/dev/zero bs=100000 count=300 2>/dev/null; printf end; exit 9")
        .await
        .unwrap();
    let (out, exit) = rest(&mut channel).await;
    assert_eq!(out.len(), 30_000_003);
    assert!(out.ends_with(b"\0end"));
    assert_eq!(exit, Some(Exit::Code(9)));
}

#[tokio::test]
async fn standard_input_of_50_mb_arrives_whole() {
    let Some(sshd) = Sshd::start() else { return };
    let host = sshd.host().await;
    // Bytes that do not repeat at any block size.
    let input: Vec<u8> = (0..12_500_000u32)
        .flat_map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes())
        .collect();
    let answer = ask(&*host, "cat | sha256sum", &input, 1 << 10, PATIENCE);
    let answer = answer.await.unwrap();
    let local = Sha256::digest(&input)
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
    assert_eq!(
        String::from_utf8(answer.out).unwrap(),
        format!("{local}  -\n")
    );
}

#[tokio::test]
async fn new_keys_in_the_middle_lose_nothing() {
    let Some(sshd) = Sshd::start_with("RekeyLimit 1M") else {
        return;
    };
    let host = sshd.host().await;
    let input: Vec<u8> = (0..8_000_000u32).map(|n| (n >> 8) as u8).collect();
    let answer = ask(&*host, "cat", &input, 1 << 24, PATIENCE).await.unwrap();
    assert!(answer.out == input, "{} bytes came back", answer.out.len());
    assert_eq!(answer.exit, Exit::Code(0));
}

#[tokio::test]
async fn a_silent_command_outlives_the_servers_own_keepalive() {
    let settings = "ClientAliveInterval 1\nClientAliveCountMax 2";
    let Some(sshd) = Sshd::start_with(settings) else {
        return;
    };
    let host = sshd.host().await;
    assert_eq!(run(&*host, "sleep 6; exit 8").await.exit, Exit::Code(8));
}

#[tokio::test]
async fn the_end_of_standard_input_is_told_by_dropping_it_and_by_shutting_it_down() {
    let Some(sshd) = Sshd::start() else { return };
    let host = sshd.host().await;
    for shut_down in [true, false] {
        let Channel { mut stdin, output } = host.exec("cat; echo end").await.unwrap();
        stdin.write_all(b"x").await.unwrap();
        if shut_down {
            stdin.shutdown().await.unwrap();
        }
        drop(stdin);
        let stdin = Box::new(tokio::io::sink());
        let mut channel = Channel { stdin, output };
        assert_eq!(
            rest(&mut channel).await,
            (b"xend\n".to_vec(), Some(Exit::Code(0)))
        );
    }
}

#[tokio::test]
async fn input_that_nobody_reads_does_not_block_and_ends_with_the_command() {
    let Some(sshd) = Sshd::start() else { return };
    let host = sshd.host().await;
    let mut channel = host.exec("sleep 0.3; exit 4").await.unwrap();
    let input = vec![0; 8 << 20];
    let written = timeout(PATIENCE, channel.stdin.write_all(&input))
        .await
        .unwrap();
    assert!(written.is_err(), "8 MiB went somewhere");
    assert_eq!(rest(&mut channel).await.1, Some(Exit::Code(4)));
}

#[tokio::test]
async fn a_signal_is_told_by_name() {
    let Some(sshd) = Sshd::start() else { return };
    let host = sshd.host().await;
    assert_eq!(
        run(&*host, "kill -TERM $$").await.exit,
        Exit::Signal("TERM".to_owned())
    );
    assert_eq!(
        run(&*host, "kill -KILL $$").await.exit,
        Exit::Signal("KILL".to_owned())
    );
}

#[tokio::test]
async fn a_background_child_that_holds_the_channel_does_not_hold_back_the_exit() {
    let Some(sshd) = Sshd::start() else { return };
    let host = sshd.host().await;
    let started = Instant::now();
    let script = format!("{} & echo done; exit 5", left_behind(&sshd));
    let answer = run(&*host, &script).await;
    assert_eq!(
        (answer.out, answer.exit),
        (b"done\n".to_vec(), Exit::Code(5))
    );
    assert!(started.elapsed() < Duration::from_secs(40));
    assert_eq!(run(&*host, "true").await.exit, Exit::Code(0));
}

#[tokio::test]
async fn a_connection_full_of_jobs_that_were_left_behind_is_replaced() {
    let Some(sshd) = Sshd::start_with("MaxSessions 2") else {
        return;
    };
    let host = sshd.host().await;
    let script = format!("{} & exit 6", left_behind(&sshd));
    for _ in 0..5 {
        let answer = run(&*host, &script).await;
        assert_eq!(answer.exit, Exit::Code(6));
    }
}

#[tokio::test]
async fn a_host_that_opens_no_channel_is_given_up() {
    let Some(sshd) = Sshd::start_with("MaxSessions 0") else {
        return;
    };
    let host = sshd.host().await;
    let error = host.exec("true").await.err().unwrap();
    assert!(
        matches!(error, HostError::Down { phase: "exec", .. }),
        "{error}"
    );
    assert!(error.to_string().contains("MaxSessions"), "{error}");
}

#[tokio::test]
async fn odd_text_reaches_the_shell_as_it_is() {
    let Some(sshd) = Sshd::start() else { return };
    let host = sshd.host().await;
    for text in [
        "it's; exit 9",
        "$(exit 9) `exit 9` $HOME ${x} \\$y",
        "a\nb\n\"c\"\t'd' \\ \\\\ \\n %s %d !!",
        "' ; kill $$ ; '",
        "ä€😀",
    ] {
        let quoted = text.replace('\'', "'\\''");
        let answer = run(&*host, &format!("printf %s '{quoted}'")).await;
        assert_eq!(String::from_utf8(answer.out).unwrap(), text);
        assert_eq!(answer.exit, Exit::Code(0), "{text}");
    }
    let error = host.exec("echo \0").await.err().unwrap();
    assert!(matches!(error, HostError::Refused { .. }), "{error}");
}

/// Told, not judged: the machine may be busy.
#[tokio::test]
async fn the_latency_of_a_warm_command_is_told() {
    let Some(sshd) = Sshd::start() else { return };
    let host = sshd.host().await;
    let mut took = Vec::new();
    for _ in 0..50 {
        let started = Instant::now();
        assert_eq!(run(&*host, "true").await.exit, Exit::Code(0));
        took.push(started.elapsed());
    }
    took.sort();
    eprintln!(
        "warm exec of `true`: p50 {:.1} ms, p95 {:.1} ms",
        took[25].as_secs_f64() * 1e3,
        took[47].as_secs_f64() * 1e3
    );
}

/// A server whose users have this as their login shell: bash text that finds the command line
/// in `$SSH_ORIGINAL_COMMAND`. Nothing without sshd.
fn with_shell(text: &str) -> Option<(tempfile::TempDir, Sshd)> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shell");
    fs::write(&file, text).unwrap();
    let sshd = Sshd::start_with(&format!("ForceCommand exec bash {}", file.display()))?;
    Some((folder, sshd))
}

#[tokio::test]
async fn what_a_login_shell_prints_is_not_the_scripts() {
    let noise = "echo hello; echo warning >&2; printf 'no end of line'; head -c 300000 /dev/zero; \
                 head -c 300000 /dev/zero >&2; set -v; set -x; eval \"$SSH_ORIGINAL_COMMAND\"";
    let Some((_folder, sshd)) = with_shell(noise) else {
        return;
    };
    let host = sshd.host().await;
    for script in [
        "echo out; cat; echo err >&2; exit 7",
        "echo out\ncat\necho err >&2\nexit 7",
    ] {
        let answer = ask(&*host, script, b"in\n", 1 << 20, PATIENCE);
        let answer = answer.await.unwrap();
        assert_eq!(String::from_utf8(answer.out).unwrap(), "out\nin\n");
        assert_eq!(String::from_utf8(answer.err).unwrap(), "err\n");
        assert_eq!(answer.exit, Exit::Code(7));
    }
    // Whatever the login shell has set, both streams may end without a word.
    let answer = run(&*host, "exec >&- 2>&-").await;
    assert_eq!((answer.out, answer.err), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn a_login_shell_that_never_comes_to_the_script_is_a_refusal_that_says_what_it_printed() {
    for (shell, says) in [
        (
            "echo 'This account is currently not available.'; exit 1",
            "status 1 before the script began; it printed: This account is currently not available.",
        ),
        (
            "echo closed >&2",
            "status 0 before the script began; it printed: closed",
        ),
        ("exec yes", "prints without end; it printed: y y y"),
    ] {
        let Some((_folder, sshd)) = with_shell(shell) else {
            return;
        };
        let host = sshd.host().await;
        let error = host.exec("true").await.err().unwrap();
        assert!(matches!(error, HostError::Refused { .. }), "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
    let Some((_folder, sshd)) = with_shell("kill -KILL $$") else {
        return;
    };
    let error = sshd.host().await.exec("true").await.err().unwrap();
    assert!(error.is_transient(), "{error}");
}

/// Bytes that do not repeat at any block size.
fn bytes(from: u64, count: u64) -> Vec<u8> {
    (from..from + count)
        .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8)
        .collect()
}

/// Both directions at once, at a rate that a busy machine holds, while keys are renewed every
/// few seconds: by the server on one connection, and by the amount that goes out on another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_that_are_renewed_every_few_seconds_lose_nothing() {
    const ROUNDS: u64 = 200;
    const EACH: u64 = 40_000;
    let mut both = tokio::task::JoinSet::new();
    for settings in ["RekeyLimit default 2", "RekeyLimit 1M 3"] {
        both.spawn(async move {
            let settings = format!("{settings}\nLogLevel DEBUG1");
            let Some(sshd) = Sshd::start_with(&settings) else {
                return;
            };
            let host = sshd.host().await;
            let Channel {
                mut stdin,
                mut output,
            } = host.exec("cat; exit 3").await.unwrap();
            let send = async move {
                for round in 0..ROUNDS {
                    stdin.write_all(&bytes(round * EACH, EACH)).await.unwrap();
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                stdin.shutdown().await.unwrap();
            };
            let read = async {
                let mut at = 0;
                while let Some(said) = output.recv().await {
                    match said {
                        Said::Out(more) => {
                            assert!(more == bytes(at, more.len() as u64), "near byte {at}");
                            at += more.len() as u64;
                        }
                        Said::Err(text) => panic!("{}", String::from_utf8_lossy(&text)),
                        Said::Exit(exit) => return (at, exit),
                    }
                }
                panic!("lost after {at} bytes: {}", sshd.log());
            };
            // Other commands go on meanwhile.
            let others = async {
                for _ in 0..20 {
                    assert_eq!(run(&*host, "true").await.exit, Exit::Code(0));
                    tokio::time::sleep(Duration::from_millis(800)).await;
                }
            };
            let ((), (count, exit), ()) = tokio::join!(send, read, others);
            assert_eq!((count, exit), (ROUNDS * EACH, Exit::Code(3)), "{settings}");
            let renewed = sshd
                .log()
                .lines()
                .filter(|line| line.trim_end().ends_with("SSH2_MSG_NEWKEYS received"))
                .count();
            assert!(renewed >= 8, "{settings}: keys renewed {renewed} times");
        });
    }
    both.join_all().await;
}
