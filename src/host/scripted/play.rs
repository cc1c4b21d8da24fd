//! What the host's side says to each script of the supervisor.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, DuplexStream};
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, sleep, sleep_until};

use super::step::{End, Step};
use super::{Act, Inner, Seen, answer};
use crate::host::sh::{ATTACH, FETCH, FINISH, FOLLOW, KEEPER, LAUNCH, LIST, PREPARE, STOP};
use crate::host::{Exit, Said};

/// Seconds since 1970 when the host was made.
const EPOCH: f64 = 1.7e9;

/// Plays one script to its end.
pub(super) async fn play(
    inner: &Arc<Inner>,
    script: &str,
    mut stdin: DuplexStream,
    said: &Sender<Said>,
) {
    let vars = variables(script);
    let var = |name: &str| vars.get(name).map_or("", String::as_str);
    let (mark, token) = (var("mark"), var("tok"));
    let ends = |part: &str| script.ends_with(part);
    let mut status = Exit::Code(0);
    if ends(PREPARE) {
        read(&mut stdin).await;
        let lines = ["clock 0.000001 EPOCHREALTIME", "ready"];
        say(said, mark, &lines).await;
    } else if ends(LAUNCH) {
        launch(inner, &vars, &mut stdin, said).await;
    } else if ends(ATTACH) {
        if inner.with(|state| state.steps.contains_key(token)) {
            say(said, mark, &["started"]).await;
            ended(inner, mark, token, said).await;
        } else {
            say(said, mark, &["void"]).await;
        }
    } else if ends(FOLLOW) {
        tokio::select! {
            _ = read(&mut stdin) => {}
            () = follow(inner, &vars, said) => {}
        }
    } else if ends(FETCH) {
        let streams = inner.with(|state| Some(state.steps.get(token)?.streams(Instant::now())));
        let [out, err] = streams.unwrap_or_default();
        let stream = if var("stream") == "out" { out } else { err };
        let from = var("from").parse::<usize>().unwrap_or(1) - 1;
        send(said, stream.get(from..).unwrap_or_default(), Said::Out).await;
    } else if ends(STOP) {
        inner.with(|state| {
            if let Some(step) = state.steps.get_mut(token) {
                step.stop();
            }
        });
        say(said, mark, &["proved"]).await;
    } else if ends(KEEPER) {
        inner.with(|state| state.kept = true);
        say(said, mark, &["kept"]).await;
        read(&mut stdin).await;
        inner.with(|state| state.kept = false);
    } else if ends(LIST) {
        let (kept, running) = inner.with(|state| {
            let now = Instant::now();
            let runs = |step: &&Step| step.end().is_none_or(|(at, _)| at > now);
            let running = state.steps.values().filter(runs);
            (
                state.kept,
                running
                    .map(|step| format!("running {}", step.name))
                    .collect::<Vec<_>>(),
            )
        });
        let mut lines: Vec<&str> = running.iter().map(String::as_str).collect();
        lines.extend(kept.then_some("kept"));
        lines.push("listed");
        say(said, mark, &lines).await;
    } else if ends(FINISH) {
        say(said, mark, &["finished"]).await;
    } else if mark == "comeback:facts" {
        let facts = inner.with(|state| state.facts.clone());
        let lines: Vec<&str> = facts.lines().chain(["told"]).collect();
        say(said, mark, &lines).await;
    } else {
        status = attached(inner, script, &mut stdin, said).await;
    }
    let _ = said.send(Said::Exit(status)).await;
}

/// An attached script, by its rule.
async fn attached(
    inner: &Arc<Inner>,
    script: &str,
    stdin: &mut DuplexStream,
    said: &Sender<Said>,
) -> Exit {
    let acts = inner.with(|state| answer(&mut state.scripts, script));
    let Some(acts) = acts else {
        seen(inner, script, Vec::new(), false);
        let why = format!("nothing is scripted for {script:?}");
        send(said, why.as_bytes(), Said::Err).await;
        return Exit::Code(127);
    };
    let given = read(stdin).await;
    seen(inner, script, given, false);
    for act in acts {
        match act {
            Act::Wait(time) => sleep(time).await,
            Act::Out(bytes) => send(said, &bytes, Said::Out).await,
            Act::Err(bytes) => send(said, &bytes, Said::Err).await,
            Act::LoseLink(time) => {
                lose_link(inner, Instant::now(), time);
                // The connection is taken from under this.
                std::future::pending::<()>().await;
            }
            Act::Exit(status) => {
                return status
                    .last()
                    .map_or(Exit::Unknown, |&status| Exit::Code(status));
            }
            Act::Vanish => return Exit::Signal("KILL".to_owned()),
        }
    }
    Exit::Code(0)
}

