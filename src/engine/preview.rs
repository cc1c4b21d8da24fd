//! What a step is going to do, as exact shell: the same text is shown, planned and run.

use std::collections::BTreeMap;

use minijinja::Value;

use crate::event::{Clock, Destroys, Order, Placement, Plan, PlannedStep, Shows, Together};
use crate::method::{
    Action, Bound, ExpandedStep, HashOf, HostInfo, MethodError, Payload, PlaceOf, RunNames, Step,
    SubjectKind, WaitFor, order_runs, unknown_value,
};

use super::hashing;
use super::payload::{self, Made};
use super::piping::Stream;

/// A step's action, filled in.
#[derive(Debug, Clone)]
pub(super) enum Doing {
    /// One command, or the members of a pipe on one host.
    Command(Vec<String>),
    /// A pipe between roles.
    Stream(Stream),
    /// Bytes.
    Payload(Made),
    /// A hash.
    Hash(Hashing),
    /// A byte figure.
    Space {
        settle: Option<String>,
        /// Which figure, and the shell text that prints it.
        reads: Vec<(Figure, String)>,
        limit: f64,
    },
    /// Until a port answers.
    Port {
        address: String,
        port: String,
        banner: String,
        limit: f64,
    },
    /// Until a command succeeds.
    Until { script: String, limit: f64 },
    /// A time.
    Time(f64),
    /// The end of a background step.
    Join(String),
}

/// A hash, filled in.
#[derive(Debug, Clone)]
pub(super) struct Hashing {
    pub of: HashOf,
    /// The path, or the text that tells.
    pub path: String,
    pub share: Option<String>,
    /// Keep it under this name, or compare it with what is kept under this name.
    pub keep: Result<String, String>,
}

/// Which byte figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    Logical,
    Stored,
    Held,
}

impl Doing {
    /// As exact shell text.
    pub fn text(&self, info: &HostInfo) -> String {
        match self {
            Self::Command(members) => members.join(" | "),
            Self::Stream(stream) => stream.text(),
            Self::Payload(made) if made.streamed.is_some() => {
                format!(
                    "{}\n# reads {} seeded bytes from here",
                    made.script,
                    made.streamed.unwrap_or(0)
                )
            }
            Self::Payload(made) => made.script.clone(),
            Self::Hash(hashing) => hashing::text(&hashing.path, hashing.of, info),
            Self::Space { settle, reads, .. } => {
                let texts = reads.iter().map(|(_, text)| text.as_str());
                settle
                    .iter()
                    .map(String::as_str)
                    .chain(texts)
                    .collect::<Vec<_>>()
                    .join("\n")
            }
            Self::Port {
                address,
                port,
                banner,
                ..
            } => {
                format!("# until {address} port {port} answers {banner:?}")
            }
            Self::Until { script, .. } => format!("until {script}; do sleep 1; done"),
            Self::Time(seconds) => format!("sleep {seconds}"),
            Self::Join(name) => format!("# until {name:?} has ended"),
        }
    }

    /// How a step that does this shows that it goes on.
    pub fn shows(&self, step: &Step) -> Option<Shows> {
        match self {
            Self::Stream(stream) if stream.direct.is_none() => Some(Shows::Stream),
            Self::Command(_) if step.watch.is_some() => Some(Shows::Target),
            Self::Command(_) | Self::Stream(_) => step.reads.as_ref().map(|_| Shows::Output),
            _ => None,
        }
    }
}

/// Fills in a step's action.
pub(super) fn doing(
    bound: &Bound,
    step: &ExpandedStep,
    context: &Value,
    rep: u32,
) -> Result<Doing, MethodError> {
    let fill = Filling {
        bound,
        step,
        context,
    };
    let openssl = bound
        .hosts
        .get(&step.step.on)
        .is_some_and(|info| info.facts.tools.contains_key("openssl"));
    Ok(match &step.step.action {
        // A task of Proxmox ends in order where its command hears a signal, and no shell around it.
        Action::Run(run) if step.step.clock == Some(Clock::Task) => {
            Doing::Command(vec![format!("exec {}", fill.shell(run)?.trim())])
        }
        Action::Run(run) => Doing::Command(vec![fill.shell(run)?]),
        Action::Pipe(pipe) => fill.pipe(pipe)?,
        Action::Payload(Payload::Tree { path, size, files }) => {
            let (size, files) = (fill.number(size)?, fill.number(files)?);
            let seed = payload::seed(&format!("tree {size} {files} {rep}"));
            Doing::Payload(payload::tree(&fill.text(path)?, size, files, openssl, seed))
        }
        Action::Payload(Payload::Change {
            path,
            overwrite,
            delete,
            create,
        }) => {
            let made = (fill.number("{{ size }}")?, fill.number("{{ files }}")?);
            let seed = payload::seed(&format!("{} {} {} {rep}", step.name, made.0, made.1));
            let shares = (*overwrite, *delete, *create);
            Doing::Payload(payload::change(
                &fill.text(path)?,
                made,
                shares,
                openssl,
                seed,
            ))
        }
        Action::Hash(hash) => Doing::Hash(Hashing {
            of: hash.of,
            path: match hash.of {
                HashOf::Told => fill.shell(&hash.path)?,
                HashOf::File | HashOf::Tree | HashOf::Files => fill.text(&hash.path)?,
            },
            share: hash
                .share
                .as_ref()
                .map(|text| fill.text(text))
                .transpose()?,
            keep: hash.keep.clone(),
        }),
        Action::Space(space) => {
            let mut reads = Vec::new();
            for (figure, text) in [
                (Figure::Logical, &space.logical),
                (Figure::Stored, &space.stored),
                (Figure::Held, &space.held),
            ] {
                if let Some(text) = text {
                    reads.push((figure, fill.shell(text)?));
                }
            }
            let settle = space
                .settle
                .as_ref()
                .map(|text| fill.shell(text))
                .transpose()?;
            Doing::Space {
                settle,
                reads,
                limit: space.limit,
            }
        }
        Action::Wait(wait) => match &wait.what {
            WaitFor::Port { port, banner } => Doing::Port {
                address: fill.text(&format!("{{{{ address.{} }}}}", step.step.on))?,
                port: fill.text(port)?,
                banner: banner.clone(),
                limit: wait.limit,
            },
            WaitFor::Until(text) => Doing::Until {
                script: fill.shell(text)?,
                limit: wait.limit,
            },
            WaitFor::Time(seconds) => Doing::Time(*seconds),
        },
        Action::Join(name) => Doing::Join(name.clone()),
    })
}

