//! The answer of `facts.sh`, read: any bytes, bounded, never a panic.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::{HostClock, MARK};
use crate::event::{Bytes, DiskFact, Facts, FilesystemFact, Place};

/// The most of anything that is kept.
const MOST: usize = 1000;

/// A row of `df -P -k`. Source and mount point may hold blanks, so the figures are looked for.
static ROW: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(.*?) +(\d+) +-?\d+ +(-?\d+) +(?:\d+%|-) +(/.*)$").ok());

/// Whether the answer came to its end.
pub(super) fn is_whole(said: &[u8]) -> bool {
    lines(said).any(|(word, _)| word == "told")
}

/// The wall clock at the begin and at the end of the answer, in whole seconds.
pub(super) fn walls(said: &[u8]) -> Option<[i64; 2]> {
    let mut walls = lines(said)
        .filter(|(word, _)| word == "wall")
        .filter_map(|(_, seconds)| seconds.parse().ok());
    let first = walls.next()?;
    Some([first, walls.last()?])
}

/// Reads the answer of the host `name` about `paths`. What is not understood is passed over.
#[must_use]
pub fn parse(said: &[u8], name: &str, paths: &[String]) -> Facts {
    let mut facts = Facts::default();
    let mut mounts = HashMap::new();
    let mut places: HashMap<usize, Place> = HashMap::new();
    let clock = HostClock::default();
    facts.clock_resolution = clock.resolution;
    facts.clock_source = clock.source.to_string();
    let text = String::from_utf8_lossy(said);
    for (word, rest) in lines(text.as_bytes()) {
        match word.as_str() {
            "system" => facts.system = rest,
            "kernel" => facts.kernel = rest,
            "cpu" => facts.cpu = rest,
            "cpus" => facts.cpus = rest.parse().unwrap_or(0),
            "memory" => facts.memory = Bytes(rest.parse().unwrap_or(0)),
            "memory-kib" => facts.memory = kib(&rest),
            "machine" => facts.machine = rest,
            "uid" => facts.uid = rest.parse().unwrap_or(u32::MAX),
            "user" => facts.user = rest,
            "state" => facts.state = rest,
            "state-writable" => facts.state_writable = true,
            "clock" => {
                if let Some(clock) = HostClock::parse(&rest) {
                    facts.clock_resolution = clock.resolution;
                    facts.clock_source = clock.source.to_string();
                }
            }
            "tool" => {
                let (tool, version) = rest.split_once(' ').unwrap_or((&rest, ""));
                if facts.tools.len() < MOST {
                    facts
                        .tools
                        .insert(tool.to_owned(), version.trim().to_owned());
                }
            }
            "mount" => {
                if let Some((at, mount)) = mount_info(&rest) {
                    mounts.insert(at, mount);
                }
            }
            "fstab" => {
                if let Some((at, mount)) = fstab(&rest) {
                    mounts.insert(at, mount);
                }
            }
            "df" => {
                if let Some(row) = row(&rest)
                    && facts.filesystems.len() < MOST
                {
                    facts.filesystems.push(row);
                }
            }
            "disk" | "disk-bytes" => {
                if let Some(disk) = disk(&rest, if word == "disk" { 512 } else { 1 })
                    && facts.disks.len() < MOST
                {
                    facts.disks.push(disk);
                }
            }
            "place" => {
                if let Some((number, row)) =
                    numbered(&rest).and_then(|(n, r)| Some((n, row_of(r)?)))
                {
                    let place = places.entry(number).or_default();
                    place.source = row.source;
                    place.at = row.at;
                    place.free = row.free;
                }
            }
            "on" => {
                if let Some((number, disk)) = numbered(&rest) {
                    let disks = &mut places.entry(number).or_default().disks;
                    if disks.len() < MOST {
                        disks.push(disk.to_owned());
                    }
                }
            }
            _ => {}
        }
    }
    let kind = |at: &str| mounts.get(at).map(|mount: &Mount| mount.kind.clone());
    for filesystem in &mut facts.filesystems {
        filesystem.kind = kind(&filesystem.at).unwrap_or_default();
    }
    for (number, path) in paths.iter().enumerate() {
        let mut place = places.remove(&number).unwrap_or_default();
        name.clone_into(&mut place.host);
        place.filesystem = kind(&place.at).unwrap_or_default();
        facts.paths.insert(path.clone(), place);
    }
    facts
}

