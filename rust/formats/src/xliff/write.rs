//! What both versions of XLIFF are written with.

use diglot_engine::EntryRef;

use super::REST;
use crate::inline::{self, Dialect};
use crate::json::{self, Members, Object};
use crate::rest;
use crate::xml::{forbidden, push_text};

/// Whether a text may be what the schemas have for a name of one's own, behind `x-` or on a side of a colon.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains([' ', '\t', '\n', '\r'])
}

/// An entry, and what of its metadata the format can hold.
pub(super) struct Parts<'a> {
    pub(super) entry: EntryRef<'a>,
    metadata: Members<'a>,
    /// The format's own part of the metadata.
    key: &'static str,
    ours: Members<'a>,
    dialect: &'static Dialect,
    /// The members of it that were taken.
    taken: Vec<&'static str>,
}

impl<'a> Parts<'a> {
    pub(super) fn new(entry: EntryRef<'a>, key: &'static str, dialect: &'static Dialect) -> Parts<'a> {
        let metadata = entry.metadata.and_then(json::members).unwrap_or_default();
        let ours = metadata.get(key).and_then(|value| json::members(value.get())).unwrap_or_default();
        Parts { entry, metadata, key, ours, dialect, taken: Vec::new() }
    }

    /// A member that is a text, if it passes the test, so that it need not be written otherwise.
    pub(super) fn take(&mut self, name: &'static str, test: impl FnOnce(&str) -> bool) -> Option<String> {
        let text = json::text(self.ours.get(name)?).filter(|text| forbidden(text).is_none() && test(text))?;
        self.taken.push(name);
        Some(text)
    }

    /// A member as it is written, taken if `parse` has a use for it.
    pub(super) fn take_with<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let parsed = parse(self.ours.get(name)?.get())?;
        self.taken.push(name);
        Some(parsed)
    }

    /// The content of the source or the target: its markup, if there is any of this text, in this or in another format.
    pub(super) fn content(&mut self, name: &'static str, text: &str) -> String {
        let dialect = self.dialect;
        if let Some(markup) = self.take_with(name, |value| inline::own_markup(dialect, value, text)) {
            return markup;
        }
        inline::other_markup(dialect, self.key, &self.metadata, name, text).unwrap_or_else(|| {
            let mut content = String::new();
            dialect.push_text(&mut content, text);
            content
        })
    }

    /// Whether markup of the format's own was taken.
    pub(super) fn is_marked(&self) -> bool {
        self.taken.iter().any(|taken| matches!(*taken, "source" | "target"))
    }

    /// Adds the element with what nothing else in the unit holds, if there is such. `languages` are those of the file.
    pub(super) fn push_rest(&self, out: &mut String, languages: [&str; 2]) {
        let mut rest = rest::fields(&self.entry, false, languages);
        if self.entry.source_id.is_none() {
            // The number that every unit has would be read.
            rest.raw("source_id", "null");
        }
        if let Some(created_at) = self.entry.created_at {
            rest.string("created_at", created_at);
        }
        let mut others = Object::default();
        for (name, value) in
            self.ours.iter().filter(|(name, _)| !self.taken.iter().any(|taken| taken == name))
        {
            others.raw(name, value.get());
        }
        let is_shown = |name: &str, value: &str| name == self.key && rest::has_members(value);
        if let Some(rest) = rest::finish(rest, &self.entry, &self.metadata, is_shown, (self.key, others)) {
            out.push_str(&format!("<{REST}>"));
            push_text(out, &rest);
            out.push_str(&format!("</{REST}>\n"));
        }
    }
}
