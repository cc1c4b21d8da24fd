//! What it costs to run something on a host whose connection is there already.

use anyhow::Result;

use crate::figures::{Row, Table};
use crate::lab::{Lab, seconds};

pub fn measure(lab: &Lab, quick: bool) -> Result<Vec<Table>> {
    let rounds = if quick { 5 } else { 200 };
    let mut peer = Row::new("ssh with ControlMaster");
    for _ in 0..rounds {
        peer.values.push(seconds(lab.ssh().arg("true"))? * 1e3);
    }
    Ok(vec![Table {
        title: "`true` over SSH, connected: ms".into(),
        rows: vec![peer],
    }])
}
