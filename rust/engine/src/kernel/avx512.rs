//! For CPUs with AVX-512 (F, BW, VL).

use std::arch::x86_64::*;

use super::{Candidate, Counters, Scan, Simd};
use crate::postings::Line;

/// As [`super::scan`]; only to be called where the CPU has AVX-512 BW and VL.
pub(super) fn scan(counters: &mut Counters, scan: &Scan<'_>, candidates: &mut Vec<Candidate>) {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt,bmi1,bmi2")]
    fn compiled(counters: &mut Counters, scan: &Scan<'_>, candidates: &mut Vec<Candidate>) {
        super::scan_with::<Avx512>(counters, scan, candidates);
    }
    // SAFETY: `versions` offers this function only where the CPU has the features.
    unsafe { compiled(counters, scan, candidates) }
}

struct Avx512;

// SAFETY (of every block below): the methods are inlined into `compiled` alone, so the CPU has the features; lines and
// counters are 64 bytes long, and the loads and stores are the unaligned kind.
impl Simd for Avx512 {
    type Bits = __m512i;

    #[inline(always)]
    fn zero() -> __m512i {
        // SAFETY: see the impl.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    fn load(line: &Line) -> __m512i {
        // SAFETY: see the impl.
        unsafe { _mm512_loadu_si512(line.0.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(bits: __m512i) -> Line {
        let mut line = Line::default();
        // SAFETY: see the impl.
        unsafe { _mm512_storeu_si512(line.0.as_mut_ptr().cast(), bits) };
        line
    }

    #[inline(always)]
    fn full_add(a: __m512i, b: __m512i, c: __m512i) -> (__m512i, __m512i) {
        // SAFETY: see the impl. The constants are the truth tables of parity and majority.
        unsafe { (_mm512_ternarylogic_epi64::<0x96>(a, b, c), _mm512_ternarylogic_epi64::<0xe8>(a, b, c)) }
    }

    #[inline(always)]
    fn half_add(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        // SAFETY: see the impl.
        unsafe { (_mm512_xor_si512(a, b), _mm512_and_si512(a, b)) }
    }

    #[inline(always)]
    fn at_least(counts: &[u8; 64], least: u8) -> u64 {
        // SAFETY: see the impl.
        unsafe {
            let counts = _mm512_loadu_si512(counts.as_ptr().cast());
            _mm512_cmpge_epu8_mask(counts, _mm512_set1_epi8(least.cast_signed()))
        }
    }

    #[inline(always)]
    fn add_planes(counts: &mut [u8; 64], planes: &[Line], word: usize) {
        // SAFETY: see the impl.
        unsafe {
            let mut sums = _mm512_loadu_si512(counts.as_ptr().cast());
            for (plane, line) in planes.iter().enumerate() {
                let weight = if plane < 8 { 1u8 << plane } else { u8::MAX };
                sums =
                    _mm512_mask_adds_epu8(sums, line.0[word], sums, _mm512_set1_epi8(weight.cast_signed()));
            }
            _mm512_storeu_si512(counts.as_mut_ptr().cast(), sums);
        }
    }
}
