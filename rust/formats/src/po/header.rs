//! The header of a catalog: the translation of the empty `msgid`.

use encoding_rs::{Encoding, UTF_8};

use super::plural::PluralForms;
use crate::error::{Error, Result};
use crate::language;
use crate::options::Options;

/// What holds for all messages of a catalog.
#[derive(Debug, Default)]
pub(super) struct Header {
    pub(super) source_language: Option<String>,
    pub(super) target_language: Option<String>,
    pub(super) forms: Option<PluralForms>,
}

impl Header {
    /// What holds as long as no header was seen.
    pub(super) fn without(options: &Options) -> Result<Header> {
        let target_language = match &options.target_languages[..] {
            [] => None,
            [language] => Some(language.clone()),
            _ => {
                return Err(Error::Option {
                    option: "target_languages",
                    message: "has several languages; a catalog has one".to_owned(),
                });
            }
        };
        Ok(Header { source_language: options.source_language.clone(), target_language, forms: None })
    }

    /// Reads the lines of a header.
    ///
    /// # Errors
    /// [`Error::Option`] if another language is wanted than the header has.
    pub(super) fn parse(text: &str, options: &Options) -> Result<Header> {
        let mut header = Header::without(options)?;
        for (name, value) in text.lines().filter_map(|line| line.split_once(':')) {
            match name.trim() {
                name if name.eq_ignore_ascii_case("Language") => {
                    choose("target_languages", &mut header.target_language, value)?;
                }
                name if name.eq_ignore_ascii_case("X-Source-Language") => {
                    choose("source_language", &mut header.source_language, value)?;
                }
                name if name.eq_ignore_ascii_case("Plural-Forms") => header.forms = PluralForms::parse(value),
                _ => {}
            }
        }
        Ok(header)
    }
}

/// Puts the language of a header in the place of the wanted one, if it is in it.
fn choose(option: &'static str, wanted: &mut Option<String>, value: &str) -> Result<()> {
    let Some(found) = tag(value) else { return Ok(()) };
    if let Some(range) = wanted.as_ref().filter(|range| !language::is_in(&found, range)) {
        return Err(Error::Option {
            option,
            message: format!("asks for {range}, but the catalog is in {found}"),
        });
    }
    *wanted = Some(found);
    Ok(())
}

/// The language tag for what gettext calls a locale: `zh-CN` for `zh_CN.UTF-8`, `sr-Latn` for `sr@latin`.
fn tag(locale: &str) -> Option<String> {
    let locale = locale.trim();
    let (locale, modifier) = locale.split_once('@').unwrap_or((locale, ""));
    let (locale, _encoding) = locale.split_once('.').unwrap_or((locale, ""));
    let (language, region) = locale.split_once(['_', '-']).unwrap_or((locale, ""));
    let modifier = match modifier {
        "latin" => "Latn",
        "cyrillic" => "Cyrl",
        "devanagari" => "Deva",
        modifier => modifier,
    };
    let parts = [language, modifier, region];
    let tag =
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-").replace('_', "-");
    (!tag.is_empty()).then_some(tag)
}

/// What gettext calls the language of a tag.
pub(super) fn locale(tag: &str) -> String {
    tag.replace('-', "_")
}

/// The encoding that a catalog says it is in, in the header among its first bytes.
///
/// # Errors
/// It says one that nobody knows.
pub(super) fn encoding(head: &[u8]) -> std::result::Result<&'static Encoding, String> {
    const FIELD: &[u8] = b"Content-Type:";
    const NAME: &[u8] = b"charset=";
    // Messages can have these words, too, but not before the header has them.
    let field = memchr::memmem::find(head, FIELD).map(|at| &head[at..]).unwrap_or_default();
    let field = &field[..field.len().min(200)];
    let Some(at) = memchr::memmem::find(field, NAME) else { return Ok(UTF_8) };
    let label = &field[at + NAME.len()..];
    let end = label.iter().position(|byte| !byte.is_ascii_graphic() || matches!(byte, b'\\' | b'"' | b';'));
    let label = &label[..end.unwrap_or(label.len())];
    // What the template of a catalog has where nobody has set it.
    if label == b"CHARSET" || label.is_empty() {
        return Ok(UTF_8);
    }
    Encoding::for_label(label)
        .ok_or_else(|| format!("the header names an encoding that is not known: {}", label.escape_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_become_language_tags() {
        for (locale, expected) in [
            (" ko\n", Some("ko")),
            ("zh_CN", Some("zh-CN")),
            ("zh_Hant_TW", Some("zh-Hant-TW")),
            ("ja_JP.UTF-8", Some("ja-JP")),
            ("sr@latin", Some("sr-Latn")),
            ("sr_RS@latin", Some("sr-Latn-RS")),
            ("ca@valencia", Some("ca-valencia")),
            ("pt-BR", Some("pt-BR")),
            ("", None),
        ] {
            assert_eq!(tag(locale).as_deref(), expected, "{locale}");
        }
    }

    #[test]
    fn the_encoding_is_what_the_header_says() {
        for (head, name) in [
            (&b"msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=EUC-KR\\n\"\n"[..], "EUC-KR"),
            (b"\"Content-Type: text/plain; charset=gb2312\\n\"", "GBK"),
            (b"\"Content-Type: text/plain; charset=CHARSET\\n\"", "UTF-8"),
            (b"\"Content-Type: text/plain; charset=\\n\"", "UTF-8"),
            (b"\"Language: ko\\n\"\nmsgid \"charset=latin1 is old\"", "UTF-8"),
            (b"msgid \"a\"\nmsgstr \"b\"\n", "UTF-8"),
        ] {
            assert_eq!(encoding(head).unwrap().name(), name);
        }
        let message = encoding(b"Content-Type: text/plain; charset=klingon\\n").unwrap_err();
        assert_eq!(message, "the header names an encoding that is not known: klingon");
    }
}
