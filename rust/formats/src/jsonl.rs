//! JSON Lines: one JSON object a line, with the members of an entry, each spelled in snake_case or camelCase.
//!
//! `null` is the same as no member, and lines of white space are skipped. The format holds every field of every entry.

mod line;
mod metadata;
mod writer;

pub(crate) use metadata::compact;

use std::path::Path;

use diglot_engine::{Batch, Control};
use encoding_rs::UTF_8;

use crate::decoded::Decoded;
use crate::error::{Error, Problem, Result, start_of};
use crate::input::{Input, describe};
use crate::languages::Languages;
use crate::lines::Lines;
use crate::options::Options;
use crate::{MOST_UNIT_BYTES, Reader, Sink};
use line::{Entry, Fault};

pub(crate) use line::object;
pub(crate) use writer::JsonLinesWriter;

/// The deepest that objects and arrays may nest in the metadata of an entry, the metadata itself counted.
pub const MOST_METADATA_DEPTH: usize = 128;

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

/// Reads all entries of a file or, after an error, none: the first line that is no entry is one. `progress` hears how far
/// it is, some times for each mebibyte of text.
///
/// # Errors
/// [`Error::Io`] if the file cannot be opened or read, [`Error::Format`] for the first line that is not an entry and for
/// damaged compressed data, [`Error::Aborted`].
pub fn read(path: &Path, control: Control<'_>, progress: &mut dyn FnMut(Progress)) -> Result<Batch> {
    let file = std::fs::metadata(path)?;
    read_all(Input::open(path)?, file.is_file().then_some(file.len()), control, progress)
}

fn read_all(
    input: Input,
    bytes_total: Option<u64>,
    control: Control<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Batch> {
    let mut reader = JsonLinesReader::new(input, &Options::default())?;
    let mut batch = Batch::new();
    loop {
        let more = reader.block(control, |line, parsed| {
            let pushed = parsed.and_then(|entry| batch.push(entry.as_ref()).map_err(Fault::refused));
            pushed.map_err(|Fault { field, message, .. }| Error::Format { line, field, message })
        })?;
        progress(Progress { bytes_read: reader.bytes_read(), bytes_total, entries: batch.len() });
        if !more {
            return Ok(batch);
        }
    }
}

/// The lines of a JSON Lines file, whatever objects they are.
pub struct JsonLines(Lines);

impl JsonLines {
    /// Opens a file, which may be packed.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be opened or read, [`Error::Format`] if its compressed data is damaged from the start.
    pub fn open(path: &Path) -> Result<JsonLines> {
        JsonLines::new(Input::open(path)?)
    }

    fn new(input: Input) -> Result<JsonLines> {
        Ok(JsonLines(Lines::new(Decoded::new(input, |_| Ok(UTF_8))?)))
    }

    /// Takes the lines of a block that are not only white space, with their numbers; they may be no UTF-8. Returns
    /// whether there was a block.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Format`] for damaged compressed data and for a line of more than [`MOST_UNIT_BYTES`],
    /// [`Error::Aborted`], and those of `take`.
    pub fn block(
        &mut self,
        control: Control<'_>,
        mut take: impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<bool> {
        let JsonLines(lines) = self;
        if !lines.more(control)? {
            return Ok(false);
        }
        while let Some((number, line)) = lines.next() {
            if number.is_multiple_of(LINES_BETWEEN_CHECKS) {
                control.check()?;
            }
            if line.len() > MOST_UNIT_BYTES {
                return Err(Error::format(number, format!("the line has more than {MOST_UNIT_BYTES} bytes")));
            }
            if !line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
                take(number, line)?;
            }
        }
        Ok(true)
    }
}

/// Reads a JSON Lines file. It has use for the languages of the options.
pub(crate) struct JsonLinesReader {
    lines: JsonLines,
    /// What the file may be if it is no JSON Lines file.
    looks_like: Option<&'static str>,
    languages: Languages,
    units: u64,
}

impl JsonLinesReader {
    pub(crate) fn new(input: Input, options: &Options) -> Result<JsonLinesReader> {
        let looks_like =
            describe(input.head()).filter(|_| !input.head().trim_ascii_start().starts_with(b"{"));
        let lines = JsonLines::new(input)?;
        Ok(JsonLinesReader { lines, looks_like, languages: Languages::new(options), units: 0 })
    }

    /// Takes the lines of a block that are not only white space, with what each of them is. Returns whether there was
    /// one.
    fn block(
        &mut self,
        control: Control<'_>,
        mut take: impl FnMut(u64, std::result::Result<Entry<'_>, Fault>) -> Result<()>,
    ) -> Result<bool> {
        let units = &mut self.units;
        self.lines.block(control, |number, line| {
            *units += 1;
            take(number, line::parse(line))
        })
    }
}

impl Reader for JsonLinesReader {
    fn read(&mut self, sink: &mut dyn Sink, control: Control<'_>) -> Result<bool> {
        let languages = self.languages.clone();
        let looks_like = self.looks_like;
        let mut first = self.units == 0;
        self.block(control, |line, parsed| {
            let is_first = std::mem::take(&mut first);
            match parsed {
                Ok(entry) => {
                    let mut entry = entry.as_ref();
                    if languages.admit(&mut entry) {
                        sink.offer(entry, line, entry.source_id);
                    } else {
                        let (code, message) =
                            languages.refusal(entry.source_language, [entry.target_language]);
                        let unit = entry.source_id.map(start_of);
                        sink.skip(Problem { line, unit, code, message });
                    }
                }
                Err(fault) if is_first && fault.no_object => {
                    let what = looks_like.unwrap_or(&fault.message);
                    return Err(Error::format(line, format!("this is no JSON Lines file: {what}")));
                }
                Err(Fault { code, message, .. }) => sink.skip(Problem { line, unit: None, code, message }),
            }
            Ok(())
        })
    }

    fn bytes_read(&self) -> u64 {
        self.lines.0.bytes_read()
    }

    fn units_read(&self) -> u64 {
        self.units
    }
}

#[cfg(test)]
mod tests;
