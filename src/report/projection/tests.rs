use super::*;
use crate::event::parse_line;
use crate::session::{Session, Wanted};

fn shipped() -> Session {
    let text = include_str!("../../../recordings/article-esxi.jsonl");
    let mut session = Session::default();
    for line in text.lines() {
        session.apply(&parse_line(line).unwrap());
    }
    session
}

fn four(session: &Session) -> Projection {
    let wanted = Wanted {
        disks: vec![50_000_000_000; 4],
        pipeline: None,
    };
    Projection::of(session, &wanted).unwrap()
}

#[test]
fn the_example_of_the_article_stands_beside_what_its_rates_give() {
    let projection = four(&shipped());
    insta::assert_snapshot!(
        "article_120",
        render_projection_width(Format::Table, &projection, 120)
    );
    insta::assert_snapshot!(
        "article_md",
        render_projection(Format::Markdown, &projection)
    );
}

#[test]
fn programs_read_the_same() {
    let projection = four(&shipped());
    let json: serde_json::Value =
        serde_json::from_str(&render_projection(Format::Json, &projection)).unwrap();
    assert_eq!(json["format"], "comeback-projection/1");
    assert_eq!(json["pipelines"].as_array().unwrap().len(), 2);
    assert_eq!(json["printed"][0]["seconds"], 15600);
    let csv = render_projection(Format::Csv, &projection);
    let lines: Vec<&str> = csv.lines().collect();
    assert!(lines[0].starts_with("kind,name,disk,bytes"));
    let each = lines
        .iter()
        .filter(|line| line.starts_with("restore,"))
        .count();
    assert_eq!(each, 4, "{csv}");
}

#[test]
fn a_narrow_terminal_breaks_no_line() {
    let text = render_projection_width(Format::Table, &four(&shipped()), 80);
    let wide: Vec<&str> = text
        .lines()
        .filter(|line| line.chars().count() > 80)
        .collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

/// What takes a moment is not told as no time.
#[test]
fn a_disk_of_one_byte_takes_a_moment() {
    let wanted = Wanted {
        disks: vec![1],
        pipeline: None,
    };
    let projection = Projection::of(&shipped(), &wanted).unwrap();
    let text = render_projection(Format::Table, &projection);
    assert!(text.contains("< 0.1 s"), "{text}");
    assert!(!text.contains(" 0 s |"), "{text}");
    // Of one disk no two can be in hand at once.
    assert_eq!(words::long(0.0), "0 s");
}

#[test]
fn a_recording_without_rates_says_so() {
    let projection = Projection::of(&Session::default(), &Wanted::default()).unwrap();
    let text = render_projection(Format::Table, &projection);
    assert!(text.contains("tells how fast"), "{text}");
}
