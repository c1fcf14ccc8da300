//! Stopping at every moment: the operation says so, nothing has changed, and the next one on the thread is right.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use diglot_engine::{Batch, Control, Error, Filter, Memory, SearchOptions};

use crate::model::{Entry, Model, options, prepared};
use crate::texts::{self, Random};

/// Runs `work` with a control that stops at the `n`-th poll; returns its result and how often it polled.
fn stopped_at<T>(n: usize, work: impl FnOnce(Control<'_>) -> T) -> (T, usize) {
    let polls = AtomicUsize::new(0);
    let stop = || polls.fetch_add(1, Ordering::Relaxed) + 1 >= n;
    let result = work(Control::new(&stop));
    (result, polls.into_inner())
}

/// Up to `most` numbers from 1 to `polls`, the first and the last ones all.
fn moments(polls: usize, most: usize) -> impl Iterator<Item = usize> {
    let edge = most / 4;
    let step = polls / most + 1;
    (1..=polls).filter(move |n| *n <= edge || *n + edge > polls || n % step == 0)
}

/// A memory of several blocks, segments and live parts.
fn memory() -> (Memory, Model) {
    let (memory, mut model) = (Memory::new(), Model::default());
    let random = &mut Random::new(3);
    let all: Vec<Entry> = (0..70_000)
        .map(|at| {
            let source = format!("{} {}", texts::words(random, 6), at % 50_000);
            texts::entry(random, source)
        })
        .collect();
    for batch in [&all[..40_000], &all[40_000..]] {
        memory.publish(prepared(batch)).unwrap();
    }
    all.into_iter().for_each(|entry| _ = model.add(entry));
    for at in 0..700 {
        let entry = texts::entry(random, format!("live {at}"));
        memory.add(entry.borrowed()).unwrap();
        model.add(entry);
    }
    memory.settle();
    (memory, model)
}

fn searches() -> Vec<(&'static str, SearchOptions)> {
    let namespace = |name: &str| Filter { namespace: Some(name.into()), ..Filter::default() };
    vec![
        ("save the file", SearchOptions::default()),
        ("save the files that could not be opened", options(50, 0.1, Filter::default())),
        ("could not", options(5, 0.2, namespace("a"))),
        ("could not", options(5, 0.2, namespace("tenant 7"))),
        ("zzzz", options(100_000, 0.0, Filter::default())),
        ("zzzz", options(1000, 0.0, namespace("a"))),
    ]
}

#[test]
fn a_search_stops_at_every_poll() {
    let (memory, mut model) = memory();
    for (query, options) in searches() {
        let scores = model.scores(query);
        let (found, polls) = stopped_at(usize::MAX, |control| memory.search(query, &options, control));
        model.check_found(&found.unwrap(), &scores, &options);
        assert!(polls > 1, "{query:?} with {options:?} polls {polls} times");
        for n in moments(polls, 40) {
            let (result, polled) = stopped_at(n, |control| memory.search(query, &options, control));
            assert_eq!(result.err(), Some(Error::Aborted), "stopped at poll {n} of {polls}");
            assert_eq!(polled, n, "nothing goes on after the answer was to stop");
            model.check(&memory, &scores, &options);
        }
    }
}

#[test]
fn a_panic_in_a_search_leaves_the_thread_as_it_was() {
    let (memory, mut model) = memory();
    for (query, options) in searches() {
        let scores = model.scores(query);
        let (_, polls) = stopped_at(usize::MAX, |control| memory.search(query, &options, control).map(drop));
        for n in moments(polls, 12) {
            let polled = AtomicUsize::new(0);
            let stop = || {
                if polled.fetch_add(1, Ordering::Relaxed) + 1 == n {
                    // A panic without a message on the console.
                    resume_unwind(Box::new("wanted"));
                }
                false
            };
            let result = catch_unwind(AssertUnwindSafe(|| {
                memory.search(query, &options, Control::new(&stop)).map(drop)
            }));
            assert!(result.is_err());
            model.check(&memory, &scores, &options);
        }
    }
}

#[test]
fn a_search_may_be_made_while_another_polls() {
    thread_local! {
        static WITHIN: Cell<bool> = const { Cell::new(false) };
    }
    let (memory, mut model) = memory();
    let inner_options = SearchOptions::default();
    let inner = model.scores("could not be found");
    for (query, options) in searches() {
        let outer = model.scores(query);
        let stop = || {
            if !WITHIN.replace(true) {
                model.check(&memory, &inner, &inner_options);
                WITHIN.set(false);
            }
            false
        };
        let found = memory.search(query, &options, Control::new(&stop)).unwrap();
        model.check_found(&found, &outer, &options);
    }
}

#[test]
fn many_searches_stop_at_every_poll() {
    let (memory, mut model) = memory();
    let queries = ["save the file", "could not", "save", "zzzz", "open item 4", "the network error"];
    let options = SearchOptions::default();
    for threads in [1, 2, 4] {
        let (_, polls) = stopped_at(usize::MAX, |control| {
            memory.search_many(&queries, &options, threads, control).map(drop).unwrap();
        });
        for n in moments(polls, 20) {
            let (result, _) =
                stopped_at(n, |control| memory.search_many(&queries, &options, threads, control).map(drop));
            let (at, error) = result.expect_err("it was stopped");
            assert_eq!(error, Error::Aborted);
            assert!(at < queries.len());
        }
        let found = memory.search_many(&queries, &options, threads, Control::NONE).unwrap();
        for (query, found) in queries.iter().zip(found) {
            let scores = model.scores(query);
            model.check_found(&found, &scores, &options);
        }
    }
}

#[test]
fn the_first_bad_query_is_named() {
    let (memory, _) = memory();
    let mut queries = vec!["save the file"; 60];
    queries[41] = " \u{3000}";
    queries[57] = "";
    for threads in [1, 2, 4] {
        let result =
            memory.search_many(&queries, &SearchOptions::default(), threads, Control::NONE).map(drop);
        assert_eq!(result, Err((41, Error::EmptyText { field: "query" })));
    }
}

#[test]
fn preparing_stops_at_every_poll() {
    let random = &mut Random::new(5);
    for len in [0, 1, 512, 513, 40_000] {
        let entries: Vec<Entry> = (0..len)
            .map(|at| {
                let source = format!("{} {at}", texts::words(random, 4));
                texts::entry(random, source)
            })
            .collect();
        let prepare = |control: Control<'_>| {
            let mut batch = Batch::new();
            entries.iter().for_each(|entry| batch.push(entry.borrowed()).unwrap());
            batch.prepare(control).map(drop)
        };
        let (result, polls) = stopped_at(usize::MAX, prepare);
        assert_eq!(result, Ok(()));
        assert!(polls > len / 8192, "{polls} polls for {len} entries");
        for n in moments(polls, 8) {
            assert_eq!(stopped_at(n, prepare).0, Err(Error::Aborted), "stopped at poll {n} of {polls}");
        }
    }
}

