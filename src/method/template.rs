//! Values into commands: minijinja, with every value quoted for the shell.

use std::collections::BTreeSet;
use std::sync::Arc;

use minijinja::value::ValueKind;
use minijinja::{Environment, Error, ErrorKind, Output, State, UndefinedBehavior, Value};

/// In an `undo`, stands for what `find` printed. It is a shell variable there, so that a
/// leftover can be taken away without this program's templates.
pub const FOUND: &str = "found";

/// Variable of a step: `yes` where the looks ahead of its method have asked the operator and were answered so, else `no`.
pub const AGREED: &str = "agreed";

/// A value that is not known yet: printed as `‹name›` by a dry run.
#[must_use]
pub fn unknown_value(name: &str) -> Value {
    Value::from_safe_string(format!("‹{name}›"))
}

/// Fills in templates. `shell` quotes every value; `text` takes them as they are.
#[derive(Clone)]
pub struct Templates {
    shell: Arc<Environment<'static>>,
    text: Arc<Environment<'static>>,
}

impl Default for Templates {
    fn default() -> Self {
        let mut shell = strict();
        shell.set_formatter(quote);
        let mut text = strict();
        text.set_formatter(plain);
        Self {
            shell: Arc::new(shell),
            text: Arc::new(text),
        }
    }
}

fn strict() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    // Nothing but the formatter decides what is quoted.
    env.remove_filter("safe");
    env.remove_filter("escape");
    env.remove_filter("e");
    env.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    env
}

fn quote(out: &mut Output, _: &mut State, value: &Value) -> Result<(), Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if value.is_safe() {
        out.write_str(value.as_str().unwrap_or_default())?;
        return Ok(());
    }
    match value.kind() {
        ValueKind::Bool | ValueKind::Number => write_plain(out, value),
        ValueKind::Seq | ValueKind::Iterable => {
            for (at, item) in value.try_iter()?.enumerate() {
                if at > 0 {
                    out.write_str(" ")?;
                }
                write_quoted(out, &item)?;
            }
            Ok(())
        }
        ValueKind::None => Err(Error::new(ErrorKind::InvalidOperation, "the value is none")),
        _ => write_quoted(out, value),
    }
}

fn plain(out: &mut Output, _: &mut State, value: &Value) -> Result<(), Error> {
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    write_plain(out, value)
}

fn write_plain(out: &mut Output, value: &Value) -> Result<(), Error> {
    out.write_str(&value.to_string()).map_err(Error::from)
}

fn write_quoted(out: &mut Output, value: &Value) -> Result<(), Error> {
    let text = value.to_string();
    let quoted = shlex::try_quote(&text).map_err(|_nul| {
        Error::new(
            ErrorKind::InvalidOperation,
            "a value holds a NUL byte, which no shell can take",
        )
    })?;
    out.write_str(&quoted).map_err(Error::from)
}

impl Templates {
    /// Shell text with every value quoted.
    ///
    /// # Errors
    /// Where the template is wrong, a value is missing, or one holds a NUL byte.
    pub fn shell(&self, source: &str, context: &Value) -> Result<String, String> {
        self.shell
            .render_str(source, context.clone())
            .map_err(|why| explain(&why))
    }

    /// Plain text: a path, a label, a name.
    ///
    /// # Errors
    /// Where the template is wrong or a value is missing.
    pub fn text(&self, source: &str, context: &Value) -> Result<String, String> {
        self.text
            .render_str(source, context.clone())
            .map_err(|why| explain(&why))
    }

    /// A condition or figure.
    ///
    /// # Errors
    /// Where the expression is wrong or a value is missing.
    pub fn expression(&self, source: &str, context: &Value) -> Result<Value, String> {
        let compiled = self
            .text
            .compile_expression(source)
            .map_err(|why| explain(&why))?;
        compiled.eval(context.clone()).map_err(|why| explain(&why))
    }

