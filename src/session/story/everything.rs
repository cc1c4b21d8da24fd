//! A session with one of every event there is.

use super::Story;
use crate::event::{
    Act, ActKind, Ask, BindingId, Bytes, Captured, Clock, EndState, Gap, HostChange, HostState,
    Intended, Leave, LeaveKind, LeaveState, Level, Lock, LockState, LogChunk, Mark, Phase,
    Progress, ProgressKind, RunId, StepId, Stream, What,
};

/// One of every event there is.
pub(crate) fn everything() -> Story {
    let mut story = Story::new();
    let tar = story.binding("files-tar", "h1");
    before(&mut story);
    let run = story.run(&tar, "full");
    let step = story.step(&run, "backup", Phase::Protect);
    output(&mut story, &step);
    figures(&mut story, &tar, &run, &step);
    leftover(&mut story, &run, &step);
    story.note(Some(&run), Level::Remark, "worth knowing");
    let unknown = serde_json::json!({"ev": "weather", "sky": "grey", "wind": null});
    story.tell(What::Unknown(unknown.as_object().unwrap().clone()));
    story.done(&run, EndState::Ok);
    story.end();
    story
}

fn before(story: &mut Story) {
    story.tell(What::Host(Box::new(HostChange {
        host: "h1".into(),
        state: HostState::Down,
        phase: Some("login".into()),
        reason: Some("lost".into()),
        facts: story.header.facts.get("h1").cloned(),
    })));
    story.tell(What::Ask(Ask {
        ask: "q1".into(),
        kind: "confirm".into(),
        text: "really?".into(),
        answered: false,
    }));
    story.tell(What::Act(Act {
        act: ActKind::Pause,
        text: String::new(),
    }));
    story.tell(What::Lock(Lock {
        host: "h1".into(),
        subject: "dir:/srv/data".into(),
        state: LockState::Refused,
        holder: Some("somebody".into()),
        since: None,
    }));
}

fn output(story: &mut Story, step: &StepId) {
    story.prints(
        step,
        Stream::Out,
        "tab\there \u{1b}[1mbold\u{1b}[0m caf\u{e9}\n",
    );
    story.tell(What::Log(LogChunk {
        step: step.clone(),
        stream: Stream::Err,
        offset: 0,
        text: None,
        base64: Some("Y2Fm6Qo=".into()),
    }));
    story.tell(What::Gap(Gap {
        step: step.clone(),
        stream: Stream::Err,
        offset: 5,
        bytes: Some(77),
    }));
    story.tell(What::Progress(Progress {
        step: step.clone(),
        kind: ProgressKind::Exact,
        percent: Some(100.0 / 3.0),
        done: Some(Bytes(1)),
        total: Some(Bytes(3)),
        says: None,
    }));
    story.tell(What::Mark(Mark {
        step: step.clone(),
        name: "100 %".into(),
        at: 0.1 + 0.2,
        clock: Clock::Log,
        resolution: 1.0,
    }));
}

fn figures(story: &mut Story, binding: &BindingId, run: &RunId, step: &StepId) {
    story.tell(What::Value(Captured {
        run: run.clone(),
        step: step.clone(),
        name: "archive".into(),
        value: "a.tar".into(),
    }));
    story.step_done(step, EndState::Warnings);
    story.seconds(run, "backup", Clock::Host, 1e-6, 452.278_876_326_883_16);
    story.stored(run, "archive", u64::from(u32::MAX) * 3);
    story.proved(run, true);
    story.published(binding, "rollback", "median", 0.194);
}

fn leftover(story: &mut Story, run: &RunId, step: &StepId) {
    let intended = Intended {
        run: run.clone(),
        step: step.clone(),
        host: "h1".into(),
        name: "archive".into(),
        kind: LeaveKind::Copy,
        find: "ls a.tar".into(),
        undo: "rm \"$found\"".into(),
        back: None,
    };
    for state in [
        LeaveState::Intended(intended),
        LeaveState::Found {
            found: "a.tar".into(),
        },
        LeaveState::Kept {
            why: "a check failed".into(),
        },
        LeaveState::Undone,
    ] {
        story.tell(What::Leave(Leave {
            leave: "l1".into(),
            state,
        }));
    }
}
