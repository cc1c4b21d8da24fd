//! Disks of the machines of `ESXi` as subjects: where they are listed, how one is looked at, why it is refused. All texts
//! only read.

use super::shell::quote;

/// The registered machines, a line `NUMBER<TAB>NAME<TAB>[DATASTORE] PATH.vmx` each. A table in columns, where names may hold blanks and
/// brackets, and whose last column holds notes of several lines; what is said of machines whose file is gone may stand before it.
const MACHINES: &str = r#"vim-cmd vmsvc/getallvms 2>/dev/null | awk '
/^Vmid +Name +File +Guest OS/ { n = index($0, "Name"); f = index($0, "File"); g = index($0, "Guest OS"); next }
n && /^[0-9]+ / {
  # Where the columns do not fit, because of letters of several bytes.
  if (substr($0, f, 1) == "[") file = substr($0, f, g - f)
  else if (match($0, /   \[[^]]*\] [^ ].*\.vmx +[^ ]+ +vmx-[0-9]+/)) { file = substr($0, RSTART + 3, RLENGTH - 3); sub(/ +[^ ]+ +vmx-[0-9]+$/, "", file) }
  else next
  name = substr($0, n, index($0, file) - n); sub(/ +$/, "", name); sub(/ +$/, "", file)
  if (file ~ /^\[[^]]*\] .*\.vmx$/) print $1 "\t" name "\t" file
}'"#;

/// Shell text that lists the disks of all machines, as every list of subjects, with their machine behind the bytes.
pub(super) fn list() -> String {
    format!(
        r#"if command -v vim-cmd >/dev/null 2>&1; then {MACHINES} | while IFS='	' read -r i n f; do
f=${{f#?}}; x=/vmfs/volumes/${{f%%]*}}/${{f#*] }}
sed -n 's/^[a-z]*[0-9]*:[0-9]*\.fileName = "\(.*\.vmdk\)".*/\1/p' "$x" 2>/dev/null | while IFS= read -r k; do
case $k in *-[0-9][0-9][0-9][0-9][0-9][0-9].vmdk) continue ;; /*) ;; *) k=${{x%/*}}/$k ;; esac
printf 'vmdk plain %s\t%s\t%s\n' "$k" "$(sed -n 's/^RW \([0-9]*\) .*/\1/p' "$k" 2>/dev/null | awk '{{ s += $1 }} END {{ printf "%.0f", s * 512 }}')" "machine $i, $n"
done; done; fi
"#
    )
}

/// The look at a disk: the four lines of every look, then remarks.
pub(super) fn look(id: &str) -> String {
    format!(
        r#"d={}
case $d in *-flat.vmdk | *-delta.vmdk | *-sesparse.vmdk | *-ctk.vmdk | *-s[0-9][0-9][0-9].vmdk) k=data ;; *-[0-9][0-9][0-9][0-9][0-9][0-9].vmdk) k=delta ;; *) k=open ;; esac
if [ ! -f "$d" ]; then k=none
elif [ "$k" = open ] && ! head -n 1 "$d" | grep -q '^# Disk DescriptorFile'; then k=nodisk
elif grep -qiE '^createType="?vmfs(Passthrough)?RawDeviceMap|^RW [0-9]+ VMFSRDM' "$d" 2>/dev/null; then k=rdm; fi
echo $k
echo
echo plain
if [ $k = open ]; then sed -n 's/^RW \([0-9]*\) .*/\1/p' "$d" | awk '{{ s += $1 }} END {{ printf "%.0f\n", s / 2 }}'; else echo unknown; fi
vim-cmd vmsvc/getallvms 2>/dev/null | sed -n "s/^Skipping invalid VM '\([0-9]*\)'.*/remark machine \1 is registered and its file is gone: it is passed over/p"
:
"#,
        quote(id)
    )
}

