//! Answers searches by scoring every row: what the benchmarks compare the engine's answers and times with.
//!
//! ```text
//! exhaustive ENTRIES QUERIES > ANSWERS
//! ```
//!
//! ENTRIES is JSON Lines with a `source` and optional languages, QUERIES with a `query`, optional languages to filter
//! on, `max_hits` and `min_score`. A line of ANSWERS has the `seconds` of one search and its `hits` as pairs of an
//! entry's line, from 0, and its score. It shares only [`text`] with the engine.

use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::time::Instant;

use diglot_engine::text;
use serde_json::{Value, json};

/// Gives each element, and each further copy of it in one text, a number of its own.
#[derive(Default)]
struct Features {
    numbers: HashMap<(String, u32), u32>,
    copies: HashMap<String, u32>,
}

impl Features {
    /// Appends the features of a text. Those that no earlier text had are new, or left out if the text is a query.
    fn of<'a>(
        &mut self,
        elements: impl Iterator<Item = &'a str>,
        is_query: bool,
        features: &mut Vec<u32>,
    ) -> usize {
        self.copies.clear();
        let mut total = 0;
        for element in elements {
            total += 1;
            let copies = self.copies.entry(element.to_owned()).or_default();
            let key = (element.to_owned(), *copies);
            *copies += 1;
            let next = self.numbers.len() as u32;
            if is_query {
                features.extend(self.numbers.get(&key));
            } else {
                features.push(*self.numbers.entry(key).or_insert(next));
            }
        }
        total
    }
}

/// The features of every row of one kind, one after the other.
#[derive(Default)]
struct Index {
    features: Features,
    rows: Vec<u32>,
    ends: Vec<usize>,
}

impl Index {
    fn push<'a>(&mut self, elements: impl Iterator<Item = &'a str>) {
        self.features.of(elements, false, &mut self.rows);
        self.ends.push(self.rows.len());
    }

    /// Raises each row's score to the Dice coefficient with the query, if that is higher.
    fn score<'a>(&mut self, query: impl Iterator<Item = &'a str>, scores: &mut [f64]) {
        let mut known = Vec::new();
        let query_total = self.features.of(query, true, &mut known);
        let mut in_query = vec![0u8; self.features.numbers.len()];
        for feature in known {
            in_query[feature as usize] = 1;
        }
        let mut start = 0;
        for (score, end) in scores.iter_mut().zip(&self.ends) {
            let row = &self.rows[start..*end];
            start = *end;
            let shared: usize = row.iter().map(|feature| usize::from(in_query[*feature as usize])).sum();
            if shared > 0 {
                *score = score.max(2.0 * shared as f64 / (query_total + row.len()) as f64);
            }
        }
    }
}

struct Entry {
    line: usize,
    source_language: Option<String>,
    target_language: Option<String>,
}

/// The rows, one for each distinct normalized source, and the entries of each.
#[derive(Default)]
struct Memory {
    row_of: HashMap<String, usize>,
    entries: Vec<Vec<Entry>>,
    tokens: Index,
    trigrams: Index,
}

fn language(line: &Value, name: &str) -> Option<String> {
    line[name].as_str().map(str::to_lowercase)
}

impl Memory {
    fn push(&mut self, number: usize, line: &Value) -> Result<(), String> {
        let source = line["source"].as_str().ok_or_else(|| format!("entry {number} has no source"))?;
        let normalized = text::normalize(source);
        let row = match self.row_of.get(&normalized) {
            Some(row) => *row,
            None => {
                self.tokens.push(text::tokens(&normalized));
                self.trigrams.push(text::trigrams(&normalized));
                self.row_of.insert(normalized, self.entries.len());
                self.entries.push(Vec::new());
                self.entries.len() - 1
            }
        };
        let source_language = language(line, "source_language");
        let target_language = language(line, "target_language");
        self.entries[row].push(Entry { line: number, source_language, target_language });
        Ok(())
    }

    fn search(&mut self, line: &Value) -> Result<Vec<(usize, f64)>, String> {
        let query = text::normalize(line["query"].as_str().ok_or("a line has no query")?);
        let max_hits = line["max_hits"].as_u64().ok_or("a query has no max_hits")? as usize;
        let min_score = line["min_score"].as_f64().ok_or("a query has no min_score")?;
        let wanted = [language(line, "source_language"), language(line, "target_language")];

        let mut scores = vec![0.0; self.entries.len()];
        self.tokens.score(text::tokens(&query), &mut scores);
        self.trigrams.score(text::trigrams(&query), &mut scores);
        if let Some(row) = self.row_of.get(&query) {
            scores[*row] = 1.0;
        }

        let mut hits: Vec<(usize, f64)> = Vec::new();
        for (score, entries) in scores.into_iter().zip(&self.entries) {
            let worst = if hits.len() < max_hits { min_score } else { hits[max_hits - 1].1 };
            if score < worst {
                continue;
            }
            for entry in entries {
                let has = [&entry.source_language, &entry.target_language];
                if wanted.iter().zip(has).all(|(wanted, has)| wanted.is_none() || wanted == has) {
                    let at =
                        hits.partition_point(|hit| hit.1 > score || hit.1 == score && hit.0 < entry.line);
                    hits.insert(at, (entry.line, score));
                    hits.truncate(max_hits);
                }
            }
        }
        Ok(hits)
    }
}

fn lines(path: &str) -> Result<impl Iterator<Item = Result<Value, Box<dyn Error>>>, Box<dyn Error>> {
    let file = File::open(path).map_err(|error| format!("{path}: {error}"))?;
    Ok(BufReader::new(file).lines().map(|line| Ok(serde_json::from_str(&line?)?)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [entries, queries] = &arguments[..] else {
        return Err("usage: exhaustive ENTRIES QUERIES".into());
    };
    let mut memory = Memory::default();
    for (number, line) in lines(entries)?.enumerate() {
        memory.push(number, &line?)?;
    }
    let mut answers = BufWriter::new(std::io::stdout().lock());
    for line in lines(queries)? {
        let line = line?;
        let start = Instant::now();
        let hits = memory.search(&line)?;
        let seconds = start.elapsed().as_secs_f64();
        writeln!(answers, "{}", json!({ "seconds": seconds, "hits": hits }))?;
    }
    Ok(answers.flush()?)
}
