//! Threads that race: every answer must be that of a moment between its question and its arrival.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use diglot_engine::{Control, EntryId, Filter, Memory, Snapshot};

use crate::model::{Entry, Model, options, prepared};
use crate::texts::{self, Random};

const WRITERS: usize = 3;
const OPERATIONS: usize = 1500;

/// A number for a set of entries in their present versions, which adding and removing one are enough to update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fingerprint {
    len: usize,
    sum: u64,
}

impl Fingerprint {
    fn add(&mut self, id: EntryId, target: &str) {
        self.len += 1;
        self.sum = self.sum.wrapping_add(Fingerprint::of(id, target));
    }

    fn remove(&mut self, id: EntryId, target: &str) {
        self.len -= 1;
        self.sum = self.sum.wrapping_sub(Fingerprint::of(id, target));
    }

    fn of(id: EntryId, target: &str) -> u64 {
        target.bytes().fold(Random::new(id).next(), |state, byte| Random::new(state ^ u64::from(byte)).next())
    }
}

/// What a writer has begun and finished, for readers to look at.
#[derive(Default)]
struct Progress {
    begun: AtomicUsize,
    finished: AtomicUsize,
}

/// What a reader saw of one writer's entries, and the operations that had certainly happened, and perhaps.
struct Sight {
    writer: usize,
    from: usize,
    to: usize,
    seen: Fingerprint,
}

fn namespace(writer: usize) -> String {
    format!("writer {writer}")
}

/// Changes the entries of one namespace. Returns the namespace's fingerprint after each number of operations, and at
/// last its entries.
fn write(memory: &Memory, writer: usize, progress: &Progress) -> (Vec<Fingerprint>, Vec<(EntryId, Entry)>) {
    let random = &mut Random::new(writer as u64);
    let mut present: Vec<(EntryId, Entry)> = Vec::new();
    let mut now = Fingerprint::default();
    let mut after = vec![now];
    let mut version = 0;
    let mut entry = |random: &mut Random| {
        version += 1;
        let source = format!("{} {}", texts::words(random, 3), version % 300);
        let mut entry = texts::entry(random, source);
        entry.namespace = Some(namespace(writer));
        entry.target = format!("version {version} of writer {writer}");
        entry
    };
    for _ in 0..OPERATIONS {
        progress.begun.fetch_add(1, Ordering::SeqCst);
        match random.below(40) {
            0..26 => {
                let entry = entry(random);
                let id = memory.add(entry.borrowed()).unwrap();
                now.add(id, &entry.target);
                present.push((id, entry));
            }
            26 => {
                let len = random.pick(&[2, 30, 513, 700]);
                let batch: Vec<Entry> = (0..len).map(|_| entry(random)).collect();
                let ids = memory.publish(prepared(&batch)).unwrap();
                assert_eq!(ids.end - ids.start, len as u64);
                for (id, entry) in ids.zip(batch) {
                    now.add(id, &entry.target);
                    present.push((id, entry));
                }
            }
            27..34 if !present.is_empty() => {
                let (id, old) = present.swap_remove(random.below(present.len()));
                memory.remove(&[id]).unwrap();
                now.remove(id, &old.target);
            }
            34 => {
                let one_in = 2 + random.below(4);
                let (gone, kept): (Vec<_>, Vec<_>) = present.drain(..).partition(|_| random.once_in(one_in));
                present = kept;
                let ids: Vec<EntryId> = gone.iter().map(|(id, _)| *id).collect();
                memory.remove(&ids).unwrap();
                gone.iter().for_each(|(id, old)| now.remove(*id, &old.target));
            }
            _ if !present.is_empty() => {
                let at = random.below(present.len());
                let new = entry(random);
                let (id, old) = &mut present[at];
                memory.replace(*id, new.borrowed()).unwrap();
                now.remove(*id, &old.target);
                now.add(*id, &new.target);
                *old = new;
            }
            _ => {}
        }
        after.push(now);
        progress.finished.fetch_add(1, Ordering::SeqCst);
    }
    (after, present)
}

/// Looks at a writer's entries in one way or another.
fn look(memory: &Memory, random: &mut Random, writer: usize) -> Fingerprint {
    let mut seen = Fingerprint::default();
    let own = namespace(writer);
    if random.once_in(4) {
        let snapshot: &Snapshot = &memory.snapshot();
        let mut last = None;
        for (id, entry) in snapshot.entries(0) {
            assert!(last < Some(id), "entries come in order, each once");
            last = Some(id);
            if entry.namespace == Some(&own) {
                seen.add(id, entry.target);
            }
        }
    } else {
        let filter = Filter { namespace: Some(own), ..Filter::default() };
        let query = texts::words(random, 3);
        let found = memory.search(&query, &options(usize::MAX, 0.0, filter), Control::NONE).unwrap();
        let mut last: Option<(f64, EntryId)> = None;
        for (hit, entry) in found.entries() {
            if let Some((score, id)) = last {
                assert!(score > hit.score || (score == hit.score && id < hit.id), "hits come in order");
            }
            last = Some((hit.score, hit.id));
            seen.add(hit.id, entry.target);
        }
    }
    seen
}