#[test]
fn long_texts_are_polled_one_by_one() {
    const TEXTS: usize = 60;
    let random = &mut Random::new(6);
    let long = |random: &mut Random, count: usize| -> Vec<Entry> {
        (0..count)
            .map(|at| {
                // Alike enough to be compared, and too long to be compared unasked.
                let common = (0..6000).map(|word| format!("{:x} ", word * 31)).collect::<String>();
                Entry::new(format!("{common}{at} {}", random.next()), "target")
            })
            .collect()
    };
    let live = long(random, TEXTS);
    let segment: Vec<Entry> = long(random, TEXTS)
        .into_iter()
        .chain((0..512).map(|at| Entry::new(format!("short {at}"), "short")))
        .collect();
    for entries in [&live, &segment] {
        let mut batch = Batch::new();
        entries.iter().for_each(|entry| batch.push(entry.borrowed()).unwrap());
        let (prepared, polls) = stopped_at(usize::MAX, |control| batch.prepare(control));
        assert!(polls > TEXTS / 2, "{polls} polls while {} entries are prepared", entries.len());
        let memory = Memory::new();
        memory.publish(prepared.unwrap()).unwrap();
        for max_hits in [TEXTS, 1000] {
            let options = options(max_hits, 0.0, Filter::default());
            let (found, polls) =
                stopped_at(usize::MAX, |control| memory.search(&entries[3].source, &options, control));
            assert_eq!(found.unwrap().hits().next().unwrap().id, 3);
            assert!(polls > TEXTS / 2, "{polls} polls while {} entries are compared", entries.len());
        }
    }
}