/// Words and rests of the lines that are ours, without control characters.
fn lines(said: &[u8]) -> impl Iterator<Item = (String, String)> {
    said.split(|&byte| byte == b'\n').filter_map(|line| {
        let line = line.strip_prefix(MARK.as_bytes())?.strip_prefix(b" ")?;
        let line = String::from_utf8_lossy(line.get(..line.len().min(4096))?);
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        Some((word.to_owned(), rest.to_owned()))
    })
}

fn kib(text: &str) -> Bytes {
    Bytes(text.parse::<u64>().unwrap_or(0).saturating_mul(1024))
}

fn numbered(text: &str) -> Option<(usize, &str)> {
    let (number, rest) = text.split_once(' ')?;
    Some((number.parse().ok().filter(|n| *n < 1_000_000)?, rest))
}

struct Mount {
    kind: String,
}

/// A line of `/proc/self/mountinfo`: the mount point is the fifth field, the type stands
/// behind the lone dash (proc(5)).
fn mount_info(line: &str) -> Option<(String, Mount)> {
    let at = unescape(line.split(' ').nth(4)?);
    let (_, behind) = line.split_once(" - ")?;
    let kind = behind.split(' ').next()?.to_owned();
    Some((at, Mount { kind }))
}

/// A line of `mount -p`: source, mount point, type.
fn fstab(line: &str) -> Option<(String, Mount)> {
    let mut words = line.split_whitespace();
    let at = unescape(words.nth(1)?);
    let kind = words.next()?.to_owned();
    Some((at, Mount { kind }))
}

/// Octal escapes of blanks, tabs, newlines and backslashes.
fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\\') {
        out.push_str(before);
        let code = behind
            .get(..3)
            .and_then(|code| u8::from_str_radix(code, 8).ok());
        match (code, behind.get(3..)) {
            (Some(code), Some(after)) if code.is_ascii() => {
                out.push(char::from(code));
                rest = after;
            }
            _ => {
                out.push('\\');
                rest = behind;
            }
        }
    }
    out.push_str(rest);
    out
}

fn row(line: &str) -> Option<FilesystemFact> {
    row_of(line).filter(|row| row.size.0 > 0)
}

fn row_of(line: &str) -> Option<FilesystemFact> {
    let found = ROW.as_ref()?.captures(line.trim_end())?;
    Some(FilesystemFact {
        source: found.get(1)?.as_str().to_owned(),
        kind: String::new(),
        size: kib(found.get(2)?.as_str()),
        free: kib(found.get(3)?.as_str()),
        at: found.get(4)?.as_str().to_owned(),
    })
}

