//! Writing TMX.

use std::io::Write;

use diglot_engine::EntryRef;

use super::{DIALECT, DOMAIN, NAMESPACE, OURS, REST, TU_ATTRIBUTES, TUV_ATTRIBUTES};
use crate::Writer;
use crate::error::{Error, Result};
use crate::inline::{other_markup, own_markup};
use crate::json::{self, Object};
use crate::options::Options;
use crate::output::Output;
use crate::rest::{self, shown_language};
use crate::time;
use crate::xml::{forbidden, push_attribute, push_text};

/// What `segtype` may be.
const SEGMENT_TYPES: [&str; 4] = ["block", "paragraph", "sentence", "phrase"];

/// The source language of a header whose units are in several.
const MANY: &str = "*all*";

/// Writes entries as units of TMX 1.4b, one each.
///
/// What the parts of a unit hold by themselves is written there. The rest goes into a property: texts that XML cannot
/// hold, times that TMX cannot hold, and metadata that is not TMX's.
pub(crate) struct TmxWriter {
    output: Output,
    /// The source language of the header.
    source_language: String,
    begun: bool,
    unit: String,
}

impl TmxWriter {
    /// # Errors
    /// [`Error::Option`] for target languages, which each unit has of its own.
    pub(crate) fn new(output: Output, options: &Options) -> Result<TmxWriter> {
        if !options.target_languages.is_empty() {
            let message =
                "has no use when TMX is written: every unit says which languages it is in".to_owned();
            return Err(Error::Option { option: "target_languages", message });
        }
        let mut writer =
            TmxWriter { output, source_language: MANY.to_owned(), begun: false, unit: String::new() };
        if let Some(language) = &options.source_language {
            writer.all_sources_in(language);
        }
        Ok(writer)
    }

    /// Writes what comes before the units.
    fn begin(&mut self) -> Result<()> {
        self.begun = true;
        let mut header =
            String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<tmx version=\"1.4\">\n<header");
        for (name, value) in [
            ("creationtool", "diglot"),
            ("creationtoolversion", env!("CARGO_PKG_VERSION")),
            ("segtype", "sentence"),
            ("o-tmf", "diglot"),
            ("adminlang", "en"),
            ("srclang", &self.source_language),
            ("datatype", "plaintext"),
        ] {
            push_attribute(&mut header, name, value);
        }
        header.push_str("/>\n<body>\n");
        Ok(self.output.write_all(header.as_bytes())?)
    }
}

impl Writer for TmxWriter {
    fn all_sources_in(&mut self, language: &str) {
        if self.source_language == MANY {
            self.source_language = shown_language(Some(language)).into_owned();
        }
    }

