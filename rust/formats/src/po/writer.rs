//! Writing PO files.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Seek, Write};

use diglot_engine::EntryRef;
use tempfile::SpooledTempFile;

use super::MOST_FORMS;
use super::escapes::quote;
use super::header::locale;
use super::message::{Details, Form};
use super::plural::PluralForms;
use crate::Writer;
use crate::error::{Error, Problem, Result, start_of};
use crate::language;
use crate::options::Options;
use crate::output::Output;

/// Bytes of messages that are kept in memory until the header is written.
const SPOOL: usize = 1 << 24;

/// Columns that a line of references may have.
const COLUMNS: usize = 79;

/// Writes a PO file in UTF-8. It has use for the languages of the options.
///
/// The header says what all messages have in common, which is not known before the last one: they are kept in a file of
/// their own until then.
pub(crate) struct PoWriter {
    output: Output,
    body: SpooledTempFile,
    source: Language,
    target: Language,
    rule: Option<PluralForms>,
    /// The forms of a message that were written so far.
    pending: Option<Pending>,
    seen: Seen,
    number: u64,
}

/// A message with plural forms, whose entries come one after the other.
struct Pending {
    context: Option<String>,
    id: String,
    plural: String,
    /// Its comments and flags.
    head: String,
    obsolete: bool,
    /// The forms there are so far.
    forms: Vec<Option<String>>,
}

impl PoWriter {
    pub(crate) fn new(output: Output, options: &Options) -> Result<PoWriter> {
        if options.target_languages.len() > 1 {
            return Err(Error::Option {
                option: "target_languages",
                message: "has several languages; a PO file has one".to_owned(),
            });
        }
        Ok(PoWriter {
            output,
            body: SpooledTempFile::new(SPOOL),
            source: Language::new(options.source_language.as_deref()),
            target: Language::new(options.target_languages.first().map(String::as_str)),
            rule: None,
            pending: None,
            seen: Seen::default(),
            number: 0,
        })
    }

    fn unwritable(&self, entry: EntryRef<'_>, code: &'static str, message: impl Into<String>) -> Error {
        let unit = Some(start_of(entry.source));
        Error::Unwritable(Problem { line: self.number, unit, code, message: message.into() })
    }

    fn write_form(&mut self, entry: EntryRef<'_>, form: Form, details: &Details) -> Result<()> {
        let rule = form.rule.as_deref().and_then(PluralForms::parse);
        if let (Some(first), Some(rule)) = (&self.rule, &rule)
            && first != rule
        {
            let message = format!(
                "the message counts by {:?}, those before it by {:?}; a PO file has one rule",
                rule.text, first.text
            );
            return Err(self.unwritable(entry, "plural_forms", message));
        }
        let same = |pending: &&mut Pending| {
            pending.context.as_deref() == entry.source_id
                && pending.id == form.id
                && pending.plural == form.plural
        };
        if let Some(pending) = self.pending.as_mut().filter(same) {
            let there = pending.forms[form.number].get_or_insert_with(|| entry.target.to_owned());
            if there != entry.target {
                return Err(self.duplicate(entry));
            }
        } else {
            self.end_message()?;
            if !self.seen.insert(entry.source_id, &form.id) {
                return Err(self.duplicate(entry));
            }
            let mut forms = vec![None; MOST_FORMS];
            forms[form.number] = Some(entry.target.to_owned());
            self.pending = Some(Pending {
                context: entry.source_id.map(str::to_owned),
                id: form.id,
                plural: form.plural,
                head: head(entry.notes, details),
                obsolete: details.obsolete,
                forms,
            });
        }
        if self.rule.is_none() {
            self.rule = rule;
        }
        Ok(())
    }

    fn duplicate(&self, entry: EntryRef<'_>) -> Error {
        self.unwritable(
            entry,
            "duplicate_message",
            "an entry with the same source and source_id was written before; a PO file has one message for both",
        )
    }

    /// Writes the message whose forms were collected.
    fn end_message(&mut self) -> Result<()> {
        let Some(Pending { context, id, plural, head, obsolete, forms }) = self.pending.take() else {
            return Ok(());
        };
        let last = forms.iter().rposition(Option::is_some).unwrap_or(0);
        let count = self.rule.as_ref().map_or(0, |rule| rule.count).max(last + 1);
        let mut text = strings(context.as_deref(), &id);
        quote("msgid_plural", &plural, &mut text);
        for (number, form) in forms[..count].iter().enumerate() {
            quote(&format!("msgstr[{number}]"), form.as_deref().unwrap_or_default(), &mut text);
        }
        self.write_message(&head, &text, obsolete)
    }

    fn write_message(&mut self, head: &str, strings: &str, obsolete: bool) -> Result<()> {
        let prefix = if obsolete { "#~ " } else { "" };
        let mut text = format!("\n{head}");
        for line in strings.split_inclusive('\n') {
            text.push_str(prefix);
            text.push_str(line);
        }
        self.body.write_all(text.as_bytes())?;
        Ok(())
    }

    fn header(&self) -> String {
        let mut fields =
            "MIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n"
                .to_owned();
        let rule = self.rule.as_ref().map(|rule| rule.text.clone());
        let source = self.source.tag().map(locale);
        let target = self.target.tag().map(locale);
        for (name, value) in [("Language", target), ("Plural-Forms", rule), ("X-Source-Language", source)] {
            if let Some(value) = value {
                fields += &format!("{name}: {value}\n");
            }
        }
        let mut header = "msgid \"\"\n".to_owned();
        quote("msgstr", &fields, &mut header);
        header
    }
}

