//! `fio --output-format=json`, best with `--status-interval`: whole documents one after another,
//! each telling of everything since the begin.

use serde::Deserialize;
use std::collections::BTreeMap;

use super::diagnostics::Diagnostics;
use super::numbers::Printed;
use super::{Finding, Line, Reader};
use crate::event::{Bytes, ProgressKind, Stream};

/// Longest document that is read; one of a few jobs has 8 KiB.
const MOST: usize = 4 << 20;
/// Nanoseconds of a second.
const NANOS: f64 = 1e9;

/// A load by fio. A document begins with a line `{` and ends with a line `}`; what stands before
/// (`note: …`) is passed over.
#[derive(Debug, Default)]
pub struct Fio {
    /// The document that is being read; none between two.
    open: Option<String>,
    last: Option<Sum>,
    diagnostics: Diagnostics,
}

/// <https://fio.readthedocs.io/en/latest/fio_doc.html#json-output>
#[derive(Debug, Deserialize)]
struct Document {
    jobs: Vec<Job>,
}

#[derive(Debug, Deserialize)]
struct Job {
    #[serde(default)]
    error: i64,
    #[serde(default)]
    read: Side,
    #[serde(default)]
    write: Side,
}

#[derive(Debug, Default, Deserialize)]
struct Side {
    #[serde(default)]
    io_bytes: u64,
    #[serde(default)]
    bw_bytes: f64,
    /// From submission to completion. Percentiles stand in it with `--lat_percentiles=1`.
    #[serde(default)]
    lat_ns: Latency,
    /// From where the kernel has taken it to completion.
    #[serde(default)]
    clat_ns: Latency,
}

#[derive(Debug, Default, Deserialize)]
struct Latency {
    #[serde(default)]
    max: f64,
    #[serde(default, rename = "N")]
    count: u64,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

/// Names of the figures that are read, with the keys of their percentiles; the last one is the most.
const LATENCIES: [(&str, &str); 4] = [
    ("latency_p50", "50.000000"),
    ("latency_p99", "99.000000"),
    ("latency_p99.9", "99.900000"),
    ("latency_max", ""),
];
/// The same of completion alone, where nothing else was asked for.
const COMPLETIONS: [(&str, &str); 4] = [
    ("completion_p50", "50.000000"),
    ("completion_p99", "99.000000"),
    ("completion_p99.9", "99.900000"),
    ("completion_max", ""),
];

impl Side {
    /// How many operations there were.
    fn count(&self) -> u64 {
        self.lat_ns.count.max(self.clat_ns.count)
    }

    /// Name of each figure, and seconds.
    fn latencies(&self) -> Vec<(&'static str, f64)> {
        let (of, names) = if self.lat_ns.percentile.is_empty() {
            (&self.clat_ns, COMPLETIONS)
        } else {
            (&self.lat_ns, LATENCIES)
        };
        let nanos = |key: &str| match key {
            "" => Some(of.max),
            key => of.percentile.get(key).copied(),
        };
        let found = |(name, key)| nanos(key).map(|nanos| (name, nanos / NANOS));
        names.into_iter().filter_map(found).collect()
    }
}

/// What a document comes to.
#[derive(Debug, Clone, PartialEq)]
struct Sum {
    bytes: u64,
    bandwidth: f64,
    /// Name of the figure, and seconds. Of several groups those of the busiest one.
    latencies: Vec<(&'static str, f64)>,
}

impl Reader for Fio {
    fn line(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        if line.stream == Stream::Err {
            self.complaint(line, found);
            return;
        }
        let text = line.text.trim_end();
        if text == "{" {
            self.open = Some(String::from("{"));
            return;
        }
        let Some(open) = self.open.as_mut() else {
            self.complaint(line, found);
            return;
        };
        if open.len() + text.len() > MOST {
            self.open = None;
            return;
        }
        open.push('\n');
        open.push_str(text);
        if text == "}" {
            let document = self.open.take().unwrap_or_default();
            self.document(&document, found);
        }
    }

    fn finish(&mut self, found: &mut Vec<Finding>) {
        if let Some(sum) = &self.last {
            found.push(Finding::exact_bytes("moved", sum.bytes));
            found.push(Finding::figure(
                "bandwidth",
                printed(sum.bandwidth, 1.0),
                "B/s",
            ));
            for (name, seconds) in &sum.latencies {
                found.push(Finding::seconds(name, printed(*seconds, 1.0 / NANOS)));
            }
        }
        self.diagnostics.finish(found);
    }
}

fn printed(value: f64, resolution: f64) -> Printed {
    Printed { value, resolution }
}

impl Fio {
    fn document(&mut self, text: &str, found: &mut Vec<Finding>) {
        let Ok(document) = serde_json::from_str::<Document>(text) else {
            return;
        };
        if let Some(job) = document.jobs.iter().find(|job| job.error != 0) {
            let why = format!("fio: a job ended with error {}", job.error);
            self.diagnostics.cause(&why, found);
        }
        let sum = Sum::of(&document);
        found.push(Finding::Says(sum.to_string()));
        found.push(Finding::Progress {
            kind: ProgressKind::Unknown,
            done: Some(sum.bytes),
            total: None,
            percent: None,
        });
        self.last = Some(sum);
    }

