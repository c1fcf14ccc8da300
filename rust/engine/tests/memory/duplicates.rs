//! Duplicate policies: against a model that adds one entry after the other, and with racing threads.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use diglot_engine::{Batch, Control, EntryId, Error, Memory, Outcome, Policy};
use proptest::prelude::*;
use proptest::sample::select;

use crate::model::{Entry, prepared};

/// Dates as an entry can have them (`created_at`, metadata), and their order.
const DATES: [(Option<&str>, Option<&str>, u32); 10] = [
    (None, None, 0),
    (Some("some time ago"), None, 0),
    (None, Some(r#"{"changed_at": 5}"#), 0),
    // Nine hours before the day begins in London.
    (Some("2020-01-01T00:00:00+09:00"), None, 1),
    (Some("2020-01-01"), None, 2),
    (Some("20200101T000000Z"), Some(r#"{"a": {"changed_at": "2030-01-01"}}"#), 2),
    (Some("2020-01-01T00:00:00.5"), Some(r#"{"changed_at": "once"}"#), 3),
    (Some("2019-01-01"), Some(r#"{"b": [], "changed_at": "2020-01-01T00:00:01Z"}"#), 4),
    (
        Some("2031-01-01"),
        Some(r#"{"changed\u005fat": "2020-01-01T00:00:01Z", "changed_at": "2021-06-01"}"#),
        5,
    ),
    (Some("2021-06-01T00:00:01Z"), Some("{}"), 6),
];

fn entry() -> impl Strategy<Value = Entry> {
    let language = || select(vec![None, Some("en"), Some("EN"), Some("en-US"), Some("EN-us")]);
    (
        select(vec!["Save", "Save ", "save", "Open"]),
        select(vec!["x", "X"]),
        language(),
        language(),
        select(vec![None, None, Some("d"), Some("D")]),
        select(vec![None, None, Some("n")]),
        select(vec![None, None, None, Some("1"), Some("2")]),
        select(DATES.to_vec()),
    )
        .prop_map(|(source, target, from, to, domain, namespace, source_id, date)| Entry {
            source: source.to_owned(),
            target: target.to_owned(),
            source_language: from.map(str::to_owned),
            target_language: to.map(str::to_owned),
            domain: domain.map(str::to_owned),
            namespace: namespace.map(str::to_owned),
            source_id: source_id.map(str::to_owned),
            created_at: date.0.map(str::to_owned),
            metadata: date.1.map(str::to_owned),
            notes: None,
        })
}

fn policy() -> impl Strategy<Value = Policy> {
    select(vec![Policy::Keep, Policy::Skip, Policy::Replace, Policy::Newest])
}

fn are_duplicates(policy: Policy, a: &Entry, b: &Entry) -> bool {
    let lower = |language: &Option<String>| language.as_ref().map(|language| language.to_lowercase());
    policy != Policy::Keep
        && a.source == b.source
        && (policy != Policy::Skip || a.target == b.target)
        && lower(&a.source_language) == lower(&b.source_language)
        && lower(&a.target_language) == lower(&b.target_language)
        && a.domain == b.domain
        && a.namespace == b.namespace
}

fn date(entry: &Entry) -> u32 {
    let same = |(created_at, metadata, _): &&(Option<&str>, Option<&str>, u32)| {
        (*created_at, *metadata) == (entry.created_at.as_deref(), entry.metadata.as_deref())
    };
    DATES.iter().find(same).unwrap().2
}

#[derive(Clone, Default, Debug, PartialEq)]
struct Counts([usize; 4]);

/// What is in a memory, and what was done with what came.
#[derive(Clone, Default)]
struct Model {
    entries: BTreeMap<EntryId, Entry>,
    next_id: EntryId,
    counts: BTreeMap<(Option<String>, Option<String>), Counts>,
}

impl Model {
    fn count(&mut self, entry: &Entry, what: usize) {
        let lower = |language: &Option<String>| language.as_ref().map(|language| language.to_lowercase());
        let pair = (lower(&entry.source_language), lower(&entry.target_language));
        self.counts.entry(pair).or_default().0[what] += 1;
    }

    fn add(&mut self, policy: Policy, entry: &Entry) {
        let same: Vec<(EntryId, Entry)> = self
            .entries
            .iter()
            .filter(|(_, present)| are_duplicates(policy, present, entry))
            .map(|(id, present)| (*id, present.clone()))
            .collect();
        let Some((first, _)) = same.first() else {
            self.entries.insert(self.next_id, entry.clone());
            self.next_id += 1;
            return self.count(entry, 0);
        };
        let replaces = match policy {
            Policy::Keep => unreachable!(),
            Policy::Skip => false,
            Policy::Replace => same.len() > 1 || same[0].1 != *entry,
            Policy::Newest => same.iter().all(|(_, present)| date(present) < date(entry)),
        };
        if !replaces {
            return self.count(entry, 1);
        }
        self.entries.insert(*first, entry.clone());
        self.count(entry, 2);
        for (id, present) in &same[1..] {
            self.entries.remove(id);
            self.count(present, 3);
        }
    }

    fn dedupe(&mut self, policy: Policy) {
        let all: Vec<(EntryId, Entry)> = self.entries.clone().into_iter().collect();
        for (id, entry) in &all {
            let same: Vec<&(EntryId, Entry)> = all
                .iter()
                .filter(|(other, present)| other == id || are_duplicates(policy, present, entry))
                .collect();
            let stays = match policy {
                Policy::Keep => *id,
                Policy::Skip => same[0].0,
                Policy::Replace => same[same.len() - 1].0,
                // The first of the latest.
                Policy::Newest => same.iter().rev().max_by_key(|(_, entry)| date(entry)).unwrap().0,
            };
            if stays != *id {
                self.entries.remove(id);
                self.count(entry, 1);
                self.count(entry, 3);
            }
        }
    }

    fn check(&mut self, memory: &Memory, outcomes: &[Outcome]) {
        let lower = |language: &Option<String>| language.as_ref().map(|language| language.to_lowercase());
        let outcomes: Vec<Outcome> = outcomes
            .iter()
            .map(|outcome| Outcome {
                source_language: lower(&outcome.source_language),
                target_language: lower(&outcome.target_language),
                ..outcome.clone()
            })
            .collect();
        let expected: Vec<Outcome> = std::mem::take(&mut self.counts)
            .into_iter()
            .map(|((source_language, target_language), counts)| {
                let Counts([added, duplicate, replaced, removed]) = counts;
                Outcome { source_language, target_language, added, duplicate, replaced, removed }
            })
            .collect();
        assert_eq!(outcomes, expected);
        let snapshot = memory.snapshot();
        let expected = self.entries.iter().map(|(id, entry)| (*id, entry.borrowed()));
        assert_eq!(snapshot.entries(0).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        assert_eq!(snapshot.next_id(), self.next_id);
        memory.internal_validate();
    }
}

fn batch(entries: &[Entry]) -> Batch {
    let mut batch = Batch::new();
    entries.iter().for_each(|entry| batch.push(entry.borrowed()).unwrap());
    batch
}

fn merge(memory: &Memory, entries: &[Entry], policy: Policy) -> Vec<Outcome> {
    memory.merge(&batch(entries), policy, || Ok(()), Control::NONE).unwrap().0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn batches_are_as_if_added_one_by_one(
        // Some entries in segments, some live, some removed, then batches with a policy each.
        sealed in prop::collection::vec(prop::collection::vec(entry(), 1..12), 0..3),
        live in prop::collection::vec(entry(), 0..12),
        removed in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        batches in prop::collection::vec((prop::collection::vec(entry(), 0..16), policy()), 1..4),
        last in policy(),
    ) {
        let memory = Memory::new();
        let mut model = Model::default();
        for entries in &sealed {
            // So large that it becomes a segment, but for what is removed at once.
            let others: Vec<Entry> = (0..512).map(|at| Entry::new(format!("other {at}"), "x")).collect();
            memory.publish(prepared(entries.iter().chain(&others))).unwrap();
            entries.iter().for_each(|entry| model.add(Policy::Keep, entry));
            let ids: Vec<EntryId> = (model.next_id..model.next_id + 512).collect();
            model.next_id += 512;
            memory.remove(&ids).unwrap();
        }
        for entry in &live {
            memory.add(entry.borrowed()).unwrap();
            model.add(Policy::Keep, entry);
        }
        for index in &removed {
            if !model.entries.is_empty() {
                let id = *model.entries.keys().nth(index.index(model.entries.len())).unwrap();
                memory.remove(&[id]).unwrap();
                model.entries.remove(&id);
            }
        }
        model.counts.clear();
        for (entries, policy) in &batches {
            let first = model.next_id;
            let (outcomes, ids) =
                memory.merge(&batch(entries), *policy, || Ok(()), Control::NONE).unwrap();
            entries.iter().for_each(|entry| model.add(*policy, entry));
            assert_eq!(ids, first..model.next_id);
            model.check(&memory, &outcomes);
        }
        let outcomes = memory.dedupe(last, || Ok(()), Control::NONE).unwrap();
        model.dedupe(last);
        model.check(&memory, &outcomes);
        assert_eq!(memory.dedupe(last, || Ok(()), Control::NONE).unwrap(), []);
    }
}

#[test]
fn a_language_is_counted_once_as_most_spell_it() {
    let entry = |source_language: &str, target_language: &str| Entry {
        source_language: Some(source_language.to_owned()),
        target_language: Some(target_language.to_owned()),
        ..Entry::new("a", "b")
    };
    let entries =
        [entry("EN", "ko"), entry("en", "ko"), entry("en", "ko"), entry("en", "KO"), entry("de", "ko")];
    let outcomes = Outcome::all_added(batch(&entries).pairs());
    let shown: Vec<_> = outcomes
        .iter()
        .map(|outcome| {
            (outcome.source_language.as_deref(), outcome.target_language.as_deref(), outcome.added)
        })
        .collect();
    assert_eq!(shown, [(Some("de"), Some("ko"), 1), (Some("en"), Some("ko"), 4)]);
}

#[test]
fn a_source_of_many_entries_costs_no_more_than_others() {
    // Comparing each with each would take hours.
    let entries: Vec<Entry> = (0..100_000)
        .map(|at| Entry { namespace: Some(format!("tenant {at}")), ..Entry::new("OK", "확인") })
        .collect();
    let memory = Memory::new();
    for policy in [Policy::Skip, Policy::Replace, Policy::Newest] {
        merge(&memory, &entries, policy);
        assert_eq!(memory.len(), entries.len());
        assert!(memory.dedupe(policy, || Ok(()), Control::NONE).unwrap().is_empty());
    }
    let same = vec![Entry::new("OK", "확인"); 100_000];
    merge(&memory, &same, Policy::Keep);
    let outcomes = merge(&memory, &same, Policy::Replace);
    assert_eq!((outcomes[0].replaced, outcomes[0].duplicate, outcomes[0].removed), (1, 99_999, 99_999));
    assert_eq!(memory.len(), entries.len() + 1);
}

#[test]
fn what_is_stopped_changes_nothing() {
    let memory = Memory::new();
    let entries: Vec<Entry> = (0..2000).map(|at| Entry::new(format!("entry {}", at % 900), "x")).collect();
    memory.publish(prepared(&entries[..700])).unwrap();
    let before = memory.snapshot();
    for policy in [Policy::Keep, Policy::Skip, Policy::Replace, Policy::Newest] {
        let looks = AtomicUsize::new(0);
        let merge = |looks_left: usize, commit: Result<(), Error>| {
            let stop = || looks.fetch_add(1, Ordering::Relaxed) >= looks_left;
            memory.merge(&batch(&entries), policy, || commit, Control::new(&stop))
        };
        assert_eq!(merge(usize::MAX, Err(Error::Aborted)), Err(Error::Aborted));
        let all = looks.swap(0, Ordering::Relaxed);
        for left in (0..all).step_by(all / 20 + 1) {
            assert_eq!(merge(left, Ok(())), Err(Error::Aborted));
            looks.store(0, Ordering::Relaxed);
        }
    }
    assert!(before.entries(0).eq(memory.snapshot().entries(0)));
    assert_eq!(memory.snapshot().next_id(), 700);
}

#[test]
fn racing_threads_leave_no_duplicates() {
    // Small batches stay live, large ones become segments.
    for (len, keys, rounds) in [(20, 60, 150), (700, 2000, 12)] {
        let memory = Memory::new();
        let done = AtomicBool::new(false);
        let counts = thread::scope(|scope| {
            let writers: Vec<_> = (0..4)
                .map(|writer: usize| {
                    let memory = &memory;
                    scope.spawn(move || {
                        let mut counts = [0; 4];
                        for round in 0..rounds {
                            let entries: Vec<Entry> = (0..len)
                                .map(|at| (at * 7 + round * 13 + writer * 29) % keys)
                                .map(|key| {
                                    Entry::new(format!("entry {key}"), format!("by {writer}, {round}"))
                                })
                                .collect();
                            let policy =
                                if writer.is_multiple_of(2) { Policy::Replace } else { Policy::Newest };
                            for outcome in merge(memory, &entries, policy) {
                                let Outcome { added, duplicate, replaced, removed, .. } = outcome;
                                for (sum, count) in
                                    counts.iter_mut().zip([added, duplicate, replaced, removed])
                                {
                                    *sum += count;
                                }
                            }
                        }
                        counts
                    })
                })
                .collect();
            // Others who have to do with other entries, or the same, and change ids and edits all the time.
            let other = scope.spawn(|| {
                let mut removed = 0;
                // At least once, however the threads run.
                while removed == 0 || !done.load(Ordering::Relaxed) {
                    let id = memory.add(Entry::new("of another", "x").borrowed()).unwrap();
                    memory.replace(id, Entry::new("changed", "x").borrowed()).unwrap();
                    memory.remove(&[id]).unwrap();
                    removed += 1;
                }
                removed
            });
            let counts: Vec<[usize; 4]> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
            done.store(true, Ordering::Relaxed);
            assert!(other.join().unwrap() > 0);
            counts
        });
        let snapshot = memory.snapshot();
        let sources: Vec<&str> = snapshot.entries(0).map(|(_, entry)| entry.source).collect();
        let distinct: HashSet<&str> = sources.iter().copied().collect();
        assert_eq!(sources.len(), distinct.len(), "no two entries have the same source");
        let sum = |what: usize| counts.iter().map(|counts| counts[what]).sum::<usize>();
        assert_eq!(sum(0), sources.len(), "each was added once");
        assert_eq!(sum(0) + sum(1) + sum(2), 4 * rounds * len);
        assert_eq!(sum(3), 0);
        memory.internal_validate();
    }
}
