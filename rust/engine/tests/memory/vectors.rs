//! The recorded vectors, through a memory in several layouts.
#![expect(clippy::print_stderr, reason = "a skipped test must say so")]

use std::path::Path;

use diglot_engine::{Control, Filter, Memory, SearchOptions};
use serde_json::Value;

use crate::model::{Entry, options, prepared};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance");

/// The lines of a vector file, or nothing, said aloud, where the vectors are absent.
fn lines(name: &str) -> Option<Vec<Value>> {
    let folder = Path::new(VECTORS);
    if !folder.is_dir() {
        eprintln!("SKIPPED: the recorded vectors are not there: {} is missing", folder.display());
        return None;
    }
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!lines.is_empty(), "{name} holds no vector");
    Some(lines)
}

fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn entry(value: &Value) -> Entry {
    Entry {
        source: string(&value["source"]).unwrap(),
        target: string(&value["target"]).unwrap(),
        source_language: string(&value["sourceLanguage"]),
        target_language: string(&value["targetLanguage"]),
        domain: string(&value["domain"]),
        namespace: string(&value["namespace"]),
        ..Entry::default()
    }
}

fn search_options(value: &Value) -> SearchOptions {
    let default = SearchOptions::default();
    let known = ["sourceLanguage", "targetLanguage", "domain", "namespace", "maxHits", "minScore"];
    let unknown = value.as_object().unwrap().keys().find(|key| !known.contains(&key.as_str()));
    assert_eq!(unknown, None, "an option that the test does not know");
    SearchOptions {
        filter: Filter {
            source_language: string(&value["sourceLanguage"]),
            target_language: string(&value["targetLanguage"]),
            domain: string(&value["domain"]),
            namespace: string(&value["namespace"]),
        },
        max_hits: value["maxHits"].as_u64().map_or(default.max_hits, |hits| hits as usize),
        min_score: value["minScore"].as_f64().unwrap_or(default.min_score),
    }
}

/// More entries than a live part holds, in a namespace that no vector has, to make a batch of them a segment.
fn padding() -> Vec<Entry> {
    (0..600)
        .map(|at| Entry {
            namespace: Some("padding".into()),
            ..Entry::new(format!("padding {at}"), "padding")
        })
        .collect()
}

/// The memories of a line's entries: added one by one, and as a segment among unrelated entries that are then removed.
fn memories(entries: &[Entry]) -> [Memory; 2] {
    let live = Memory::new();
    for entry in entries {
        live.add(entry.borrowed()).unwrap();
    }
    let segment = Memory::new();
    let padding = padding();
    segment.publish(prepared(entries.iter().chain(&padding))).unwrap();
    let ids: Vec<u64> = (entries.len() as u64..(entries.len() + padding.len()) as u64).collect();
    segment.remove(&ids).unwrap();
    [live, segment]
}

#[test]
fn scores_are_as_recorded() {
    for (at, line) in lines("scores.jsonl").into_iter().flatten().enumerate() {
        let query = line["query"].as_str().unwrap();
        let entries = [Entry::new(line["source"].as_str().unwrap(), "target")];
        let memory = Memory::new();
        memory.add(entries[0].borrowed()).unwrap();
        let found = memory.search(query, &options(1, 0.0, Filter::default()), Control::NONE).unwrap();
        let scores: Vec<u64> = found.hits().map(|hit| hit.score.to_bits()).collect();
        assert_eq!(scores, [line["score"].as_f64().unwrap().to_bits()], "line {}", at + 1);
    }
}

#[test]
fn searches_are_as_recorded() {
    for (at, line) in lines("searches.jsonl").into_iter().flatten().enumerate() {
        let entries: Vec<Entry> = line["entries"].as_array().unwrap().iter().map(entry).collect();
        let searches = line["searches"].as_array().unwrap();
        assert!(!searches.is_empty());
        for memory in memories(&entries) {
            for search in searches {
                let options = search_options(&search["options"]);
                let found =
                    memory.search(search["query"].as_str().unwrap(), &options, Control::NONE).unwrap();
                let hits: Vec<(u64, u64)> = found.hits().map(|hit| (hit.id, hit.score.to_bits())).collect();
                let expected: Vec<(u64, u64)> = search["hits"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|hit| (hit[0].as_u64().unwrap(), hit[1].as_f64().unwrap().to_bits()))
                    .collect();
                assert_eq!(hits, expected, "line {}: {search}", at + 1);
            }
        }
    }
}
