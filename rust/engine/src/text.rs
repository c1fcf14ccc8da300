//! Text analysis: what is compared when two texts are compared.
//!
//! Normalization is NFKC, then full lower case, then white space trimmed and
//! folded; tokens are runs of letters and numbers; trigrams are runs of three
//! code points. Unicode 17 tables come from the ICU4X crates, so the answers
//! do not depend on the compiler.

use std::collections::HashMap;

use icu_casemap::CaseMapper;
use icu_locale_core::LanguageIdentifier;
use icu_normalizer::ComposingNormalizer;
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};

/// Whether `c` is white space as ECMAScript has it.
pub fn is_white_space(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}' | '\u{feff}')
}

/// The form in which texts are compared.
pub fn normalize(text: &str) -> String {
    let composed = ComposingNormalizer::new_nfkc().normalize(text).into_owned();
    let lower = CaseMapper::new().lowercase_to_string(&composed, &LanguageIdentifier::UNKNOWN).into_owned();
    lower.split(is_white_space).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The maximal runs of letters and numbers of a normalized text.
pub fn tokens(normalized: &str) -> impl Iterator<Item = &str> {
    let categories = CodePointMapData::<GeneralCategory>::new();
    normalized
        .split(move |c| {
            let category = categories.get(c);
            !(GeneralCategoryGroup::Letter.contains(category)
                || GeneralCategoryGroup::Number.contains(category))
        })
        .filter(|token| !token.is_empty())
}

/// Every three consecutive code points of a normalized text; a text of three or
/// fewer is one gram, the text itself.
pub fn trigrams(normalized: &str) -> impl Iterator<Item = &str> {
    let mut bounds: Vec<usize> = normalized.char_indices().map(|(at, _)| at).collect();
    bounds.push(normalized.len());
    let count = bounds.len().saturating_sub(1);
    (0..count.saturating_sub(2).max(1)).map(move |at| &normalized[bounds[at]..bounds[(at + 3).min(count)]])
}

fn dice<'a>(a: impl Iterator<Item = &'a str>, b: impl Iterator<Item = &'a str>) -> f64 {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let (mut shared, mut total) = (0usize, 0usize);
    for item in a {
        *counts.entry(item).or_default() += 1;
        total += 1;
    }
    for item in b {
        total += 1;
        if let Some(left) = counts.get_mut(item).filter(|left| **left > 0) {
            *left -= 1;
            shared += 1;
        }
    }
    if shared == 0 { 0.0 } else { 2.0 * shared as f64 / total as f64 }
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
