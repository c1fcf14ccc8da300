//! Text analysis: what is compared when two texts are compared.
//!
//! Normalization is NFKC, then full lower case, then white space trimmed and
//! folded; tokens are runs of letters and numbers; trigrams are runs of three
//! code points. Unicode 17 tables come from the ICU4X crates, so the answers
//! do not depend on the compiler.

use std::cmp::Ordering;
use std::sync::LazyLock;

use icu_casemap::CaseMapper;
use icu_locale_core::LanguageIdentifier;
use icu_normalizer::ComposingNormalizer;
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};

/// Whether `c` is white space as ECMAScript has it.
#[inline]
pub fn is_white_space(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}')
}

/// Whether a text is nothing but white space, which is when its normalized form is empty.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_white_space)
}

/// The form in which texts are compared.
pub fn normalize(text: &str) -> String {
    let mut normalized = String::with_capacity(text.len());
    normalize_into(text, &mut normalized);
    normalized
}

/// Appends the normalized form of `text` to `normalized`.
pub fn normalize_into(text: &str, normalized: &mut String) {
    if text.is_ascii() {
        return push_ascii(text, normalized);
    }
    let composed = ComposingNormalizer::new_nfkc().normalize(text);
    let cases = CaseMapper::new();
    // The only characters whose full lower case differs from the simple one: Σ looks at its neighbours, İ becomes two.
    if composed.contains(['Σ', 'İ']) {
        let lower = cases.lowercase_to_string(&composed, &LanguageIdentifier::UNKNOWN);
        push_folded(&lower, |c| c, normalized);
    } else {
        push_folded(
            &composed,
            |c| if c.is_ascii() { c.to_ascii_lowercase() } else { cases.simple_lowercase(c) },
            normalized,
        );
    }
}

fn push_ascii(text: &str, normalized: &mut String) {
    let text = text.trim_matches(is_white_space);
    let bytes = text.as_bytes();
    // Without early exits, so that the compiler makes vector code of it.
    let untidy = bytes.iter().zip(bytes.iter().skip(1)).fold(false, |untidy, (first, second)| {
        untidy | matches!(first, b'\t'..=b'\r') | ((*first == b' ') & (*second == b' '))
    });
    if untidy {
        push_folded(text, |c| c.to_ascii_lowercase(), normalized);
    } else {
        let start = normalized.len();
        normalized.push_str(text);
        normalized[start..].make_ascii_lowercase();
    }
}

/// Appends `text` with each character mapped, without white space at its ends and with one space for each run inside.
fn push_folded(text: &str, map: impl Fn(char) -> char, normalized: &mut String) {
    let start = normalized.len();
    let mut after_gap = false;
    for c in text.chars() {
        if is_white_space(c) {
            after_gap = normalized.len() > start;
        } else {
            if after_gap {
                normalized.push(' ');
                after_gap = false;
            }
            normalized.push(map(c));
        }
    }
}

/// One bit for each code point: whether it is a letter or a number. Built once, for one lookup is then one load.
static TOKEN_CHARS: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut bits = vec![0; (char::MAX as usize + 1) / 64];
    let categories = CodePointMapData::<GeneralCategory>::new();
    for group in [GeneralCategoryGroup::Letter, GeneralCategoryGroup::Number] {
        for c in categories.iter_ranges_for_group(group).flatten() {
            bits[c as usize / 64] |= 1 << (c % 64);
        }
    }
    bits
});

/// The letters and numbers of Unicode as this build has them, a bit for each code point.
pub(crate) fn token_chars() -> &'static [u64] {
    &TOKEN_CHARS
}

#[inline]
fn is_token_char_in(bits: &[u64], c: char) -> bool {
    bits[c as usize / 64] >> (c as u32 % 64) & 1 == 1
}

/// Whether tokens are made of characters like `c`: general category L* or N*.
pub fn is_token_char(c: char) -> bool {
    is_token_char_in(&TOKEN_CHARS, c)
}

