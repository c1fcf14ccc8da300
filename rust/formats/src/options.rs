//! How a file is to be read or written, as far as it does not say so itself.

use std::path::PathBuf;

use encoding_rs::{Encoding, UTF_8};

use crate::delimited::Column;
use crate::error::{Error, Result};

/// Options of all formats. Each format says which of them it reads; one that it has no use for is an error, not ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The language of the sources. A format that names languages takes only what is in it; for one that does not, it is
    /// the language of all of them. For a writer, the language that the file says it is in.
    pub source_language: Option<String>,
    /// The languages of the targets, in the same way. Empty: all there are.
    pub target_languages: Vec<String>,
    /// PO: take translations that are marked as fuzzy, too.
    pub fuzzy: bool,
    /// PO: take messages that are obsolete, too.
    pub obsolete: bool,
    /// CSV and TSV: which columns have which fields. Empty: their names tell.
    pub columns: Vec<(String, Column)>,
    /// CSV and TSV: whether the first row has the names of the columns. `None`: unless all columns are given by numbers.
    pub header: Option<bool>,
    /// CSV and TSV: the character between two columns. `None`: a comma, or a tab.
    pub delimiter: Option<char>,
    /// CSV and TSV: whether quotation marks around a cell are no part of it. `None`: they are not.
    pub quoting: Option<bool>,
    /// CSV and TSV: what makes a quotation mark in quotation marks a part of the text. `None`: a second one.
    pub escape: Option<char>,
    /// CSV, TSV and text: the encoding of files without a byte order mark. `None`: UTF-8.
    pub encoding: Option<String>,
    /// Text: the file with the translation of each line.
    pub target_path: Option<PathBuf>,
}

impl Options {
    /// Refuses the options that a format has no use for: all that are set, but for the languages and those in `useful`.
    ///
    /// # Errors
    /// [`Error::Option`].
    pub(crate) fn check(&self, format: &str, useful: &[&str]) -> Result<()> {
        let set = [
            ("fuzzy", self.fuzzy),
            ("obsolete", self.obsolete),
            ("columns", !self.columns.is_empty()),
            ("header", self.header.is_some()),
            ("delimiter", self.delimiter.is_some()),
            ("quoting", self.quoting.is_some()),
            ("escape", self.escape.is_some()),
            ("encoding", self.encoding.is_some()),
            ("target_path", self.target_path.is_some()),
        ];
        match set.into_iter().find(|(name, set)| *set && !useful.contains(name)) {
            None => Ok(()),
            Some((option, _)) => Err(Error::Option {
                option,
                message: format!("is given, and {format} files have no use for it"),
            }),
        }
    }

    /// The encoding that was asked for.
    pub(crate) fn encoding(&self) -> Result<&'static Encoding> {
        let Some(label) = &self.encoding else { return Ok(UTF_8) };
        Encoding::for_label(label.as_bytes()).ok_or_else(|| Error::Option {
            option: "encoding",
            message: format!(
                "is {label:?}, which is not known; names of the WHATWG Encoding Standard are allowed"
            ),
        })
    }
}
