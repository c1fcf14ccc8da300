//! Streaming readers and writers of the files that translations are kept in.
//!
//! A [`Reader`] hands the entries of a file to a [`Sink`], some at a time, and says of what it cannot use where it is
//! and why. A [`Writer`] takes entries. Neither keeps more of a file in memory than one unit of it.
//!
//! - `input` opens files: gzip and Zstandard are unpacked, every encoding becomes UTF-8, lines are counted.
//! - `lines` gives lines of text to the formats that have them, and does not stop at what `decoded` cannot make out.
//! - `output` writes them: beside the file, which is replaced when all is written.
//! - `language` compares language tags.
//! - [`open`] and [`create`] choose the format.

mod decoded;
mod delimited;
mod error;
mod format;
mod inline;
mod input;
mod json;
pub mod jsonl;
mod language;
mod languages;
mod lines;
mod options;
mod output;
mod po;
mod rest;
mod text;
mod time;
mod tmx;
mod xliff;
mod xml;

pub use delimited::Column;
pub use error::{Error, Fault, Problem, Result, refused};
pub use format::{Format, create, open};
pub use options::Options;

use diglot_engine::{Control, EntryRef};

/// The most bytes that one unit of a file may have, all its texts and markup counted (64 MiB). Whatever a small compressed
/// file unpacks to, no more of it than this is in memory at a time.
pub const MOST_UNIT_BYTES: usize = 1 << 26;

/// Characters of a file's text that a message quotes at the most.
const QUOTED: usize = 200;

/// What is quoted in a message.
pub fn shorten(text: &dyn std::fmt::Display) -> String {
    let text = text.to_string();
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// What a reader hands things to.
pub trait Sink {
    /// Takes an entry.
    ///
    /// # Errors
    /// What is wrong with it. The reader goes on.
    fn entry(&mut self, entry: EntryRef<'_>) -> std::result::Result<(), Fault>;

    /// Hears of something that was left out.
    fn skip(&mut self, problem: Problem);

    /// Offers an entry that stands at a line of the file; what is refused is skipped.
    fn offer(&mut self, entry: EntryRef<'_>, line: u64, unit: Option<&str>) {
        if let Err((code, message)) = self.entry(entry) {
            self.skip(Problem { line, unit: unit.map(error::start_of), code, message });
        }
    }
}

/// Reads a file from its start to its end.
pub trait Reader: Send {
    /// Reads some units: as many as take some milliseconds. Returns whether there are more.
    ///
    /// # Errors
    /// [`Error::Format`] where nothing that follows could be told apart, [`Error::Io`], [`Error::Aborted`]. The reader is
    /// of no use after an error.
    fn read(&mut self, sink: &mut dyn Sink, control: Control<'_>) -> Result<bool>;

    /// Bytes of the file read so far, as they are on disk.
    fn bytes_read(&self) -> u64;

    /// Units of the format read so far, with those that were skipped.
    fn units_read(&self) -> u64;
}

/// Writes a file. Nothing is there under its name before [`Writer::finish`].
pub trait Writer: Send {
    /// Hears, before the first entry, that all sources are in this language.
    fn all_sources_in(&mut self, _language: &str) {}

    /// Writes an entry.
    ///
    /// # Errors
    /// [`Error::Unwritable`] for an entry that the format cannot hold, which is left out; and [`Error::Io`], after which
    /// the writer is of no use.
    fn write(&mut self, entry: EntryRef<'_>) -> Result<()>;

    /// Ends the file, makes it durable and puts it in the place of what was there under its name.
    ///
    /// # Errors
    /// [`Error::Io`]; the file that was there is as it was.
    fn finish(self: Box<Self>) -> Result<()>;
}
