//! Comparing language tags.

/// Whether a tag is in a range: it is the same, or begins with the same subtags (basic filtering, RFC 4647). Case does not
/// matter, and `_` is the same as `-`.
pub(crate) fn is_in(tag: &str, range: &str) -> bool {
    let (tag, range) = (tag.as_bytes(), range.as_bytes());
    let same = |(a, b): (&u8, &u8)| a.eq_ignore_ascii_case(b) || (is_separator(*a) && is_separator(*b));
    tag.len() >= range.len()
        && tag.iter().zip(range).all(same)
        && tag.get(range.len()).is_none_or(|next| is_separator(*next))
}

/// Whether two tags are the same but for case and separators.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && is_in(a, b)
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_takes_its_regions_and_not_the_other_way_round() {
        for (tag, range, expected) in [
            ("de", "de", true),
            ("DE", "de", true),
            ("de-DE", "de", true),
            ("de_AT", "de", true),
            ("zh_Hant_TW", "zh-hant", true),
            ("de", "de-DE", false),
            ("den", "de", false),
            ("fr", "de", false),
            ("", "de", false),
        ] {
            assert_eq!(is_in(tag, range), expected, "{tag} in {range}");
        }
        assert!(same("pt_br", "PT-BR"));
        assert!(!same("pt-BR", "pt"));
    }
}
