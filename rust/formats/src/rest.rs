//! What a format cannot hold of an entry, written beside what it can as one JSON object.
//!
//! The object has exact values of fields that the format shows otherwise (characters that XML cannot hold, times that TMX
//! cannot hold), fields that it does not have, and members of the metadata. A value is taken back only if the unit still
//! shows what was written beside it: whoever edited the unit since did not edit this.

use std::borrow::Cow;

use diglot_engine::EntryRef;

use crate::json::{self, Members, Object};
use crate::jsonl::compact;
use crate::time;
use crate::xml::{allowed, forbidden};

/// The language of a text whose language is not known.
const UNDETERMINED: &str = "und";

/// How a language is written: the parts of a tag have hyphens between them in XML.
pub(crate) fn shown_language(language: Option<&str>) -> Cow<'_, str> {
    match language {
        None | Some("") => UNDETERMINED.into(),
        Some(language) if language.contains('_') => allowed(&language.replace('_', "-")).into_owned().into(),
        Some(language) => allowed(language),
    }
}

/// The exact values of the texts that a unit shows otherwise. `others`: it shows the domain and the namespace, too, which
/// are written in any case if it does not. `languages`: the languages that it shows, source and target.
pub(crate) fn fields(entry: &EntryRef<'_>, others: bool, languages: [&str; 2]) -> Object {
    let mut rest = Object::default();
    for (field, value, is_shown) in [
        ("source", Some(entry.source), true),
        ("target", Some(entry.target), true),
        ("source_id", entry.source_id, true),
        ("notes", entry.notes, true),
        ("domain", entry.domain, others),
        ("namespace", entry.namespace, others),
    ] {
        if let Some(value) = value.filter(|value| !is_shown || forbidden(value).is_some()) {
            rest.string(field, value);
        }
    }
    let [source_language, target_language] = languages;
    for (field, language, shown) in [
        ("source_language", entry.source_language, source_language),
        ("target_language", entry.target_language, target_language),
    ] {
        match language {
            None => rest.raw(field, "null"),
            Some(language) if shown != language => rest.string(field, language),
            Some(_) => {}
        }
    }
    rest
}

/// The object, with members of the metadata: all that are not shown, and under the key of the format `ours`.
pub(crate) fn finish(
    mut rest: Object,
    entry: &EntryRef<'_>,
    metadata: &Members<'_>,
    is_shown: impl Fn(&str, &str) -> bool,
    (key, ours): (&str, Object),
) -> Option<String> {
    let mut others = Object::default();
    for (name, value) in metadata.iter().filter(|(name, value)| !is_shown(name, value.get())) {
        others.raw(name, value.get());
    }
    others.object(key, ours);
    match others.finish() {
        Some(others) => rest.raw("metadata", &others),
        None if metadata.is_empty() && entry.metadata.is_some() => rest.raw("metadata", "{}"),
        None => {}
    }
    // What XML cannot hold is in strings only, and JSON can write it in ASCII.
    rest.finish().map(|rest| rest.replace('\u{FFFE}', "\\ufffe").replace('\u{FFFF}', "\\uffff"))
}

/// Whether a member of the metadata is an object with members, which are written one by one.
pub(crate) fn has_members(value: &str) -> bool {
    json::members(value).is_some_and(|members| !members.is_empty())
}

/// Which times of an entry are written at the unit itself.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) created: bool,
    pub(crate) changed: bool,
}

/// An entry's values out of the object that was written beside its unit.
#[derive(Default)]
pub(crate) struct Exact {
    texts: [Option<String>; 7],
    languages: [Option<String>; 2],
    /// Whether the entry has no source language, target language and source id, whatever the unit shows.
    none: [bool; 3],
    metadata: Option<String>,
}

