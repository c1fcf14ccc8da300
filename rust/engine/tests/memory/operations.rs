//! Random sequences of operations, and random searches in between.

use diglot_engine::{Batch, Control, EntryId, Error, Memory};
use proptest::prelude::*;

use crate::image;
use crate::model::{Entry, Model, prepared};
use crate::texts::{self, Random};

/// What is done to a memory. The numbers choose among what is there or seed what is made up.
#[derive(Clone, Debug)]
enum Operation {
    Add {
        seed: u64,
    },
    AddBatch {
        seed: u64,
        len: usize,
    },
    Remove {
        place: usize,
    },
    RemoveMany {
        seed: u64,
        one_in: usize,
    },
    RemoveUnknown {
        place: usize,
    },
    Replace {
        place: usize,
        seed: u64,
    },
    Apply {
        seed: u64,
        one_in: usize,
        len: usize,
    },
    Settle,
    /// Saves the memory to a file and goes on with what that file holds.
    Reopen {
        seed: u64,
    },
    Search {
        seed: u64,
    },
}

fn operation() -> impl Strategy<Value = Operation> {
    let seed = any::<u64>;
    let len = || prop::sample::select(vec![0, 1, 2, 63, 64, 65, 255, 256, 511, 512, 513, 700, 1100]);
    prop_oneof![
        6 => seed().prop_map(|seed| Operation::Add { seed }),
        3 => (seed(), len()).prop_map(|(seed, len)| Operation::AddBatch { seed, len }),
        3 => any::<usize>().prop_map(|place| Operation::Remove { place }),
        1 => (seed(), 1..5usize).prop_map(|(seed, one_in)| Operation::RemoveMany { seed, one_in }),
        1 => any::<usize>().prop_map(|place| Operation::RemoveUnknown { place }),
        3 => (any::<usize>(), seed()).prop_map(|(place, seed)| Operation::Replace { place, seed }),
        3 => (seed(), 1..9usize, len())
            .prop_map(|(seed, one_in, len)| Operation::Apply { seed, one_in, len }),
        1 => Just(Operation::Settle),
        1 => seed().prop_map(|seed| Operation::Reopen { seed }),
        3 => seed().prop_map(|seed| Operation::Search { seed }),
    ]
}

struct Pair {
    memory: Memory,
    model: Model,
    /// Some of the sources so far, for others to be like them.
    sources: Vec<String>,
}

impl Pair {
    fn source(&mut self, random: &mut Random) -> String {
        let earlier: Vec<&str> = self.sources.iter().map(String::as_str).collect();
        let mut source = texts::text(random, &earlier);
        if random.once_in(200) {
            let chars = random.pick(&[300, 1000, 20_000]);
            source = texts::long(random, chars);
        }
        if self.sources.len() < 200 {
            self.sources.push(source.clone());
        } else {
            let place = random.below(self.sources.len());
            self.sources[place].clone_from(&source);
        }
        source
    }

