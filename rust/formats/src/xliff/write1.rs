//! Writing XLIFF 1.2.

use std::io::Write;

use diglot_engine::EntryRef;

use super::write::{Parts, is_word};
use super::{DIALECT_1, NAMESPACE, XLIFF_1};
use crate::Writer;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::output::Output;
use crate::rest::shown_language;
use crate::xml::{push_attribute, push_text};

/// What the state of a target may be, other than that it is no translation.
const STATES: [&str; 8] = [
    "final",
    "needs-adaptation",
    "needs-l10n",
    "needs-review-adaptation",
    "needs-review-l10n",
    "needs-review-translation",
    "signed-off",
    "translated",
];

/// What may be said of the state.
const QUALIFIERS: [&str; 13] = [
    "exact-match",
    "fuzzy-match",
    "id-match",
    "leveraged-glossary",
    "leveraged-inherited",
    "leveraged-mt",
    "leveraged-repository",
    "leveraged-tm",
    "mt-suggestion",
    "rejected-grammar",
    "rejected-inaccurate",
    "rejected-length",
    "rejected-spelling",
];

/// Writes entries as units of XLIFF 1.2, one each. Entries in a row that are in the same languages and come from the same
/// file share a `file`.
pub(crate) struct Xliff1Writer {
    output: Output,
    /// The tag of the `file` that is open.
    file: Option<String>,
    number: u64,
    unit: String,
}

impl Xliff1Writer {
    /// # Errors
    /// [`Error::Option`] for languages, which each `file` has of its own; [`Error::Io`].
    pub(crate) fn new(mut output: Output, options: &Options) -> Result<Xliff1Writer> {
        let given = [
            ("source_language", options.source_language.is_some()),
            ("target_languages", !options.target_languages.is_empty()),
        ];
        if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
            let message =
                "has no use when XLIFF 1.2 is written: its parts say which languages they are in".to_owned();
            return Err(Error::Option { option, message });
        }
        let mut root = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<xliff version=\"1.2\"");
        push_attribute(&mut root, "xmlns", "urn:oasis:names:tc:xliff:document:1.2");
        push_attribute(&mut root, "xmlns:diglot", NAMESPACE);
        root.push_str(">\n");
        output.write_all(root.as_bytes())?;
        Ok(Xliff1Writer { output, file: None, number: 0, unit: String::new() })
    }

    fn begin_file(&mut self, tag: String) -> Result<()> {
        if self.file.as_ref() != Some(&tag) {
            self.end_file()?;
            self.output.write_all(tag.as_bytes())?;
            self.file = Some(tag);
        }
        Ok(())
    }

    fn end_file(&mut self) -> Result<()> {
        if self.file.take().is_some() {
            self.output.write_all(b"</body>\n</file>\n")?;
        }
        Ok(())
    }
}

/// The tags that begin a `file`.
fn file_tag(original: &str, source_language: &str, target_language: &str) -> String {
    let mut tag = String::from("<file");
    for (name, value) in [
        ("original", original),
        ("source-language", source_language),
        ("target-language", target_language),
        ("datatype", "plaintext"),
    ] {
        push_attribute(&mut tag, name, value);
    }
    tag.push_str(">\n<body>\n");
    tag
}

impl Writer for Xliff1Writer {
    fn write(&mut self, entry: EntryRef<'_>) -> Result<()> {
        let mut parts = Parts::new(entry, XLIFF_1, &DIALECT_1);
        let original = parts.take("file", |file| !file.is_empty()).unwrap_or_default();
        let [source_language, target_language] =
            [shown_language(entry.source_language), shown_language(entry.target_language)];
        self.begin_file(file_tag(&original, &source_language, &target_language))?;
        self.number += 1;
        let out = &mut self.unit;
        out.clear();
        out.push_str("<trans-unit");
        push_attribute(out, "id", &self.number.to_string());
        if let Some(id) = entry.source_id {
            push_attribute(out, "resname", id);
        }
        if let Some(approved) = parts.take("approved", |approved| matches!(approved, "yes" | "no")) {
            push_attribute(out, "approved", &approved);
        }
        push_attribute(out, "xml:space", "preserve");
        out.push_str(">\n<source>");
        out.push_str(&parts.content("source", entry.source));
        out.push_str("</source>\n<target");
        let is_one_of = |known: &[&str], value: &str| {
            known.contains(&value) || value.strip_prefix("x-").is_some_and(is_word)
        };
        if let Some(state) = parts.take("state", |state| is_one_of(&STATES, state)) {
            push_attribute(out, "state", &state);
        }
        if let Some(qualifier) = parts.take("state-qualifier", |qualifier| is_one_of(&QUALIFIERS, qualifier))
        {
            push_attribute(out, "state-qualifier", &qualifier);
        }
        out.push('>');
        out.push_str(&parts.content("target", entry.target));
        out.push_str("</target>\n");
        if let Some(notes) = entry.notes {
            out.push_str("<note>");
            push_text(out, notes);
            out.push_str("</note>\n");
        }
        parts.push_rest(out, [&source_language, &target_language]);
        out.push_str("</trans-unit>\n");
        Ok(self.output.write_all(out.as_bytes())?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if self.number == 0 {
            // There has to be one.
            self.begin_file(file_tag("", &shown_language(None), &shown_language(None)))?;
        }
        self.end_file()?;
        self.output.write_all(b"</xliff>\n")?;
        Ok(self.output.finish()?)
    }
}