    fn write(&mut self, entry: EntryRef<'_>) -> Result<()> {
        if !self.begun {
            self.begin()?;
        }
        self.unit.clear();
        push_unit(&mut self.unit, &entry, &self.source_language);
        Ok(self.output.write_all(self.unit.as_bytes())?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if !self.begun {
            self.begin()?;
        }
        self.output.write_all(b"</body>\n</tmx>\n")?;
        Ok(self.output.finish()?)
    }
}

/// What a `tu` or `tuv` says besides its texts, out of the metadata.
#[derive(Default)]
struct About {
    attributes: Vec<(&'static str, String)>,
    /// Text, language.
    notes: Vec<(String, Option<String>)>,
    /// Type, text, language.
    props: Vec<(String, String, Option<String>)>,
}

impl About {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Takes a member if TMX can hold it as it is. What is empty would leave no trace.
    fn take(&mut self, key: &str, value: &str, known: &[&'static str]) -> Option<()> {
        match key {
            "props" => self.props = props(value).filter(|props| !props.is_empty())?,
            "notes" => self.notes = notes(value).filter(|notes| !notes.is_empty())?,
            _ => {
                let name = known.iter().find(|known| **known == key)?;
                let value: String = serde_json::from_str(value).ok()?;
                let fits = *name != "segtype" || SEGMENT_TYPES.contains(&value.as_str());
                (fits && forbidden(&value).is_none()).then(|| self.attributes.push((name, value)))?;
            }
        }
        Some(())
    }

    /// All of an object, if TMX can hold it as it is.
    fn all_of(object: &str) -> Option<About> {
        let mut about = About::default();
        for (key, value) in json::members(object).filter(|members| !members.is_empty())? {
            about.take(&key, value.get(), &TUV_ATTRIBUTES)?;
        }
        Some(about)
    }

    /// Takes the notes of a `tu` one by one, if these are they and would be read so.
    fn take_notes(&mut self, value: &str, joined: Option<&str>) -> Option<()> {
        let notes = notes(value)?;
        let texts: Vec<&str> = notes.iter().map(|(text, _)| text.as_str()).collect();
        let fits = texts.len() > 1 || notes.iter().any(|(_, language)| language.is_some());
        self.notes = (fits && joined == Some(&texts.join("\n"))).then_some(notes)?;
        Some(())
    }

    fn push_notes(&self, out: &mut String) {
        for (text, language) in &self.notes {
            out.push_str("<note");
            if let Some(language) = language {
                push_attribute(out, "xml:lang", language);
            }
            out.push('>');
            push_text(out, text);
            out.push_str("</note>\n");
        }
    }

    fn push_props(&self, out: &mut String) {
        for (kind, text, language) in &self.props {
            push_prop(out, kind, text, language.as_deref());
        }
    }
}

/// Notes, each with its language if it has one.
fn notes(value: &str) -> Option<Vec<(String, Option<String>)>> {
    let notes: Vec<serde_json::Value> = serde_json::from_str(value).ok()?;
    let note = |note| match note {
        serde_json::Value::String(text) => Some((text, None)),
        note => {
            let (text, language) = serde_json::from_value(note).ok()?;
            Some((text, Some(language)))
        }
    };
    let fits = |(text, language): &(String, Option<String>)| {
        forbidden(text).is_none() && language.as_deref().and_then(forbidden).is_none()
    };
    notes.into_iter().map(|value| note(value).filter(fits)).collect()
}

fn props(value: &str) -> Option<Vec<(String, String, Option<String>)>> {
    let props: Vec<Vec<String>> = serde_json::from_str(value).ok()?;
    props
        .into_iter()
        .map(|prop| {
            let mut parts = prop.into_iter();
            let (kind, text, language) = (parts.next()?, parts.next()?, parts.next());
            let fits = [Some(&kind), Some(&text), language.as_ref()].into_iter().flatten();
            let fits = fits.map(|part| forbidden(part)).all(|found| found.is_none());
            (fits && parts.next().is_none() && !OURS.contains(&kind.as_str()))
                .then_some((kind, text, language))
        })
        .collect()
}

/// Adds a unit.
fn push_unit(out: &mut String, entry: &EntryRef<'_>, header_language: &str) {
    let metadata = entry.metadata.and_then(json::members).unwrap_or_default();
    let ours = metadata.get("tmx").and_then(|value| json::members(value.get()));
    let changed_at = metadata.get("changed_at").and_then(|value| json::text(value));

    let mut rest_of_ours = Object::default();
    let mut unit = About::default();
    let [mut source, mut target] = [About::default(), About::default()];
    let [mut source_markup, mut target_markup] = [None, None];
    for (key, value) in ours.iter().flatten() {
        let taken = match key.as_ref() {
            "source" => own_markup(&DIALECT, value.get(), entry.source).map(|own| source_markup = Some(own)),
            "target" => own_markup(&DIALECT, value.get(), entry.target).map(|own| target_markup = Some(own)),
            "source_tuv" => variant(value.get(), entry, changed_at.as_deref()).map(|about| source = about),
            "target_tuv" => variant(value.get(), entry, changed_at.as_deref()).map(|about| target = about),
            "notes" => unit.take_notes(value.get(), entry.notes),
            key => unit.take(key, value.get(), &TU_ATTRIBUTES),
        };
        if taken.is_none() {
            rest_of_ours.raw(key, value.get());
        }
    }

    let derived = |name| target.attribute(name).or(source.attribute(name)).map(shown_time);
    let created = date(entry.created_at, derived("creationdate"));
    let changed = date(changed_at.as_deref(), derived("changedate"));

    out.push_str("<tu");
    if let Some(id) = entry.source_id {
        push_attribute(out, "tuid", id);
    }
    for (name, value) in &unit.attributes {
        push_attribute(out, name, value);
    }
    for (name, date) in [("creationdate", &created), ("changedate", &changed)] {
        if let Some(date) = &date.written {
            push_attribute(out, name, date);
        }
    }
    let source_language = shown_language(entry.source_language);
    let target_language = shown_language(entry.target_language);
    if source_language != header_language {
        push_attribute(out, "srclang", &source_language);
    }
    out.push_str(">\n");

    if unit.notes.is_empty() {
        unit.notes.extend(entry.notes.map(|notes| (notes.to_owned(), None)));
    }
    unit.push_notes(out);
    for (kind, text) in [(DOMAIN, entry.domain), (NAMESPACE, entry.namespace)] {
        if let Some(text) = text {
            push_prop(out, kind, text, None);
        }
    }
    unit.push_props(out);
    let mut rest = rest::fields(entry, true, [&source_language, &target_language]);
    if let Some(created_at) = entry.created_at.filter(|_| !created.exact) {
        rest.string("created_at", created_at);
    }
    let is_shown = |name: &str, value: &str| match name {
        "tmx" => rest::has_members(value),
        "changed_at" => changed.exact && changed_at.is_some(),
        _ => false,
    };
    if let Some(rest) = rest::finish(rest, entry, &metadata, is_shown, ("tmx", rest_of_ours)) {
        push_prop(out, REST, &rest, None);
    }

    for (key, text, language, about, own) in [
        ("source", entry.source, &source_language, &source, source_markup),
        ("target", entry.target, &target_language, &target, target_markup),
    ] {
        out.push_str("<tuv");
        push_attribute(out, "xml:lang", language);
        for (name, value) in &about.attributes {
            push_attribute(out, name, value);
        }
        out.push('>');
        about.push_notes(out);
        about.push_props(out);
        out.push_str("<seg>");
        match own.or_else(|| other_markup(&DIALECT, "tmx", &metadata, key, text)) {
            Some(markup) => out.push_str(&markup),
            None => push_text(out, text),
        }
        out.push_str("</seg></tuv>\n");
    }
    out.push_str("</tu>\n");
}

/// What a `tuv` says, if it can be written as it is and would not be read as a time that the entry does not have.
fn variant(value: &str, entry: &EntryRef<'_>, changed_at: Option<&str>) -> Option<About> {
    let about = About::all_of(value)?;
    let creates = about.attribute("creationdate").is_some() && entry.created_at.is_none();
    let changes = about.attribute("changedate").is_some() && changed_at.is_none();
    (!creates && !changes).then_some(about)
}

/// How a time is written.
struct Date {
    /// The attribute of the `tu`.
    written: Option<String>,
    /// Whether that, or without it what the `tuv` have, is read as this time.
    exact: bool,
}

fn date(time: Option<&str>, derived: Option<String>) -> Date {
    let Some(time) = time else { return Date { written: None, exact: true } };
    let written = time::basic(time);
    let exact = match &written {
        Some(basic) => time::extended(basic).as_deref() == Some(time),
        None => derived.as_deref() == Some(time),
    };
    Date { written, exact }
}

/// A time of TMX as entries have it.
pub(super) fn shown_time(time: &str) -> String {
    time::extended(time).unwrap_or_else(|| time.to_owned())
}

fn push_prop(out: &mut String, kind: &str, text: &str, language: Option<&str>) {
    out.push_str("<prop");
    push_attribute(out, "type", kind);
    if let Some(language) = language {
        push_attribute(out, "xml:lang", language);
    }
    out.push('>');
    push_text(out, text);
    out.push_str("</prop>\n");
}