/// The maximal runs of letters and numbers of a normalized text.
pub fn tokens(normalized: &str) -> impl Iterator<Item = &str> {
    let mut edges = TokenEdges { text: normalized, window: 0, next_window: 0, edges: 0, in_token: 0 };
    std::iter::from_fn(move || {
        let start = edges.next()?;
        let end = edges.next().unwrap_or(normalized.len());
        Some(&normalized[start..end])
    })
}

/// The places where tokens start and end, in turn. A window of at most 64 bytes becomes a bit mask of its token bytes,
/// so that finding the edges takes no branch per character.
struct TokenEdges<'a> {
    text: &'a str,
    window: usize,
    next_window: usize,
    /// The edges of the current window that were not given out yet.
    edges: u64,
    /// 1 if the current window ends inside a token.
    in_token: u64,
}

impl TokenEdges<'_> {
    fn load_window(&mut self) {
        self.window = self.next_window;
        self.next_window = self.text.len().min(self.window + 64);
        while !self.text.is_char_boundary(self.next_window) {
            self.next_window -= 1;
        }
        let window = &self.text[self.window..self.next_window];
        let mask = token_mask(window);
        let within = u64::MAX >> (64 - window.len());
        self.edges = (mask ^ (mask << 1 | self.in_token)) & within;
        self.in_token = mask >> (window.len() - 1);
    }
}

impl Iterator for TokenEdges<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.edges == 0 {
            if self.next_window == self.text.len() {
                return None;
            }
            self.load_window();
        }
        let edge = self.window + self.edges.trailing_zeros() as usize;
        self.edges &= self.edges - 1;
        Some(edge)
    }
}

/// The bytes of `window`, at most 64, that belong to token characters: one bit for each.
fn token_mask(window: &str) -> u64 {
    let mut bytes = [0u8; 64];
    bytes[..window.len()].copy_from_slice(window.as_bytes());
    if bytes.is_ascii() {
        let flags = bytes.map(|byte| u8::from(byte.is_ascii_alphanumeric()));
        let (eights, _) = flags.as_chunks();
        // The product moves the lowest bit of the i-th byte to bit 56 + i.
        eights.iter().enumerate().fold(0, |mask, (at, eight)| {
            mask | (u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at)
        })
    } else {
        let bits: &[u64] = &TOKEN_CHARS;
        window
            .char_indices()
            .filter(|(_, c)| is_token_char_in(bits, *c))
            .fold(0, |mask, (at, c)| mask | ((1 << c.len_utf8()) - 1) << at)
    }
}

/// Every three consecutive code points of a normalized text; a text of three or
/// fewer is one gram, the text itself.
pub fn trigrams(normalized: &str) -> impl Iterator<Item = &str> {
    let starts = normalized.char_indices().map(|(at, _)| at);
    let ends = normalized.char_indices().map(|(at, c)| at + c.len_utf8()).skip(2);
    let whole = normalized.chars().nth(2).is_none().then_some(normalized);
    whole.into_iter().chain(starts.zip(ends).map(|(start, end)| &normalized[start..end]))
}

/// The Dice coefficient 2·|A∩B| / (|A|+|B|) of two multisets, 0 where both are empty.
fn dice<'a>(a: impl Iterator<Item = &'a str>, b: impl Iterator<Item = &'a str>) -> f64 {
    let (mut a, mut b): (Vec<&str>, Vec<&str>) = (a.collect(), b.collect());
    a.sort_unstable();
    b.sort_unstable();
    let (mut at_a, mut at_b, mut shared) = (0, 0, 0);
    while let (Some(next_a), Some(next_b)) = (a.get(at_a), b.get(at_b)) {
        let order = next_a.cmp(next_b);
        at_a += usize::from(order != Ordering::Greater);
        at_b += usize::from(order != Ordering::Less);
        shared += usize::from(order == Ordering::Equal);
    }
    if shared == 0 { 0.0 } else { 2.0 * shared as f64 / (a.len() + b.len()) as f64 }
}

/// The similarity of two normalized texts, in `[0, 1]`: 1 if they are equal,
/// otherwise the larger of the Dice coefficients of their tokens and of their
/// trigrams, both as multisets.
pub fn similarity(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    dice(tokens(a), tokens(b)).max(dice(trigrams(a), trigrams(b)))
}
