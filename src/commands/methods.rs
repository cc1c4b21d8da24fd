//! `comeback methods`

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::cli::{MethodsAction, MethodsArgs};
use crate::engine::preview;
use crate::method::{Catalogue, HostInfo, Method, Origin, Own, Request, SubjectSpec, bind};

use super::{CommandError, Context, output, prepare};

/// Lists methods, or shows one with its settings filled in.
pub(super) fn methods(context: &Context, args: MethodsArgs) -> Result<i32, CommandError> {
    let catalogue = prepare::catalogue(context)?;
    let text = match args.action {
        None | Some(MethodsAction::List) => list(&catalogue),
        Some(MethodsAction::Show { name, set }) => show(&catalogue, &name, &set)?,
    };
    output::data(&text)?;
    Ok(0)
}

fn list(catalogue: &Catalogue) -> String {
    let mut text = String::new();
    for (method, origin) in catalogue.all() {
        let from = match origin {
            Origin::BuiltIn => String::new(),
            Origin::File(path) => format!("  ({})", path.display()),
        };
        let _ = writeln!(
            text,
            "{:<16}  {:<9}  {}{from}",
            method.name, method.subject, method.title
        );
    }
    text
}

fn show(catalogue: &Catalogue, name: &str, set: &[String]) -> Result<String, CommandError> {
    let method = catalogue.get(name)?;
    let mut text = head(&method);
    let mut request = Request::each(&["local".to_owned()], &[name.to_owned()]);
    for one in set {
        request
            .sets
            .push(prepare::setting(one).map_err(CommandError::Arguments)?);
    }
    if method.own == Own::Never {
        let id = if method.subject.name() == "dir" {
            "/‹subject›"
        } else {
            "‹subject›"
        };
        let spec = SubjectSpec {
            host: None,
            kind: method.subject,
            id: id.to_owned(),
        };
        request.subjects.push(spec);
    }
    let mut info = HostInfo {
        name: "local".to_owned(),
        ..HostInfo::default()
    };
    // A host where every program is there, in GNU's version: the commands that most will see.
    let tools = ["cp", "tar", "find", "openssl"];
    for tool in method
        .needs
        .iter()
        .map(|need| need.tool.as_str())
        .chain(tools)
    {
        info.facts.tools.insert(tool.to_owned(), "GNU".to_owned());
    }
    let infos: BTreeMap<String, HostInfo> = method
        .roles
        .iter()
        .skip(1)
        .map(|role| {
            (
                role.clone(),
                HostInfo {
                    name: role.clone(),
                    ..info.clone()
                },
            )
        })
        .chain([("local".to_owned(), info.clone())])
        .collect();
    request.roles = method
        .roles
        .iter()
        .skip(1)
        .map(|role| (role.clone(), role.clone()))
        .collect();
    for bound in bind(catalogue, &request, &infos)? {
        for (key, value) in &bound.settings {
            let setting = method.settings.get(key);
            let (kind, help) = setting.map_or((String::new(), ""), |known| {
                (known.kind.to_string(), &known.help)
            });
            let _ = writeln!(text, "#   {key} = {value}  ({kind}) {help}");
        }
        for step in preview(&bound)? {
            let _ = write!(text, "\n# {} · {}", step.phase, step.name);
            if let Some(destroys) = step.destroys {
                let _ = write!(text, " · DESTROYS {}", destroys.what);
            }
            let _ = writeln!(text, "\n{}", step.command);
        }
        text.push('\n');
        text.push_str(&super::check::looks(&bound));
    }
    Ok(text)
}

fn head(method: &Method) -> String {
    let needs: Vec<_> = method.needs.iter().map(|need| need.tool.as_str()).collect();
    format!(
        "# {}: {}\n# {}\n# subject {}, roles {}, needs {}\n# settings:\n",
        method.name,
        method.title,
        method.help,
        method.subject,
        method.roles.join(", "),
        needs.join(", ")
    )
}
