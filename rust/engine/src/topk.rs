//! The best hits so far.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::entry::EntryId;

/// A hit and where its entry is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranked {
    pub(crate) score: f64,
    pub(crate) id: EntryId,
    /// Which part of the snapshot holds the entry.
    pub(crate) part: u32,
    /// Its place there.
    pub(crate) entry: u32,
}

/// Better hits are less: score descending, then id ascending.
impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

/// The best `max_hits` of what was offered.
pub(crate) struct TopK {
    heap: BinaryHeap<Ranked>,
    max_hits: usize,
    min_score: f64,
}

impl TopK {
    pub(crate) fn new(max_hits: usize, min_score: f64) -> TopK {
        TopK { heap: BinaryHeap::with_capacity(max_hits.min(1024)), max_hits, min_score }
    }

    /// The score that a new hit must reach. At the floor itself, only a lower id than that of the worst hit will do.
    #[inline]
    pub(crate) fn floor(&self) -> f64 {
        match self.heap.peek() {
            Some(worst) if self.is_full() => worst.score,
            _ => self.min_score,
        }
    }

    /// Whether further hits only replace others.
    pub(crate) fn is_full(&self) -> bool {
        self.heap.len() >= self.max_hits
    }

    /// The id that a new hit at the floor must be below: that of the worst hit, if all places are taken.
    pub(crate) fn id_limit(&self) -> EntryId {
        self.heap.peek().filter(|_| self.is_full()).map_or(EntryId::MAX, |worst| worst.id)
    }

    /// Whether a hit with this score and id would be taken.
    #[inline]
    pub(crate) fn would_take(&self, score: f64, id: EntryId) -> bool {
        score >= self.min_score
            && match self.heap.peek() {
                Some(worst) if self.is_full() => {
                    score > worst.score || (score == worst.score && id < worst.id)
                }
                _ => true,
            }
    }

    /// Takes a hit if it is good enough; says whether it was.
    pub(crate) fn offer(&mut self, hit: Ranked) -> bool {
        if !self.would_take(hit.score, hit.id) {
            return false;
        }
        if self.is_full() {
            self.heap.pop();
        }
        self.heap.push(hit);
        true
    }

    /// The hits, best first.
    pub(crate) fn into_sorted(self) -> Vec<Ranked> {
        self.heap.into_sorted_vec()
    }

    /// The hits in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Ranked> {
        self.heap.iter()
    }
}
