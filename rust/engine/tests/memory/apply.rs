//! Changes of many entries in one step, under ids of the caller's choice.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use diglot_engine::{Batch, Control, EntryId, Error, MOST_ID, Memory, Prepared, SearchOptions};

use crate::model::{Entry, prepared};

fn numbered(numbers: &[EntryId]) -> Prepared {
    let mut batch = Batch::new();
    for number in numbers {
        batch.push_at(*number, Entry::new(format!("entry {number}"), "x").borrowed()).unwrap();
    }
    batch.prepare(Control::NONE).unwrap()
}

fn ids(memory: &Memory) -> Vec<EntryId> {
    memory.snapshot().entries(0).map(|(id, _)| id).collect()
}

#[test]
fn a_memory_that_changed_since_it_was_seen_stays_as_it_is() {
    let memory = Memory::new();
    memory.publish(numbered(&[0, 1, 2])).unwrap();
    let changes: [&dyn Fn(); 4] = [
        &|| _ = memory.add(Entry::new("another", "x").borrowed()).unwrap(),
        &|| memory.replace(0, Entry::new("another", "x").borrowed()).unwrap(),
        &|| memory.remove(&[1]).unwrap(),
        &|| assert_eq!(memory.apply(&memory.snapshot(), &[0], 0, numbered(&[0])), Ok(true)),
    ];
    for change in changes {
        let seen = memory.snapshot();
        change();
        let before = ids(&memory);
        assert_eq!(memory.apply(&seen, &[2], 50, numbered(&[0])), Ok(false));
        assert_eq!(ids(&memory), before);
    }
    // Background work changes no entry.
    let seen = memory.snapshot();
    (0..2000).for_each(|_| _ = memory.add(Entry::new("another", "x").borrowed()).unwrap());
    assert_eq!(memory.apply(&seen, &[], 5000, numbered(&[0])), Ok(false));
    let seen = memory.snapshot();
    memory.settle();
    assert_eq!(memory.apply(&seen, &[2], 5000, numbered(&[7])), Ok(true));
    assert_eq!((ids(&memory).last(), memory.snapshot().next_id()), (Some(&5007), 5008));
}

#[test]
fn ids_are_those_that_no_entry_has() {
    let memory = Memory::new();
    memory.publish(numbered(&[0, 3, 4, 8])).unwrap();
    memory.remove(&[4]).unwrap();
    let apply = |removed: &[EntryId], first, numbers: &[EntryId]| {
        memory.apply(&memory.snapshot(), removed, first, numbered(numbers))
    };
    let taken = |id| Err(Error::IdTaken { id, least: 9 });
    // Still there, and not among those removed now.
    for (removed, id) in [(&[][..], 3), (&[0, 8], 3), (&[3], 8), (&[3], 0)] {
        assert_eq!(apply(removed, 0, &[id]), taken(id));
        assert_eq!(apply(removed, 0, &[id, 100]), taken(id));
    }
    assert_eq!(apply(&[0, 4], 0, &[0]), Err(Error::UnknownEntry { id: 4 }));
    assert_eq!(apply(&[0, 0], 0, &[0]), Err(Error::UnknownEntry { id: 0 }));
    assert_eq!((ids(&memory), memory.len(), memory.snapshot().next_id()), (vec![0, 3, 8], 3, 9));
    // In any order, with one removed for good.
    assert_eq!(apply(&[8, 0, 3], 0, &[0, 8, 9, 12]), Ok(true));
    assert_eq!((ids(&memory), memory.len(), memory.snapshot().next_id()), (vec![0, 8, 9, 12], 4, 13));
    assert_eq!(apply(&[], 99, &[]), Ok(true));
    assert_eq!(memory.snapshot().next_id(), 13);
    // In a gap, removed before, and new.
    assert_eq!(apply(&[], 0, &[1, 4, 20]), Ok(true));
    assert_eq!((ids(&memory), memory.snapshot().next_id()), (vec![0, 1, 4, 8, 9, 12, 20], 21));
    memory.internal_validate();
}

