//! Input that nobody should give, and somebody will.

use diglot_engine::{Batch, Control, Error, Filter, MOST_TEXT_BYTES, Memory, SearchOptions, text};

use crate::model::{Entry, Model, options, prepared};
use crate::texts::{self, Random};

#[test]
fn texts_of_a_megabyte() {
    let random = &mut Random::new(1);
    let sources = [
        "a".repeat(1 << 20),
        texts::long(random, 1 << 20),
        "存".repeat(1 << 16),
        "\u{fdfa}".repeat(1 << 14),
        format!("{}a{}", " ".repeat(1 << 19), " ".repeat(1 << 19)),
        "\u{301}".repeat(1 << 15),
        "?".repeat(1 << 17),
        "a ".repeat(1 << 17),
    ];
    let entries: Vec<Entry> =
        sources.iter().map(|source| Entry::new(source.as_str(), source.as_str())).collect();
    // On their own in a live part, and in a segment beside short ones.
    let live = Memory::new();
    let segment = Memory::new();
    let mut model = Model::default();
    let short: Vec<Entry> = (0..600).map(|at| Entry::new(format!("a {at}"), "short")).collect();
    for entry in entries.iter().chain(&short) {
        live.add(entry.borrowed()).unwrap();
        model.add(entry.clone());
    }
    segment.publish(prepared(entries.iter().chain(&short))).unwrap();
    for query in sources.iter().map(String::as_str).chain(["a", "a 17", "صلى الله عليه وسلم", "?"])
    {
        let scores = model.scores(query);
        for memory in [&live, &segment] {
            model.check(memory, &scores, &options(5, 0.2, Filter::default()));
        }
        if query.len() < 100 {
            model.check(&segment, &scores, &options(700, 0.0, Filter::default()));
        }
    }
    live.settle();
    for memory in [&live, &segment] {
        model.check_all(memory);
    }
}

#[test]
fn a_text_that_grows_too_long_is_refused() {
    // 18 characters of 2 bytes for one of 3, and some spaces of one.
    let expanded = text::normalize("\u{fdfa}").len();
    let source = "\u{fdfa}".repeat(MOST_TEXT_BYTES / expanded + 1);
    let memory = Memory::new();
    let entry = Entry::new(source.as_str(), "target");
    let refused = memory.add(entry.borrowed());
    assert!(
        matches!(refused, Err(Error::TooLong { field: "source", bytes }) if bytes > MOST_TEXT_BYTES),
        "{refused:?}"
    );
    let refused = memory.search(&source, &SearchOptions::default(), Control::NONE).map(drop);
    assert!(matches!(refused, Err(Error::TooLong { field: "query", .. })), "{refused:?}");
    assert!(memory.is_empty());
    let long = " ".repeat(MOST_TEXT_BYTES + 1);
    let entry = Entry { notes: Some(long), ..Entry::new("source", "target") };
    let refused = memory.add(entry.borrowed());
    assert_eq!(refused, Err(Error::TooLong { field: "notes", bytes: MOST_TEXT_BYTES + 1 }));
}

#[test]
fn blank_texts_are_refused_and_change_nothing() {
    let memory = Memory::new();
    let id = memory.add(Entry::new("source", "target").borrowed()).unwrap();
    for blank in ["", " ", "\t\r\n\u{b}\u{c}", "\u{3000}\u{feff}\u{2028}\u{a0}"] {
        for (field, entry) in
            [("source", Entry::new(blank, "target")), ("target", Entry::new("source", blank))]
        {
            let refused = Error::EmptyText { field };
            assert_eq!(memory.add(entry.borrowed()), Err(refused.clone()));
            assert_eq!(memory.replace(id, entry.borrowed()), Err(refused.clone()));
            let mut batch = Batch::new();
            batch.push(Entry::new("one", "two").borrowed()).unwrap();
            assert_eq!(batch.push(entry.borrowed()), Err(refused));
            assert_eq!(batch.len(), 1);
        }
        let refused = memory.search(blank, &SearchOptions::default(), Control::NONE).map(drop);
        assert_eq!(refused, Err(Error::EmptyText { field: "query" }));
    }
    // Not white space, however little there is to see.
    for (at, source) in ["\u{85}", "\u{1c}", "\u{200b}", "\0", "\u{ad}"].into_iter().enumerate() {
        memory.add(Entry::new(source, source).borrowed()).unwrap();
        let found = memory.search(source, &options(1, 1.0, Filter::default()), Control::NONE).unwrap();
        assert_eq!(found.hits().map(|hit| hit.id).collect::<Vec<_>>(), [at as u64 + 1]);
    }
    assert_eq!(memory.snapshot().get(id).unwrap().source, "source");
    assert_eq!(memory.len(), 6);
}

