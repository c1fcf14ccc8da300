//! The strings of PO files: what stands between quotation marks, with C's escapes.

use encoding_rs::Encoding;

use crate::error::start_of;

/// Adds what a line of strings stands for: one or several in quotation marks.
///
/// # Errors
/// What is wrong with it. `text` may have the part before.
pub(super) fn unquote(line: &str, encoding: &'static Encoding, text: &mut String) -> Result<(), String> {
    let mut rest = line.trim_ascii();
    loop {
        let Some(start) = rest.strip_prefix('"') else {
            return Err(match rest {
                "" => "a string in quotation marks is missing".to_owned(),
                _ => format!("{:?} stands where a string in quotation marks is expected", start_of(rest)),
            });
        };
        rest = until_quotation_mark(start, encoding, text)?.trim_ascii_start();
        if rest.is_empty() {
            return Ok(());
        }
    }
}

/// Adds a string up to its second quotation mark, and returns what comes after it.
fn until_quotation_mark<'a>(
    mut rest: &'a str,
    encoding: &'static Encoding,
    text: &mut String,
) -> Result<&'a str, String> {
    loop {
        let at = memchr::memchr2(b'"', b'\\', rest.as_bytes())
            .ok_or_else(|| "the line ends before the string does".to_owned())?;
        text.push_str(&rest[..at]);
        if rest.as_bytes()[at] == b'"' {
            return Ok(&rest[at + 1..]);
        }
        rest = escape(&rest[at..], encoding, text)?;
    }
}

/// Adds what the escapes at the start of `rest` stand for, and returns what comes after them.
fn escape<'a>(rest: &'a str, encoding: &'static Encoding, text: &mut String) -> Result<&'a str, String> {
    let unknown = || {
        let escape: String = rest.chars().take(2).collect();
        Err(format!("{escape} is no escape that PO files have"))
    };
    let character = match rest.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'\'') => '\'',
        Some(b'?') => '?',
        Some(b'a') => '\x07',
        Some(b'b') => '\x08',
        Some(b'f') => '\x0C',
        Some(b'v') => '\x0B',
        Some(b'0'..=b'7' | b'x') => return numeric(rest, encoding, text).map_or_else(unknown, Ok),
        _ => return unknown(),
    };
    text.push(character);
    Ok(&rest[2..])
}

/// Adds the text of bytes in octal (`\303\251`) and hexadecimal (`\xc3\xa9`). Several in a row may be one character.
fn numeric<'a>(mut rest: &'a str, encoding: &'static Encoding, text: &mut String) -> Option<&'a str> {
    let mut bytes = Vec::new();
    while let Some(digits) = rest.strip_prefix('\\') {
        let (digits, radix, most) = match digits.as_bytes().first() {
            Some(b'x') => (&digits[1..], 16, 2),
            Some(b'0'..=b'7') => (digits, 8, 3),
            _ => break,
        };
        let end = digits.chars().take(most).take_while(|digit| digit.is_digit(radix)).count();
        bytes.push(u8::from_str_radix(&digits[..end], radix).ok()?);
        rest = &digits[end..];
    }
    text.push_str(&encoding.decode_without_bom_handling_and_without_replacement(&bytes)?);
    Some(rest)
}

/// Writes a text as one string, or as an empty one and one for each of its lines.
pub(super) fn quote(keyword: &str, text: &str, out: &mut String) {
    out.push_str(keyword);
    out.push(' ');
    let lines = text.split_inclusive('\n');
    if text.trim_end_matches('\n').contains('\n') {
        out.push_str("\"\"\n");
    }
    if text.is_empty() {
        out.push_str("\"\"\n");
    }
    for line in lines {
        out.push('"');
        for character in line.chars() {
            match character {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\r' => out.push_str("\\r"),
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\0'..='\x1F' | '\x7F' => out.push_str(&format!("\\{:03o}", u32::from(character))),
                _ => out.push(character),
            }
        }
        out.push_str("\"\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_KR, UTF_8};
    use proptest::prelude::*;

    fn unquoted(line: &str) -> Result<String, String> {
        let mut text = String::new();
        unquote(line, UTF_8, &mut text).map(|()| text)
    }

    #[test]
    fn escapes_are_those_of_c() {
        for (line, text) in [
            (r#""plain""#, "plain"),
            (r#"  "a" "b"  "#, "ab"),
            (r#""\n\t\r\"\\\'\?""#, "\n\t\r\"\\'?"),
            (r#""\a\b\f\v""#, "\x07\x08\x0C\x0B"),
            (r#""\303\251""#, "é"),
            (r#""\xc3\xA9t""#, "ét"),
            (r#""\xEC\x9E\x90\1012""#, "자A2"),
            (r#""\x41g""#, "Ag"),
            (r#""""#, ""),
        ] {
            assert_eq!(unquoted(line).as_deref(), Ok(text), "{line}");
        }
        let mut text = String::new();
        unquote(r#""\xC0\xFA\xC0\xE5""#, EUC_KR, &mut text).unwrap();
        assert_eq!(text, "저장");
    }

    #[test]
    fn what_is_no_string_is_refused() {
        for (line, message) in [
            ("", "a string in quotation marks is missing"),
            ("text", r#""text" stands where a string in quotation marks is expected"#),
            (r#""a" b"#, r#""b" stands where a string in quotation marks is expected"#),
            (r#""a"#, "the line ends before the string does"),
            (r#""a\"#, r"\ is no escape that PO files have"),
            (r#""a\""#, "the line ends before the string does"),
            (r#""\q""#, r"\q is no escape that PO files have"),
            (r#""\é""#, r"\é is no escape that PO files have"),
            (r#""\xe9""#, r"\x is no escape that PO files have"),
            (r#""\xg""#, r"\x is no escape that PO files have"),
            (r#""\777""#, r"\7 is no escape that PO files have"),
        ] {
            assert_eq!(unquoted(line), Err(message.to_owned()), "{line}");
        }
    }

    proptest! {
        #[test]
        fn what_is_quoted_comes_back(text in any::<String>()) {
            let mut out = String::new();
            quote("msgid", &text, &mut out);
            let mut back = String::new();
            for line in out.strip_prefix("msgid").unwrap().split_terminator('\n') {
                prop_assert!(!line.bytes().any(|byte| byte < 0x20 || byte == 0x7F));
                unquote(line, UTF_8, &mut back).unwrap();
            }
            prop_assert_eq!(text, back);
        }
    }
}