async fn launch(
    inner: &Arc<Inner>,
    vars: &HashMap<String, String>,
    stdin: &mut DuplexStream,
    said: &Sender<Said>,
) {
    let var = |name: &str| vars.get(name).map_or("", String::as_str);
    let (mark, token) = (var("mark"), var("tok"));
    let input = read(stdin).await;
    let (command, given) = input
        .split_at_checked(var("cmd_bytes").parse().unwrap_or(0))
        .unwrap_or((&input, &[]));
    let command = String::from_utf8_lossy(command)
        .trim_end_matches('\n')
        .to_owned();
    if inner.with(|state| state.steps.contains_key(token)) {
        say(said, mark, &["refused mkdir: File exists"]).await;
        return;
    }
    let Some(acts) = inner.with(|state| answer(&mut state.commands, &command)) else {
        let why = format!("refused nothing is scripted for {command:?}");
        say(said, mark, &[&why]).await;
        return;
    };
    seen(inner, &command, given.to_vec(), true);
    let name = token
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let step = Step::new(name, acts);
    for (at, time) in step.losses() {
        lose_link(inner, at, time);
    }
    inner.with(|state| state.steps.insert(token.to_owned(), step));
    say(said, mark, &["started"]).await;
    if var("detach").is_empty() {
        ended(inner, mark, token, said).await;
    }
}

/// Waits for the end of a step, and tells it.
async fn ended(inner: &Arc<Inner>, mark: &str, token: &str, said: &Sender<Said>) {
    loop {
        let Some(step) = inner.with(|state| state.steps.get(token).cloned()) else {
            say(said, mark, &["missing"]).await;
            return;
        };
        let now = Instant::now();
        match step.end() {
            Some((at, end)) if at <= now => {
                let [out, err] = step.streams(now);
                tell_end(inner, mark, &step, (at, end), [&out, &err], said).await;
                return;
            }
            // A stop is seen as soon as a real host would tell it.
            end => {
                let soon = now + std::time::Duration::from_millis(100);
                sleep_until(end.map_or(soon, |(at, _)| at.min(soon))).await;
            }
        }
    }
}

async fn tell_end(
    inner: &Inner,
    mark: &str,
    step: &Step,
    (at, end): (Instant, End),
    [out, err]: [&[u8]; 2],
    said: &Sender<Said>,
) {
    let (out_size, err_size) = (out.len(), err.len());
    let End::Status(status) = end else {
        say(said, mark, &[&format!("lost {out_size} {err_size} 0 0")]).await;
        return;
    };
    let status: Vec<String> = status.iter().map(ToString::to_string).collect();
    let up = |moment: Instant| (moment - inner.begun).as_secs_f64();
    let (start, end) = (up(step.begun), up(at));
    let line = format!(
        "ended {} {:.6} {:.6} {start:.2} {end:.2} {out_size} {err_size} 0 0 0",
        status.join(","),
        EPOCH + start,
        EPOCH + end,
    );
    say(said, mark, &[&line]).await;
    if out_size <= 65536 && err_size <= 65536 {
        say(said, mark, &[&format!("inline {out_size} {err_size}")]).await;
        send(said, out, Said::Out).await;
        send(said, err, Said::Out).await;
    }
}

async fn follow(inner: &Arc<Inner>, vars: &HashMap<String, String>, said: &Sender<Said>) {
    let from = |name: &str| {
        let from = vars.get(name)?.parse::<usize>().ok()?;
        Some(from.saturating_sub(1))
    };
    let token = vars.get("tok").map_or("", String::as_str);
    let mut offsets = [from("from_out"), from("from_err")];
    loop {
        let now = Instant::now();
        let Some(step) = inner.with(|state| state.steps.get(token).cloned()) else {
            return;
        };
        let kinds = [Said::Out, Said::Err];
        for ((stream, offset), kind) in step.streams(now).iter().zip(&mut offsets).zip(kinds) {
            if let Some(offset) = offset {
                send(said, stream.get(*offset..).unwrap_or_default(), kind).await;
                *offset = stream.len().max(*offset);
            }
        }
        match step.next_moment(now) {
            Some(at) => sleep_until(at).await,
            None => std::future::pending().await,
        }
    }
}

/// Loses the connection at a moment, for so long.
fn lose_link(inner: &Arc<Inner>, at: Instant, time: std::time::Duration) {
    let inner = Arc::clone(inner);
    tokio::spawn(async move {
        sleep_until(at).await;
        inner.cut();
        sleep(time).await;
        inner.mend();
    });
}

fn seen(inner: &Inner, text: &str, stdin: Vec<u8>, command: bool) {
    let seen = Seen {
        text: text.to_owned(),
        stdin,
    };
    inner.with(|state| {
        if command {
            state.seen_commands.push(seen);
        } else {
            state.seen_scripts.push(seen);
        }
    });
}

async fn say(said: &Sender<Said>, mark: &str, lines: &[&str]) {
    for line in lines {
        send(said, format!("{mark} {line}\n").as_bytes(), Said::Out).await;
    }
}

async fn send(said: &Sender<Said>, bytes: &[u8], kind: fn(Vec<u8>) -> Said) {
    for chunk in bytes.chunks(64 * 1024) {
        let _ = said.send(kind(chunk.to_vec())).await;
    }
}

async fn read(stdin: &mut DuplexStream) -> Vec<u8> {
    let mut all = Vec::new();
    let _ = stdin.read_to_end(&mut all).await;
    all
}

/// The variables that a script sets first.
fn variables(script: &str) -> HashMap<String, String> {
    let mut vars = HashMap::new();
    for line in script.lines() {
        let Some((name, value)) = line.split_once('=') else {
            break;
        };
        if let Some([value]) = shlex::split(value).as_deref() {
            vars.insert(name.to_owned(), value.clone());
        }
    }
    vars
}
