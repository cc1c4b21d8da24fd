//! What the ssh configuration means here, beside what `ssh -G` says that it means.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Config;
use super::policy::Strict;
use super::route::Route;
use super::ssh_config::Settings;

const USER: &str = "ann";

/// Configurations, each with names to look up. What `ssh` refuses is refused here, and what it
/// takes is taken.
const TABLE: &[(&str, &[&str])] = &[
    ("", &["nas", "NAS", "10.0.0.7", "::1", "bob@nas"]),
    (
        "Host Box\n Port 1\nHost b?x !bux\n Port=2222\n HostName %h.Lab\n User \"ro ot\"\n \
         IdentityFile ~/.ssh/%r_key\n IdentityFile \"/a b\"\n \
         UserKnownHostsFile ~/kh \"~/k h\" %d/x /%h-%p-%k\n HostKeyAlias StoRage\n \
         StrictHostKeyChecking no\n ProxyJump a@b:22,c\n ConnectTimeout 1m30s\n \
         IdentitiesOnly yes\n GlobalKnownHostsFile none\n",
        &["box", "Box", "bux", "bob@box", "other"],
    ),
    (
        "port 22 # the usual\nuser = bob#1\nHOSTNAME\t\"a.lab\"\r\nHostKeyAlias 'x y'\n\
         UserKnownHostsFile /a\\ b \"/c\\\"d\" /e\\f\n  IdentityFile none\n",
        &["nas"],
    ),
    (
        "Port 1\nPort 2\nHost nas\nPort 3\nUser bob\nUser eve\nHost *\nUser all\nPort 4\n",
        &["nas", "other"],
    ),
    (
        "Host other\nUser eve\nMatch host other\nUser mallory\nMatch all\nUser bob\nHost *\nPort 3\n",
        &["nas"],
    ),
    (
        "Match user nobody-at-all\nPort 7\nMatch originalhost other\nPort 8\nMatch !all\nPort 9\n",
        &["nas"],
    ),
    ("ConnectTimeout none\n", &["nas"]),
    ("ConnectTimeout 5\nConnectTimeout 6\n", &["nas"]),
    ("StrictHostKeyChecking yes\nHashKnownHosts yes\n", &["nas"]),
    ("StrictHostKeyChecking ask\nBatchMode yes\n", &["nas"]),
    ("StrictHostKeyChecking accept-new\n", &["nas"]),
    ("StrictHostKeyChecking off\n", &["nas"]),
    (
        "Host * !nas\nPort 7\nHost 10.* n*s\nUser bob\n",
        &["nas", "10.1.2.3", "x"],
    ),
    (
        "Host nas\nProxyJump none\nHost *\nProxyJump bastion\n",
        &["nas", "other"],
    ),
    (
        "UserKnownHostsFile none\nGlobalKnownHostsFile /a ~/b\n",
        &["nas"],
    ),
    (
        "UserKnownHostsFile /dev/null\nRevokedHostKeys ~/r\n",
        &["nas"],
    ),
    (
        "Include @/one.conf @/none.conf @/d/*.conf\nPort 9\n",
        &["nas", "other"],
    ),
    (
        "Host other\nInclude @/one.conf\nHost *\nUser bob\n",
        &["nas", "other"],
    ),
    // What neither takes.
    ("Port abc\n", &["nas"]),
    ("Port 70000\n", &["nas"]),
    ("Port 0\n", &["nas"]),
    ("Port\n", &["nas"]),
    ("User \"bob\n", &["nas"]),
    ("StrictHostKeyChecking maybe\n", &["nas"]),
    ("IdentitiesOnly perhaps\n", &["nas"]),
    ("ConnectTimeout soon\n", &["nas"]),
    ("HostName %p\n", &["nas"]),
    ("Include\n", &["nas"]),
    ("Host\n", &["nas"]),
    ("User bob eve\n", &["nas"]),
    ("Include @/loop.conf\n", &["nas"]),
    ("HashKnownHosts perhaps\n", &["nas"]),
    ("HostKeyAlias\n", &["nas"]),
];

/// The files that the table includes.
const FILES: &[(&str, &str)] = &[
    ("one.conf", "User included\nHost nas\nPort 2200\n"),
    ("d/20.conf", "Host *\nPort 20\n"),
    ("d/10.conf", "Host other\nPort 10\n"),
    ("d/.0.conf", "Port 1\n"),
    ("loop.conf", "Include @/loop.conf\n"),
];

/// What is compared: a keyword of `ssh -G` and its value.
type Meaning = BTreeMap<&'static str, String>;

const KEYWORDS: &[&str] = &[
    "hostname",
    "port",
    "user",
    "identityfile",
    "userknownhostsfile",
    "globalknownhostsfile",
    "hostkeyalias",
    "stricthostkeychecking",
    "proxyjump",
    "connecttimeout",
    "identitiesonly",
    "hashknownhosts",
    "batchmode",
    "revokedhostkeys",
];

#[test]
fn each_configuration_means_what_it_means_to_ssh() {
    let Ok(home) = home() else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "no ssh");
        eprintln!("SKIPPED: ssh is not installed");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_str().unwrap();
    for (name, text) in FILES {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text.replace('@', at)).unwrap();
    }
    let file = folder.path().join("config");
    let mut differences = Vec::new();
    for (text, names) in TABLE {
        // Addresses of users keep their `@`.
        std::fs::write(&file, text.replace("@/", &format!("{at}/"))).unwrap();
        for name in *names {
            let (ssh, ours) = (theirs(&file, name, &home), ours(&file, name, &home));
            match (ssh, ours) {
                (Ok(ssh), Ok(ours)) => differences.extend(
                    KEYWORDS
                        .iter()
                        .filter(|keyword| ssh.get(*keyword) != ours.get(*keyword))
                        .map(|keyword| {
                            let (ssh, ours) = (ssh.get(keyword), ours.get(keyword));
                            format!("{text:?} {name}: {keyword}: ssh {ssh:?}, here {ours:?}")
                        }),
                ),
                (Err(_), Err(_)) => {}
                (ssh, ours) => {
                    differences.push(format!("{text:?} {name}: ssh {ssh:?}, here {ours:?}"));
                }
            }
        }
    }
    assert!(differences.is_empty(), "\n{}", differences.join("\n"));
}

