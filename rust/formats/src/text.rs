//! Plain text in two files: a line of the one is the source, the line with the same number in the other its translation.

use std::io::Write;
use std::path::Path;

use diglot_engine::{Control, EntryRef};

use crate::decoded::Decoded;
use crate::error::{Error, Problem, Result, start_of};
use crate::input::{Input, signature};
use crate::languages::Languages;
use crate::lines::Lines;
use crate::options::Options;
use crate::output::Output;
use crate::{MOST_UNIT_BYTES, Reader, Sink, Writer};

/// Lines between two looks at the [`Control`].
const STRIDE: u64 = 1024;

/// Reads two text files. It has use for the languages, `target_path` and `encoding` of the options.
pub(crate) struct TextReader {
    sources: Side,
    targets: Side,
    languages: Languages,
}

struct Side {
    lines: Lines,
    encoding: &'static str,
    /// Whether there is no block after the one that was read last.
    ended: bool,
}

impl Side {
    fn new(input: Input, options: &Options) -> Result<Side> {
        let encoding = options.encoding()?;
        let text = Decoded::new(input, |_| Ok(encoding))?;
        Ok(Side { encoding: text.encoding.name(), lines: Lines::new(text), ended: false })
    }

    /// Gets a block if there is nothing left of the last one.
    fn fill(&mut self, control: Control<'_>) -> Result<()> {
        while !self.ended && self.lines.rest().is_empty() {
            self.ended = !self.lines.more(control)?;
        }
        Ok(())
    }

    /// How many lines there are in all. All that are left are read.
    fn count(&mut self, control: Control<'_>) -> Result<u64> {
        while !self.ended {
            while self.lines.next().is_some() {}
            self.fill(control)?;
        }
        Ok(self.lines.number() - 1)
    }
}

impl TextReader {
    pub(crate) fn new(sources: Input, options: &Options) -> Result<TextReader> {
        if let Some(what) = signature(sources.head()) {
            return Err(Error::format(1, format!("this is no text with a segment a line: {what}")));
        }
        let path = target_path(options)?;
        if let [_, _, ..] = options.target_languages[..] {
            let message = "has several languages; a text file has one".to_owned();
            return Err(Error::Option { option: "target_languages", message });
        }
        Ok(TextReader {
            sources: Side::new(sources, options)?,
            targets: Side::new(Input::open(path).map_err(|error| of_targets(path, error))?, options)?,
            languages: Languages::new(options),
        })
    }
}

fn target_path(options: &Options) -> Result<&Path> {
    options.target_path.as_deref().ok_or_else(|| Error::Option {
        option: "target_path",
        message: "is missing: the file with the translation of each line".to_owned(),
    })
}

/// What is wrong with the file of the targets. All other errors are of the file of the sources.
fn of_targets(path: &Path, error: Error) -> Error {
    Error::Option { option: "target_path", message: format!("is {}: {error}", path.display()) }
}

impl Reader for TextReader {
    fn read(&mut self, sink: &mut dyn Sink, control: Control<'_>) -> Result<bool> {
        self.sources.fill(control)?;
        self.targets.fill(control)?;
        if self.sources.ended != self.targets.ended {
            let [sources, targets] = [self.sources.count(control)?, self.targets.count(control)?];
            let message = format!(
                "there are {sources} lines in the file of the sources and {targets} in that of the targets; a pair needs \
                 a line in each"
            );
            return Err(Error::format(sources.min(targets) + 1, message));
        }
        while !self.sources.lines.rest().is_empty() && !self.targets.lines.rest().is_empty() {
            if self.sources.lines.number().is_multiple_of(STRIDE) {
                control.check()?;
            }
            let Side { lines, encoding: source_encoding, .. } = &mut self.sources;
            let Some((number, source)) = lines.next() else { break };
            let Side { lines, encoding: target_encoding, .. } = &mut self.targets;
            let Some((_, target)) = lines.next() else { break };
            if source.len().max(target.len()) > MOST_UNIT_BYTES {
                return Err(Error::format(number, format!("the line has more than {MOST_UNIT_BYTES} bytes")));
            }
            if source.is_empty() && target.is_empty() {
                continue;
            }
            let skip = |sink: &mut dyn Sink, side: &str, encoding: &str| {
                let message = format!("the {side} is not valid {encoding}; another encoding can be given");
                sink.skip(Problem { line: number, unit: None, code: "invalid_encoding", message });
            };
            match (std::str::from_utf8(source), std::str::from_utf8(target)) {
                (Err(_), _) => skip(sink, "source", source_encoding),
                (_, Err(_)) => skip(sink, "target", target_encoding),
                (Ok(source), Ok(target)) => {
                    let mut entry = EntryRef { source, target, ..EntryRef::default() };
                    self.languages.admit(&mut entry);
                    sink.offer(entry, number, None);
                }
            }
        }
        Ok(!self.sources.ended)
    }

    fn bytes_read(&self) -> u64 {
        self.sources.lines.bytes_read()
    }

    fn units_read(&self) -> u64 {
        self.sources.lines.number() - 1
    }
}

/// Writes two text files in UTF-8. It has use for `target_path` of the options.
pub(crate) struct TextWriter {
    sources: Output,
    targets: Output,
    number: u64,
}

impl TextWriter {
    pub(crate) fn new(sources: Output, options: &Options) -> Result<TextWriter> {
        let path = target_path(options)?;
        let targets = Output::create(path).map_err(|error| of_targets(path, error.into()))?;
        Ok(TextWriter { sources, targets, number: 0 })
    }
}

impl Writer for TextWriter {
    fn write(&mut self, entry: EntryRef<'_>) -> Result<()> {
        self.number += 1;
        for text in [entry.source, entry.target] {
            // With the other two, the file may look as if it were in another encoding.
            if text.contains(['\n', '\r', '\0']) || text.starts_with('\u{FEFF}') {
                return Err(Error::Unwritable(Problem {
                    line: self.number,
                    unit: Some(start_of(entry.source)),
                    code: "unwritable_character",
                    message: "a text file has no place for a segment with the end of a line in it, or U+0000, or U+FEFF at \
                              its start"
                        .to_owned(),
                }));
            }
        }
        writeln!(self.sources, "{}", entry.source)?;
        writeln!(self.targets, "{}", entry.target)?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        // The targets first: whoever sees the new sources finds what belongs to them.
        self.targets.finish()?;
        Ok(self.sources.finish()?)
    }
}
