//! Text analysis against plain spellings of its rules: every code point, and random texts made of troublesome ones.

use std::collections::HashMap;

use diglot_engine::text;
use icu_casemap::CaseMapper;
use icu_locale_core::LanguageIdentifier;
use icu_normalizer::ComposingNormalizer;
use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};
use proptest::prelude::*;

/// The rule word for word, step after step.
fn plain_normalize(text: &str) -> String {
    let composed = ComposingNormalizer::new_nfkc().normalize(text);
    let lower = CaseMapper::new().lowercase_to_string(&composed, &LanguageIdentifier::UNKNOWN);
    lower.split(text::is_white_space).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

fn plain_is_token_char(c: char) -> bool {
    let category = CodePointMapData::<GeneralCategory>::new().get(c);
    GeneralCategoryGroup::Letter.contains(category) || GeneralCategoryGroup::Number.contains(category)
}

fn plain_tokens(text: &str) -> Vec<&str> {
    text.split(|c| !plain_is_token_char(c)).filter(|token| !token.is_empty()).collect()
}

fn plain_trigrams(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= 3 { vec![text.into()] } else { chars.windows(3).map(String::from_iter).collect() }
}

fn plain_dice<T: Eq + std::hash::Hash>(a: &[T], b: &[T]) -> f64 {
    let mut copies: HashMap<&T, (usize, usize)> = HashMap::new();
    a.iter().for_each(|item| copies.entry(item).or_default().0 += 1);
    b.iter().for_each(|item| copies.entry(item).or_default().1 += 1);
    let shared: usize = copies.values().map(|(in_a, in_b)| in_a.min(in_b)).sum();
    if a.is_empty() || b.is_empty() { 0.0 } else { 2.0 * shared as f64 / (a.len() + b.len()) as f64 }
}

fn plain_similarity(a: &str, b: &str) -> f64 {
    if a == b {
        return 1.0;
    }
    let of_trigrams = plain_dice(&plain_trigrams(a), &plain_trigrams(b));
    plain_dice(&plain_tokens(a), &plain_tokens(b)).max(of_trigrams)
}

const WHITE_SPACE: [char; 25] = [
    '\t', '\n', '\u{b}', '\u{c}', '\r', ' ', '\u{a0}', '\u{1680}', '\u{2000}', '\u{2001}', '\u{2002}',
    '\u{2003}', '\u{2004}', '\u{2005}', '\u{2006}', '\u{2007}', '\u{2008}', '\u{2009}', '\u{200a}',
    '\u{2028}', '\u{2029}', '\u{202f}', '\u{205f}', '\u{3000}', '\u{feff}',
];

fn all_chars() -> impl Iterator<Item = char> {
    '\0'..=char::MAX
}

#[test]
fn every_code_point_is_classed_as_unicode_says() {
    for c in all_chars() {
        assert_eq!(text::is_token_char(c), plain_is_token_char(c), "{c:?}");
        assert_eq!(text::is_white_space(c), WHITE_SPACE.contains(&c), "{c:?}");
    }
}

#[test]
fn every_code_point_is_normalized_as_the_rule_says() {
    let categories = CodePointMapData::<GeneralCategory>::new();
    for c in all_chars() {
        let alone = c.to_string();
        let normalized = text::normalize(&alone);
        assert_eq!(normalized, plain_normalize(&alone), "{c:?}");
        assert_eq!(text::is_blank(&alone), normalized.is_empty(), "{c:?}");
        // Those that mean nothing, nearly all, have nothing to tell their neighbours.
        if matches!(categories.get(c), GeneralCategory::Unassigned | GeneralCategory::PrivateUse) {
            continue;
        }
        for text in [format!("Ab{c}cD"), format!("{c}\u{301}\u{1161}"), format!("ΑΣ{c} Α{c}Σ")] {
            assert_eq!(text::normalize(&text), plain_normalize(&text), "{text:?}");
        }
    }
}

#[test]
fn normalizing_twice_may_differ_from_normalizing_once() {
    // A capital J with a caron has no precomposed form, the small one has.
    let once = text::normalize("J\u{30c}");
    assert_eq!(once, "j\u{30c}");
    assert_eq!(text::normalize(&once), "ǰ");
}

/// Characters that look at their neighbours, change their number, or sit at the edge of a class.
fn troublesome_char() -> impl Strategy<Value = char> {
    prop_oneof![
        4 => proptest::char::range(' ', '~'),
        2 => proptest::sample::select(&WHITE_SPACE[..]),
        3 => proptest::sample::select(vec![
            'Σ', 'σ', 'ς', 'ϲ', 'İ', 'I', 'ı', 'ß', 'ẞ', 'ﬁ', '…', '½', '㍿', 'Ⅷ', '，', '｡', 'Å', 'é', '\u{130}', '\'',
            '\u{ad}', '\u{200d}', '\u{85}', '\u{1c}', '\u{180e}', '\u{200b}', '\u{1f600}', '\u{1d6ba}', '\u{20000}',
        ]),
        2 => proptest::char::range('\u{300}', '\u{345}'),
        1 => proptest::char::range('\u{1100}', '\u{11ff}'),
        1 => proptest::char::range('가', '힣'),
        1 => proptest::char::range('ぁ', 'ヿ'),
        1 => proptest::char::range('ｦ', 'ﾟ'),
        1 => proptest::char::range('一', '三'),
        1 => proptest::char::range('А', 'я'),
        1 => any::<char>(),
    ]
}

fn troublesome_text() -> impl Strategy<Value = String> {
    let words = proptest::collection::vec(troublesome_char(), 0..40);
    // Runs of one character reach over the 64-byte windows of the token scan.
    let runs = proptest::collection::vec((troublesome_char(), 1..80usize), 0..6).prop_map(|runs| {
        runs.into_iter().flat_map(|(c, times)| std::iter::repeat_n(c, times)).collect::<Vec<_>>()
    });
    // One character outside ASCII takes the whole text off the fast path.
    let ascii = proptest::string::string_regex("( {1,3}|[A-Za-z0-9\t-\r\x1c-\x1f%.]){0,100}")
        .expect("a valid pattern");
    prop_oneof![words.prop_map(String::from_iter), runs.prop_map(String::from_iter), ascii]
}

proptest! {
    #[test]
    fn normalize_follows_the_rule(text in troublesome_text(), before in "[a ]{0,3}") {
        let mut normalized = before.clone();
        text::normalize_into(&text, &mut normalized);
        let expected = plain_normalize(&text);
        prop_assert_eq!(normalized.strip_prefix(&before), Some(&expected[..]));
        prop_assert_eq!(text::normalize(&text), expected.clone());
        prop_assert_eq!(text::is_blank(&text), expected.is_empty());
    }

    #[test]
    fn tokens_follow_the_rule(text in troublesome_text()) {
        prop_assert_eq!(text::tokens(&text).collect::<Vec<_>>(), plain_tokens(&text));
    }

    #[test]
    fn trigrams_follow_the_rule(text in troublesome_text()) {
        prop_assert_eq!(text::trigrams(&text).collect::<Vec<_>>(), plain_trigrams(&text));
    }

    #[test]
    fn similarity_follows_the_rule((a, b, kept) in (troublesome_text(), troublesome_text(), any::<proptest::sample::Index>())) {
        let a = text::normalize(&a);
        // The start of one text before another: unrelated texts share too little.
        let b = format!("{}{}", a.chars().take(kept.index(a.len() + 1)).collect::<String>(), text::normalize(&b));
        let score = text::similarity(&a, &b);
        prop_assert_eq!(score, plain_similarity(&a, &b));
        prop_assert_eq!(score, text::similarity(&b, &a));
        prop_assert!((0.0..=1.0).contains(&score));
        prop_assert_eq!(text::similarity(&a, &a), 1.0);
    }
}
