//! Reading memories kept as JSON Lines.
//!
//! A file holds one entry a line: a JSON object with the members of [`EntryRef`](crate::EntryRef), each spelled in
//! snake_case or camelCase. It may be plain, or compressed with gzip or Zstandard; its first bytes tell, not its name.
//! Lines of white space are skipped, and so is a byte order mark. A file is read in a stream, and no line may be longer
//! than [`MOST_LINE_BYTES`]: whatever a small compressed file unpacks to, the memory it takes is that of its entries.

mod input;
mod line;
mod metadata;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::batch::Batch;
use crate::control::Control;

/// The most bytes that a line may have (64 MiB).
pub const MOST_LINE_BYTES: usize = 1 << 26;

/// The deepest that objects and arrays may nest in the metadata of an entry, the metadata itself counted.
pub const MOST_METADATA_DEPTH: usize = 128;

/// Blocks that wait between the thread that unpacks and the one that parses.
const BLOCKS_AHEAD: usize = 4;

/// Lines between two looks at the [`Control`].
const LINES_BETWEEN_CHECKS: u64 = 256;

/// How far reading has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the file read so far, as they are on disk.
    pub bytes_read: u64,
    /// The size of the file; unknown if it is a pipe or the like.
    pub bytes_total: Option<u64>,
    /// Entries read so far.
    pub entries: usize,
}

/// Why a file could not be read. Nothing of it is kept.
#[derive(Debug)]
pub enum Error {
    /// The operating system says so.
    Io(io::Error),
    /// The file does not hold what it should.
    Format(FormatError),
    /// The caller's [`Control`] asked to stop.
    Aborted,
}

/// What is wrong in a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// The line, counted from 1. If the compressed data itself is damaged, the first line that cannot be had.
    pub line: u64,
    /// The field at fault in snake_case, if it is one.
    pub field: Option<&'static str>,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => error.fmt(f),
            Error::Format(error) => error.fmt(f),
            Error::Aborted => crate::Error::Aborted.fmt(f),
        }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for Error {}

impl std::error::Error for FormatError {}

impl From<crate::Error> for Error {
    /// For the one error that [`Control::check`] gives.
    fn from(_: crate::Error) -> Error {
        Error::Aborted
    }
}

/// Reads all entries of a file. `progress` hears how far it is about once a mebibyte of text.
///
/// # Errors
/// [`Error::Io`] if the file cannot be opened or read, [`Error::Format`] for the first line that is not an entry and for
/// damaged compressed data, [`Error::Aborted`].
pub fn read(path: &Path, control: Control<'_>, progress: &mut dyn FnMut(Progress)) -> Result<Batch, Error> {
    let file = File::open(path).map_err(Error::Io)?;
    let metadata = file.metadata().map_err(Error::Io)?;
    read_packed(file, metadata.is_file().then_some(metadata.len()), control, progress)
}

fn read_packed(
    packed: impl Read + Send,
    bytes_total: Option<u64>,
    control: Control<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Batch, Error> {
    let bytes_read = AtomicU64::new(0);
    thread::scope(|scope| {
        let (sender, blocks) = mpsc::sync_channel(BLOCKS_AHEAD);
        scope.spawn(|| input::send_blocks(input::Counted::new(packed, &bytes_read), sender));
        let mut lines = Lines { batch: Batch::new(), number: 0, control };
        for block in blocks {
            lines.control.check()?;
            lines.push_all(&block.map_err(|error| lines.unreadable(error))?)?;
            let bytes_read = bytes_read.load(Ordering::Relaxed);
            progress(Progress { bytes_read, bytes_total, entries: lines.batch.len() });
        }
        Ok(lines.batch)
    })
}

/// The lines read so far.
struct Lines<'a> {
    batch: Batch,
    /// How many they are, the skipped ones too.
    number: u64,
    control: Control<'a>,
}

impl Lines<'_> {
    fn push_all(&mut self, block: &[u8]) -> Result<(), Error> {
        let mut rest = block;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            self.push(&rest[..end])?;
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Ok(())
    }

    fn push(&mut self, line: &[u8]) -> Result<(), Error> {
        if self.number.is_multiple_of(LINES_BETWEEN_CHECKS) {
            self.control.check()?;
        }
        self.number += 1;
        let line = if self.number == 1 { line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line) } else { line };
        if line.len() > MOST_LINE_BYTES {
            return Err(self.format_error(None, format!("the line has more than {MOST_LINE_BYTES} bytes")));
        }
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            return Ok(());
        }
        let line = std::str::from_utf8(line).map_err(|error| {
            self.format_error(None, format!("not UTF-8 from byte {} of the line on", error.valid_up_to() + 1))
        })?;
        let entry = line::parse(line).map_err(|fault| self.format_error(fault.field, fault.message))?;
        self.batch.push(entry.as_ref()).map_err(|error| {
            let field = match error {
                crate::Error::EmptyText { field } | crate::Error::TooLong { field, .. } => Some(field),
                _ => None,
            };
            self.format_error(field, error.to_string())
        })
    }

    /// The error of a read that failed after these lines.
    fn unreadable(&self, error: io::Error) -> Error {
        // The operating system's errors have a number, those of the decoders have none.
        if error.raw_os_error().is_some() {
            return Error::Io(error);
        }
        Error::Format(FormatError {
            line: self.number + 1,
            field: None,
            message: format!("the compressed data is damaged or ends too early ({error})"),
        })
    }

    fn format_error(&self, field: Option<&'static str>, message: String) -> Error {
        Error::Format(FormatError { line: self.number, field, message })
    }
}

#[cfg(test)]
mod tests;
