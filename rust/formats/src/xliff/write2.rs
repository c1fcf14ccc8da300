//! Writing XLIFF 2.1.

use std::collections::BTreeMap;
use std::io::Write;

use diglot_engine::EntryRef;

use super::write::{Parts, is_word};
use super::{DIALECT_2, NAMESPACE, XLIFF_2};
use crate::Writer;
use crate::error::{Error, Problem, Result, start_of};
use crate::options::Options;
use crate::output::Output;
use crate::rest::shown_language;
use crate::xml::{forbidden, push_attribute, push_text};

/// What the state of a segment may be, other than that it is no translation.
const STATES: [&str; 3] = ["final", "reviewed", "translated"];

/// Writes entries as units of XLIFF 2.1, one each. A file is in one pair of languages: the one that is asked for, or that
/// of the first entry.
pub(crate) struct Xliff2Writer {
    output: Output,
    languages: [Option<String>; 2],
    begun: bool,
    /// What the `file` that is open is called in its own format.
    original: Option<String>,
    files: u64,
    number: u64,
    /// Entries that were offered, with those that were refused.
    offered: u64,
    unit: String,
}

impl Xliff2Writer {
    /// # Errors
    /// [`Error::Option`] for more than one target language.
    pub(crate) fn new(output: Output, options: &Options) -> Result<Xliff2Writer> {
        if options.target_languages.len() > 1 {
            let message = "has more than one language; XLIFF 2 has one target language a file".to_owned();
            return Err(Error::Option { option: "target_languages", message });
        }
        let languages =
            [options.source_language.as_deref(), options.target_languages.first().map(String::as_str)];
        Ok(Xliff2Writer {
            output,
            languages: languages.map(|given| given.map(|given| shown_language(Some(given)).into_owned())),
            begun: false,
            original: None,
            files: 0,
            number: 0,
            offered: 0,
            unit: String::new(),
        })
    }

    fn begin(&mut self, source_language: &str, target_language: &str) -> Result<()> {
        let [source, target] = &mut self.languages;
        let source = source.get_or_insert_with(|| source_language.to_owned());
        let target = target.get_or_insert_with(|| target_language.to_owned());
        let mut root = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<xliff version=\"2.1\"");
        push_attribute(&mut root, "xmlns", "urn:oasis:names:tc:xliff:document:2.0");
        push_attribute(&mut root, "xmlns:diglot", NAMESPACE);
        push_attribute(&mut root, "srcLang", source);
        push_attribute(&mut root, "trgLang", target);
        root.push_str(">\n");
        self.begun = true;
        Ok(self.output.write_all(root.as_bytes())?)
    }

    fn begin_file(&mut self, original: Option<String>) -> Result<()> {
        if self.files > 0 && self.original == original {
            return Ok(());
        }
        let mut tag = String::from(if self.files > 0 { "</file>\n<file" } else { "<file" });
        self.files += 1;
        push_attribute(&mut tag, "id", &format!("f{}", self.files));
        if let Some(original) = &original {
            push_attribute(&mut tag, "original", original);
        }
        tag.push_str(">\n");
        self.original = original;
        Ok(self.output.write_all(tag.as_bytes())?)
    }
}

/// Whether a text may be the id of something in a unit.
fn is_id(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// The codes that inline elements refer to, if there are any and all of them can be written.
fn data(value: &str) -> Option<BTreeMap<String, String>> {
    let data: BTreeMap<String, String> = serde_json::from_str(value).ok()?;
    let fits = data.iter().all(|(id, code)| is_id(id) && forbidden(code).is_none());
    (fits && !data.is_empty()).then_some(data)
}

impl Writer for Xliff2Writer {
    fn write(&mut self, entry: EntryRef<'_>) -> Result<()> {
        self.offered += 1;
        let shown = [shown_language(entry.source_language), shown_language(entry.target_language)];
        if !self.begun {
            let [source, target] = &shown;
            self.begin(source, target)?;
        }
        for (what, (expected, shown)) in
            ["source", "target"].into_iter().zip(self.languages.iter().zip(&shown))
        {
            let expected = expected.as_deref().unwrap_or_default();
            if !expected.eq_ignore_ascii_case(shown) {
                return Err(Error::Unwritable(Problem {
                    line: self.offered,
                    unit: entry.source_id.map(start_of),
                    code: "other_language",
                    message: format!(
                        "its {what} is in {shown}; the file is in {expected}, and XLIFF 2 holds one pair"
                    ),
                }));
            }
        }
        let mut parts = Parts::new(entry, XLIFF_2, &DIALECT_2);
        let original = parts.take("file", |file| !file.is_empty());
        self.begin_file(original)?;
        self.number += 1;
        let [source, target] = [parts.content("source", entry.source), parts.content("target", entry.target)];
        let data = if parts.is_marked() { parts.take_with("data", data) } else { None }.unwrap_or_default();
        let segment = parts.take("segment", is_id);
        let state = parts.take("state", |state| STATES.contains(&state));
        let is_own = |detail: &str| matches!(detail.split(':').collect::<Vec<_>>()[..], [a, b] if is_word(a) && is_word(b));
        let detail = parts.take("subState", |detail| state.is_some() && is_own(detail));

        let out = &mut self.unit;
        out.clear();
        out.push_str("<unit");
        push_attribute(out, "id", &self.number.to_string());
        if let Some(id) = entry.source_id {
            push_attribute(out, "name", id);
        }
        push_attribute(out, "xml:space", "preserve");
        out.push_str(">\n");
        parts.push_rest(
            out,
            self.languages.each_ref().map(|language| language.as_deref().unwrap_or_default()),
        );
        if let Some(notes) = entry.notes {
            out.push_str("<notes><note>");
            push_text(out, notes);
            out.push_str("</note></notes>\n");
        }
        if !data.is_empty() {
            out.push_str("<originalData>");
            for (id, code) in &data {
                out.push_str("<data");
                push_attribute(out, "id", id);
                out.push('>');
                push_text(out, code);
                out.push_str("</data>");
            }
            out.push_str("</originalData>\n");
        }
        out.push_str("<segment");
        for (name, value) in [("id", segment), ("state", state), ("subState", detail)] {
            if let Some(value) = value {
                push_attribute(out, name, &value);
            }
        }
        out.push_str(">\n<source>");
        out.push_str(&source);
        out.push_str("</source>\n<target>");
        out.push_str(&target);
        out.push_str("</target>\n</segment>\n</unit>\n");
        Ok(self.output.write_all(out.as_bytes())?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if !self.begun {
            self.begin(&shown_language(None), &shown_language(None))?;
        }
        if self.number == 0 {
            // There has to be a file, and something in it.
            self.begin_file(None)?;
            self.output.write_all(b"<group id=\"none\"/>\n")?;
        }
        self.output.write_all(b"</file>\n</xliff>\n")?;
        Ok(self.output.finish()?)
    }
}