#[test]
fn ids_end_at_the_highest() {
    let mut batch = Batch::new();
    let entry = Entry::new("a", "b");
    let too_high = MOST_ID + 1;
    assert_eq!(batch.push_at(too_high, entry.borrowed()), Err(Error::IdTaken { id: too_high, least: 0 }));
    batch.push_at(MOST_ID, entry.borrowed()).unwrap();
    assert_eq!(batch.push(entry.borrowed()), Err(Error::IdTaken { id: too_high, least: too_high }));
    assert_eq!(batch.push_at(3, entry.borrowed()), Err(Error::IdTaken { id: 3, least: too_high }));

    let memory = Memory::new();
    let apply = |first, numbers: &[EntryId]| memory.apply(&memory.snapshot(), &[], first, numbered(numbers));
    assert_eq!(apply(too_high, &[0]), Err(Error::IdTaken { id: too_high, least: too_high }));
    assert_eq!(apply(u64::MAX, &[5]), Err(Error::IdTaken { id: u64::MAX, least: u64::MAX }));
    assert_eq!(apply(u64::MAX, &[]), Err(Error::IdTaken { id: u64::MAX, least: u64::MAX }));
    assert_eq!(apply(2, &[MOST_ID]), Err(Error::IdTaken { id: too_high + 1, least: 2 }));
    assert_eq!(apply(1, &[0, MOST_ID - 1]), Ok(true));
    let full = Error::IdTaken { id: too_high, least: too_high };
    assert_eq!(memory.add(entry.borrowed()), Err(full.clone()));
    assert_eq!(memory.add_at_once(entry.borrowed()), Err(full.clone()));
    assert_eq!(memory.publish(numbered(&[0])), Err(full));
    memory.replace(MOST_ID, entry.borrowed()).unwrap();
    assert_eq!(memory.publish(Batch::new().prepare(Control::NONE).unwrap()), Ok(too_high..too_high));
    assert_eq!(ids(&memory), [1, MOST_ID]);
    memory.internal_validate();
}

#[test]
fn entries_of_a_batch_are_had_by_place() {
    let mut batch = Batch::new();
    for number in [3, 4, 9] {
        batch.push_at(number, Entry::new(format!("Entry {number}"), "x").borrowed()).unwrap();
    }
    let got = |at| batch.get(at).map(|(number, entry, normalized)| (number, entry.source, normalized));
    assert_eq!(got(0), Some((3, "Entry 3", "entry 3")));
    assert_eq!(got(2), Some((9, "Entry 9", "entry 9")));
    assert_eq!(got(3), None);
}

#[test]
fn readers_see_all_of_a_change_or_nothing() {
    // Batches that stay entries of a live part, and batches that become segments.
    for (len, times) in [(40, 300), (600, 30)] {
        let memory = Memory::new();
        let entries = |version: usize| -> Vec<Entry> {
            (0..len).map(|at| Entry::new(format!("the one text {}", at % 3), version.to_string())).collect()
        };
        memory.publish(prepared(&entries(0))).unwrap();
        let all: Vec<EntryId> = (0..len as EntryId).collect();
        let done = AtomicBool::new(false);
        let begun = Barrier::new(2);
        let options = SearchOptions { max_hits: 2 * len, ..SearchOptions::default() };
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut versions = 0;
                let mut last = String::new();
                loop {
                    // Once more when all is done, so that the last state is seen however the threads run.
                    let is_last = done.load(Ordering::Acquire);
                    let found = memory.search("the one text", &options, Control::NONE).unwrap();
                    let targets: Vec<&str> = found.entries().map(|(_, entry)| entry.target).collect();
                    if last.is_empty() {
                        begun.wait();
                    }
                    assert_eq!(targets.len(), len, "neither half of a change is seen");
                    assert!(targets.iter().all(|target| *target == targets[0]));
                    versions += usize::from(last != targets[0]);
                    targets[0].clone_into(&mut last);
                    if is_last {
                        return versions;
                    }
                }
            });
            begun.wait();
            for version in 1..=times {
                let seen = memory.snapshot();
                assert_eq!(memory.apply(&seen, &all, 0, prepared(&entries(version))), Ok(true));
            }
            done.store(true, Ordering::Release);
            assert!(reader.join().unwrap() > 1, "the first state and the last are seen, at least");
        });
        assert_eq!(ids(&memory), all);
        memory.settle();
        memory.internal_validate();
    }
}

#[test]
fn reserved_ids_are_not_given() {
    let memory = Memory::new();
    memory.publish(numbered(&[0])).unwrap();
    memory.reserve_ids(10);
    memory.reserve_ids(5);
    memory.reserve_ids(EntryId::MAX);
    assert_eq!(memory.snapshot().next_id(), 10);
    assert_eq!(memory.add(Entry::new("a", "x").borrowed()), Ok(10));
    assert_eq!(ids(&memory), [0, 10]);
}

#[test]
fn what_is_prepared_can_still_be_looked_at() {
    for count in [1, 511, 513, 2000] {
        let numbers: Vec<_> = (0..count).map(|number| number * 3).collect();
        let prepared = numbered(&numbers);
        for (at, number) in numbers.iter().enumerate() {
            let (found, entry) = prepared.get(at).unwrap();
            assert_eq!((found, entry.source), (*number, &*format!("entry {number}")));
        }
        assert!(prepared.get(numbers.len()).is_none());
    }
}
