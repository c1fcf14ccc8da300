//! The same answers whatever the layout of the segments and the number of threads, with rows enough for several blocks.

use std::fmt::Write;

use diglot_engine::{Control, EntryId, Filter, Memory, SearchOptions};

use crate::image;
use crate::model::{Entry, Model, Scores, options, prepared};
use crate::texts::{self, Random};

/// Rows in a block of the index.
const BLOCK: usize = 32_768;

/// Distinct short sources that share most of their words, in sizes that fill blocks of their own.
fn sources(random: &mut Random, count: usize) -> Vec<String> {
    const WORDS: [&str; 40] = [
        "open", "the", "file", "save", "all", "not", "network", "error", "could", "be", "found", "close",
        "window", "menu", "item", "user", "name", "set", "get", "print", "page", "view", "edit", "undo",
        "保存", "文件", "ab", "ba", "a", "b", "1", "2", "test", "string", "of", "to", "in", "on", "at", "by",
    ];
    (0..count)
        .map(|at| {
            let mut source = String::new();
            for _ in 0..random.below(7) {
                write!(source, "{} ", random.pick(&WORDS)).unwrap();
            }
            write!(source, "{at:x}").unwrap();
            source
        })
        .collect()
}

fn entries(random: &mut Random, count: usize) -> Vec<Entry> {
    sources(random, count).into_iter().map(|source| texts::entry(random, source)).collect()
}

/// Queries near what is stored, and queries that are near to everything or nothing.
fn queries(random: &mut Random, model: &Model, count: usize) -> Vec<String> {
    let mut queries: Vec<String> =
        ["the", "a", "error", "open the file", "保存文件", "?", "qqqq zzzz", "test string"]
            .into_iter()
            .map(str::to_owned)
            .collect();
    while queries.len() < count {
        if let Some(id) = model.id_at(random.next() as usize) {
            let source = model.source(id);
            queries.push(if random.once_in(4) { source.to_owned() } else { texts::edited(random, source) });
        }
    }
    queries.truncate(count);
    queries
}

/// Searches with each query and some options of each kind.
fn check_searches(random: &mut Random, model: &mut Model, memory: &Memory, count: usize) {
    for query in queries(random, model, count) {
        let scores = model.scores(&query);
        check_options(random, model, memory, &scores);
    }
}

fn check_options(random: &mut Random, model: &Model, memory: &Memory, scores: &Scores) {
    let fixed = [
        options(5, 0.2, Filter::default()),
        options(1, 0.2, Filter::default()),
        options(5, 0.2, Filter { namespace: Some("a".into()), ..Filter::default() }),
        options(50, 0.0, Filter { target_language: Some("KO".into()), ..Filter::default() }),
    ];
    for options in fixed.into_iter().chain((0..4).map(|_| texts::options(random, model.len()))) {
        model.check(memory, scores, &options);
    }
}

/// Publishes entries as one batch, to the model as well.
fn add_batch(memory: &Memory, model: &mut Model, entries: &[Entry]) {
    memory.publish(prepared(entries)).unwrap();
    entries.iter().for_each(|entry| _ = model.add(entry.clone()));
}

fn remove_some(random: &mut Random, memory: &Memory, model: &mut Model, percent: usize) {
    let ids: Vec<EntryId> = model.ids().into_iter().filter(|_| random.below(100) < percent).collect();
    memory.remove(&ids).unwrap();
    ids.into_iter().for_each(|id| model.remove(id));
}

#[test]
fn rows_at_the_edges_of_words_chunks_and_live_parts() {
    for rows in [1, 63, 64, 65, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2048] {
        let random = &mut Random::new(rows as u64);
        let (memory, mut model) = (Memory::new(), Model::default());
        add_batch(&memory, &mut model, &entries(random, rows));
        check_searches(random, &mut model, &memory, 20);
        model.check_all(&memory);
    }
}

#[test]
fn rows_at_the_edges_of_blocks() {
    for rows in [BLOCK - 1, BLOCK, BLOCK + 1] {
        let random = &mut Random::new(rows as u64);
        let (memory, mut model) = (Memory::new(), Model::default());
        add_batch(&memory, &mut model, &entries(random, rows));
        assert_eq!((memory.stats().segments, memory.stats().rows), (1, rows));
        check_searches(random, &mut model, &memory, 20);
        memory.internal_validate();
    }
}

