//! Counting the features that rows share with a query, one block at a time.
//!
//! Sparse lists are added to byte counters; bitmaps are summed 512 rows at a time in
//! bit-sliced counters (bit `j` of every row's count in plane `j`), and the planes are
//! added to the byte counters where a row may still reach the count it needs. One
//! generic routine, compiled for what the CPU has; every version gives the same answer.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod bench;
mod portable;

use std::sync::LazyLock;

use crate::postings::{BLOCK, CHUNK, CHUNKS, Line, prefetch};

/// Counts stop here; a row that reaches it has at least as many.
pub(crate) const MOST: u8 = u8::MAX;

/// A row that reached the count its chunk asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Its place in the block.
    pub(crate) offset: u16,
    /// Its count, at most [`MOST`].
    pub(crate) count: u8,
}

/// The counters of 64 rows, one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Counts([u8; 64]);

/// One counter a row of the block; all zero between passes.
pub(crate) struct Counters(Box<[Counts]>);

impl Default for Counters {
    fn default() -> Counters {
        Counters(vec![Counts([0; 64]); BLOCK / 64].into_boxed_slice())
    }
}

impl Counters {
    #[inline]
    fn get(&mut self, offset: u16) -> &mut u8 {
        let offset = usize::from(offset) % BLOCK;
        &mut self.0[offset / 64].0[offset % 64]
    }

    /// Adds one to each of some rows. No more than [`MOST`] calls between scans.
    #[inline]
    pub(crate) fn add(&mut self, offsets: &[u16]) {
        for &offset in offsets {
            let count = self.get(offset);
            *count = count.wrapping_add(1);
        }
    }

    /// Adds one to each of some rows, stopping at [`MOST`].
    #[inline]
    pub(crate) fn add_saturating(&mut self, offsets: &[u16]) {
        for &offset in offsets {
            let count = self.get(offset);
            *count = count.saturating_add(1);
        }
    }
}

/// What a scan of one block looks for.
pub(crate) struct Scan<'a> {
    /// The bitmaps to be counted on top of the counters.
    pub(crate) dense: &'a [&'a [Line; CHUNKS]],
    /// The count that a row of each chunk needs; 0 passes the chunk over.
    pub(crate) needed: &'a [u8; CHUNKS],
    /// Only these rows, where given.
    pub(crate) mask: Option<&'a [Line; CHUNKS]>,
}

type ScanFn = fn(&mut Counters, &Scan<'_>, &mut Vec<Candidate>);

static BEST: LazyLock<(&str, ScanFn)> =
    LazyLock::new(|| *versions().last().expect("there is a portable version"));

/// Every version that this CPU can run, slowest first, with its name.
fn versions() -> Vec<(&'static str, ScanFn)> {
    #[allow(unused_mut, reason = "other architectures have the portable version only")]
    let mut versions: Vec<(&'static str, ScanFn)> = vec![("portable", scan_with::<portable::Portable>)];
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx2") {
            versions.push(("avx2", avx2::scan));
        }
        if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl") {
            versions.push(("avx512", avx512::scan));
        }
    }
    versions
}

/// The instruction set in use.
pub(crate) fn name() -> &'static str {
    BEST.0
}

/// Appends the rows that reach the count they need, in order, and sets all counters to zero.
pub(crate) fn scan(counters: &mut Counters, scan: &Scan<'_>, candidates: &mut Vec<Candidate>) {
    (BEST.1)(counters, scan, candidates);
}

/// The operations that a version is made of.
trait Simd {
    /// One bit for each row of a chunk.
    type Bits: Copy;

    fn zero() -> Self::Bits;
    fn load(line: &Line) -> Self::Bits;
    fn store(bits: Self::Bits) -> Line;
    /// The sum of three bits: its low and its high bit.
    fn full_add(a: Self::Bits, b: Self::Bits, c: Self::Bits) -> (Self::Bits, Self::Bits);
    /// The sum of two bits: its low and its high bit.
    fn half_add(a: Self::Bits, b: Self::Bits) -> (Self::Bits, Self::Bits);
    /// Which of 64 counters are at least `least`.
    fn at_least(counts: &[u8; 64], least: u8) -> u64;
    /// Adds to each of 64 counters the number whose bits are in the planes, stopping at [`MOST`].
    fn add_planes(counts: &mut [u8; 64], planes: &[Line], word: usize);
}

#[inline(always)]
fn scan_with<S: Simd>(counters: &mut Counters, scan: &Scan<'_>, candidates: &mut Vec<Candidate>) {
    const PLANES: usize = 32;
    let most_dense = scan.dense.len();
    let plane_count = (usize::BITS - most_dense.leading_zeros()) as usize;
    assert!(plane_count <= PLANES);
    let mut lines = [Line::default(); PLANES];
    for (chunk, words) in counters.0.as_chunks_mut::<{ CHUNK / 64 }>().0.iter_mut().enumerate() {
        let needed = scan.needed[chunk];
        let mask = scan.mask.map(|mask| &mask[chunk].0);
        // What the counters must have if all bitmaps were to count.
        let least = usize::from(needed).saturating_sub(most_dense) as u8;
        let hopeless = needed == 0
            || mask.is_some_and(|mask| *mask == [0; 8])
            || (least > 0 && words.iter().all(|counts| S::at_least(&counts.0, least) == 0));
        if hopeless {
            words.fill(Counts([0; 64]));
            continue;
        }
        if most_dense > 0 {
            sum::<S>(scan.dense, chunk, &mut lines[..plane_count]);
        }
        for (word, Counts(counts)) in words.iter_mut().enumerate() {
            if most_dense > 0 {
                S::add_planes(counts, &lines[..plane_count], word);
            }
            let mut rows = S::at_least(counts, needed);
            if let Some(mask) = mask {
                rows &= mask[word];
            }
            while rows != 0 {
                let row = rows.trailing_zeros() as usize;
                candidates
                    .push(Candidate { offset: (chunk * CHUNK + word * 64 + row) as u16, count: counts[row] });
                rows &= rows - 1;
            }
            *counts = [0; 64];
        }
    }
}