    /// The names that a template uses.
    ///
    /// # Errors
    /// Where it is not a template.
    pub fn names(&self, source: &str) -> Result<BTreeSet<String>, String> {
        let template = self
            .text
            .template_from_str(source)
            .map_err(|why| explain(&why))?;
        Ok(template.undeclared_variables(false).into_iter().collect())
    }

    /// The names that an expression uses.
    ///
    /// # Errors
    /// Where it is not an expression.
    pub fn expression_names(&self, source: &str) -> Result<BTreeSet<String>, String> {
        let compiled = self
            .text
            .compile_expression(source)
            .map_err(|why| explain(&why))?;
        Ok(compiled.undeclared_variables(false).into_iter().collect())
    }
}

fn explain(why: &Error) -> String {
    match why.kind() {
        ErrorKind::UndefinedError => match why.detail() {
            Some(detail) => format!("a value is missing: {detail}"),
            None => "a value is missing".to_owned(),
        },
        _ => why
            .detail()
            .map_or_else(|| why.kind().to_string(), ToOwned::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use minijinja::context;

    use super::*;

    fn shell(source: &str, context: &Value) -> Result<String, String> {
        Templates::default().shell(source, context)
    }

    #[test]
    fn every_value_is_quoted() {
        let context = context! {
            a => "it's; $(rm -rf /)", n => 5, l => vec!["x y", "z"],
        };
        let text = shell("ls {{ a }} {{ n }} {{ l }}", &context);
        let script = text.unwrap().replace("ls ", "printf '<%s>' ");
        let out = std::process::Command::new("sh")
            .args(["-c", &script])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        assert_eq!(said, "<it's; $(rm -rf /)><5><x y><z>");
    }

    /// Shells that a host may have; those that are not here are passed over.
    const SHELLS: [&[&str]; 3] = [&["dash"], &["bash"], &["busybox", "ash"]];

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(40))]

        /// Whatever a name holds, each shell takes it as one word and runs nothing of it.
        #[test]
        fn no_name_breaks_out(
            name in "([-a-z0-9 '\"`$(){};&|<>*?~!#\\\\\\n\\t\\r%=\\[\\]\u{e4}\u{4e2d}]|\\$\\(id\\)|`id`|'; id; '){1,24}",
        ) {
            let context = context! { name => name.as_str() };
            let script = shell("printf '%s' {{ name }}; printf '|%s' {{ [name, name] }}", &context).unwrap();
            for words in SHELLS {
                let Ok(out) = std::process::Command::new(words[0])
                    .args(&words[1..])
                    .args(["-c", &script])
                    .output()
                else {
                    continue;
                };
                let said = String::from_utf8(out.stdout).unwrap();
                proptest::prop_assert_eq!(&said, &format!("{name}|{name}|{name}"), "{}", words[0]);
                proptest::prop_assert!(out.stderr.is_empty());
            }
        }
    }

    #[test]
    fn no_filter_takes_the_quotes_off() {
        assert!(shell("{{ a|safe }}", &context! { a => "$(x)" }).is_err());
        assert_eq!(
            shell("{{ a|upper }}", &context! { a => "$(x)" }).unwrap(),
            "'$(X)'"
        );
    }

    #[test]
    fn a_missing_value_is_an_error() {
        assert!(shell("{{ nowhere }}", &context! {}).is_err());
        assert!(shell("{{ a.b }}", &context! { a => context! {} }).is_err());
        assert!(
            Templates::default()
                .expression("nowhere == 1", &context! {})
                .is_err()
        );
    }

    #[test]
    fn nul_is_refused() {
        assert!(
            shell("{{ a }}", &context! { a => "x\0y" })
                .unwrap_err()
                .contains("NUL")
        );
    }

    #[test]
    fn what_is_not_known_yet_is_marked() {
        let context = context! { archive => unknown_value("archive") };
        assert_eq!(
            shell("qmrestore {{ archive }} 9", &context).unwrap(),
            "qmrestore ‹archive› 9"
        );
    }
}