impl Writer for PoWriter {
    fn write(&mut self, entry: EntryRef<'_>) -> Result<()> {
        self.number += 1;
        let wanted = self.source.admits("source_language", entry.source_language)?
            && self.target.admits("target_languages", entry.target_language)?;
        if !wanted {
            return Err(self.unwritable(
                entry,
                "other_language",
                "the entry is in another language than the file",
            ));
        }
        let mut details = Details::from_json(entry.metadata);
        let form = details.form.take_if(|form| entry.source == form.id || entry.source == form.plural);
        let both = form.as_ref().map(|form| [&form.id[..], &form.plural]).unwrap_or_default();
        let texts = [entry.source, entry.target, both[0], both[1]];
        let texts = texts.into_iter().chain(entry.source_id).chain(entry.notes);
        if texts.into_iter().any(|text| text.contains('\0')) {
            return Err(self.unwritable(entry, "unwritable_character", "U+0000 ends a text for gettext"));
        }
        if let Some(form) = form {
            return self.write_form(entry, form, &details);
        }
        self.end_message()?;
        if !self.seen.insert(entry.source_id, entry.source) {
            return Err(self.duplicate(entry));
        }
        let mut text = strings(entry.source_id, entry.source);
        quote("msgstr", entry.target, &mut text);
        self.write_message(&head(entry.notes, &details), &text, details.obsolete)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.end_message()?;
        let header = self.header();
        self.output.write_all(header.as_bytes())?;
        self.body.rewind()?;
        io::copy(&mut self.body, &mut self.output)?;
        Ok(self.output.finish()?)
    }
}

fn strings(context: Option<&str>, id: &str) -> String {
    let mut text = String::new();
    if let Some(context) = context {
        quote("msgctxt", context, &mut text);
    }
    quote("msgid", id, &mut text);
    text
}

/// The lines that come before a message. Metadata may have been made by anybody, so nothing in it may end a line.
fn head(notes: Option<&str>, details: &Details) -> String {
    let mut head = String::new();
    comment(&mut head, "#", notes);
    comment(&mut head, "#.", details.extracted.as_deref());
    let mut columns = 0;
    for reference in details.references.iter().filter(|text| !text.contains(char::is_control)) {
        let width = reference.chars().count() + 1;
        if columns > 0 && columns + width > COLUMNS {
            head.push('\n');
            columns = 0;
        }
        if columns == 0 {
            head.push_str("#:");
            columns = 2;
        }
        head.push(' ');
        head.push_str(reference);
        columns += width;
    }
    if columns > 0 {
        head.push('\n');
    }
    let flags = details.flags.iter().filter(|flag| !flag.contains(|c: char| c == ',' || c.is_control()));
    let flags: Vec<&str> = flags.map(String::as_str).collect();
    if !flags.is_empty() {
        head.push_str(&format!("#, {}\n", flags.join(", ")));
    }
    let previous = [
        ("msgctxt", &details.previous_context),
        ("msgid", &details.previous_id),
        ("msgid_plural", &details.previous_plural),
    ];
    let mut lines = String::new();
    for (keyword, text) in previous {
        if let Some(text) = text {
            quote(keyword, text, &mut lines);
        }
    }
    for line in lines.split_inclusive('\n') {
        head.push_str(if details.obsolete { "#~| " } else { "#| " });
        head.push_str(line);
    }
    head
}

fn comment(head: &mut String, mark: &str, text: Option<&str>) {
    for line in text.into_iter().flat_map(|text| text.split('\n')) {
        head.push_str(mark);
        if !line.is_empty() {
            head.push(' ');
            head.push_str(line);
        }
        head.push('\n');
    }
}

/// The language that all sources, or all targets, are in.
enum Language {
    /// It was asked for; there may be others, which are not written.
    Wanted(String),
    /// That of the first entry; no other can follow.
    Found(Option<String>),
    Unknown,
}

impl Language {
    fn new(wanted: Option<&str>) -> Language {
        wanted.map_or(Language::Unknown, |tag| Language::Wanted(tag.to_owned()))
    }

    fn tag(&self) -> Option<&str> {
        match self {
            Language::Wanted(tag) => Some(tag),
            Language::Found(tag) => tag.as_deref(),
            Language::Unknown => None,
        }
    }

    /// Whether an entry in this language is to be written.
    fn admits(&mut self, option: &'static str, language: Option<&str>) -> Result<bool> {
        let tag = match self {
            Language::Wanted(range) => return Ok(language.is_none_or(|tag| language::is_in(tag, range))),
            Language::Found(tag) => tag.as_deref(),
            Language::Unknown => {
                *self = Language::Found(language.map(str::to_owned));
                return Ok(true);
            }
        };
        let same = match (tag, language) {
            (Some(tag), Some(language)) => language::same(tag, language),
            (tag, language) => tag == language,
        };
        if same {
            return Ok(true);
        }
        let [first, other] = [tag, language].map(|tag| tag.unwrap_or("no language"));
        let message = format!(
            "must be given: there are entries in {first} and in {other}, and a PO file has one language"
        );
        Err(Error::Option { option, message })
    }
}

/// The messages that were written. It keeps 128 bits of each, by two secret keys, so that no two are taken for one.
#[derive(Default)]
struct Seen {
    hashes: HashSet<[u64; 2]>,
    keys: [RandomState; 2],
}

impl Seen {
    /// Adds a message. Returns whether it was not there.
    fn insert(&mut self, context: Option<&str>, id: &str) -> bool {
        let hashes = self.keys.each_ref().map(|key| key.hash_one((context, id)));
        self.hashes.insert(hashes)
    }
}
