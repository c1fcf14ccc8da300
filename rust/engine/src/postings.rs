//! The inverted index of one segment: for every feature, the rows that have it.
//!
//! Rows are numbered by their place in the index and cut into blocks of [`BLOCK`], in
//! ascending order of size (their number of features): no row of a block has more
//! features than one of a later block. Within a block a feature's
//! rows are a list of 16-bit offsets, or a bitmap where there are more than
//! [`DENSE`] of them. A feature is known by a 32-bit key only: where two share a key,
//! their rows are in one list. What the index counts is thus an upper bound of the
//! true overlap, which is computed from the text before a row becomes a hit.

use std::mem::size_of;

use bytemuck::{Pod, Zeroable};

use crate::control::{Control, Pace};
use crate::error::Result;
use crate::features::dice;
use crate::image::{self, Reader, Writer, check};
use crate::parallel;

/// Rows in a block: what the counters of a pass cover, sized to stay in the L1 cache.
pub(crate) const BLOCK: usize = 1 << 15;
/// Rows in a chunk: what one 512-bit vector covers.
pub(crate) const CHUNK: usize = 512;
/// Chunks in a block.
pub(crate) const CHUNKS: usize = BLOCK / CHUNK;
/// A list longer than this within a block is kept as a bitmap.
pub(crate) const DENSE: usize = BLOCK / 32;

/// 512 rows of a bitmap, one cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [u64; 8]);

/// The rows of one feature within one block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub(crate) block: u16,
    /// How many rows, at least 1.
    pub(crate) len: u16,
    /// Where they are: for a bitmap its number among all bitmaps, else the place of the first offset in the data.
    at: u32,
}