/// Fills in templates of one step.
pub(super) struct Filling<'a> {
    pub bound: &'a Bound,
    pub step: &'a ExpandedStep,
    pub context: &'a Value,
}

impl Filling<'_> {
    pub fn shell(&self, source: &str) -> Result<String, MethodError> {
        let filled = self.bound.templates.shell(source, self.context);
        filled.map_err(|why| self.bound.wrong(&self.step.step, why))
    }

    pub fn text(&self, source: &str) -> Result<String, MethodError> {
        let filled = self.bound.templates.text(source, self.context);
        filled.map_err(|why| self.bound.wrong(&self.step.step, why))
    }

    pub fn number(&self, source: &str) -> Result<u64, MethodError> {
        let text = self.text(source)?;
        text.trim().parse().map_err(|_why| {
            self.bound.wrong(
                &self.step.step,
                format!("expected a whole number, not {text:?}"),
            )
        })
    }

    /// What the step destroys.
    pub fn destroys(&self) -> Result<Option<Destroys>, MethodError> {
        let Some(def) = &self.step.step.destroys else {
            return Ok(None);
        };
        Ok(Some(Destroys {
            what: self.text(&def.what)?,
            relies_on: def.relies_on.clone(),
            unproved: def.unproved,
        }))
    }
}

/// All steps of a binding with their commands; what is not known yet is printed as `‹name›`.
///
/// # Errors
/// Where a template cannot be filled in.
pub fn preview(bound: &Bound) -> Result<Vec<PlannedStep>, MethodError> {
    let names = RunNames::unknown(&bound.sandbox);
    let mut values: BTreeMap<String, Value> = BTreeMap::new();
    let mut steps = Vec::new();
    for step in &bound.steps {
        let context = bound.context(&names, &values, step.item.as_ref(), &step.step);
        let info = bound.hosts.get(&step.step.on);
        let doing = doing(bound, step, &context, 1)?;
        let filling = Filling {
            bound,
            step,
            context: &context,
        };
        steps.push(PlannedStep {
            name: step.name.clone(),
            phase: step.step.phase,
            host: bound.host(&step.step.on).to_owned(),
            timed: step.step.clock.is_some(),
            destroys: filling.destroys()?,
            command: doing.text(info.unwrap_or(&HostInfo::default())),
        });
        for name in step.step.gives.keys() {
            values.insert(name.clone(), unknown_value(name));
        }
    }
    Ok(steps)
}

/// The plan, as a recording tells it.
///
/// # Errors
/// Where a template cannot be filled in.
pub fn plan_of(
    bounds: &[Bound],
    together: Together,
    reps: u32,
    order: Order,
) -> Result<Plan, MethodError> {
    let mut bindings = Vec::new();
    for bound in bounds {
        let mut binding = bound.binding.clone();
        binding.steps = preview(bound)?;
        binding.placement = placement(bound);
        if binding.subject.own {
            binding.subject.id = own_id(bound);
        }
        bindings.push(binding);
    }
    let ids: Vec<_> = bindings.iter().map(|binding| binding.id.clone()).collect();
    Ok(Plan {
        bindings,
        reps,
        order,
        runs: order_runs(&ids, &together.pairs, reps, order),
        together,
    })
}

/// What a plan calls a subject that does not exist yet.
#[must_use]
pub fn own_id(bound: &Bound) -> String {
    match bound.method.subject {
        SubjectKind::Vm | SubjectKind::Ct => "of its own".to_owned(),
        _ => format!("{}/comeback-*", bound.sandbox.trim_end_matches('/')),
    }
}

/// The places that a method wants to know, by what they are known by: of the original and of the copy.
pub(super) fn placed_paths(bound: &Bound) -> Option<[(String, String); 2]> {
    let places = super::placing::places(bound)?;
    Some(places.map(|(role, of)| match of {
        PlaceOf::Path(known) | PlaceOf::Told { told: known } => (role, known),
    }))
}

/// Where the original and the copy are going to stand; absent where that is not known.
#[must_use]
pub fn placement(bound: &Bound) -> Option<Placement> {
    let place = |(role, path): &(String, String)| {
        let info = bound.hosts.get(role)?;
        let mut place = info.facts.paths.get(path)?.clone();
        place.host.clone_from(&info.name);
        Some(place)
    };
    let [original, copy] = placed_paths(bound)?;
    Some(Placement {
        original: place(&original)?,
        copy: place(&copy)?,
    })
}
