//! Finding entries by a piece of their text, and counting them, against looking at every entry.

use std::collections::HashMap;

use diglot_engine::{Control, EntryRef, Error, Filter, MOST_PHRASE_CHARS, Memory, Phrase, Side, text};
use proptest::prelude::*;

use crate::model::{Entry, Model, prepared};
use crate::texts::{self, Random};

/// A memory in several parts, with removed and replaced entries, and what it holds.
fn filled(random: &mut Random) -> (Memory, Model) {
    let (memory, mut model) = (Memory::new(), Model::default());
    let mut sources: Vec<String> = Vec::new();
    let mut entry = |random: &mut Random| {
        let earlier: Vec<&str> = sources.iter().map(String::as_str).collect();
        let source = texts::text(random, &earlier);
        sources.push(source.clone());
        let mut entry = texts::entry(random, source);
        if random.once_in(2) {
            let most = random.pick(&[1, 3, 40]);
            entry.target = texts::words(random, most);
        }
        entry
    };
    for _ in 0..2 + random.below(3) {
        let len = random.pick(&[1, 70, 600]);
        let batch: Vec<Entry> = (0..len).map(|_| entry(random)).collect();
        memory.publish(prepared(&batch)).unwrap();
        batch.into_iter().for_each(|entry| _ = model.add(entry));
        for _ in 0..random.below(20) {
            let single = entry(random);
            memory.add(single.borrowed()).unwrap();
            model.add(single);
        }
        for id in model.ids() {
            if random.once_in(9) {
                memory.remove(&[id]).unwrap();
                model.remove(id);
            } else if random.once_in(9) {
                let other = entry(random);
                memory.replace(id, other.borrowed()).unwrap();
                model.replace(id, other);
            }
        }
    }
    (memory, model)
}

/// Lower case as far as it is one character, and one space for each run of white space.
fn folded(text: &str) -> String {
    let words = text.split(text::is_white_space).filter(|word| !word.is_empty());
    let lower = |c: char| {
        let mut lower = c.to_lowercase();
        if lower.len() == 1 { lower.next().unwrap() } else { c }
    };
    words.map(|word| word.chars().map(lower).collect::<String>()).collect::<Vec<_>>().join(" ")
}

fn contains(phrase: &str, text: &str) -> bool {
    let text = folded(text);
    [phrase, &text::normalize(phrase)].iter().any(|phrase| text.contains(&folded(phrase)))
}

fn matches(phrase: &str, side: Side, entry: &EntryRef<'_>) -> bool {
    (side != Side::Target && contains(phrase, entry.source))
        || (side != Side::Source && contains(phrase, entry.target))
}

/// A piece of a text, perhaps written otherwise.
fn piece(random: &mut Random, text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let start = random.below(chars.len());
    let len = 1 + random.below((chars.len() - start).min(12));
    let piece: String = chars[start..start + len].iter().collect();
    match random.below(4) {
        0 => piece.to_uppercase(),
        1 => piece.replace(' ', "\u{3000}\t"),
        _ => piece,
    }
}

fn check(random: &mut Random, memory: &Memory, model: &Model) {
    let snapshot = memory.snapshot();
    let text = match random.below(6) {
        0 => "in none of them".to_owned(),
        _ => {
            let at = random.below(model.len().max(1));
            let picked = snapshot.entries(0).nth(at);
            picked.map_or("a".to_owned(), |(_, entry)| {
                let text = if random.once_in(2) { entry.source } else { entry.target };
                piece(random, text)
            })
        }
    };
    if text::is_blank(&text) {
        return;
    }
    let side = random.pick(&[Side::Source, Side::Target, Side::Both]);
    let filter = texts::filter(random);
    let from = random.below(2 * model.len().max(1)) as u64 / 2;
    let most = random.pick(&[1, 3, 50, usize::MAX]);
    let phrase = Phrase::new(&text).unwrap();
    let found = snapshot.containing(&phrase, side, &filter, from, most, Control::NONE).unwrap();
    let expected: Vec<u64> = model
        .passing(&filter)
        .filter(|(id, entry)| *id >= from && matches(&text, side, &entry.borrowed()))
        .map(|(id, _)| id)
        .take(most)
        .collect();
    assert_eq!(found, expected, "{text:?} in {side:?} from {from}");

    let by = std::array::from_fn(|_| random.once_in(2));
    let mut counts = HashMap::new();
    for (_, entry) in model.passing(&filter) {
        let entry = entry.borrowed();
        let values = [entry.source_language, entry.target_language, entry.domain, entry.namespace];
        let key: [Option<&str>; 4] = std::array::from_fn(|field| values[field].filter(|_| by[field]));
        *counts.entry(key).or_insert(0) += 1;
    }
    assert_eq!(snapshot.count_by(by, &filter, Control::NONE).unwrap(), counts);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn what_is_found_and_counted_is_what_is_there(seed in any::<u64>()) {
        let random = &mut Random::new(seed);
        let (memory, model) = filled(random);
        for _ in 0..40 {
            check(random, &memory, &model);
        }
        memory.settle();
        for _ in 0..20 {
            check(random, &memory, &model);
        }
    }
}