impl Exact {
    /// Takes the values out of the object. `shown` is the entry as the unit shows it, `key` that of the format's own part
    /// of the metadata.
    pub(crate) fn new(rest: &str, shown: &EntryRef<'_>, key: &str, times: Times) -> Exact {
        let Some(rest) = json::members(rest) else { return Exact::default() };
        let value = |field: &str| rest.get(field).and_then(|value| json::text(value));
        let text = |field: &str, shown: Option<&str>| {
            value(field).filter(|text| shown.is_none_or(|shown| shown == allowed(text)))
        };
        let language = |field: &str, shown: Option<&str>| {
            let shown = shown.unwrap_or_default();
            value(field).filter(|language| shown.eq_ignore_ascii_case(&shown_language(Some(language))))
        };
        let is_null = |field: &str| rest.get(field).is_some_and(|value| value.get() == "null");
        Exact {
            texts: [
                text("source", Some(shown.source)),
                text("target", Some(shown.target)),
                text("domain", shown.domain),
                text("namespace", shown.namespace),
                text("source_id", shown.source_id),
                text("notes", shown.notes),
                value("created_at").filter(|time| is_shown(time, shown.created_at, times.created)),
            ],
            languages: [
                language("source_language", shown.source_language),
                language("target_language", shown.target_language),
            ],
            none: [
                is_null("source_language") && shown.source_language == Some(UNDETERMINED),
                is_null("target_language") && shown.target_language == Some(UNDETERMINED),
                is_null("source_id"),
            ],
            metadata: rest
                .get("metadata")
                .and_then(|rest| with_rest(shown.metadata, rest.get(), key, times.changed)),
        }
    }

    /// The entry with these values.
    pub(crate) fn entry<'a>(&'a self, shown: EntryRef<'a>) -> EntryRef<'a> {
        let [source, target, domain, namespace, source_id, notes, created_at] =
            self.texts.each_ref().map(Option::as_deref);
        let [source_language, target_language] = self.languages.each_ref().map(Option::as_deref);
        let [no_source_language, no_target_language, no_source_id] = self.none;
        EntryRef {
            source: source.unwrap_or(shown.source),
            target: target.unwrap_or(shown.target),
            source_language: source_language.or(shown.source_language).filter(|_| !no_source_language),
            target_language: target_language.or(shown.target_language).filter(|_| !no_target_language),
            domain: domain.or(shown.domain),
            namespace: namespace.or(shown.namespace),
            source_id: source_id.or(shown.source_id).filter(|_| !no_source_id),
            created_at: created_at.or(shown.created_at),
            notes: notes.or(shown.notes),
            metadata: self.metadata.as_deref().or(shown.metadata),
        }
    }
}

/// Whether a unit shows a time as it would have been written. `written`: the unit itself has a time.
fn is_shown(time: &str, shown: Option<&str>, written: bool) -> bool {
    match time::basic(time) {
        Some(basic) => shown.is_none_or(|shown| time::extended(&basic).as_deref() == Some(shown)),
        None => !written,
    }
}

/// The metadata that a unit shows with the members that were written beside it. Where both have a member, what the unit
/// shows is taken.
fn with_rest(shown: Option<&str>, rest: &str, key: &str, changed_written: bool) -> Option<String> {
    let rest = compact(rest).ok()?;
    let rest = json::members(&rest)?;
    let shown = shown.and_then(json::members).unwrap_or_default();
    let mut merged = Object::default();
    for (name, value) in &rest {
        match shown.get(name) {
            Some(shown) if name == "changed_at" => {
                let shown_time = json::text(shown);
                let exact = json::text(value)
                    .is_none_or(|time| is_shown(&time, shown_time.as_deref(), changed_written));
                merged.raw(name, if exact { value.get() } else { shown.get() });
            }
            Some(shown) if name == key => merged.raw(name, &with_members(shown.get(), value.get())?),
            Some(shown) => merged.raw(name, shown.get()),
            None => merged.raw(name, value.get()),
        }
    }
    for (name, value) in shown.iter().filter(|(name, _)| !rest.contains_key(*name)) {
        merged.raw(name, value.get());
    }
    Some(merged.finish().unwrap_or_else(|| "{}".to_owned()))
}

/// An object with those members of another that it does not have itself.
fn with_members(own: &str, other: &str) -> Option<String> {
    let own = json::members(own)?;
    let other = json::members(other).unwrap_or_default();
    let mut object = Object::default();
    for (name, value) in own.iter().chain(other.iter().filter(|(name, _)| !own.contains_key(*name))) {
        object.raw(name, value.get());
    }
    object.finish()
}
