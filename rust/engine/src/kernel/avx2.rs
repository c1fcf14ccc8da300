//! For CPUs with AVX2.

use std::arch::x86_64::*;

use super::{Candidate, Counters, Scan, Simd};
use crate::postings::Line;

/// As [`super::scan`]; only to be called where the CPU has AVX2.
pub(super) fn scan(counters: &mut Counters, scan: &Scan<'_>, candidates: &mut Vec<Candidate>) {
    #[target_feature(enable = "avx2")]
    fn compiled(counters: &mut Counters, scan: &Scan<'_>, candidates: &mut Vec<Candidate>) {
        super::scan_with::<Avx2>(counters, scan, candidates);
    }
    // SAFETY: `versions` offers this function only where the CPU has the feature.
    unsafe { compiled(counters, scan, candidates) }
}

struct Avx2;

// SAFETY (of every block below): the methods are inlined into `compiled` alone, so the CPU has AVX2; lines and counters
// are 64 bytes long, and the loads and stores are the unaligned kind.
impl Simd for Avx2 {
    type Bits = (__m256i, __m256i);

    #[inline(always)]
    fn zero() -> Self::Bits {
        // SAFETY: see the impl.
        unsafe { (_mm256_setzero_si256(), _mm256_setzero_si256()) }
    }

    #[inline(always)]
    fn load(line: &Line) -> Self::Bits {
        let halves = line.0.as_ptr().cast::<__m256i>();
        // SAFETY: see the impl.
        unsafe { (_mm256_loadu_si256(halves), _mm256_loadu_si256(halves.add(1))) }
    }

    #[inline(always)]
    fn store(bits: Self::Bits) -> Line {
        let mut line = Line::default();
        let halves = line.0.as_mut_ptr().cast::<__m256i>();
        // SAFETY: see the impl.
        unsafe {
            _mm256_storeu_si256(halves, bits.0);
            _mm256_storeu_si256(halves.add(1), bits.1);
        }
        line
    }

    #[inline(always)]
    fn full_add(a: Self::Bits, b: Self::Bits, c: Self::Bits) -> (Self::Bits, Self::Bits) {
        // SAFETY: see the impl.
        let add = |a, b, c| unsafe {
            let either = _mm256_xor_si256(a, b);
            (
                _mm256_xor_si256(either, c),
                _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(either, c)),
            )
        };
        let (low, high) = (add(a.0, b.0, c.0), add(a.1, b.1, c.1));
        ((low.0, high.0), (low.1, high.1))
    }

    #[inline(always)]
    fn half_add(a: Self::Bits, b: Self::Bits) -> (Self::Bits, Self::Bits) {
        // SAFETY: see the impl.
        unsafe {
            (
                (_mm256_xor_si256(a.0, b.0), _mm256_xor_si256(a.1, b.1)),
                (_mm256_and_si256(a.0, b.0), _mm256_and_si256(a.1, b.1)),
            )
        }
    }

    #[inline(always)]
    fn at_least(counts: &[u8; 64], least: u8) -> u64 {
        let halves = counts.as_ptr().cast::<__m256i>();
        // SAFETY: see the impl.
        unsafe {
            let least = _mm256_set1_epi8(least.cast_signed());
            let half = |counts| {
                let reached = _mm256_cmpeq_epi8(_mm256_max_epu8(counts, least), counts);
                u64::from(_mm256_movemask_epi8(reached).cast_unsigned())
            };
            half(_mm256_loadu_si256(halves)) | half(_mm256_loadu_si256(halves.add(1))) << 32
        }
    }

    #[inline(always)]
    fn add_planes(counts: &mut [u8; 64], planes: &[Line], word: usize) {
        let halves = counts.as_mut_ptr().cast::<__m256i>();
        // SAFETY: see the impl.
        unsafe {
            // Byte i of a half gets byte i/8 of its 32 bits, of which it keeps bit i%8.
            let spread = _mm256_setr_epi64x(
                0x0000_0000_0000_0000,
                0x0101_0101_0101_0101,
                0x0202_0202_0202_0202,
                0x0303_0303_0303_0303,
            );
            let own_bit = _mm256_set1_epi64x(0x8040_2010_0804_0201u64.cast_signed());
            for half in 0..2 {
                let mut sums = _mm256_loadu_si256(halves.add(half));
                for (plane, line) in planes.iter().enumerate() {
                    let weight = if plane < 8 { 1u8 << plane } else { u8::MAX };
                    let bits = (line.0[word] >> (32 * half)) as u32;
                    let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits.cast_signed()), spread);
                    let set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, own_bit), own_bit);
                    sums =
                        _mm256_adds_epu8(sums, _mm256_and_si256(set, _mm256_set1_epi8(weight.cast_signed())));
                }
                _mm256_storeu_si256(halves.add(half), sums);
            }
        }
    }
}