fn disk(line: &str, unit: u64) -> Option<DiskFact> {
    let mut words = line.splitn(3, ' ');
    let name = words.next().filter(|name| !name.is_empty())?.to_owned();
    let size = words.next()?.parse::<u64>().ok()?.saturating_mul(unit);
    let model = words.next().unwrap_or_default().trim().to_owned();
    Some(DiskFact {
        name,
        model,
        size: Bytes(size),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SAID: &str = "\
Welcome to node7!
comeback:facts system Alpine Linux v3.22
comeback:facts kernel Linux 6.12.1-0-lts
comeback:facts cpus 8
comeback:facts memory-kib 2048
comeback:facts uid 1000
comeback:facts user eva
comeback:facts state /home/eva/.local/state/comeback
comeback:facts state-writable yes
comeback:facts tool sh BusyBox ash
comeback:facts tool tar BusyBox v1.37.0
comeback:facts tool qm 
comeback:facts clock 0.01 /proc/uptime
comeback:facts mount 30 1 8:3 / / rw,relatime - ext4 /dev/sda3 rw
comeback:facts mount 41 30 0:44 / /srv/my\\040data rw - nfs4 nas:/vol/my\\040data rw
comeback:facts df Filesystem 1024-blocks Used Available Capacity Mounted on
comeback:facts df /dev/sda3 1000 400 600 40% /
comeback:facts df nas:/vol/my data 5000 1 4999 1% /srv/my data
comeback:facts df devfs 0 0 0 - /dev
comeback:facts disk sda 2048 QEMU HARDDISK
comeback:facts disk nvme0n1 4096 
comeback:facts place 1 nas:/vol/my data 5000 1 4999 1% /srv/my data
comeback:facts place 0 /dev/sda3 1000 400 600 40% /
comeback:facts on 0 sda
comeback:facts place 7 /dev/sda3 1000 400 600 40% /
comeback:facts told
";

    fn paths() -> Vec<String> {
        ["/etc", "/srv/my data/\n$(x)", "/gone"]
            .map(String::from)
            .into()
    }

    #[test]
    fn an_answer_is_read() {
        let facts = parse(SAID.as_bytes(), "node7", &paths());
        assert!(is_whole(SAID.as_bytes()));
        assert_eq!(facts.system, "Alpine Linux v3.22");
        assert_eq!(facts.memory, Bytes(2 << 20));
        assert!(facts.state_writable);
        assert_eq!(facts.clock_source, "/proc/uptime");
        assert_eq!(facts.tools["tar"], "BusyBox v1.37.0");
        assert_eq!(facts.tools["qm"], "");
        assert_eq!(facts.filesystems.len(), 2);
        assert_eq!(facts.filesystems[1].kind, "nfs4");
        assert_eq!(facts.filesystems[1].source, "nas:/vol/my data");
        assert_eq!(facts.filesystems[0].free, Bytes(600 << 10));
        assert_eq!(facts.disks[0].model, "QEMU HARDDISK");
        assert_eq!(facts.disks[1].size, Bytes(4096 * 512));
        let first = &facts.paths["/etc"];
        assert_eq!(
            (first.host.as_str(), first.filesystem.as_str()),
            ("node7", "ext4")
        );
        assert_eq!(first.disks, ["sda"]);
        let second = &facts.paths["/srv/my data/\n$(x)"];
        assert_eq!(second.at, "/srv/my data");
        assert_eq!(second.disks, [] as [&str; 0]);
        assert_eq!(facts.paths["/gone"].at, "");
        assert_eq!(facts.paths.len(), 3);
    }

    #[test]
    fn an_answer_that_broke_off_is_not_whole() {
        assert!(!is_whole(
            SAID.trim_end().strip_suffix("told").unwrap().as_bytes()
        ));
        assert!(!is_whole(b"told\n"));
    }

    #[test]
    fn the_wall_clock_is_read_twice() {
        let said = format!("{MARK} wall 5\n{MARK} wall x\n{MARK} cpu a\n{MARK} wall 7\n");
        assert_eq!(walls(said.as_bytes()), Some([5, 7]));
        assert_eq!(walls(SAID.as_bytes()), None);
    }

    #[test]
    fn control_characters_go_and_long_lines_are_cut() {
        let said = format!(
            "{MARK} cpu a\x1b[31mb\x07\u{9b}c\n{MARK} system {}\n",
            "x".repeat(1 << 20)
        );
        let facts = parse(said.as_bytes(), "h", &[]);
        assert_eq!(facts.cpu, "a[31mbc");
        assert!(facts.system.len() <= 4096);
    }

    #[test]
    fn there_is_never_more_than_so_much() {
        let mut said = Vec::new();
        for n in 0..5000 {
            for line in [
                "tool t@ x",
                "df /dev/a 1 1 1 1% /@",
                "disk d@ 1 m",
                "on 0 d@",
            ] {
                let line = line.replace('@', &n.to_string());
                said.extend(format!("{MARK} {line}\n").bytes());
            }
        }
        let facts = parse(&said, "h", &["/".to_owned()]);
        assert_eq!(facts.tools.len(), MOST);
        assert_eq!(facts.filesystems.len(), MOST);
        assert_eq!(facts.disks.len(), MOST);
        assert_eq!(facts.paths["/"].disks.len(), MOST);
    }

    proptest! {
        #[test]
        fn no_answer_is_a_panic(
            lines in proptest::collection::vec(("[a-z-]{0,8}|mount|df|disk|place|on|clock|tool", "\\PC{0,40}|[0-9 %/\\\\-]{0,40}"), 0..30),
            noise in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut said = noise;
            for (word, rest) in lines {
                said.extend(format!("\n{MARK} {word} {rest}").bytes());
            }
            let _ = parse(&said, "h", &paths());
            is_whole(&said);
        }
    }
}
