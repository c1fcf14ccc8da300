//! The part of a memory that takes single adds: searched one by one, until it is full and becomes a segment.

use std::sync::OnceLock;

use crate::entry::{EntryId, EntryRef};
use crate::features::{for_each_trigram, trigram_count};
use crate::hash;
use crate::text;

/// How many entries a live part holds.
pub(crate) const LIVE: usize = 512;

/// A set of a text's elements, hashed to few bits: what one signature has and the other lacks is surely not shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Signature<WORDS> {
    fn new() -> Self {
        Signature([0; WORDS])
    }

    fn insert(&mut self, element: u64) {
        let bit = hash::fold(element, 0xd6e8_feb8_6659_fd93) as usize % (WORDS * 64);
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    /// A number of distinct elements that `self` has and `other` has not.
    #[inline]
    fn missing_from(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).map(|(own, other)| (own & !other).count_ones() as usize).sum()
    }
}

/// What is known of a text before it is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    pub(crate) trigrams: usize,
    pub(crate) tokens: usize,
    trigram_signature: Signature<8>,
    token_signature: Signature<2>,
}

impl Profile {
    pub(crate) fn of(normalized: &str) -> Profile {
        let mut trigram_signature = Signature::new();
        for_each_trigram(normalized, |trigram| trigram_signature.insert(trigram));
        let mut token_signature = Signature::new();
        let mut tokens = 0;
        for token in text::tokens(normalized) {
            token_signature.insert(hash::bytes(token.as_bytes()));
            tokens += 1;
        }
        Profile { trigrams: trigram_count(normalized), tokens, trigram_signature, token_signature }
    }

    /// An upper bound of the trigrams that two texts share.
    #[inline]
    pub(crate) fn most_trigrams(&self, other: &Profile) -> usize {
        let (own, others) = (&self.trigram_signature, &other.trigram_signature);
        (self.trigrams - own.missing_from(others)).min(other.trigrams - others.missing_from(own))
    }

    /// An upper bound of the tokens that two texts share.
    #[inline]
    pub(crate) fn most_tokens(&self, other: &Profile) -> usize {
        let (own, others) = (&self.token_signature, &other.token_signature);
        (self.tokens - own.missing_from(others)).min(other.tokens - others.missing_from(own))
    }
}

/// An entry on its own.
pub(crate) struct LiveEntry {
    pub(crate) id: EntryId,
    pub(crate) normalized: Box<str>,
    pub(crate) profile: Profile,
    /// All texts of the entry end to end.
    texts: Box<str>,
    /// Where each text ends; the optional ones are absent where `present` lacks their bit.
    ends: [u32; EntryRef::FIELDS.len()],
    present: u16,
}

impl LiveEntry {
    pub(crate) fn new(id: EntryId, entry: &EntryRef<'_>, normalized: &str) -> LiveEntry {
        let fields = entry.texts();
        let mut texts = String::with_capacity(fields.iter().flatten().map(|text| text.len()).sum());
        let mut ends = [0; EntryRef::FIELDS.len()];
        let mut present = 0;
        for (at, field) in fields.iter().enumerate() {
            texts.push_str(field.unwrap_or(""));
            ends[at] =
                u32::try_from(texts.len()).expect("ten texts of bounded length have fewer than 2^32 bytes");
            present |= u16::from(field.is_some()) << at;
        }
        LiveEntry {
            id,
            normalized: normalized.into(),
            profile: Profile::of(normalized),
            texts: texts.into_boxed_str(),
            ends,
            present,
        }
    }

    pub(crate) fn entry(&self) -> EntryRef<'_> {
        let mut start = 0;
        EntryRef::of_texts(std::array::from_fn(|at| {
            let end = self.ends[at] as usize;
            let text = &self.texts[start..end];
            start = end;
            (self.present >> at & 1 == 1).then_some(text)
        }))
    }

    fn bytes(&self) -> usize {
        size_of::<LiveEntry>() + self.normalized.len() + self.texts.len()
    }
}

/// Room for [`LIVE`] entries, filled in order by one writer at a time. Readers look only at as many as the snapshot
/// they hold has, so they need no lock.
pub(crate) struct Live {
    slots: Box<[OnceLock<LiveEntry>]>,
}

impl Live {
    pub(crate) fn new() -> Live {
        Live { slots: (0..LIVE).map(|_| OnceLock::new()).collect() }
    }

    /// Fills a slot that is still free.
    pub(crate) fn set(&self, at: usize, entry: LiveEntry) {
        let free = self.slots[at].set(entry).is_ok();
        assert!(free, "slots are filled in order, under the writer's lock");
    }

    /// The entry in a slot that was filled before the reader's snapshot was made.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> &LiveEntry {
        self.slots[at].get().expect("a snapshot counts filled slots only")
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.len() * size_of::<OnceLock<LiveEntry>>()
            + self
                .slots
                .iter()
                .filter_map(OnceLock::get)
                .map(|entry| entry.bytes() - size_of::<LiveEntry>())
                .sum::<usize>()
    }
}
