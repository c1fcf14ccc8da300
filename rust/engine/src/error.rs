//! Everything that can go wrong in the engine.

use std::fmt;

use crate::entry::{EntryId, MOST_ID};
use crate::scan::MOST_PHRASE_CHARS;

/// The most bytes that a text may have (16 MiB).
pub const MOST_TEXT_BYTES: usize = 1 << 24;

/// The engine's result.
pub type Result<T> = std::result::Result<T, Error>;

/// A refused value or an operation that did not run to its end. Whatever the
/// error, the memory is as it was before the call.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A text that must have content is empty, or white space only. `field` is
    /// `source`, `target` or `query`.
    EmptyText {
        /// Which text.
        field: &'static str,
    },
    /// `max_hits` is zero.
    MaxHits,
    /// `min_score` is not a number in `[0, 1]`.
    MinScore {
        /// What was given.
        value: f64,
    },
    /// No entry has this id (it never existed, or was removed).
    UnknownEntry {
        /// The id asked for.
        id: EntryId,
    },
    /// An id cannot be given to an entry: it was given before, or is too high.
    IdTaken {
        /// The id.
        id: EntryId,
        /// The lowest that could be.
        least: EntryId,
    },
    /// A text, or its normalized form, is longer than [`MOST_TEXT_BYTES`].
    TooLong {
        /// Which text.
        field: &'static str,
        /// Its length in bytes.
        bytes: usize,
    },
    /// A text to be contained in others has too many characters.
    PhraseTooLong {
        /// How many.
        chars: usize,
    },
    /// The caller's [`Control`](crate::Control) asked to stop.
    Aborted,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::EmptyText { field } => {
                write!(f, "{field} is empty; it needs at least one character that is not white space")
            }
            Error::MaxHits => write!(f, "max_hits is 0; it must be at least 1"),
            Error::MinScore { value } => write!(f, "min_score is {value}; it must be a number from 0 to 1"),
            Error::UnknownEntry { id } => write!(f, "no entry has the id {id}"),
            Error::IdTaken { id, least } => {
                write!(f, "the id {id} cannot be given to an entry; it must be from {least} to {MOST_ID}")
            }
            Error::TooLong { field, bytes } => {
                write!(f, "{field} has {bytes} bytes; at most {MOST_TEXT_BYTES} are allowed")
            }
            Error::PhraseTooLong { chars } => {
                write!(f, "text has {chars} characters; at most {MOST_PHRASE_CHARS} are allowed")
            }
            Error::Aborted => write!(f, "the operation was aborted"),
        }
    }
}

impl std::error::Error for Error {}
