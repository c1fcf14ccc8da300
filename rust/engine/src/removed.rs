//! Which entries of a segment were removed.

use std::sync::Arc;

/// Entries to a chunk.
const CHUNK: usize = 4096;

/// A set of places, cheap to copy and to add to: only the chunk that changes is copied.
#[derive(Clone, Default)]
pub(crate) struct Removed {
    chunks: Vec<Option<Arc<[u64; CHUNK / 64]>>>,
    len: usize,
}

impl Removed {
    /// Whether a place is in the set.
    #[inline]
    pub(crate) fn contains(&self, at: u32) -> bool {
        let at = at as usize;
        match self.chunks.get(at / CHUNK) {
            Some(Some(chunk)) => chunk[at % CHUNK / 64] >> (at % 64) & 1 == 1,
            _ => false,
        }
    }

    /// Adds a place; says whether it was not in the set before.
    pub(crate) fn insert(&mut self, at: u32) -> bool {
        let new = !self.contains(at);
        let at = at as usize;
        if new {
            if self.chunks.len() <= at / CHUNK {
                self.chunks.resize(at / CHUNK + 1, None);
            }
            let chunk = self.chunks[at / CHUNK].get_or_insert_with(|| Arc::new([0; CHUNK / 64]));
            Arc::make_mut(chunk)[at % CHUNK / 64] |= 1 << (at % 64);
            self.len += 1;
        }
        new
    }

    /// The places in the set, ascending.
    pub(crate) fn places(&self) -> Vec<u32> {
        (0..(self.chunks.len() * CHUNK) as u32).filter(|at| self.contains(*at)).collect()
    }

    /// How many places are in the set.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.chunks.capacity() * size_of::<Option<Arc<()>>>()
            + self.chunks.iter().flatten().count() * (CHUNK / 8)
    }
}