/// ssh takes the home from the password file.
fn home() -> std::io::Result<PathBuf> {
    Command::new("ssh").arg("-V").output()?;
    let me = Command::new("sh")
        .args(["-c", "eval echo ~$(id -un)"])
        .output()?;
    Ok(String::from_utf8(me.stdout).unwrap().trim().into())
}

fn theirs(file: &Path, name: &str, home: &Path) -> Result<Meaning, String> {
    let name = if name.contains('@') {
        name.to_owned()
    } else {
        format!("{USER}@{name}")
    };
    // A name on the command line would hide the configuration's.
    let named = name.strip_prefix(&format!("{USER}@"));
    let output = Command::new("ssh")
        .arg("-G")
        .arg("-F")
        .arg(file)
        .arg(named.unwrap_or(&name))
        .output()
        .unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let mut meaning = Meaning::new();
    let values = |keyword: &str| {
        let values = text.lines().filter_map(|line| {
            let (first, rest) = line.split_once(' ')?;
            (first == keyword).then(|| rest.to_owned())
        });
        values.collect::<Vec<_>>()
    };
    let user = values("user").remove(0);
    for keyword in KEYWORDS {
        let mut value = values(keyword).join("\n");
        match *keyword {
            "identityfile" => {
                // Its own list, where none is set, is another one in each version.
                if value.contains("/.ssh/id_rsa\n") {
                    continue;
                }
                value = value
                    .replace('~', home.to_str().unwrap())
                    .replace("%r", &user)
                    .replace("none", "");
            }
            "user" if value == me() => USER.clone_into(&mut value),
            "revokedhostkeys" | "globalknownhostsfile" => {
                value = value.replace('~', home.to_str().unwrap());
            }
            _ => {}
        }
        let nothing = match *keyword {
            "connecttimeout" | "userknownhostsfile" | "globalknownhostsfile" | "proxyjump" => {
                "none"
            }
            _ => "",
        };
        if !value.is_empty() && value != nothing {
            meaning.insert(keyword, value);
        }
    }
    Ok(meaning)
}

fn me() -> String {
    let output = Command::new("id").arg("-un").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn ours(file: &Path, name: &str, home: &Path) -> Result<Meaning, String> {
    let config = Config {
        file: Some(file.to_owned()),
        user: Some(USER.to_owned()),
        global_known_hosts: vec![
            "/etc/ssh/ssh_known_hosts".into(),
            "/etc/ssh/ssh_known_hosts2".into(),
        ],
        ..Config::in_home(home)
    };
    let target: super::Target = if name.contains("::") {
        format!("[{name}]").parse().unwrap()
    } else {
        name.parse().unwrap()
    };
    let settings = Settings::read(&config, &target.name)?;
    let jumps = settings
        .params
        .proxy_jump
        .clone()
        .unwrap_or_default()
        .join(",");
    if !jumps.is_empty() && jumps != "none" {
        // Looked up without it.
        let text = std::fs::read_to_string(file).unwrap();
        let without: Vec<&str> = text
            .lines()
            .filter(|line| !line.trim().starts_with("ProxyJump"))
            .collect();
        std::fs::write(file, without.join("\n")).unwrap();
        let meaning = ours(file, name, home);
        std::fs::write(file, text).unwrap();
        return meaning.map(|mut meaning| {
            meaning.insert("proxyjump", jumps);
            meaning
        });
    }
    let route = Route::resolve(&target, &config)?;
    let paths = |paths: &[PathBuf], between: &str| {
        let paths: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        paths.join(between)
    };
    let flag = |flag: bool| if flag { "yes" } else { "no" }.to_owned();
    let alias = settings.fields.first("HostKeyAlias").map(str::to_lowercase);
    let timeout = settings
        .params
        .connect_timeout
        .filter(|limit| !limit.is_zero());
    let all = [
        ("hostname", route.host.clone()),
        ("port", route.port.to_string()),
        ("user", route.user.clone()),
        (
            "identityfile",
            if route.explicit {
                paths(&route.identities, "\n")
            } else {
                String::new()
            },
        ),
        ("userknownhostsfile", paths(&route.known_hosts, " ")),
        (
            "globalknownhostsfile",
            paths(&route.global_known_hosts, " "),
        ),
        ("hostkeyalias", alias.unwrap_or_default()),
        (
            "stricthostkeychecking",
            match route.policy.strict {
                Strict::Yes => "true",
                Strict::Ask => "ask",
                Strict::AcceptNew => "accept-new",
                Strict::Off => "false",
            }
            .to_owned(),
        ),
        (
            "connecttimeout",
            timeout.map_or_else(String::new, |limit| limit.as_secs().to_string()),
        ),
        ("identitiesonly", flag(route.identities_only)),
        ("hashknownhosts", flag(route.policy.hash)),
        ("batchmode", flag(route.policy.batch)),
        (
            "revokedhostkeys",
            route
                .policy
                .revoked
                .as_deref()
                .map_or_else(String::new, |file| file.display().to_string()),
        ),
    ];
    Ok(all
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .collect())
}
