//! Elements and features of texts.
//!
//! An element is a token or a trigram, as a 64-bit number: exact for trigrams, a
//! hash for tokens. The i-th copy of an element in a text is a feature of its own,
//! so that the multisets which the score compares become sets.

use crate::hash;
use crate::text;

/// Which multiset of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Token,
    Trigram,
}

/// Marks the missing code points of a text of fewer than three.
const NO_CHAR: u64 = 0x1f_ffff;

/// Calls `visit` with every trigram of a normalized text, packed as three times 21 bits.
#[inline]
pub(crate) fn for_each_trigram(normalized: &str, mut visit: impl FnMut(u64)) {
    const KEEP_TWO: u64 = (1 << 42) - 1;
    let mut packed = 0u64;
    let mut length = 0usize;
    if normalized.is_ascii() {
        let bytes = normalized.as_bytes();
        length = bytes.len();
        if let [first, second, rest @ ..] = bytes {
            packed = u64::from(*first) << 21 | u64::from(*second);
            for byte in rest {
                packed = (packed & KEEP_TWO) << 21 | u64::from(*byte);
                visit(packed);
            }
        } else if let [only] = bytes {
            packed = u64::from(*only);
        }
    } else {
        for c in normalized.chars() {
            packed = (packed & KEEP_TWO) << 21 | u64::from(u32::from(c));
            length += 1;
            if length >= 3 {
                visit(packed);
            }
        }
    }
    match length {
        1 => visit(packed << 42 | NO_CHAR << 21 | NO_CHAR),
        2 => visit(packed << 21 | NO_CHAR),
        _ => {}
    }
}

/// How many trigrams a normalized text has.
pub(crate) fn trigram_count(normalized: &str) -> usize {
    match normalized.chars().count() {
        0 => 0,
        chars => chars.saturating_sub(2).max(1),
    }
}

/// A counted set of elements, quick to refill. Its size follows the number of distinct elements, not the length of a
/// text.
#[derive(Default)]
pub(crate) struct Bag {
    slots: Vec<Slot>,
    /// How many slots are in use in this epoch.
    used: usize,
    epoch: u32,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    element: u64,
    epoch: u32,
    copies: u32,
}

/// The first of `slots` (a power of two of them) to look for an element in.
#[inline]
fn home(element: u64, slots: usize) -> usize {
    hash::fold(element, 0x9e37_79b9_7f4a_7c15) as usize & (slots - 1)
}

/// The fewest slots of a table.
const FEWEST_SLOTS: usize = 64;

impl Bag {
    /// Empties the bag.
    pub(crate) fn clear(&mut self) {
        self.used = 0;
        match self.epoch.checked_add(1) {
            Some(epoch) if !self.slots.is_empty() => self.epoch = epoch,
            _ => {
                self.slots = vec![Slot::default(); self.slots.len().max(FEWEST_SLOTS)];
                self.epoch = 1;
            }
        }
    }

    /// Adds a copy of an element; returns how many there were before.
    #[inline]
    pub(crate) fn add(&mut self, element: u64) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = home(element, self.slots.len());
        loop {
            let slot = &mut self.slots[at];
            if slot.epoch != self.epoch {
                *slot = Slot { element, epoch: self.epoch, copies: 1 };
                self.used += 1;
                if self.used * 2 > self.slots.len() {
                    self.grow();
                }
                return 0;
            }
            if slot.element == element {
                slot.copies += 1;
                return slot.copies - 1;
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = self.slots.len() * 2;
        for slot in std::mem::replace(&mut self.slots, vec![Slot::default(); slots]) {
            if slot.epoch == self.epoch {
                let mut at = home(slot.element, slots);
                while self.slots[at].epoch == self.epoch {
                    at = (at + 1) & (slots - 1);
                }
                self.slots[at] = slot;
            }
        }
    }
}

/// Turns texts into index keys; keeps its working memory between texts.
#[derive(Default)]
pub(crate) struct Features {
    bag: Bag,
}

impl Features {
    /// Appends the keys of a normalized text's features of one kind.
    pub(crate) fn keys(&mut self, kind: Kind, normalized: &str, keys: &mut Vec<u32>) {
        self.bag.clear();
        let bag = &mut self.bag;
        let mut push = |element| keys.push(hash::feature(element, bag.add(element)));
        match kind {
            Kind::Trigram => for_each_trigram(normalized, push),
            Kind::Token => text::tokens(normalized).for_each(|token| push(hash::bytes(token.as_bytes()))),
        }
    }
}

/// The multiset of one text's elements, for counting how many another text shares.
#[derive(Default)]
pub(crate) struct Elements<'a> {
    slots: Vec<Counted<'a>>,
    /// How many slots are in use.
    used: usize,
    round: u32,
    total: usize,
}

#[derive(Clone, Copy, Default)]
struct Counted<'a> {
    element: u64,
    /// Copies in the text; 0 marks a free slot.
    copies: u32,
    /// Copies met in the other text, valid for the round below.
    met: u32,
    round: u32,
    token: &'a str,
}

