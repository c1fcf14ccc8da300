//! Every line of the recorded text vectors.
#![expect(clippy::print_stderr, reason = "a skipped test must say so")]

use std::path::Path;

use diglot_engine::text;
use serde_json::Value;

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/conformance");

/// The lines of a vector file, or nothing, said aloud, where the vectors are absent.
fn lines(name: &str) -> Option<Vec<Value>> {
    let path = Path::new(VECTORS).join(name);
    if !Path::new(VECTORS).is_dir() {
        eprintln!("SKIPPED: the recorded vectors are not there: {} is missing", Path::new(VECTORS).display());
        return None;
    }
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!lines.is_empty(), "{name} holds no vector");
    Some(lines)
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

#[test]
fn analysis_is_as_recorded() {
    for (at, line) in lines("analysis.jsonl").into_iter().flatten().enumerate() {
        let at = format!("line {}", at + 1);
        let input = line["text"].as_str().unwrap();
        let normalized = text::normalize(input);
        assert_eq!(normalized, line["normalized"].as_str().unwrap(), "{at}");
        assert_eq!(text::is_blank(input), normalized.is_empty(), "{at}");
        let tokens: Vec<&str> = text::tokens(&normalized).collect();
        assert_eq!(tokens, strings(&line["tokens"]), "{at}");
        assert_eq!(tokens.len() as u64, line["token_count"].as_u64().unwrap(), "{at}");
        let trigrams: Vec<&str> = text::trigrams(&normalized).collect();
        // The one gram of an empty text is listed but not counted.
        let counted = trigrams.iter().filter(|gram| !gram.is_empty()).count();
        assert_eq!(counted as u64, line["trigram_count"].as_u64().unwrap(), "{at}");
        if line["trigrams"].is_array() {
            assert_eq!(trigrams, strings(&line["trigrams"]), "{at}");
        }
    }
}

#[test]
fn scores_are_as_recorded() {
    for (at, line) in lines("scores.jsonl").into_iter().flatten().enumerate() {
        let query = text::normalize(line["query"].as_str().unwrap());
        let source = text::normalize(line["source"].as_str().unwrap());
        let score = text::similarity(&query, &source);
        assert_eq!(score.to_bits(), line["score"].as_f64().unwrap().to_bits(), "line {}: {score}", at + 1);
    }
}