/// The rows of one feature within one block, resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows<'a> {
    Sparse(&'a [u16]),
    Dense(&'a [Line; CHUNKS]),
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Head {
    key: u32,
    /// Where the feature's header starts, in words of `data`.
    at: u32,
}

/// The range of sizes of some rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) least: u32,
    pub(crate) most: u32,
}

impl Sizes {
    fn of(sizes: &[u32]) -> Sizes {
        Sizes {
            least: sizes.iter().copied().min().expect("there are rows"),
            most: sizes.iter().copied().max().expect("there are rows"),
        }
    }

    /// The best Dice coefficient that a query of a size can have with rows in this range.
    pub(crate) fn best_dice(&self, own: usize) -> f64 {
        let closest = own.clamp(self.least as usize, self.most as usize);
        dice(own.min(closest), own + closest)
    }
}

/// See the module.
pub(crate) struct Postings {
    /// The size of each row.
    sizes: Vec<u32>,
    /// The sizes in each chunk and each block.
    chunks: Vec<Sizes>,
    blocks: Vec<Sizes>,
    /// For every value of a key's top bits, the first head with it.
    buckets: Vec<u32>,
    bucket_shift: u32,
    /// Sorted by key.
    heads: Vec<Head>,
    /// For each feature: the number of runs; with [`HAS_DENSE`], the number of its first bitmap in two words; for
    /// each run its block and length; then the offsets of the sparse runs.
    data: Vec<u16>,
    bitmaps: Vec<[Line; CHUNKS]>,
}

const HAS_DENSE: u16 = 1 << 15;

/// The most rows an index can have: blocks are numbered in 15 bits.
pub(crate) const MAX_ROWS: usize = BLOCK * (HAS_DENSE as usize - 1);

/// One block's features: sorted distinct keys, the number of rows of each, and those rows' offsets.
struct BlockLists {
    keys: Vec<u32>,
    lens: Vec<u16>,
    offsets: Vec<u16>,
}

impl Postings {
    /// Builds the index of rows with the given sizes, which ascend from block to block. `keys` appends the feature keys of a row; it is made
    /// once per thread by `worker`.
    pub(crate) fn build<W>(
        sizes: Vec<u32>,
        worker: impl Fn() -> W + Sync,
        keys: impl Fn(&mut W, usize, &mut Vec<u32>) + Sync,
        control: Control<'_>,
    ) -> Result<Postings> {
        assert!(sizes.len() <= MAX_ROWS);
        let blocks = sizes.len().div_ceil(BLOCK);
        let lists = parallel::map(
            blocks,
            || (worker(), Sorter::default()),
            |(worker, sorter), block| {
                let rows = block * BLOCK..sizes.len().min((block + 1) * BLOCK);
                let first = rows.start;
                sorter.pairs.clear();
                let mut row_keys = Vec::new();
                let mut pace = Pace::default();
                for row in rows {
                    row_keys.clear();
                    keys(worker, row, &mut row_keys);
                    pace.step(row_keys.len(), control)?;
                    let offset = (row - first) as u64;
                    sorter.pairs.extend(row_keys.iter().map(|key| u64::from(*key) << 16 | offset));
                }
                sorter.lists(control)
            },
        )?;
        Postings::gather(sizes, lists, control)
    }

    /// Turns the lists of all blocks into one index, feature by feature.
    fn gather(sizes: Vec<u32>, lists: Vec<BlockLists>, control: Control<'_>) -> Result<Postings> {
        struct Cursor<'a> {
            lists: &'a BlockLists,
            key: usize,
            offset: usize,
        }
        let mut cursors: Vec<Cursor<'_>> =
            lists.iter().map(|lists| Cursor { lists, key: 0, offset: 0 }).collect();
        const DONE: u64 = u64::MAX;
        let key_at = |lists: &BlockLists, at: usize| lists.keys.get(at).map_or(DONE, |key| u64::from(*key));
        let mut next: Vec<u64> = cursors.iter().map(|cursor| key_at(cursor.lists, 0)).collect();

        let mut heads = Vec::new();
        let words: usize = lists.iter().map(|lists| lists.offsets.len() + 2 * lists.keys.len()).sum();
        let mut data: Vec<u16> = Vec::with_capacity(words.min(u32::MAX as usize) / 2);
        let mut bitmaps: Vec<[Line; CHUNKS]> = Vec::new();
        let mut runs: Vec<usize> = Vec::new();
        loop {
            let key = next.iter().copied().min().unwrap_or(DONE);
            if key == DONE {
                break;
            }
            if heads.len() % 4096 == 0 {
                control.check()?;
            }
            runs.clear();
            runs.extend((0..next.len()).filter(|block| next[*block] == key));
            let at =
                u32::try_from(data.len()).expect("an index has fewer than 2^32 words; segments are bounded");
            heads.push(Head { key: key as u32, at });
            let len_of = |cursor: &Cursor<'_>| usize::from(cursor.lists.lens[cursor.key]);
            let has_dense = runs.iter().any(|block| len_of(&cursors[*block]) > DENSE);
            data.push(runs.len() as u16 | if has_dense { HAS_DENSE } else { 0 });
            if has_dense {
                let first = bitmaps.len() as u32;
                data.extend([first as u16, (first >> 16) as u16]);
            }
            for &block in &runs {
                data.extend([block as u16, len_of(&cursors[block]) as u16]);
            }
            for &block in &runs {
                let cursor = &mut cursors[block];
                let len = len_of(cursor);
                let offsets = &cursor.lists.offsets[cursor.offset..cursor.offset + len];
                if len > DENSE {
                    let mut bitmap = [Line::default(); CHUNKS];
                    for offset in offsets {
                        let offset = usize::from(*offset);
                        bitmap[offset / CHUNK].0[offset % CHUNK / 64] |= 1 << (offset % 64);
                    }
                    bitmaps.push(bitmap);
                } else {
                    data.extend_from_slice(offsets);
                }
                cursor.key += 1;
                cursor.offset += len;
                next[block] = key_at(cursor.lists, cursor.key);
            }
        }
        drop(lists);
        heads.shrink_to_fit();
        data.shrink_to_fit();
        bitmaps.shrink_to_fit();

        Ok(Postings::assemble(sizes, heads, data, bitmaps))
    }

    /// Adds what can be told from the rest.
    fn assemble(sizes: Vec<u32>, heads: Vec<Head>, data: Vec<u16>, bitmaps: Vec<[Line; CHUNKS]>) -> Postings {
        // About four heads to a bucket: half a cache line.
        let bits = (heads.len() / 4).next_power_of_two().trailing_zeros().clamp(1, 26);
        let bucket_shift = 32 - bits;
        let mut buckets = vec![0u32; (1 << bits) + 1];
        for head in &heads {
            buckets[(head.key >> bucket_shift) as usize + 1] += 1;
        }
        for bucket in 1..buckets.len() {
            buckets[bucket] += buckets[bucket - 1];
        }
        let chunks = sizes.chunks(CHUNK).map(Sizes::of).collect();
        let blocks: Vec<Sizes> = sizes.chunks(BLOCK).map(Sizes::of).collect();
        debug_assert!(blocks.is_sorted_by(|a, b| a.most <= b.least));
        Postings { sizes, chunks, blocks, buckets, bucket_shift, heads, data, bitmaps }
    }

    pub(crate) fn write(&self, to: &mut Writer<'_>) -> image::Result<()> {
        to.column(&self.sizes)?;
        to.column(&self.heads)?;
        to.column(&self.data)?;
        to.column(&self.bitmaps)
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> image::Result<Postings> {
        let sizes: Vec<u32> = from.column()?;
        let (heads, data, bitmaps) = (from.column()?, from.column()?, from.column()?);
        let of_block = |block: &[u32]| {
            (block.iter().copied().min().unwrap_or(0), block.iter().copied().max().unwrap_or(0))
        };
        let blocks: Vec<(u32, u32)> = sizes.chunks(BLOCK).map(of_block).collect();
        let ascend = blocks.is_sorted_by(|(_, most), (least, _)| most <= least);
        check(ascend && sizes.len() <= MAX_ROWS, "rows of an index are out of order")?;
        Stored { rows: sizes.len(), heads: &heads, data: &data, bitmaps: &bitmaps }.check(from.control())?;
        Ok(Postings::assemble(sizes, heads, data, bitmaps))
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// The size of each row.
    pub(crate) fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The sizes in each chunk.
    pub(crate) fn chunks(&self) -> &[Sizes] {
        &self.chunks
    }

    /// The sizes in each block.
    pub(crate) fn blocks(&self) -> &[Sizes] {
        &self.blocks
    }

    /// Looks up the lists of some keys, and sorts them by length, shortest first. Works in steps over all keys, so that the cache misses of one overlap with those of the others.
    pub(crate) fn lookup(&self, keys: impl Iterator<Item = u32> + Clone, scratch: &mut LookupScratch) {
        let LookupScratch { places, runs, lists } = scratch;
        places.clear();
        runs.clear();
        lists.clear();
        for key in keys.clone() {
            let bucket = (key >> self.bucket_shift) as usize;
            prefetch(&self.buckets[bucket]);
            places.push((bucket as u32, 0));
        }
        for place in places.iter_mut() {
            let bucket = place.0 as usize;
            *place = (self.buckets[bucket], self.buckets[bucket + 1]);
            if place.0 < place.1 {
                prefetch(&self.heads[place.0 as usize]);
            }
        }
        for (place, key) in places.iter_mut().zip(keys) {
            let heads = &self.heads[place.0 as usize..place.1 as usize];
            *place = match heads.iter().find(|head| head.key == key) {
                Some(head) => {
                    prefetch(&self.data[head.at as usize]);
                    (head.at, 1)
                }
                None => (0, 0),
            };
        }
        for &(at, known) in places.iter() {
            if known == 1 {
                let first = runs.len() as u32;
                let rows = self.read_header(at as usize, runs);
                lists.push(List { first, end: runs.len() as u32, rows });
            }
        }
        lists.sort_unstable_by_key(|list| list.rows);
    }

    /// Appends the runs of the feature whose header is at `at`; returns how many rows they have.
    fn read_header(&self, at: usize, runs: &mut Vec<Run>) -> u32 {
        let mut at = at;
        let count = usize::from(self.data[at] & !HAS_DENSE);
        let mut bitmap = 0u32;
        if self.data[at] & HAS_DENSE != 0 {
            bitmap = u32::from(self.data[at + 1]) | u32::from(self.data[at + 2]) << 16;
            at += 2;
        }
        at += 1;
        let mut offsets = (at + 2 * count) as u32;
        let mut rows = 0;
        for pair in self.data[at..at + 2 * count].as_chunks::<2>().0 {
            let [block, len] = *pair;
            rows += u32::from(len);
            if usize::from(len) > DENSE {
                runs.push(Run { block, len, at: bitmap });
                bitmap += 1;
            } else {
                runs.push(Run { block, len, at: offsets });
                offsets += u32::from(len);
            }
        }
        rows
    }

    /// The rows of a run.
    #[inline]
    pub(crate) fn rows(&self, run: Run) -> Rows<'_> {
        if usize::from(run.len) > DENSE {
            Rows::Dense(&self.bitmaps[run.at as usize])
        } else {
            Rows::Sparse(&self.data[run.at as usize..run.at as usize + usize::from(run.len)])
        }
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.sizes.len() * size_of::<u32>()
            + self.buckets.len() * size_of::<u32>()
            + self.heads.len() * size_of::<Head>()
            + self.data.len() * size_of::<u16>()
            + self.bitmaps.len() * size_of::<[Line; CHUNKS]>()
    }

    /// Every key with its rows, in order of keys. For checks.
    pub(crate) fn all(&self) -> impl Iterator<Item = (u32, Vec<u32>)> {
        let mut runs = Vec::new();
        self.heads.iter().map(move |head| {
            runs.clear();
            self.read_header(head.at as usize, &mut runs);
            let mut rows = Vec::new();
            for run in &runs {
                let first = u32::from(run.block) * BLOCK as u32;
                match self.rows(*run) {
                    Rows::Sparse(offsets) => {
                        rows.extend(offsets.iter().map(|offset| first + u32::from(*offset)))
                    }
                    Rows::Dense(lines) => rows.extend((0..BLOCK as u32).filter_map(|offset| {
                        let word = lines[offset as usize / CHUNK].0[offset as usize % CHUNK / 64];
                        (word >> (offset % 64) & 1 == 1).then_some(first + offset)
                    })),
                }
            }
            (head.key, rows)
        })
    }
}

/// The runs of one feature of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) first: u32,
    pub(crate) end: u32,
    /// Rows in all of them.
    pub(crate) rows: u32,
}

