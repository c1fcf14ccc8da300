//! One line: a JSON object that is an entry.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use diglot_engine::EntryRef;

use super::metadata;
use crate::error::code_of;

/// The other spellings of the fields, in the order of [`EntryRef::FIELDS`].
const CAMEL_CASE: [&str; EntryRef::FIELDS.len()] = [
    "source",
    "target",
    "sourceLanguage",
    "targetLanguage",
    "domain",
    "namespace",
    "sourceId",
    "createdAt",
    "notes",
    "metadata",
];

/// The first fields, which every entry has.
const REQUIRED: usize = 2;

/// The last field, the one that is not a string.
const METADATA: usize = 9;

/// Unknown keys are quoted up to this many characters.
const QUOTED: usize = 60;

/// Why a line is not an entry.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) field: Option<&'static str>,
    pub(super) code: &'static str,
    pub(super) message: String,
    /// Whether the line is no JSON object, nor looks like one.
    pub(super) no_object: bool,
}

impl Fault {
    /// The engine refused the entry of a line.
    pub(super) fn refused(refusal: diglot_engine::Error) -> Fault {
        let field = match refusal {
            diglot_engine::Error::EmptyText { field } | diglot_engine::Error::TooLong { field, .. } => {
                Some(field)
            }
            _ => None,
        };
        Fault { field, code: code_of(&refusal), message: refusal.to_string(), no_object: false }
    }
}

/// The fields of a line in the order of [`EntryRef::FIELDS`], borrowed from it where they can be.
#[derive(Debug, Default)]
pub(super) struct Entry<'a>([Option<Cow<'a, str>>; EntryRef::FIELDS.len()]);

impl Entry<'_> {
    pub(super) fn as_ref(&self) -> EntryRef<'_> {
        EntryRef::of_texts(self.0.each_ref().map(Option::as_deref))
    }
}

/// The entry of a line.
pub(super) fn parse(line: &[u8]) -> Result<Entry<'_>, Fault> {
    let line = std::str::from_utf8(line).map_err(|error| Fault {
        field: None,
        code: "invalid_encoding",
        message: format!("not UTF-8 from byte {} of the line on", error.valid_up_to() + 1),
        no_object: !line.trim_ascii_start().starts_with(b"{"),
    })?;
    let mut field = None;
    let mut json = serde_json::Deserializer::from_str(line);
    let entry = EntrySeed { field: &mut field }.deserialize(&mut json);
    let entry = entry.and_then(|entry| json.end().map(|()| entry));
    entry.map_err(|error| {
        let text = line.trim_ascii();
        Fault {
            message: message(field, &error),
            code: if error.is_data() { "invalid_value" } else { "syntax" },
            field,
            // Where an object is spread over several lines, the first of them has nothing else.
            no_object: !text.starts_with('{') || text.len() == 1,
        }
    })
}

fn message(field: Option<&str>, error: &serde_json::Error) -> String {
    let (text, line, column) = (error.to_string(), error.line(), error.column());
    let what = text.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&text);
    match field {
        _ if !error.is_data() => format!("invalid JSON at byte {column} of the line: {what}"),
        Some(field) => format!("{field}: {what}"),
        None => what.to_owned(),
    }
}

struct EntrySeed<'f> {
    /// The field that is being read.
    field: &'f mut Option<&'static str>,
}

impl<'de> DeserializeSeed<'de> for EntrySeed<'_> {
    type Value = Entry<'de>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Entry<'de>, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EntrySeed<'_> {
    type Value = Entry<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object with an entry's fields, one on each line")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entry<'de>, A::Error> {
        let mut entry = Entry::default();
        let mut seen = [false; EntryRef::FIELDS.len()];
        while let Some(number) = map.next_key_seed(KeySeed)? {
            let (field, other) = (EntryRef::FIELDS[number], CAMEL_CASE[number]);
            *self.field = Some(field);
            if std::mem::replace(&mut seen[number], true) {
                return Err(A::Error::custom(match field == other {
                    true => "given twice; once is allowed".to_owned(),
                    false => format!("given twice; {field} and {other} are one field, and once is allowed"),
                }));
            }
            entry.0[number] = match number {
                METADATA => metadata_text(map.next_value()?)?,
                _ => map.next_value_seed(TextSeed { required: number < REQUIRED })?,
            };
            *self.field = None;
        }
        match EntryRef::FIELDS[..REQUIRED].iter().zip(seen).find(|(_, seen)| !seen) {
            None => Ok(entry),
            Some((field, _)) => {
                *self.field = Some(field);
                Err(A::Error::custom("missing; every entry needs a source and a target"))
            }
        }
    }
}

/// The JSON object that a text is, checked and compact; `None` for `null`.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn object(text: &str) -> Result<Option<String>, String> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| format!("invalid JSON: {error}"))?;
    match raw.get().as_bytes()[0] {
        b'{' => metadata::compact(raw.get()).map(Some),
        b'n' => Ok(None),
        _ => Err("expected a JSON object".to_owned()),
    }
}

fn metadata_text<'de, E: serde::de::Error>(raw: &'de RawValue) -> Result<Option<Cow<'de, str>>, E> {
    match raw.get().as_bytes()[0] {
        b'{' => metadata::compact(raw.get()).map(|text| Some(Cow::Owned(text))).map_err(E::custom),
        b'n' => Ok(None),
        _ => Err(E::custom("expected a JSON object or null")),
    }
}

/// A key, as its number in [`EntryRef::FIELDS`].
struct KeySeed;

impl<'de> DeserializeSeed<'de> for KeySeed {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<usize, D::Error> {
        json.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KeySeed {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<usize, E> {
        let mut fields = EntryRef::FIELDS.iter().zip(&CAMEL_CASE);
        fields.position(|(field, other)| key == *field || key == *other).ok_or_else(|| {
            let mut quoted: String = key.chars().take(QUOTED).collect();
            if quoted.len() < key.len() {
                quoted.push('…');
            }
            let fields = EntryRef::FIELDS.join(", ");
            E::custom(format!("unknown field {quoted:?}; allowed are {fields} (in camelCase, too)"))
        })
    }
}

/// The value of a field that is a string.
struct TextSeed {
    required: bool,
}

impl<'de> DeserializeSeed<'de> for TextSeed {
    type Value = Option<Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        if self.required { json.deserialize_str(self) } else { json.deserialize_option(self) }
    }
}

impl<'de> Visitor<'de> for TextSeed {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.required { "a string" } else { "a string or null" })
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_str(self)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }
}