#[test]
fn every_layout_gives_the_answers_of_every_other() {
    let random = &mut Random::new(7);
    let all = entries(random, 2 * BLOCK + 5000);
    let (memory, mut model) = (Memory::new(), Model::default());
    add_batch(&memory, &mut model, &all);
    assert_eq!(memory.stats().segments, 1);

    let apart = Memory::new();
    for batch in [&all[..BLOCK], &all[BLOCK..BLOCK + 20_000], &all[BLOCK + 20_000..]] {
        apart.publish(prepared(batch)).unwrap();
    }
    assert_eq!(apart.stats().segments, 3, "too few to be merged");

    let mixed = Memory::new();
    let mut rest = &all[..];
    for len in [9000, 513, 3, 5000, 1, 512, 700].into_iter().cycle() {
        let (batch, others) = rest.split_at(len.min(rest.len()));
        if batch.is_empty() {
            break;
        }
        mixed.publish(prepared(batch)).unwrap();
        let (single, others) = others.split_at(others.len().min(3000));
        single.iter().for_each(|entry| _ = mixed.add(entry.borrowed()).unwrap());
        rest = others;
    }
    let opened = image::reopened(&mixed, b"");
    let memories = [memory, apart, mixed, opened];
    // Twice, as merges may still run the first time.
    for _ in 0..2 {
        for query in queries(random, &model, 20) {
            let scores = model.scores(&query);
            memories.iter().for_each(|memory| check_options(random, &model, memory, &scores));
        }
        memories.iter().for_each(Memory::settle);
    }

    // With most entries removed or replaced, in all layouts alike, and at last reclaimed.
    for percent in [30, 80usize] {
        let gone: Vec<EntryId> = model.ids().into_iter().filter(|_| random.below(100) < percent).collect();
        memories.iter().for_each(|memory| memory.remove(&gone).unwrap());
        gone.into_iter().for_each(|id| model.remove(id));
        for at in 0..700 {
            let id = model.id_at(at * 37).unwrap();
            let entry = texts::entry(random, format!("replaced {}", model.source(id)));
            memories.iter().for_each(|memory| memory.replace(id, entry.borrowed()).unwrap());
            model.replace(id, entry);
        }
        for _ in 0..2 {
            for query in queries(random, &model, 12) {
                let scores = model.scores(&query);
                memories.iter().for_each(|memory| check_options(random, &model, memory, &scores));
            }
            memories.iter().for_each(Memory::settle);
        }
        for memory in &memories {
            let stats = memory.stats();
            assert!(stats.removed <= stats.entries + 512, "what is mostly removed is reclaimed: {stats:?}");
        }
    }
    memories.iter().for_each(|memory| model.check_all(memory));
}

#[test]
fn any_number_of_threads_gives_the_same_answers() {
    let random = &mut Random::new(11);
    let (memory, mut model) = (Memory::new(), Model::default());
    add_batch(&memory, &mut model, &entries(random, BLOCK + 2000));
    for entry in entries(random, 900) {
        memory.add(entry.borrowed()).unwrap();
        model.add(entry);
    }
    let queries = queries(random, &model, 40);
    let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
    let scores: Vec<Scores> = queries.iter().map(|query| model.scores(query)).collect();
    let options = SearchOptions::default();
    for threads in [0, 1, 2, 4, 64, usize::MAX] {
        let found = memory.search_many(&queries, &options, threads, Control::NONE).unwrap();
        assert_eq!(found.len(), queries.len());
        for (scores, found) in scores.iter().zip(found) {
            model.check_found(&found, scores, &options);
        }
    }
    assert!(memory.search_many(&[], &options, 4, Control::NONE).unwrap().is_empty());
}

#[test]
fn thousands_of_equal_scores() {
    let (memory, mut model) = (Memory::new(), Model::default());
    let random = &mut Random::new(13);
    // Each shares one of two tokens, and as many trigrams, with the query.
    let all: Vec<Entry> = (0..BLOCK + 3000).map(|at| texts::entry(random, format!("item {at:05}"))).collect();
    add_batch(&memory, &mut model, &all[..20_000]);
    add_batch(&memory, &mut model, &all[20_000..]);
    // Old ids among the newest segments: ties are decided by them.
    for id in [0, 5, 19_999, 20_000, 30_000] {
        let entry = Entry::new(format!("item {id}r"), "replaced");
        memory.replace(id, entry.borrowed()).unwrap();
        model.replace(id, entry);
    }
    for query in ["item", "item x", "item 00017", "item 0001", "items", "0"] {
        let scores = model.scores(query);
        for max_hits in [1, 2, 5, 100, 5000, 40_000] {
            for min_score in [0.0, 0.2, 0.5, 2.0 / 3.0] {
                model.check(&memory, &scores, &options(max_hits, min_score, Filter::default()));
            }
        }
        check_options(random, &model, &memory, &scores);
    }
    remove_some(random, &memory, &mut model, 10);
    check_searches(random, &mut model, &memory, 20);
}