/// Sums the bitmaps over one chunk into planes, by carry-save adders on eight bitmaps at a time.
#[inline(always)]
fn sum<S: Simd>(dense: &[&[Line; CHUNKS]], chunk: usize, planes: &mut [Line]) {
    const MOST_PLANES: usize = 32;
    let mut sums = [S::zero(); MOST_PLANES];
    let used = planes.len();
    // Bitmaps are too many streams for the hardware to follow.
    let ahead = (chunk + 3).min(CHUNKS - 1);
    for group in dense.chunks(8) {
        group.iter().for_each(|bitmap| prefetch(&bitmap[ahead]));
        let line = |at: usize| group.get(at).map_or_else(S::zero, |bitmap| S::load(&bitmap[chunk]));
        let (ones, twos_a) = S::full_add(sums[0], line(0), line(1));
        let (ones, twos_b) = S::full_add(ones, line(2), line(3));
        let (twos, fours_a) = S::full_add(sums[1], twos_a, twos_b);
        let (ones, twos_a) = S::full_add(ones, line(4), line(5));
        let (ones, twos_b) = S::full_add(ones, line(6), line(7));
        let (twos, fours_b) = S::full_add(twos, twos_a, twos_b);
        let (fours, mut carry) = S::full_add(sums[2], fours_a, fours_b);
        sums[0] = ones;
        sums[1] = twos;
        sums[2] = fours;
        for sum in &mut sums[3..used.max(3)] {
            (*sum, carry) = S::half_add(*sum, carry);
        }
    }
    for (plane, sum) in planes.iter_mut().zip(sums) {
        *plane = S::store(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A small generator: the tests need many bits, not good ones.
    fn random(seed: &mut u64) -> u64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        crate::hash::fold(*seed, 0x9e37_79b9_7f4a_7c15)
    }

    #[test]
    fn every_version_counts_as_the_plain_loop() {
        let mut seed = 1;
        for dense_count in [0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 127, 128, 254, 255, 256, 257, 300] {
            let bitmaps: Vec<Box<[Line; CHUNKS]>> = (0..dense_count)
                .map(|_| {
                    let density = random(&mut seed) % 3;
                    Box::new(std::array::from_fn(|_| {
                        Line(std::array::from_fn(|_| {
                            let bits = random(&mut seed);
                            match density {
                                0 => bits & random(&mut seed),
                                1 => bits,
                                _ => bits | random(&mut seed) | random(&mut seed),
                            }
                        }))
                    }))
                })
                .collect();
            let dense: Vec<&[Line; CHUNKS]> = bitmaps.iter().map(|bitmap| &**bitmap).collect();
            let sparse: Vec<Vec<u16>> = (0..random(&mut seed) % 300)
                .map(|_| {
                    let mut offsets: Vec<u16> = (0..200)
                        .map(|_| (random(&mut seed) % BLOCK as u64) as u16)
                        .chain([0, 1, 511, 512, 32767])
                        .collect();
                    offsets.sort_unstable();
                    offsets.dedup();
                    offsets
                })
                .collect();
            let needed: [u8; CHUNKS] = std::array::from_fn(|chunk| match chunk % 5 {
                0 => 0,
                1 => 255,
                2 => 1,
                _ => (random(&mut seed) % (dense_count as u64 + 8).min(255)) as u8,
            });
            let mask: [Line; CHUNKS] = std::array::from_fn(|chunk| {
                Line(std::array::from_fn(|_| if chunk % 7 == 0 { 0 } else { random(&mut seed) }))
            });
            for mask in [None, Some(&mask)] {
                let mut expected = Vec::new();
                for row in 0..BLOCK {
                    let (chunk, word, bit) = (row / CHUNK, row % CHUNK / 64, row % 64);
                    let set = |line: &Line| line.0[word] >> bit & 1 == 1;
                    let count = dense.iter().filter(|bitmap| set(&bitmap[chunk])).count()
                        + sparse
                            .iter()
                            .filter(|offsets| offsets.binary_search(&(row as u16)).is_ok())
                            .count();
                    let count = count.min(255) as u8;
                    if needed[chunk] > 0
                        && count >= needed[chunk]
                        && mask.is_none_or(|mask| set(&mask[chunk]))
                    {
                        expected.push(Candidate { offset: row as u16, count });
                    }
                }
                for (name, version) in versions() {
                    let mut counters = Counters::default();
                    sparse.iter().for_each(|offsets| counters.add_saturating(offsets));
                    let mut candidates = Vec::new();
                    version(&mut counters, &Scan { dense: &dense, needed: &needed, mask }, &mut candidates);
                    assert!(candidates == expected, "{name} with {dense_count} bitmaps");
                    assert!(
                        counters.0.iter().all(|counts| counts.0 == [0; 64]),
                        "{name} leaves counters behind"
                    );
                }
            }
        }
    }
}
