//! A built-in method with one more step, which makes happen what ought not to.
#![cfg(test)]

/// The text of a method with a step that runs this before the first one in which `before` stands. It
/// stands in TOML's literal quotes: no `'''` in it.
pub fn sabotaged(text: &str, before: &str, run: &str) -> String {
    let sabotage = format!("[[step]]\nname = \"sabotage\"\nphase = \"protect\"\nrun = '''{run}'''");
    let steps: Vec<_> = text.split("[[step]]").collect();
    let at = steps.iter().position(|step| step.contains(before)).unwrap();
    let (front, rest) = steps.split_at(at);
    let join = |steps: &[&str]| steps.join("[[step]]");
    format!("{}{sabotage}\n\n[[step]]{}", join(front), join(rest))
}
