//! One block of rows on its own, for the benchmarks.

use super::{Candidate, Counters, Scan, scan, versions};
use crate::hash;
use crate::postings::{BLOCK, CHUNKS, Line};

/// A block with made-up lists, counted in the ways that a search counts.
#[doc(hidden)]
pub struct Block {
    bitmaps: Vec<[Line; CHUNKS]>,
    lists: Vec<Vec<u16>>,
    needed: [u8; CHUNKS],
    counters: Counters,
    candidates: Vec<Candidate>,
}

impl Block {
    /// A block with so many bitmaps, each of an eighth of all rows, and so many lists of `len` rows.
    pub fn new(bitmaps: usize, lists: usize, len: usize) -> Block {
        let mut state = 1;
        let mut random = || {
            state += 1;
            hash::bytes(&u64::to_le_bytes(state))
        };
        let mut line = || Line(std::array::from_fn(|_| random() & random() & random()));
        let bitmaps: Vec<[Line; CHUNKS]> = (0..bitmaps).map(|_| std::array::from_fn(|_| line())).collect();
        let lists = (0..lists)
            .map(|_| {
                let mut offsets: Vec<u16> = (0..len).map(|_| (random() % BLOCK as u64) as u16).collect();
                offsets.sort_unstable();
                offsets
            })
            .collect();
        // Few rows reach twice the average and four more.
        let needed = [(bitmaps.len() / 4 + 4).min(255) as u8; CHUNKS];
        Block { bitmaps, lists, needed, counters: Counters::default(), candidates: Vec::new() }
    }

    /// The names of the versions that this CPU can run, slowest first.
    pub fn versions() -> Vec<&'static str> {
        versions().into_iter().map(|(name, _)| name).collect()
    }

    /// Counts the bitmaps with one version; says how many rows reach what they need.
    pub fn scan_with(&mut self, version: &str) -> usize {
        let dense: Vec<&[Line; CHUNKS]> = self.bitmaps.iter().collect();
        let (_, scan) =
            versions().into_iter().find(|(name, _)| *name == version).expect("a name of `versions`");
        self.candidates.clear();
        scan(
            &mut self.counters,
            &Scan { dense: &dense, needed: &self.needed, mask: None },
            &mut self.candidates,
        );
        self.candidates.len()
    }

    /// Adds the lists to the counters and empties these; says how many rows reach what they need.
    pub fn add(&mut self) -> usize {
        self.lists.iter().for_each(|offsets| self.counters.add(offsets));
        self.candidates.clear();
        scan(
            &mut self.counters,
            &Scan { dense: &[], needed: &self.needed, mask: None },
            &mut self.candidates,
        );
        self.candidates.len()
    }
}
