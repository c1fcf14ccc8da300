//! What can go wrong with a file, and with one unit of it.

use std::fmt;
use std::io;

/// The result of reading and writing files.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file could not be read or written.
#[derive(Debug)]
pub enum Error {
    /// The operating system says so.
    Io(io::Error),
    /// The file does not hold what it should.
    Format {
        /// The line, counted from 1. If compressed data is damaged, the first line that cannot be had.
        line: u64,
        /// The field at fault in snake_case, if it is one.
        field: Option<&'static str>,
        /// What is wrong and what is allowed.
        message: String,
    },
    /// An option has a value that is not allowed, or the format has no use for it.
    Option {
        /// Its name.
        option: &'static str,
        /// What is wrong and what is allowed.
        message: String,
    },
    /// The format cannot hold this entry. The writer goes on without it.
    Unwritable(Problem),
    /// The caller's [`Control`](diglot_engine::Control) asked to stop.
    Aborted,
}

impl Error {
    /// The file does not hold what it should.
    pub(crate) fn format(line: u64, message: impl Into<String>) -> Error {
        Error::Format { line, field: None, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => error.fmt(f),
            Error::Format { line, message, .. } => write!(f, "line {line}: {message}"),
            Error::Option { option, message } => write!(f, "{option} {message}"),
            Error::Unwritable(problem) => problem.fmt(f),
            Error::Aborted => diglot_engine::Error::Aborted.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Io(error)
    }
}

impl From<diglot_engine::Error> for Error {
    /// For the one error that [`Control::check`](diglot_engine::Control::check) gives.
    fn from(_: diglot_engine::Error) -> Error {
        Error::Aborted
    }
}

/// Why a unit, or an entry of it, was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line where the unit begins, counted from 1. For a writer, the number of the entry, counted from 1.
    pub line: u64,
    /// What the unit is called in the file, or the start of that, if it has a name.
    pub unit: Option<String>,
    /// What kind of problem it is: a word that stays the same from version to version.
    pub code: &'static str,
    /// What is wrong and what is allowed.
    pub message: String,
}

/// What is wrong with a unit, or with an entry that a [`Sink`](crate::Sink) does not take: the code and the message of a
/// [`Problem`].
pub type Fault = (&'static str, String);

/// What is wrong with an entry that the engine refuses.
pub fn refused(refusal: &diglot_engine::Error) -> Fault {
    (code_of(refusal), refusal.to_string())
}

/// The code of a refusal by the engine.
pub(crate) fn code_of(refusal: &diglot_engine::Error) -> &'static str {
    match refusal {
        diglot_engine::Error::EmptyText { .. } => "empty_text",
        diglot_engine::Error::TooLong { .. } => "text_too_long",
        _ => "invalid_value",
    }
}

/// The start of a text, which tells people what it is.
pub(crate) fn start_of(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}