#[test]
fn options_out_of_range_are_refused() {
    let memory = Memory::new();
    let search = |max_hits, min_score| {
        memory.search("query", &options(max_hits, min_score, Filter::default()), Control::NONE).map(drop)
    };
    for min_score in [-f64::MIN_POSITIVE, -1.0, 1.0 + f64::EPSILON, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(search(5, min_score), Err(Error::MinScore { value: min_score }));
    }
    assert!(matches!(search(5, f64::NAN), Err(Error::MinScore { value }) if value.is_nan()));
    assert_eq!(search(0, 0.2), Err(Error::MaxHits));
    assert_eq!(search(usize::MAX, -0.0), Ok(()));
    assert_eq!(search(1, 1.0), Ok(()));
}

#[test]
fn as_many_hits_as_there_are_numbers() {
    let random = &mut Random::new(2);
    let (memory, mut model) = (Memory::new(), Model::default());
    let all: Vec<Entry> = (0..3000)
        .map(|_| {
            let source = texts::text(random, &["save the file"]);
            texts::entry(random, source)
        })
        .collect();
    memory.publish(prepared(&all[..2000])).unwrap();
    all[2000..].iter().for_each(|entry| _ = memory.add(entry.borrowed()).unwrap());
    all.into_iter().for_each(|entry| _ = model.add(entry));
    for query in ["save the file", "存", "-"] {
        let scores = model.scores(query);
        for min_score in [-0.0, 0.0, f64::MIN_POSITIVE, f64::EPSILON, 0.2, 1.0] {
            model.check(&memory, &scores, &options(usize::MAX, min_score, Filter::default()));
        }
    }
}

#[test]
fn a_hundred_thousand_namespaces_of_one_entry() {
    let random = &mut Random::new(4);
    let (memory, mut model) = (Memory::new(), Model::default());
    // As many profiles as entries, half of them of one and the same source.
    let all: Vec<Entry> = (0..100_000)
        .map(|at| Entry {
            namespace: Some(format!("tenant {at}")),
            source_language: Some(format!("en-{}", at % 300)),
            domain: Some(format!("domain {}", random.below(1000))),
            ..Entry::new(
                if at % 2 == 0 { "save the file".to_owned() } else { texts::words(random, 5) },
                format!("target {at}"),
            )
        })
        .collect();
    memory.publish(prepared(&all)).unwrap();
    all.into_iter().for_each(|entry| _ = model.add(entry));
    for query in ["save the file", "the network could not be found", "zzz"] {
        let scores = model.scores(query);
        for tenant in [0, 1, 2, 50_000, 77_777, 99_999, 100_000] {
            let namespace = Some(format!("tenant {tenant}"));
            let source_language = random.once_in(2).then(|| format!("EN-{}", tenant % 300));
            let filter = Filter { namespace, source_language, ..Filter::default() };
            for min_score in [0.0, 0.2, 1.0] {
                model.check(&memory, &scores, &options(5, min_score, filter.clone()));
            }
        }
        for _ in 0..5 {
            model.check(&memory, &scores, &texts::options(random, 100));
        }
    }
    memory.internal_validate();
}

#[test]
fn numbers_of_entries_that_are_not_there() {
    let memory = Memory::new();
    let entry = Entry::new("source", "target");
    for id in [0, 1, u64::MAX] {
        assert_eq!(memory.remove(&[id]), Err(Error::UnknownEntry { id }));
        assert_eq!(memory.replace(id, entry.borrowed()), Err(Error::UnknownEntry { id }));
        assert!(memory.snapshot().get(id).is_none());
    }
    assert_eq!(memory.snapshot().entries(u64::MAX).count(), 0);
    assert_eq!(memory.remove(&[]), Ok(()));
    let id = memory.add(entry.borrowed()).unwrap();
    memory.remove(&[id]).unwrap();
    assert_eq!(memory.remove(&[id]), Err(Error::UnknownEntry { id }));
    assert_eq!(memory.add(entry.borrowed()), Ok(id + 1), "ids are not used again");
    memory.internal_validate();
}