impl<'a> Elements<'a> {
    /// The trigrams of a normalized text.
    pub(crate) fn trigrams(normalized: &str) -> Elements<'static> {
        let mut elements = Elements::new();
        for_each_trigram(normalized, |element| elements.insert(element, ""));
        elements
    }

    /// The tokens of a normalized text.
    pub(crate) fn tokens(normalized: &'a str) -> Elements<'a> {
        let mut elements = Elements::new();
        for token in text::tokens(normalized) {
            elements.insert(hash::bytes(token.as_bytes()), token);
        }
        elements
    }

    fn new() -> Self {
        Elements { slots: vec![Counted::default(); FEWEST_SLOTS], used: 0, round: 0, total: 0 }
    }

    fn insert(&mut self, element: u64, token: &'a str) {
        self.total += 1;
        match self.slot(element, token) {
            Ok(at) => self.slots[at].copies += 1,
            Err(at) => {
                self.slots[at] = Counted { element, copies: 1, token, ..Counted::default() };
                self.used += 1;
                if self.used * 2 > self.slots.len() {
                    let slots = self.slots.len() * 2;
                    let old = std::mem::replace(&mut self.slots, vec![Counted::default(); slots]);
                    for slot in old.into_iter().filter(|slot| slot.copies > 0) {
                        let free = self.slot(slot.element, slot.token).unwrap_or_else(|free| free);
                        self.slots[free] = slot;
                    }
                }
            }
        }
    }

    /// The slot of an element, or the free one where it would go.
    #[inline]
    fn slot(&self, element: u64, token: &str) -> Result<usize, usize> {
        let mask = self.slots.len() - 1;
        let mut at = home(element, self.slots.len());
        loop {
            let slot = &self.slots[at];
            if slot.copies == 0 {
                return Err(at);
            }
            if slot.element == element && slot.token == token {
                return Ok(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// How many elements there are, copies included.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    #[inline]
    fn meet(&mut self, element: u64, token: &str) -> usize {
        let Ok(at) = self.slot(element, token) else { return 0 };
        let slot = &mut self.slots[at];
        if slot.round != self.round {
            slot.round = self.round;
            slot.met = 0;
        }
        slot.met += 1;
        usize::from(slot.met <= slot.copies)
    }

    /// How many trigrams a normalized text shares with this multiset.
    pub(crate) fn shared_trigrams(&mut self, normalized: &str) -> usize {
        self.round += 1;
        let mut shared = 0;
        for_each_trigram(normalized, |element| shared += self.meet(element, ""));
        shared
    }

    /// How many tokens a normalized text shares with this multiset, and how many it has.
    pub(crate) fn shared_tokens(&mut self, normalized: &str) -> (usize, usize) {
        self.round += 1;
        let (mut shared, mut total) = (0, 0);
        for token in text::tokens(normalized) {
            shared += self.meet(hash::bytes(token.as_bytes()), token);
            total += 1;
        }
        (shared, total)
    }
}

/// Tells quickly how many trigrams two texts share at the most: a table of which trigrams one of them has, by hash.
pub(crate) struct Presence {
    table: Vec<u8>,
    shift: u32,
}

impl Presence {
    /// The trigrams of a normalized text.
    pub(crate) fn new(normalized: &str) -> Presence {
        // At 16 places a trigram, few others are taken for one of them; 64 KiB are as much as stays in fast caches.
        let places = (trigram_count(normalized) * 16).next_power_of_two().clamp(1 << 10, 1 << 16);
        let mut presence = Presence { table: vec![0; places], shift: 64 - places.trailing_zeros() };
        for_each_trigram(normalized, |trigram| {
            let place = presence.place(trigram);
            presence.table[place] = 1;
        });
        presence
    }

    #[inline]
    fn place(&self, trigram: u64) -> usize {
        (trigram.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// How many of another text's trigrams may be among these: no fewer than are shared.
    pub(crate) fn most_shared(&self, normalized: &str) -> usize {
        let mut shared = 0;
        for_each_trigram(normalized, |trigram| shared += usize::from(self.table[self.place(trigram)]));
        shared
    }
}

/// The Dice coefficient 2·|A∩B| / (|A|+|B|), 0 where both are empty.
#[inline]
pub(crate) fn dice(shared: usize, total: usize) -> f64 {
    if shared == 0 { 0.0 } else { 2.0 * shared as f64 / total as f64 }
}

/// The smallest overlap, at least 1, whose [`dice`] reaches `floor`.
#[inline]
pub(crate) fn needed_overlap(floor: f64, total: usize) -> usize {
    let mut needed = ((floor * total as f64 * 0.5).ceil() as usize).max(1);
    // The product above rounds; the comparison that counts is that of the quotients.
    while needed > 1 && dice(needed - 1, total) >= floor {
        needed -= 1;
    }
    while dice(needed, total) < floor {
        needed += 1;
    }
    needed
}

/// The smallest size, at least 1, with which a text can reach `floor` against a query of size `own`.
#[inline]
pub(crate) fn smallest_size(floor: f64, own: usize) -> usize {
    let best = |size: usize| dice(size.min(own), size + own);
    let mut smallest = ((floor * own as f64 / (2.0 - floor)).ceil() as usize).clamp(1, own);
    while smallest > 1 && best(smallest - 1) >= floor {
        smallest -= 1;
    }
    while smallest < own && best(smallest) < floor {
        smallest += 1;
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_on_overlap_and_size_are_exact() {
        for own in (1..40).chain([63, 64, 255, 256, 999]) {
            for size in (1..40).chain([63, 64, 255, 256, 999]) {
                let total = own + size;
                // Floors at, just above and just below every score there is, and some others.
                let scores = (1..=own.min(size)).map(|shared| dice(shared, total));
                for floor in
                    scores.flat_map(|score| [score.next_down(), score, score.next_up()]).chain([1e-9, 0.2])
                {
                    if floor > 1.0 {
                        continue;
                    }
                    let least = (1..=total).find(|shared| dice(*shared, total) >= floor).unwrap();
                    assert_eq!(needed_overlap(floor, total), least, "{floor} of {total}");
                    let may = dice(own.min(size), total) >= floor;
                    assert!(!may || smallest_size(floor, own) <= size, "{floor} for {own} and {size}");
                    assert!(
                        may || size > own || smallest_size(floor, own) > size,
                        "{floor} for {own} and {size}"
                    );
                }
            }
        }
        assert_eq!(needed_overlap(0.0, 10), 1);
    }
}
