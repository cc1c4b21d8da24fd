//! Built-in methods and drafts, bound to hosts that nobody connects to.
#![cfg(test)]
#![allow(dead_code, reason = "several test programs use it, each in part")]

use std::collections::BTreeMap;
use std::path::Path;

use comeback::event::{Bytes, Facts};
use comeback::method::{Bound, Catalogue, HostInfo, Request, Set, SubjectKind, SubjectSpec, bind};

pub fn facts() -> Facts {
    let tools = [
        ("cp", "cp (GNU coreutils) 9.1"),
        ("tar", "tar (GNU tar) 1.34"),
        ("find", "find (GNU findutils) 4.9.0"),
        ("rsync", "rsync  version 3.2.7  protocol version 31"),
        ("zstd", "*** Zstandard CLI (64-bit) v1.5.4 ***"),
    ];
    Facts {
        system: "Debian GNU/Linux 12 (bookworm)".into(),
        user: "root".into(),
        memory: Bytes(8 << 30),
        tools: tools
            .map(|(name, version)| (name.to_owned(), version.to_owned()))
            .into(),
        ..Facts::default()
    }
}

pub fn hosts() -> BTreeMap<String, HostInfo> {
    ["pve1", "nas"]
        .map(|name| {
            let address = Some(format!("{name}.lab"));
            (
                name.to_owned(),
                HostInfo {
                    name: name.to_owned(),
                    address,
                    login: Some(("root".to_owned(), 22)),
                    facts: facts(),
                },
            )
        })
        .into()
}

pub fn bound(method: &str, subject: Option<(SubjectKind, &str)>, sets: &[(&str, &str)]) -> Bound {
    let catalogue = Catalogue::load(Some(Path::new("tests/methods"))).unwrap();
    let request = Request {
        roles: match method {
            "draft-ftp" => [("server".to_owned(), "nas".to_owned())].into(),
            both if both.starts_with("copy-") || both.ends_with("-replicate") => {
                [("target".to_owned(), "nas".to_owned())].into()
            }
            _ => BTreeMap::new(),
        },
        subjects: subject
            .map(|(kind, id)| SubjectSpec {
                host: None,
                kind,
                id: id.into(),
            })
            .into_iter()
            .collect(),
        sandbox: None,
        sets: sets
            .iter()
            .map(|(key, value)| Set {
                host: None,
                method: None,
                key: (*key).into(),
                value: (*value).into(),
            })
            .collect(),
        ..Request::each(&["pve1".into()], &[method.into()])
    };
    bind(&catalogue, &request, &hosts()).unwrap().remove(0)
}
