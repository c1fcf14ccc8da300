//! The hash of texts and features: fixed for all machines and versions of a build,
//! since the order of an index depends on it.

const K0: u64 = 0x9e37_79b9_7f4a_7c15;
const K1: u64 = 0xd6e8_feb8_6659_fd93;

/// The halves of the full product of two numbers, folded together.
#[inline]
pub(crate) fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

/// A 64-bit hash of some bytes.
#[inline]
pub(crate) fn bytes(text: &[u8]) -> u64 {
    let mut state = K1 ^ text.len() as u64;
    let (words, rest) = text.as_chunks::<8>();
    for word in words {
        state = fold(state ^ u64::from_le_bytes(*word), K0);
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        state = fold(state ^ u64::from_le_bytes(last), K0);
    }
    fold(state, K1)
}

/// The key under which the index files the `copy`-th copy of an element.
///
/// Two features may share a key; the index then counts too much, never too little.
#[inline]
pub(crate) fn feature(element: u64, copy: u32) -> u32 {
    (fold(element ^ K1, K0 ^ (u64::from(copy) << 32)) >> 32) as u32
}
