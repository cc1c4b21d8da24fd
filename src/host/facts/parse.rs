//! Reads what the probing script said. Whatever a host says, this gives facts.

use crate::event::{Bytes, DiskFact, Facts, FilesystemFact, Place};
use crate::host::facts::HostClock;

/// What each line of the script begins with.
const MARK: &str = "comeback-fact ";
/// No list of a host's is longer than this.
const MOST: usize = 4096;

/// Facts of what the script said; `paths` are those that it was asked for, in their order.
pub(super) fn parse(said: &str, paths: &[String]) -> Facts {
    let mut facts = Facts::default();
    for line in said.lines().filter_map(|line| line.strip_prefix(MARK)) {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        take(&mut facts, key, &clean(value), paths);
    }
    facts
}

fn clean(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control())
        .collect::<String>()
        .trim()
        .to_owned()
}

fn take(facts: &mut Facts, key: &str, value: &str, paths: &[String]) {
    match key {
        "system" => value.clone_into(&mut facts.system),
        "kernel" => value.clone_into(&mut facts.kernel),
        "cpu" => value.clone_into(&mut facts.cpu),
        "user" => value.clone_into(&mut facts.user),
        "state" => value.clone_into(&mut facts.state),
        "cpus" => facts.cpus = value.parse().unwrap_or(0),
        "memory" => facts.memory = Bytes(value.parse().unwrap_or(0)),
        // Without a number nobody is root.
        "uid" => facts.uid = value.parse().unwrap_or(u32::MAX),
        "clock" => {
            if let Some(clock) = HostClock::parse(value) {
                facts.clock_source = clock.source.to_string();
                facts.clock_resolution = clock.resolution;
            }
        }
        "tool" if facts.tools.len() < MOST => {
            let (name, version) = value.split_once(' ').unwrap_or((value, ""));
            facts
                .tools
                .insert(name.to_owned(), version.trim().to_owned());
        }
        "filesystem" if facts.filesystems.len() < MOST => {
            facts.filesystems.extend(filesystem(value));
        }
        "disk" if facts.disks.len() < MOST => facts.disks.extend(disk(value)),
        "path" => {
            if let Some((path, rest)) = numbered(value, paths) {
                facts
                    .paths
                    .entry(path.clone())
                    .or_default()
                    .clone_from(&place(rest));
            }
        }
        "path-disk" => {
            if let Some((path, disk)) = numbered(value, paths) {
                let place = facts.paths.entry(path.clone()).or_default();
                if place.disks.len() < MOST && !disk.is_empty() {
                    place.disks.push(disk.to_owned());
                }
            }
        }
        _ => {}
    }
}

fn numbered<'a, 'b>(value: &'a str, paths: &'b [String]) -> Option<(&'b String, &'a str)> {
    let (number, rest) = value.split_once(' ')?;
    Some((paths.get(number.parse::<usize>().ok()?)?, rest))
}

fn kib(text: &str) -> Bytes {
    Bytes(text.parse::<u64>().unwrap_or(0).saturating_mul(1024))
}

fn filesystem(value: &str) -> Option<FilesystemFact> {
    let mut words = value.splitn(5, ' ');
    let (source, kind) = (words.next()?, words.next()?);
    let (size, free) = (kib(words.next()?), kib(words.next()?));
    Some(FilesystemFact {
        source: source.to_owned(),
        kind: kind.to_owned(),
        size,
        free,
        at: words.next()?.to_owned(),
    })
}

fn disk(value: &str) -> Option<DiskFact> {
    let mut words = value.splitn(3, ' ');
    Some(DiskFact {
        name: words.next()?.to_owned(),
        size: Bytes(words.next()?.parse().unwrap_or(0)),
        model: words.next().unwrap_or_default().trim().to_owned(),
    })
}

fn place(value: &str) -> Place {
    let mut words = value.splitn(4, ' ');
    let mut word = || words.next().unwrap_or_default().to_owned();
    let (source, filesystem, free, at) = (word(), word(), word(), word());
    Place {
        source,
        filesystem,
        at,
        free: kib(&free),
        ..Place::default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SAID: &str = "\
motd: welcome
comeback-fact system Debian GNU/Linux 12 (bookworm)
comeback-fact cpus 4
comeback-fact uid 1000
comeback-fact memory 8589934592
comeback-fact clock 0.000000001 date +%s%N
comeback-fact tool tar tar (GNU tar) 1.34
comeback-fact tool qm
comeback-fact filesystem /dev/sda1 ext4 1000 400 /srv/my data
comeback-fact disk sda 4096 ACME  Disk 9
comeback-fact path 1 /dev/sda1 ext4 400 /srv/my data
comeback-fact path-disk 1 sda
comeback-fact path 7 nobody asked
";

    #[test]
    fn lines_become_facts() {
        let paths = ["/a".to_owned(), "/srv/my data/x".to_owned()];
        let facts = parse(SAID, &paths);
        assert_eq!(
            (facts.cpus, facts.uid, facts.memory),
            (4, 1000, Bytes(8 << 30))
        );
        assert_eq!(
            facts.tools.get("tar").map(String::as_str),
            Some("tar (GNU tar) 1.34")
        );
        assert_eq!(facts.tools.get("qm").map(String::as_str), Some(""));
        assert_eq!(facts.filesystems[0].at, "/srv/my data");
        assert_eq!(facts.disks[0].model, "ACME  Disk 9");
        assert_eq!(facts.paths.len(), 1);
        let place = &facts.paths["/srv/my data/x"];
        assert_eq!(
            (place.at.as_str(), place.free),
            ("/srv/my data", Bytes(400 * 1024))
        );
        assert_eq!(place.disks, ["sda"]);
    }

    proptest! {
        #[test]
        fn whatever_a_host_says_is_taken(said in "(comeback-fact [a-z-]{2,10} \\PC{0,30}\n|\\PC{0,40}\n){0,20}") {
            let facts = parse(&said, &["/a".to_owned()]);
            prop_assert!(facts.system.chars().all(|c| !c.is_control()));
        }
    }

    #[test]
    fn who_tells_no_number_is_not_root() {
        assert_eq!(parse("comeback-fact uid x\n", &[]).uid, u32::MAX);
    }
}
