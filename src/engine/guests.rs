//! Guests of Proxmox VE as subjects: how one is looked at, why it is refused, what it is, and what
//! destroying it would take that no restore brings back. All texts only read, and read the node's
//! files: a program of Proxmox takes a second to begin.

use super::shell::quote;

/// Which file of a node tells of a guest of this kind; nothing where the kind is no guest's.
fn folder(kind: &str) -> Option<&'static str> {
    match kind {
        "vm" => Some("qemu-server"),
        "ct" => Some("lxc"),
        _ => None,
    }
}

/// `$m`: the guest's configuration without its snapshots; `of KEY` a line of it, `disks` its disks.
const PARTS: &str = r#"m=$(sed '/^\[/,$d' "$f" 2>/dev/null | grep -v '^#')
of() { printf '%s\n' "$m" | sed -n "s/^$1: //p" | head -n 1; }
disks() { printf '%s\n' "$m" | grep -E '^(scsi|virtio|ide|sata|efidisk|tpmstate|rootfs|mp)[0-9]*: ' | grep -v media=cdrom; }
"#;

/// What the first line of the look says.
const STATE: &str = r#"if [ ! -d "$e" ]; then echo nonode
elif [ ! -e "$f" ]; then
  o=$(ls "$e"/nodes/*/"$k/$i.conf" 2>/dev/null | head -n 1); o=${o#"$e/nodes/"}
  if [ "$o" ]; then echo "elsewhere ${o%%/*}"; else echo none; fi
elif [ ! -r "$f" ]; then echo closed
elif [ "$(of template)" = 1 ]; then echo template
elif [ "$(of lock)" ]; then echo "locked $(of lock) $(sed -n "s/^\(UPID:[^ ]*:$i:[^ ]*\) 0.*/\1/p" /var/log/pve/tasks/active 2>/dev/null | head -n 1)"
elif [ "$(of protection)" = 1 ]; then echo protected
elif grep -qE "^(vm|ct): *$i *\$" "$e/ha/resources.cfg" 2>/dev/null; then echo ha
elif grep -q "^local: $i-" "$e/replication.cfg" 2>/dev/null; then echo replicated
else echo open; fi
echo
case ";$(of tags | tr ', ' ';;');" in *';comeback;'*) echo marked ;; *) echo plain ;; esac
disks | sed -n 's/.*size=\([0-9.]*[KMGT]*\).*/\1/p' | awk '{ u = substr($1, length($1)); n = $1 + 0; f = u == "K" ? 1 : u == "M" ? 1024 : u == "G" ? 1048576 : u == "T" ? 1073741824 : 1 / 1024; s += n * f } END { if (NR) printf "%.0f\n", s; else print "unknown" }'
"#;