#[test]
fn thousands_of_duplicates_in_many_namespaces() {
    let (memory, mut model) = (Memory::new(), Model::default());
    let random = &mut Random::new(17);
    let spellings = ["Save the file", "save the file", " SAVE  the file", "save the file ", "Save the files"];
    let all: Vec<Entry> = (0..20_000)
        .map(|at| Entry {
            namespace: Some(format!("tenant {}", at % 5000)),
            target_language: Some(random.pick(&["en", "EN", "ko"]).to_owned()),
            ..Entry::new(random.pick(&spellings), format!("target {at}"))
        })
        .collect();
    add_batch(&memory, &mut model, &all);
    assert_eq!(memory.stats().rows, 2, "equal sources share a row");
    for entry in &all[..1500] {
        memory.add(entry.borrowed()).unwrap();
        model.add(entry.clone());
    }
    remove_some(random, &memory, &mut model, 20);
    for query in ["save the file", "save the files", "save a file", "file"] {
        let scores = model.scores(query);
        for tenant in [0, 7, 4999, 5000] {
            for target_language in [None, Some("En".to_owned()), Some("fr".to_owned())] {
                let namespace = Some(format!("tenant {tenant}"));
                let filter = Filter { namespace, target_language, ..Filter::default() };
                for max_hits in [1, 3, 100] {
                    model.check(&memory, &scores, &options(max_hits, 0.2, filter.clone()));
                }
            }
        }
        check_options(random, &model, &memory, &scores);
    }
    memory.settle();
    model.check_all(&memory);
}

#[test]
fn queries_of_more_features_than_a_counter_counts() {
    let (memory, mut model) = (Memory::new(), Model::default());
    let random = &mut Random::new(19);
    let mut all = entries(random, BLOCK);
    // Long rows that share 0 to all of some 2,000 features, and rows of one trigram over and over.
    let long: Vec<String> = (0..12).map(|_| texts::long(random, 2000)).collect();
    for text in &long {
        let chars: Vec<char> = text.chars().collect();
        for part in 1..=12 {
            let kept: String = chars[..chars.len() * part / 12].iter().collect();
            all.push(texts::entry(random, kept));
        }
    }
    all.extend([250, 254, 255, 256, 257, 258, 259, 300, 511, 512, 513, 5000].into_iter().flat_map(
        |copies| {
            ["a", "ab", "zz ", "存"].map(|unit| Entry::new(unit.repeat(copies), format!("{copies} copies")))
        },
    ));
    all.push(Entry::new(texts::long(random, 20_000), "very long"));
    add_batch(&memory, &mut model, &all);
    let mut queries: Vec<String> = long;
    queries.extend(["a".repeat(256), "a".repeat(300), "ab".repeat(255), "zz ".repeat(600), "存".repeat(258)]);
    queries.push(all.last().unwrap().source.clone());
    queries.push(texts::long(random, 20_000));
    // Every word of the short rows, many times: more bitmaps than a counter counts.
    queries.push("open the file save all not network error could be found ".repeat(40));
    for query in &queries {
        for query in [query.clone(), texts::edited(random, query)] {
            let scores = model.scores(&query);
            check_options(random, &model, &memory, &scores);
        }
    }
    memory.internal_validate();
}

#[test]
fn more_bitmaps_than_a_counter_counts() {
    // Rows of the same 400 words, each with a few left out: every list is a bitmap.
    let (memory, mut model) = (Memory::new(), Model::default());
    let random = &mut Random::new(23);
    let words: Vec<String> = (0..110).map(|at| format!("{:x}", at * 7919 + 4096)).collect();
    let row = |random: &mut Random| {
        let left_out = random.below(60);
        let words: Vec<&str> =
            words.iter().filter(|_| random.below(100) >= left_out).map(String::as_str).collect();
        words.join(" ")
    };
    let all: Vec<Entry> = (0..3000)
        .map(|_| {
            let source = row(random);
            texts::entry(random, source)
        })
        .collect();
    add_batch(&memory, &mut model, &all);
    for query in
        [words.join(" "), row(random), row(random), words.join(" ").repeat(2), all[17].source.clone()]
    {
        let scores = model.scores(&query);
        check_options(random, &model, &memory, &scores);
    }
}