#[test]
fn every_answer_is_that_of_a_moment_between_question_and_arrival() {
    let memory = &Memory::new();
    let progress: &[Progress; WRITERS] = &Default::default();
    let done = &AtomicBool::new(false);
    let (written, sights) = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || write(memory, writer, &progress[writer])))
            .collect();
        let readers: Vec<_> = (0..2)
            .map(|reader| {
                scope.spawn(move || {
                    let random = &mut Random::new(100 + reader);
                    let mut sights = Vec::new();
                    // At least once, however the threads run.
                    while sights.is_empty() || !done.load(Ordering::Relaxed) {
                        let writer = random.below(WRITERS);
                        let from = progress[writer].finished.load(Ordering::SeqCst);
                        let seen = look(memory, random, writer);
                        let to = progress[writer].begun.load(Ordering::SeqCst);
                        sights.push(Sight { writer, from, to, seen });
                    }
                    sights
                })
            })
            .collect();
        let settler = scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                memory.settle();
                thread::yield_now();
            }
        });
        let written: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Relaxed);
        settler.join().unwrap();
        let sights: Vec<Sight> = readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect();
        let written: Vec<_> = written.into_iter().map(|written| written.unwrap()).collect();
        (written, sights)
    });
    assert!(!sights.is_empty());
    for Sight { writer, from, to, seen } in sights {
        let states = &written[writer].0[from..=to];
        assert!(
            states.contains(&seen),
            "writer {writer} between operations {from} and {to}: {seen:?}, not one of {states:?}"
        );
    }

    // No update is lost.
    let mut all: Vec<(EntryId, Entry)> = written.into_iter().flat_map(|(_, present)| present).collect();
    all.sort_unstable_by_key(|(id, _)| *id);
    for _ in 0..2 {
        let snapshot = memory.snapshot();
        assert!(snapshot.entries(0).eq(all.iter().map(|(id, entry)| (*id, entry.borrowed()))));
        memory.internal_validate();
        memory.settle();
    }
    let mut model = Model::default();
    for (id, entry) in all {
        model.insert(id, entry);
    }
    let random = &mut Random::new(1);
    for _ in 0..30 {
        let scores = model.scores(&texts::words(random, 4));
        model.check(memory, &scores, &texts::options(random, model.len()));
    }
    model.check_all(memory);
}

#[test]
fn an_entry_that_is_replaced_all_the_time_is_seen_once() {
    let memory = &Memory::new();
    let others: Vec<Entry> = (0..3000).map(|at| Entry::new(format!("other {at}"), "other")).collect();
    memory.publish(prepared(&others[..1500])).unwrap();
    let id = memory.add(Entry::new("the one entry", "0").borrowed()).unwrap();
    let version = &AtomicUsize::new(0);
    let done = &AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(move || {
            let others: Vec<EntryId> = (0..1500).collect();
            for at in 1..4000 {
                memory.replace(id, Entry::new("the one entry", at.to_string()).borrowed()).unwrap();
                version.store(at, Ordering::SeqCst);
                if at % 500 == 0 {
                    // Most of a segment goes, and another comes.
                    let part = &others[(at / 500 - 1) * 200..at / 500 * 200];
                    memory.remove(part).unwrap();
                    memory.publish(prepared(&others_from(at))).unwrap();
                }
            }
            done.store(true, Ordering::SeqCst);
        });
        for _ in 0..2 {
            scope.spawn(move || {
                let mut last = 0;
                while !done.load(Ordering::SeqCst) {
                    let least = version.load(Ordering::SeqCst);
                    let options = options(10, 0.9, Filter::default());
                    let found = memory.search("the one entry", &options, Control::NONE).unwrap();
                    let seen: Vec<_> = found.entries().map(|(hit, entry)| (hit.id, entry.target)).collect();
                    assert_eq!(seen.len(), 1, "the entry once: {seen:?}");
                    assert_eq!(seen[0].0, id);
                    let seen: usize = seen[0].1.parse().unwrap();
                    assert!(least.max(last) <= seen, "version {seen} after {least} and {last}");
                    assert!(seen <= version.load(Ordering::SeqCst) + 1, "version {seen} is yet to come");
                    last = seen;
                    assert!(memory.snapshot().get(id).is_some());
                }
            });
        }
    });
    memory.settle();
    memory.internal_validate();

    fn others_from(at: usize) -> Vec<Entry> {
        (0..600).map(|other| Entry::new(format!("another {other}"), at.to_string())).collect()
    }
}

#[test]
fn several_threads_settle_and_the_work_is_done() {
    let memory = &Memory::new();
    thread::scope(|scope| {
        for part in 0..3 {
            scope.spawn(move || {
                for at in 0..3000 {
                    memory.add(Entry::new(format!("part {part} entry {at}"), "target").borrowed()).unwrap();
                }
                memory.settle();
            });
        }
    });
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| memory.settle());
        }
    });
    let stats = memory.stats();
    assert_eq!(stats.entries, 9000);
    assert!(stats.live <= 512, "full live parts became segments: {stats:?}");
    // Fewer than four segments of each of five tiers.
    assert!(stats.segments <= 15, "small segments were merged: {stats:?}");
    memory.internal_validate();
}

#[test]
fn a_memory_may_go_while_its_threads_work() {
    let mut kept = Vec::new();
    for round in 0..20 {
        let memory = Memory::new();
        let batch: Vec<Entry> =
            (0..600 + 100 * round).map(|at| Entry::new(format!("{at} entry"), "target")).collect();
        for _ in 0..5 {
            memory.publish(prepared(&batch)).unwrap();
        }
        for at in 0..600 {
            memory.add(Entry::new(format!("single {at}"), "target").borrowed()).unwrap();
        }
        let found = memory.search("7 entry", &options(5, 0.5, Filter::default()), Control::NONE).unwrap();
        kept.push((memory.snapshot(), found, 5 * batch.len() + 600));
    }
    // What was taken from a memory outlives it.
    for (snapshot, found, len) in kept {
        assert_eq!((snapshot.len(), snapshot.entries(0).count()), (len, len));
        assert!(found.entries().all(|(hit, entry)| hit.score < 1.0 || entry.source == "7 entry"));
        assert_eq!(found.entries().len(), 5);
    }
}