/// What is shown before, and what a destroy would take for good: lines `name`, `remark`, `loses`.
const TOLD: &str = r#"n=$(of name); n=${n:-$(of hostname)}
[ ! -r "$f" ] || echo "name ${n:-$w $i}"
s=$(sed -n 's/^\[\(.*\)\]$/\1/p' "$f" 2>/dev/null | grep -v '^PENDING$' | grep -v '^special:' | tr '\n' ' ')
p=$(awk -F: -v i="$i" '$1 == "pool" { n = split($4, a, /[,;]/); for (x = 1; x <= n; x++) if (a[x] == i) print $2 }' "$e/user.cfg" 2>/dev/null | head -n 1)
r=; [ "$k" = lxc ] || { r='stopped; '; [ ! -e "/var/run/qemu-server/$i.pid" ] || r="runs since $(date -r "/var/run/qemu-server/$i.pid" '+%Y-%m-%d %H:%M'); "; }
[ ! -r "$f" ] || echo "remark $w $i, ${n:-without a name}, on node $(uname -n): ${r}disks $(disks | sed 's/^\([a-z0-9]*\): *\([^:]*\):.*size=\([0-9A-Z.]*\).*/\1 on \2 \3/' | tr '\n' ',' | sed 's/,$//; s/,/, /g'); agent $(of agent | grep -q . && of agent || echo off); tags $(of tags | grep -q . && of tags || echo none); snapshots ${s:-none}; lock $(of lock | grep . || echo none); protection $(of protection | grep -q 1 && echo on || echo off); HA $(grep -qE "^(vm|ct): *$i *\$" "$e/ha/resources.cfg" 2>/dev/null && echo yes || echo no); replication $(grep -q "^local: $i-" "$e/replication.cfg" 2>/dev/null && echo yes || echo no); pool ${p:-none}; firewall rules $([ -s "$e/firewall/$i.fw" ] && echo yes || echo none)"
[ -z "$s" ] || echo "loses its snapshots: $s"
sed '/^\[/,$d' "$f" 2>/dev/null | sed -n 's/^\(unused[0-9]*\): *\([^,]*\).*/loses \1 (\2), which no backup has/p'
disks | sed -n 's/^\([a-z0-9]*\): *\([^,]*\),.*backup=0.*/loses \1 (\2): it is left out of backups (backup=0)/p'
disks | grep -v backup=0 | sed -n 's/^\([a-z0-9]*\): *\(\/[^,]*\).*/loses \1 (\2): it is passed through from the node, and no restore brings that back/p'
[ "$k" = qemu-server ] || disks | grep '^mp[0-9]*: *[^/ ]' | grep -v backup=1 | sed -n 's/^\(mp[0-9]*\): *\([^,]*\),.*/loses \1 (\2): mount points are left out of backups (no backup=1)/p'
grep -q '^\[PENDING\]' "$f" 2>/dev/null && echo "loses changes of its configuration that are pending"
awk -F: -v i="$i" '$1 == "pool" { n = split($4, a, /[,;]/); for (x = 1; x <= n; x++) if (a[x] == i) print "loses its place in the pool " $2 } $1 == "acl" && $3 == "/vms/" i { print "loses the permissions of " $4 " on it" }' "$e/user.cfg" 2>/dev/null
[ ! -s "$e/firewall/$i.fw" ] || echo "loses its firewall rules ($e/firewall/$i.fw)"
awk -v i="$i" '/^[a-z]/ { job = $2 } $1 == "vmid" { n = split($2, a, ","); for (x = 1; x <= n; x++) if (a[x] == i) print "remark backup job " job " has it, too" } $1 == "all" && $2 == 1 { print "remark backup job " job " has all guests" }' "$e/jobs.cfg" 2>/dev/null
:
"#;

fn begin(kind: &str, id: &str) -> Option<String> {
    let (folder, id) = (folder(kind)?, quote(id));
    let word = if kind == "vm" { "VM" } else { "CT" };
    Some(format!(
        "i={id}; k={folder}; w={word}; e=/etc/pve; f=$e/$k/$i.conf\n{PARTS}"
    ))
}

/// The look at a guest: the four lines of every look, then lines that begin with `name` (its own
/// name), `remark` (worth knowing) and `loses` (what a destroy would take for good).
pub(super) fn look(kind: &str, id: &str) -> Option<String> {
    Some(format!("{}{STATE}{TOLD}", begin(kind, id)?))
}

/// Shell text that prints the guest's own name.
pub(super) fn name(kind: &str, id: &str) -> Option<String> {
    let begin = begin(kind, id)?;
    Some(format!(
        "{begin}n=$(of name); n=${{n:-$(of hostname)}}; [ ! -r \"$f\" ] || echo \"${{n:-$w $i}}\"\n"
    ))
}

/// Shell text that prints what a guest is: its name, the number that it was born with, its disks.
pub(super) fn identity(kind: &str, id: &str) -> Option<String> {
    let begin = begin(kind, id)?;
    Some(format!(
        "{begin}{{ printf '%s\\n' \"$m\" | grep -E '^(name|hostname|smbios1): '; disks | sed 's/,.*//'; }} 2>/dev/null | tr '\\n' ' ' | sed 's/ *$//' | grep . || echo nothing\n"
    ))
}