/// What [`Postings::lookup`] found, and its working memory.
#[derive(Default)]
pub(crate) struct LookupScratch {
    places: Vec<(u32, u32)>,
    pub(crate) runs: Vec<Run>,
    pub(crate) lists: Vec<List>,
}

/// Asks for a cache line ahead of its use.
#[inline]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching does not access memory; SSE is part of x86_64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Sorts `key << 16 | offset` by key, keeping the order of offsets.
#[derive(Default)]
struct Sorter {
    pairs: Vec<u64>,
    spare: Vec<u64>,
}

/// Pairs of a piece, about: sorting it stays within the second-level cache.
const PIECE: usize = 1 << 14;

/// The most bits of a key that tell its piece: writing to more places at a time is slower than what it saves.
const MOST_PIECE_BITS: u32 = 8;

impl Sorter {
    fn lists(&mut self, control: Control<'_>) -> Result<BlockLists> {
        let Sorter { pairs, spare } = self;
        spare.resize(pairs.len(), 0);
        let piece_bits = (pairs.len() / PIECE).checked_ilog2().unwrap_or(0).min(MOST_PIECE_BITS);
        let ends = scatter(pairs, spare, u64::BITS - 16 - piece_bits, piece_bits, control)?;

        let mut lists =
            BlockLists { keys: Vec::new(), lens: Vec::new(), offsets: Vec::with_capacity(pairs.len()) };
        let digit = (u32::BITS - piece_bits).div_ceil(3);
        let mut start = 0;
        for end in ends {
            let end = end as usize;
            let (piece, other) = (&mut spare[start..end], &mut pairs[start..end]);
            start = end;
            scatter(piece, other, 16, digit, control)?;
            scatter(other, piece, 16 + digit, digit, control)?;
            scatter(piece, other, 16 + 2 * digit, digit, control)?;
            for list in other.chunk_by(|a, b| a >> 16 == b >> 16) {
                let before = lists.offsets.len();
                lists.offsets.push(list[0] as u16);
                // A row has a key twice where two of its features share it.
                let others = list.windows(2).filter(|pair| pair[0] != pair[1]).map(|pair| pair[1] as u16);
                lists.offsets.extend(others);
                lists.keys.push((list[0] >> 16) as u32);
                lists.lens.push((lists.offsets.len() - before) as u16);
            }
        }
        Ok(lists)
    }
}

