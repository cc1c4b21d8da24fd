//! What log files and journals put in front of a line.

use super::pattern::pattern;

/// The line without its stamp: `106: 2024-11-20 01:30:58 INFO: …` (a mail or a log beside an
/// archive), `2020-03-10 10:00:01 200-0: …` (replication), `2026-09-06T09:47:31-05:00: …`
/// (a backup server's task), `Oct 27 21:25:04 pve1 pvedaemon[32418]: …` (a journal).
#[must_use]
pub fn without(text: &str) -> &str {
    let stamp = pattern!(
        r"^(?:\d+: )?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)?:? (?:\d+-\d+: )?"
    );
    let journal = pattern!(r"^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S+ [^\s\[:]+(?:\[\d+\])?: ");
    [stamp, journal]
        .iter()
        .find_map(|pattern| text.get(pattern.find(text)?.end()..))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn stamps_go_and_all_else_stays() {
        for text in [
            "INFO: x",
            "114: 2025-03-02 04:10:07 INFO: x",
            "2025-03-02 04:10:07 INFO: x",
            "2025-03-02 04:10:07 114-0: INFO: x",
            "2025-03-02T04:10:07+01:00: INFO: x",
            "Mar  2 04:10:07 node7 pvedaemon[811]: INFO: x",
            "Mar 12 04:10:07 node7 backup: INFO: x",
        ] {
            assert_eq!(without(text), "INFO: x", "{text}");
        }
        for text in ["04:10:07   28.3M   tank/a@b", "", "2025-03-02", "Mar 2: x"] {
            assert_eq!(without(text), text);
        }
    }
}
