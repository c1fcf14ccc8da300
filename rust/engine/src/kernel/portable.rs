//! For any CPU.

use super::Simd;
use crate::postings::Line;

pub(super) struct Portable;

impl Simd for Portable {
    type Bits = [u64; 8];

    #[inline(always)]
    fn zero() -> [u64; 8] {
        [0; 8]
    }

    #[inline(always)]
    fn load(line: &Line) -> [u64; 8] {
        line.0
    }

    #[inline(always)]
    fn store(bits: [u64; 8]) -> Line {
        Line(bits)
    }

    #[inline(always)]
    fn full_add(a: [u64; 8], b: [u64; 8], c: [u64; 8]) -> ([u64; 8], [u64; 8]) {
        (
            std::array::from_fn(|i| a[i] ^ b[i] ^ c[i]),
            std::array::from_fn(|i| (a[i] & b[i]) | ((a[i] ^ b[i]) & c[i])),
        )
    }

    #[inline(always)]
    fn half_add(a: [u64; 8], b: [u64; 8]) -> ([u64; 8], [u64; 8]) {
        (std::array::from_fn(|i| a[i] ^ b[i]), std::array::from_fn(|i| a[i] & b[i]))
    }

    #[inline(always)]
    fn at_least(counts: &[u8; 64], least: u8) -> u64 {
        let mut rows = 0;
        for (row, count) in counts.iter().enumerate() {
            rows |= u64::from(*count >= least) << row;
        }
        rows
    }

    #[inline(always)]
    fn add_planes(counts: &mut [u8; 64], planes: &[Line], word: usize) {
        for (plane, line) in planes.iter().enumerate() {
            let weight = 1u64.checked_shl(plane as u32).map_or(u8::MAX, |weight| weight.min(255) as u8);
            for (row, count) in counts.iter_mut().enumerate() {
                let bit = (line.0[word] >> row) as u8 & 1;
                *count = count.saturating_add(weight * bit);
            }
        }
    }
}