/// Copies pairs in the order of `bits` of their bits from `shift` on, which is otherwise kept. Returns where those with
/// each value end.
fn scatter(from: &[u64], to: &mut [u64], shift: u32, bits: u32, control: Control<'_>) -> Result<Vec<u32>> {
    /// Pairs to copy between two polls.
    const COPIED: usize = 1 << 16;
    let digit = |pair: u64| (pair >> shift) as usize & ((1 << bits) - 1);
    let mut places = vec![0u32; 1 << bits];
    from.iter().for_each(|pair| places[digit(*pair)] += 1);
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    for pairs in from.chunks(COPIED) {
        control.check()?;
        for &pair in pairs {
            let place = &mut places[digit(pair)];
            to[*place as usize] = pair;
            *place += 1;
        }
    }
    Ok(places)
}

/// What was read of an index, before it is known that a search can follow it.
struct Stored<'a> {
    rows: usize,
    heads: &'a [Head],
    data: &'a [u16],
    bitmaps: &'a [[Line; CHUNKS]],
}

impl Stored<'_> {
    /// Fails unless the data is one header with its offsets after the other, one for each head, and every row exists.
    fn check(&self, control: Control<'_>) -> image::Result<()> {
        /// Heads to check between two polls.
        const HEADS: usize = 1 << 14;
        let Stored { heads, data, .. } = *self;
        check(data.len() <= u32::MAX as usize, "an index is too large")?;
        check(heads.is_sorted_by(|a, b| a.key < b.key), "features of an index are out of order")?;
        let start = |number: usize| heads.get(number).map_or(data.len(), |head| head.at as usize);
        check(start(0) == 0, "an index has data of no feature")?;
        parallel::map(
            heads.len().div_ceil(HEADS),
            || (),
            |(), some| {
                control.check()?;
                let numbers = some * HEADS..heads.len().min((some + 1) * HEADS);
                for number in numbers {
                    let lists = data.get(start(number)..start(number + 1));
                    let leads = lists.and_then(|lists| self.follow(lists)).is_some();
                    check(leads, "a feature of an index leads nowhere")?;
                }
                Ok::<_, image::Error>(())
            },
        )?;
        Ok(())
    }

    /// `None` unless the words are a header and its offsets, and no more.
    fn follow(&self, words: &[u16]) -> Option<()> {
        let must = |holds: bool| holds.then_some(());
        let (&first, mut words) = words.split_first()?;
        let mut bitmap = 0;
        if first & HAS_DENSE != 0 {
            let ([low, high], rest) = words.split_first_chunk()?;
            bitmap = usize::from(*low) | usize::from(*high) << 16;
            words = rest;
        }
        let (runs, mut offsets) = words.split_at_checked(2 * usize::from(first & !HAS_DENSE))?;
        let mut next_block = 0;
        for [block, len] in runs.as_chunks().0 {
            let (block, len) = (usize::from(*block), usize::from(*len));
            let rows = self.rows.saturating_sub(block * BLOCK).min(BLOCK);
            must(block >= next_block && (1..=rows).contains(&len))?;
            next_block = block + 1;
            if len > DENSE {
                let words: &[u64] = bytemuck::cast_slice(self.bitmaps.get(bitmap)?);
                bitmap += 1;
                let (_, beyond) = words.split_at(rows / 64);
                if let [partial, beyond @ ..] = beyond {
                    must(partial >> (rows % 64) == 0 && beyond.iter().all(|word| *word == 0))?;
                }
            } else {
                let (run, rest) = offsets.split_at_checked(len)?;
                offsets = rest;
                must(run.is_sorted_by(|a, b| a < b) && usize::from(run[len - 1]) < rows)?;
            }
        }
        must(offsets.is_empty())
    }
}