/// Why a disk cannot be used, by the first line of the [`look`].
pub(super) fn refusal(state: &str, id: &str) -> Option<String> {
    Some(match state {
        "data" => format!(
            "the subject {id} holds the data of a disk; name its descriptor, which is NAME.vmdk"
        ),
        "delta" => format!(
            "the subject {id} is what a snapshot has taken since; name the disk below it, and remove the snapshot first"
        ),
        "nodisk" => format!(
            "the subject {id} is no descriptor of a disk (its first line is not \"# Disk DescriptorFile\")"
        ),
        "rdm" => format!(
            "the subject {id} maps a whole device (RDM), of which no snapshot can be made and whose clone would be another kind of disk"
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::Command;

    use super::*;

    /// As a host prints it; the notes of two lines look like machines.
    const TABLE: &str = "Skipping invalid VM '30'\n\
        Vmid   Name                   File                                    Guest OS          Version   Annotation\n\
        1      dns                    [ds1] dns/dns.vmx                       other3xLinux64Guest   vmx-13    \n\
        12     shop [prod]  web       [big store] shop [old]/shop web.vmx     ubuntu64Guest     vmx-13    runs the shop\n\
        14     not a machine [ds1] x\n\
        15     [ds1] y/y.vmx\n\
        2      [brackets] first       [ds1] b/[b].vmx                         centos64Guest     vmx-10    \n\
        7      caf\u{e9} und gl\u{fc}ck           [ds1] cafe/cafe.vmx                     ubuntu64Guest     vmx-19    notes\n\
        101    a                      [nas] a/a.vmx                           windows9_64Guest   vmx-11    \n";

    fn in_shell(text: &str, folder: &Path) -> String {
        let bin = folder.join("vim-cmd");
        std::fs::write(folder.join("table"), TABLE).unwrap();
        let says = format!("#!/bin/sh\ncat {}/table\n", folder.display());
        std::fs::write(&bin, says).unwrap();
        std::fs::set_permissions(&bin, std::fs::Permissions::from_mode(0o700)).unwrap();
        let path = std::env::var("PATH").unwrap();
        let done = Command::new("/bin/sh")
            .args(["-c", text])
            .env("PATH", format!("{}:{path}", folder.display()))
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&done.stderr), "");
        String::from_utf8(done.stdout).unwrap()
    }

    #[test]
    fn five_machines_are_five_whatever_their_names_and_notes_hold() {
        let folder = tempfile::tempdir().unwrap();
        let said = in_shell(MACHINES, folder.path());
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(
            lines,
            [
                "1\tdns\t[ds1] dns/dns.vmx",
                "12\tshop [prod]  web\t[big store] shop [old]/shop web.vmx",
                "2\t[brackets] first\t[ds1] b/[b].vmx",
                "7\tcaf\u{e9} und gl\u{fc}ck\t[ds1] cafe/cafe.vmx",
                "101\ta\t[nas] a/a.vmx",
            ]
        );
    }

    #[test]
    fn their_disks_are_listed_with_their_machine_and_the_look_says_what_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("ds1/dns");
        std::fs::create_dir_all(&at).unwrap();
        let disk = "# Disk DescriptorFile\ncreateType=\"vmfs\"\nRW 16384 VMFS \"dns-flat.vmdk\"\n";
        std::fs::write(at.join("dns.vmdk"), disk).unwrap();
        std::fs::write(at.join("dns-flat.vmdk"), "").unwrap();
        let rdm = disk.replace("\"vmfs\"", "\"vmfsRawDeviceMap\"");
        std::fs::write(at.join("raw.vmdk"), rdm).unwrap();
        std::fs::write(at.join("notes.vmdk"), "milk").unwrap();
        let vmx = "scsi0:0.fileName = \"dns.vmdk\"\nscsi0:1.fileName = \"new-000001.vmdk\"\nide0:0.fileName = \"x.iso\"\n";
        std::fs::write(at.join("dns.vmx"), vmx).unwrap();
        let root = folder.path().display().to_string();
        let said = in_shell(&list().replace("/vmfs/volumes", &root), folder.path());
        let line = format!(
            "vmdk plain {}/dns.vmdk\t8388608\tmachine 1, dns\n",
            at.display()
        );
        assert_eq!(said, line);

        let look_at = |name: &str| {
            let id = at.join(name).display().to_string();
            let said = in_shell(&look(&id), folder.path());
            said.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let lines = look_at("dns.vmdk");
        assert_eq!(lines[..4], ["open", "", "plain", "8192"]);
        assert!(lines[4].starts_with("remark machine 30 "), "{lines:?}");
        for (name, state) in [
            ("dns-flat.vmdk", "data"),
            ("raw.vmdk", "rdm"),
            ("notes.vmdk", "nodisk"),
            ("none.vmdk", "none"),
        ] {
            assert_eq!(look_at(name)[0], state, "{name}");
            assert!(state == "none" || refusal(state, name).unwrap().contains(name));
        }
    }
}