    fn complaint(&mut self, line: Line<'_>, found: &mut Vec<Finding>) {
        let text = line.text.trim();
        if text.starts_with("fio: ") || text.contains("error=") {
            self.diagnostics.cause(text, found);
        } else {
            self.diagnostics.unknown(line);
        }
    }
}

impl Sum {
    fn of(document: &Document) -> Self {
        let sides = || document.jobs.iter().flat_map(|job| [&job.write, &job.read]);
        let busiest = sides().max_by_key(|side| side.count());
        let busiest = busiest.filter(|side| side.count() > 0);
        Self {
            bytes: sides()
                .map(|side| side.io_bytes)
                .fold(0, u64::saturating_add),
            bandwidth: sides().map(|side| side.bw_bytes).sum(),
            latencies: busiest.map(Side::latencies).unwrap_or_default(),
        }
    }
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/s", Bytes(self.bandwidth.max(0.0) as u64))?;
        for (name, seconds) in &self.latencies {
            let name = name.trim_start_matches("latency_").replace('_', " ");
            write!(f, ", {name} {:.2} ms", seconds * 1000.0)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::testing::{causes, figure, progress, read, read_pieces, whole};

    /// As fio 3.33 prints one, shortened; the numbers are our own.
    fn document(bytes: u64, bandwidth: u64, p99: u64) -> String {
        format!(
            r#"{{
  "fio version" : "fio-3.33",
  "jobs" : [
    {{
      "jobname" : "load",
      "error" : 0,
      "read" : {{
        "io_bytes" : 0,
        "bw_bytes" : 0,
        "clat_ns" : {{
          "max" : 0,
          "N" : 0
        }}
      }},
      "write" : {{
        "io_bytes" : {bytes},
        "bw_bytes" : {bandwidth},
        "clat_ns" : {{
          "min" : 2100,
          "max" : 98000000,
          "N" : 4711,
          "percentile" : {{
            "50.000000" : 410000,
            "99.000000" : 800000,
            "99.900000" : 31000000
          }}
        }},
        "lat_ns" : {{
          "min" : 2400,
          "max" : 98500000,
          "N" : 4711,
          "percentile" : {{
            "50.000000" : 430000,
            "99.000000" : {p99},
            "99.900000" : 31500000
          }}
        }}
      }}
    }}
  ],
  "disk_util" : [
  ]
}}
"#
        )
    }

    #[test]
    fn the_last_document_holds_and_each_is_shown_as_it_comes() {
        let text =
            document(4_096_000, 2_000_000, 900_000) + &document(9_216_000, 2_300_000, 1_250_000);
        let found = read("fio", text.as_bytes());
        let done: Vec<_> = progress(&found).iter().map(|p| p.1).collect();
        assert_eq!(done, [Some(4_096_000), Some(9_216_000)]);
        assert_eq!(whole(&found, "moved"), 9_216_000);
        assert_eq!(whole(&found, "bandwidth"), 2_300_000);
        assert!((figure(&found, "latency_p99") - 0.001_25).abs() < 1e-12);
        assert!((figure(&found, "latency_max") - 0.0985).abs() < 1e-12);
        let says = found.iter().rev().find_map(|finding| match finding {
            Finding::Says(text) => Some(text.as_str()),
            _ => None,
        });
        assert_eq!(
            says,
            Some("2.19 MiB/s, p50 0.43 ms, p99 1.25 ms, p99.9 31.50 ms, max 98.50 ms")
        );
    }

    #[test]
    fn completion_alone_is_called_so() {
        let text = document(4_096_000, 2_000_000, 900_000);
        let (before, _) = text.split_once(",\n        \"lat_ns\"").unwrap();
        let text = format!("{before}\n      }}\n    }}\n  ]\n}}\n");
        let found = read("fio", text.as_bytes());
        assert!((figure(&found, "completion_p99") - 0.000_8).abs() < 1e-12);
        assert!((figure(&found, "completion_max") - 0.098).abs() < 1e-12);
        let named = |finding: &Finding| format!("{finding:?}").contains("latency_");
        assert!(!found.iter().any(named), "{found:?}");
    }

    #[test]
    fn it_is_the_same_in_pieces_of_any_size() {
        let text =
            document(4_096_000, 2_000_000, 900_000) + &document(9_216_000, 2_300_000, 1_250_000);
        let whole = read("fio", text.as_bytes());
        for size in [1, 3, 7, 64] {
            let pieces = text.as_bytes().chunks(size);
            let found = read_pieces("fio", pieces.map(|piece| (Stream::Out, piece)));
            assert_eq!(found, whole, "{size}");
        }
    }

    #[test]
    fn what_is_no_document_is_passed_over() {
        let text = "note: both iodepth >= 1 and synchronous I/O engine are selected\n".to_owned()
            + "{\n  \"jobs\" : 7\n}\n"
            + &document(1000, 500, 1)
            + "{\n  \"jobs\" : [\n";
        let found = read("fio", text.as_bytes());
        assert_eq!(whole(&found, "moved"), 1000);
        assert!(causes(&found).is_empty());
    }

    #[test]
    fn why_it_failed() {
        let found = read_pieces(
            "fio",
            [(
                Stream::Err,
                b"fio: pid=77, err=28/file:filesetup.c:240, func=write, error=No space left on device\n"
                    .as_slice(),
            )],
        );
        assert_eq!(causes(&found).len(), 1);
        assert!(causes(&found)[0].contains("No space left on device"));
        let text = document(1000, 500, 1).replace("\"error\" : 0", "\"error\" : 5");
        assert_eq!(
            causes(&read("fio", text.as_bytes())),
            ["fio: a job ended with error 5"]
        );
    }

    #[test]
    fn a_document_without_end_costs_no_memory() {
        let mut text = String::from("{\n");
        for _ in 0..200_000 {
            text.push_str("  \"a long line that never comes to an end\" : 1,\n");
        }
        text.push_str(&document(1000, 500, 1));
        assert_eq!(whole(&read("fio", text.as_bytes()), "moved"), 1000);
    }
}