    fn entry(&mut self, random: &mut Random) -> Entry {
        let source = self.source(random);
        texts::entry(random, source)
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Add { seed } => {
                let entry = self.entry(&mut Random::new(seed));
                assert_eq!(self.memory.add(entry.borrowed()).unwrap(), self.model.add(entry));
            }
            Operation::AddBatch { seed, len } => {
                let random = &mut Random::new(seed);
                let entries: Vec<Entry> = (0..len).map(|_| self.entry(random)).collect();
                let ids = self.memory.publish(prepared(&entries)).unwrap();
                let expected: Vec<u64> = entries.into_iter().map(|entry| self.model.add(entry)).collect();
                assert!(ids.eq(expected), "ids are consecutive");
            }
            Operation::Remove { place } => {
                if let Some(id) = self.model.id_at(place) {
                    self.memory.remove(&[id]).unwrap();
                    self.model.remove(id);
                }
            }
            Operation::RemoveMany { seed, one_in } => {
                let random = &mut Random::new(seed);
                let ids: Vec<u64> = self.model.ids().into_iter().filter(|_| random.once_in(one_in)).collect();
                self.memory.remove(&ids).unwrap();
                ids.into_iter().for_each(|id| self.model.remove(id));
            }
            Operation::RemoveUnknown { place } => {
                let present = self.model.id_at(place);
                let ids: Vec<u64> = present.into_iter().chain([u64::MAX]).collect();
                assert_eq!(self.memory.remove(&ids), Err(Error::UnknownEntry { id: u64::MAX }));
                if let Some(id) = present {
                    assert_eq!(self.memory.remove(&[id, id]), Err(Error::UnknownEntry { id }));
                }
                let other = Entry::new("other", "other");
                assert_eq!(
                    self.memory.replace(u64::MAX, other.borrowed()),
                    Err(Error::UnknownEntry { id: u64::MAX })
                );
            }
            Operation::Replace { place, seed } => {
                if let Some(id) = self.model.id_at(place) {
                    let entry = self.entry(&mut Random::new(seed));
                    self.memory.replace(id, entry.borrowed()).unwrap();
                    self.model.replace(id, entry);
                }
            }
            Operation::Apply { seed, one_in, len } => self.apply_change(&mut Random::new(seed), one_in, len),
            Operation::Settle => self.memory.settle(),
            Operation::Reopen { seed } => {
                self.memory = image::reopened(&self.memory, &seed.to_ne_bytes());
                self.model.check_entries(&self.memory.snapshot());
            }
            Operation::Search { seed } => self.search(&mut Random::new(seed), 3),
        }
        assert_eq!(self.memory.len(), self.model.len());
    }

    /// Removes one entry in so many, puts another in the place of half of them, and adds some, with gaps between ids.
    fn apply_change(&mut self, random: &mut Random, one_in: usize, len: usize) {
        let removed: Vec<EntryId> = self.model.ids().into_iter().filter(|_| random.once_in(one_in)).collect();
        let mut ids: Vec<EntryId> = removed.iter().copied().filter(|_| random.once_in(2)).collect();
        let mut next = self.memory.snapshot().next_id();
        for _ in 0..len {
            next += if random.once_in(4) { 1 + random.below(50) as EntryId } else { 0 };
            ids.push(next);
            next += 1;
        }
        let first = ids.first().map_or(0, |id| *id / 2);
        let mut batch = Batch::new();
        let entries: Vec<Entry> = ids.iter().map(|_| self.entry(random)).collect();
        for (id, entry) in ids.iter().zip(&entries) {
            batch.push_at(id - first, entry.borrowed()).unwrap();
        }
        let all = ids.iter().zip(&entries).map(|(id, entry)| (id - first, entry.borrowed()));
        assert!(batch.entries().map(|(number, entry, _)| (number, entry)).eq(all));
        let seen = self.memory.snapshot();
        let prepared = batch.prepare(Control::NONE).unwrap();
        assert_eq!(self.memory.apply(&seen, &removed, first, prepared), Ok(true));
        for id in removed {
            if !ids.contains(&id) {
                self.model.remove(id);
            }
        }
        ids.into_iter().zip(entries).for_each(|(id, entry)| self.model.put(id, entry));
    }

    /// A random query with some random options.
    fn search(&mut self, random: &mut Random, times: usize) {
        let query = match self.model.id_at(random.next() as usize) {
            Some(id) if random.once_in(3) => self.model.source(id).to_owned(),
            Some(id) if random.once_in(2) => texts::edited(random, self.model.source(id)),
            _ => texts::text(random, &[]),
        };
        let scores = self.model.scores(&query);
        for _ in 0..times {
            self.model.check(&self.memory, &scores, &texts::options(random, self.model.len()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_time: 60_000, ..ProptestConfig::with_cases(
        // The variable is heeded by `default` alone.
        ProptestConfig::default().cases / 4
    ) })]

    #[test]
    fn any_sequence_of_operations_leaves_what_the_model_says(
        operations in prop::collection::vec(operation(), 1..60),
        seed in any::<u64>(),
    ) {
        let mut pair = Pair { memory: Memory::new(), model: Model::default(), sources: Vec::new() };
        operations.into_iter().for_each(|operation| pair.apply(operation));
        let random = &mut Random::new(seed);
        pair.search(random, 6);
        pair.memory.settle();
        for _ in 0..4 {
            pair.search(random, 6);
        }
        pair.model.check_all(&pair.memory);
    }
}