fn memory_of(pairs: &[(&str, &str)]) -> Memory {
    let memory = Memory::new();
    let entries: Vec<Entry> = pairs.iter().map(|(source, target)| Entry::new(*source, *target)).collect();
    memory.publish(prepared(&entries)).unwrap();
    memory
}

fn found(memory: &Memory, text: &str, side: Side) -> Vec<u64> {
    let phrase = Phrase::new(text).unwrap();
    memory.snapshot().containing(&phrase, side, &Filter::default(), 0, usize::MAX, Control::NONE).unwrap()
}

#[test]
fn a_phrase_does_not_reach_from_one_text_into_the_next() {
    let mut pairs = vec![("ends with ab", "x1"), ("ab begins here", "x2"), ("abab", "ab"), ("ab", "abab")];
    // Enough for a segment.
    let others: Vec<String> = (0..600).map(|number| format!("{number}")).collect();
    pairs.extend(others.iter().map(|other| (other.as_str(), "y")));
    let memory = memory_of(&pairs);
    assert_eq!(found(&memory, "abab", Side::Source), [2]);
    assert_eq!(found(&memory, "abab", Side::Both), [2, 3]);
    assert_eq!(found(&memory, "abba", Side::Both), [] as [u64; 0]);
    assert_eq!(found(&memory, "hereabab", Side::Both), [] as [u64; 0]);
    assert_eq!(found(&memory, "x1x2", Side::Target), [] as [u64; 0]);
}

#[test]
fn case_width_of_the_phrase_and_white_space_do_not_matter() {
    let memory = memory_of(&[("Save  the\tFILE", "파일을 저장"), ("ÉTÉ ΣΑΣ", "ＰＤＦ"), ("a.b", "pdf")]);
    assert_eq!(found(&memory, " save the file ", Side::Source), [0]);
    assert_eq!(found(&memory, "été σας", Side::Source), [1]);
    assert_eq!(found(&memory, "ＰＤＦ", Side::Target), [1, 2]);
    assert_eq!(found(&memory, "을　저", Side::Target), [0]);
    assert_eq!(found(&memory, "a*b", Side::Both), [] as [u64; 0]);
    assert_eq!(found(&memory, ".", Side::Both), [2]);
}

#[test]
fn a_phrase_is_bounded_and_not_blank() {
    assert!(matches!(Phrase::new(" \u{3000}"), Err(Error::EmptyText { field: "text" })));
    for unit in ["s", "ß", "ǰ", "存", ".", "\u{10ffff}"] {
        assert!(Phrase::new(&unit.repeat(MOST_PHRASE_CHARS)).is_ok(), "{unit:?} as often as allowed");
    }
    let long = Phrase::new(&"a".repeat(MOST_PHRASE_CHARS + 1));
    assert!(matches!(long, Err(Error::PhraseTooLong { chars }) if chars == MOST_PHRASE_CHARS + 1));
    assert!(matches!(Phrase::new(&"ﷺ".repeat(100)), Err(Error::PhraseTooLong { chars: 1800 })));
}

#[test]
fn looking_and_counting_stop_when_told_to() {
    let memory = memory_of(&vec![("some text", "other text"); 20_000]);
    let phrase = Phrase::new("nothing").unwrap();
    let stop = Control::new(&|| true);
    let snapshot = memory.snapshot();
    let found = snapshot.containing(&phrase, Side::Both, &Filter::default(), 0, 1, stop);
    assert_eq!(found, Err(Error::Aborted));
    assert_eq!(snapshot.count_by([true; 4], &Filter::default(), stop), Err(Error::Aborted));
}