/// Why a guest cannot be used, by the first line of the [`look`].
pub(super) fn refusal(state: &str, id: &str) -> Option<String> {
    let mut words = state.split_whitespace();
    Some(match (words.next()?, words.next(), words.next()) {
        ("nonode", ..) => format!("the subject {id} is a guest, and this is no node of Proxmox VE"),
        ("elsewhere", Some(node), _) => {
            format!("the guest {id} is on the node {node}; say --host {node}")
        }
        ("template", ..) => {
            format!(
                "the guest {id} is a template; say --set template={id}, without a subject, to have a guest made from it"
            )
        }
        ("locked", Some(lock), Some(task)) => {
            format!("the guest {id} is locked ({lock}) by the task {task}; wait for its end")
        }
        ("locked", Some(lock), None) => format!(
            "the guest {id} is locked ({lock}), and no task of it runs; look why, then say `qm unlock {id}` (or `pct unlock {id}`) there: nothing is unlocked from here"
        ),
        ("protected", ..) => format!("the guest {id} is protected (protection: 1)"),
        ("ha", ..) => format!("the guest {id} is managed by HA, which would act on it meanwhile"),
        ("replicated", ..) => {
            format!("the guest {id} is replicated: its replicas would follow what is done to it")
        }
        _ => return None,
    })
}

/// Why a guest may not be destroyed, by what its [`look`] says: what holds it, a mark that is gone,
/// what no restore would bring back.
pub(super) fn obstacle(said: &str, id: &str) -> Option<String> {
    let state = said.lines().next().unwrap_or_default();
    if state != "open" {
        return Some(refusal(state, id).unwrap_or_else(|| "it cannot be looked at".to_owned()));
    }
    if said.lines().nth(2) != Some("marked") {
        return Some("it bears no mark of comeback any more".to_owned());
    }
    let loses = said.lines().filter_map(|line| line.strip_prefix("loses "));
    let loses = loses.map(str::trim).collect::<Vec<_>>().join("; ");
    (!loses.is_empty()).then(|| format!("no restore would bring back: {loses}"))
}

