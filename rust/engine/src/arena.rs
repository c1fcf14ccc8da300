//! Many strings in one allocation.

use crate::hash;
use crate::image::{self, Reader, Writer, check};

/// Strings end to end, numbered from 0; at most 4 GiB in all.
#[derive(Default)]
pub(crate) struct Arena {
    text: String,
    ends: Vec<u32>,
}

impl Arena {
    /// The most bytes an arena can hold.
    pub(crate) const MOST_BYTES: usize = u32::MAX as usize;

    /// Appends a string; returns its number. The caller keeps the sum of lengths within [`Arena::MOST_BYTES`].
    pub(crate) fn push(&mut self, text: &str) -> u32 {
        self.text.push_str(text);
        self.ends.push(u32::try_from(self.text.len()).expect("the owner of an arena bounds its bytes"));
        (self.ends.len() - 1) as u32
    }

    /// The string with a number.
    #[inline]
    pub(crate) fn get(&self, at: u32) -> &str {
        let at = at as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[start as usize..self.ends[at] as usize]
    }

    /// Where the text of a string starts among all, end to end.
    pub(crate) fn start(&self, at: u32) -> usize {
        if at == 0 { 0 } else { self.ends[at as usize - 1] as usize }
    }

    /// The string that has the byte at this place.
    pub(crate) fn at_byte(&self, byte: usize) -> u32 {
        self.ends.partition_point(|end| *end as usize <= byte) as u32
    }

    /// All strings, end to end.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Asks for the place of a string ahead of its use.
    #[inline]
    pub(crate) fn prefetch_place(&self, at: u32) {
        crate::postings::prefetch(&self.ends[at as usize]);
    }

    /// Asks for a string ahead of its use.
    #[inline]
    pub(crate) fn prefetch_text(&self, at: u32) {
        let bytes = self.get(at).as_bytes();
        for line in bytes.chunks(64).take(4) {
            crate::postings::prefetch(&line[0]);
        }
    }

    /// How many strings there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Bytes of text.
    pub(crate) fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Gives back room that is not used.
    pub(crate) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    pub(crate) fn write(&self, to: &mut Writer<'_>) -> image::Result<()> {
        to.column(self.text.as_bytes())?;
        to.column(&self.ends)
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> image::Result<Arena> {
        let text = from.text()?;
        let ends: Vec<u32> = from.column()?;
        let last = ends.last().map_or(0, |end| *end as usize);
        let ends_are = ends.is_sorted() && ends.iter().all(|end| text.is_char_boundary(*end as usize));
        check(ends_are && last == text.len(), "a text does not end where it says")?;
        Ok(Arena { text, ends })
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<u32>()
    }
}

/// Finds numbers by the hash of what they stand for: open addressing, half full at most.
#[derive(Default)]
pub(crate) struct HashIndex {
    /// A number plus one; 0 is a free slot.
    slots: Vec<u32>,
    len: usize,
}

impl HashIndex {
    /// An index with room for `len` numbers.
    pub(crate) fn with_room(len: usize) -> HashIndex {
        HashIndex { slots: vec![0; (len * 2).next_power_of_two().max(16)], len: 0 }
    }

    /// The number with this hash for which `same` holds.
    #[inline]
    pub(crate) fn find(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                0 => return None,
                slot if same(slot - 1) => return Some(slot - 1),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Adds a number that is not there yet; `hash_of` gives the hash of those that are.
    pub(crate) fn insert(&mut self, hash: u64, number: u32, hash_of: impl Fn(u32) -> u64) {
        if (self.len + 1) * 2 > self.slots.len() {
            let slots = (self.slots.len() * 2).max(16);
            for slot in std::mem::replace(&mut self.slots, vec![0; slots]) {
                if slot != 0 {
                    self.place(hash_of(slot - 1), slot);
                }
            }
        }
        self.len += 1;
        self.place(hash, number + 1);
    }

    fn place(&mut self, hash: u64, slot: u32) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }

    pub(crate) fn write(&self, to: &mut Writer<'_>) -> image::Result<()> {
        to.column(&self.slots)
    }

    /// The index of so many numbers.
    pub(crate) fn read(from: &mut Reader<'_>, numbers: usize) -> image::Result<HashIndex> {
        let slots: Vec<u32> = from.column()?;
        let len = slots.iter().filter(|slot| **slot != 0).count();
        // A free slot is where a search ends.
        let has_room = len < slots.len() && slots.len().is_power_of_two() || slots.is_empty();
        let leads = slots.iter().all(|slot| *slot as usize <= numbers);
        check(has_room && leads, "a hash table leads nowhere")?;
        Ok(HashIndex { slots, len })
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
    }
}

/// Distinct strings, numbered in order of first appearance.
#[derive(Default)]
pub(crate) struct Interner {
    strings: Arena,
    index: HashIndex,
}

impl Interner {
    /// The number of a string, new if need be.
    pub(crate) fn intern(&mut self, text: &str) -> u32 {
        debug_assert!(self.index.len == self.strings.len(), "it is not frozen");
        let hash = hash::bytes(text.as_bytes());
        if let Some(number) = self.index.find(hash, |number| self.strings.get(number) == text) {
            return number;
        }
        let number = self.strings.push(text);
        self.index.insert(hash, number, |number| hash::bytes(self.strings.get(number).as_bytes()));
        number
    }

    /// The number of a string.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.index.find(hash::bytes(text.as_bytes()), |number| self.strings.get(number) == text)
    }

    /// The string with a number.
    pub(crate) fn get(&self, number: u32) -> &str {
        self.strings.get(number)
    }

    /// How many strings there are.
    pub(crate) fn len(&self) -> usize {
        self.strings.len()
    }

    /// Bytes of text.
    pub(crate) fn text_len(&self) -> usize {
        self.strings.text_len()
    }

    /// Gives back room that is not used.
    pub(crate) fn shrink(&mut self) {
        self.strings.shrink();
    }

    /// Gives back what only finds strings; from now on they can only be had by number.
    pub(crate) fn freeze(&mut self) {
        self.strings.shrink();
        self.index = HashIndex::default();
    }

    pub(crate) fn write_frozen(&self, to: &mut Writer<'_>) -> image::Result<()> {
        self.strings.write(to)
    }

    pub(crate) fn read_frozen(from: &mut Reader<'_>) -> image::Result<Interner> {
        Ok(Interner { strings: Arena::read(from)?, index: HashIndex::default() })
    }

    pub(crate) fn write(&self, to: &mut Writer<'_>) -> image::Result<()> {
        self.strings.write(to)?;
        self.index.write(to)
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> image::Result<Interner> {
        let strings = Arena::read(from)?;
        let index = HashIndex::read(from, strings.len())?;
        Ok(Interner { strings, index })
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.strings.bytes() + self.index.bytes()
    }
}