/// Shell text that lists the node's guests, as every list of subjects.
pub(super) const fn list(kind: &str) -> &'static str {
    match kind.as_bytes() {
        b"vm" => {
            "for f in /etc/pve/qemu-server/*.conf; do [ -r \"$f\" ] || continue; i=${f##*/}; awk -v i=\"${i%.conf}\" '/^\\[/ { exit } /^template: 1/ { t = 1 } /^tags: / { if ($0 ~ /[ ;,]comeback([;, ]|$)/) m = 1 } /^(scsi|virtio|ide|sata)[0-9]+: .*size=/ { s = $0; sub(/.*size=/, \"\", s); sub(/,.*/, \"\", s); u = substr(s, length(s)); b += (s + 0) * (u == \"K\" ? 1024 : u == \"M\" ? 1048576 : u == \"G\" ? 1073741824 : u == \"T\" ? 1099511627776 : 1) } END { if (!t) printf \"vm %s %s\\t%.0f\\n\", m ? \"marked\" : \"plain\", i, b }' \"$f\"; done
"
        }
        b"ct" => {
            "for f in /etc/pve/lxc/*.conf; do [ -r \"$f\" ] || continue; i=${f##*/}; awk -v i=\"${i%.conf}\" '/^\\[/ { exit } /^template: 1/ { t = 1 } /^tags: / { if ($0 ~ /[ ;,]comeback([;, ]|$)/) m = 1 } /^(rootfs|mp[0-9]+): .*size=/ { s = $0; sub(/.*size=/, \"\", s); sub(/,.*/, \"\", s); u = substr(s, length(s)); b += (s + 0) * (u == \"K\" ? 1024 : u == \"M\" ? 1048576 : u == \"G\" ? 1073741824 : u == \"T\" ? 1099511627776 : 1) } END { if (!t) printf \"ct %s %s\\t%.0f\\n\", m ? \"marked\" : \"plain\", i, b }' \"$f\"; done
"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    const CONFIG: &str = "#a note\nagent: 1\nname: shop-db\nscsi0: fast:vm-131-disk-0,size=24G\nscsi1: fast:vm-131-disk-1,backup=0,size=512M\nide2: none,media=cdrom\nsmbios1: uuid=1f\ntags: web;comeback\nunused0: fast:vm-131-disk-7\n\n[first]\nname: other\nlock: backup\n";

    /// What a text says on a node whose files lie in a folder.
    fn said(text: &str, files: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        let root = folder.path().to_str().unwrap();
        let text = text
            .replace("/etc/pve", root)
            .replace("/var/log/pve/tasks", root);
        let done = Command::new("/bin/sh")
            .args(["-c", &text])
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stderr), "");
        String::from_utf8(done.stdout)
            .unwrap()
            .replace(root, "/etc/pve")
    }

    fn look_at(files: &[(&str, &str)]) -> Vec<String> {
        let said = said(&look("vm", "131").unwrap(), files);
        said.lines().map(ToOwned::to_owned).collect()
    }

    #[test]
    fn what_came_after_the_check_keeps_a_guest_from_being_destroyed() {
        let plain = "name: shop-db\nscsi0: fast:vm-131-disk-0,size=24G\ntags: comeback\n";
        let why = |conf: &str| {
            obstacle(
                &said(
                    &look("vm", "131").unwrap(),
                    &[("qemu-server/131.conf", conf)],
                ),
                "131",
            )
        };
        assert_eq!(why(plain), None);
        let since = why(&format!("{plain}\n[before-update]\nname: shop-db\n")).unwrap();
        assert_eq!(
            since,
            "no restore would bring back: its snapshots: before-update"
        );
        let locked = why(&format!("lock: migrate\n{plain}")).unwrap();
        assert!(locked.contains("locked (migrate)"), "{locked}");
        let plain = why(&plain.replace("comeback", "web")).unwrap();
        assert!(plain.contains("no mark"), "{plain}");
        assert!(obstacle("none\n\nplain\n", "131").is_some());
    }

    #[test]
    fn a_look_says_what_it_is_and_what_a_destroy_would_take() {
        let lines = look_at(&[
            ("qemu-server/131.conf", CONFIG),
            (
                "user.cfg",
                "user:root@pam:1:0:::\npool:shop::130,131:fast:\nacl:1:/vms/131:ops@pve:PVEVMUser:\n",
            ),
            ("firewall/131.fw", "[OPTIONS]\nenable: 1\n"),
            (
                "jobs.cfg",
                "vzdump: nightly\n\tschedule 02:00\n\tvmid 130,131\n\tstorage nas\n",
            ),
        ]);
        assert_eq!(lines[..4], ["open", "", "marked", "25690112"]);
        assert_eq!(lines[4], "name shop-db");
        assert!(
            lines[5].contains(
                "stopped; disks scsi0 on fast 24G, scsi1 on fast 512M; agent 1; tags web;comeback; snapshots first"
            ) && lines[5].ends_with(
                "lock none; protection off; HA no; replication no; pool shop; firewall rules yes"
            ),
            "{}",
            lines[5]
        );
        assert_eq!(
            lines[6..],
            [
                "loses its snapshots: first ",
                "loses unused0 (fast:vm-131-disk-7), which no backup has",
                "loses scsi1 (fast:vm-131-disk-1): it is left out of backups (backup=0)",
                "loses its place in the pool shop",
                "loses the permissions of ops@pve on it",
                "loses its firewall rules (/etc/pve/firewall/131.fw)",
                "remark backup job nightly has it, too",
            ]
        );
    }

    #[test]
    fn what_is_passed_through_from_the_node_is_lost_and_told_once() {
        let loses = |kind: &str, conf: &str, text: &str| {
            let told = said(&look(kind, "131").unwrap(), &[(conf, text)]);
            let told = told.lines().filter(|line| line.starts_with("loses "));
            told.map(ToOwned::to_owned).collect::<Vec<_>>()
        };
        let vm = "name: a\nscsi0: fast:vm-131-disk-0,size=24G\nscsi1: /dev/disk/by-id/ata-X_1,size=4T\nsata0: /dev/sdc\nscsi2: /dev/sdb,backup=0\nide2: /dev/cdrom,media=cdrom\n";
        let passed = "it is passed through from the node, and no restore brings that back";
        assert_eq!(
            loses("vm", "qemu-server/131.conf", vm),
            [
                "loses scsi2 (/dev/sdb): it is left out of backups (backup=0)".to_owned(),
                format!("loses scsi1 (/dev/disk/by-id/ata-X_1): {passed}"),
                format!("loses sata0 (/dev/sdc): {passed}"),
            ]
        );
        let ct = "hostname: a\nrootfs: fast:vm-131-disk-0,size=4G\nmp0: /srv,mp=/srv\nmp1: fast:vm-131-disk-1,mp=/a,size=1G\n";
        assert_eq!(
            loses("ct", "lxc/131.conf", ct),
            [
                format!("loses mp0 (/srv): {passed}"),
                "loses mp1 (fast:vm-131-disk-1): mount points are left out of backups (no backup=1)".to_owned(),
            ]
        );
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let conf = "qemu-server/131.conf";
        let with = |line: &str| format!("{line}\nname: a\n");
        let first = |files: &[(&str, &str)]| look_at(files).remove(0);
        let task = "UPID:pve3:000051C2:0002DDD2:6B0DE619:vzdump:131:root@pam:";
        let active = format!("{task} 0\n");
        for (state, files) in [
            ("nonode".to_owned(), vec![]),
            ("none".to_owned(), vec![("qemu-server/1.conf", "")]),
            (
                "elsewhere pve4".to_owned(),
                vec![("nodes/pve4/qemu-server/131.conf", "")],
            ),
            ("template".to_owned(), vec![(conf, &*with("template: 1"))]),
            (
                "locked backup ".to_owned(),
                vec![(conf, &*with("lock: backup"))],
            ),
            (
                format!("locked backup {task}"),
                vec![(conf, &*with("lock: backup")), ("active", &*active)],
            ),
            (
                "protected".to_owned(),
                vec![(conf, &*with("protection: 1"))],
            ),
            (
                "ha".to_owned(),
                vec![
                    (conf, &*with("a: b")),
                    ("ha/resources.cfg", "vm: 131\n\tstate started\n"),
                ],
            ),
            (
                "replicated".to_owned(),
                vec![
                    (conf, &*with("a: b")),
                    ("replication.cfg", "local: 131-0\n\ttarget pve4\n"),
                ],
            ),
            (
                "open".to_owned(),
                vec![(conf, &*with("a: b")), ("ha/resources.cfg", "vm: 1311\n")],
            ),
        ] {
            // A folder that is not there is no node.
            let text = look("vm", "131").unwrap();
            let state_is = if files.is_empty() {
                let text = text.replace("/etc/pve", "/nowhere/pve");
                said(&text, &[]).lines().next().unwrap().to_owned()
            } else {
                first(&files)
            };
            assert_eq!(state_is, state);
            let refused = refusal(&state, "131").is_some();
            assert_eq!(
                refused,
                !["open", "none"].contains(&state.as_str()),
                "{state}"
            );
        }
    }

    #[test]
    fn it_is_its_name_its_birth_and_its_disks() {
        let of = |config: &str| {
            said(
                &identity("vm", "131").unwrap(),
                &[("qemu-server/131.conf", config)],
            )
        };
        let before = of(CONFIG);
        assert_eq!(
            before,
            "name: shop-db smbios1: uuid=1f scsi0: fast:vm-131-disk-0 scsi1: fast:vm-131-disk-1\n"
        );
        assert_eq!(
            of(&CONFIG.replace("agent: 1", "agent: 1\nparent: first")),
            before
        );
        assert_ne!(of(&CONFIG.replace("uuid=1f", "uuid=2f")), before);
        assert_eq!(
            said(
                &identity("vm", "132").unwrap(),
                &[("qemu-server/131.conf", CONFIG)]
            ),
            "nothing\n"
        );
        assert_eq!(
            said(
                &name("vm", "131").unwrap(),
                &[("qemu-server/131.conf", CONFIG)]
            ),
            "shop-db\n"
        );
        assert_eq!(identity("dir", "/x"), None);
    }

    #[test]
    fn templates_are_not_listed() {
        let files = [
            ("qemu-server/131.conf", CONFIG),
            (
                "qemu-server/132.conf",
                "tags: comebacks\nscsi0: a:b,size=1G\n",
            ),
            ("qemu-server/900.conf", "template: 1\n"),
        ];
        let said = said(list("vm"), &files);
        assert_eq!(
            said,
            "vm marked 131\t26306674688\nvm plain 132\t1073741824\n"
        );
    }
}
