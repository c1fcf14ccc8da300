//! Writing JSON Lines.

use std::io::Write;

use diglot_engine::EntryRef;

use crate::Writer;
use crate::error::Result;
use crate::output::Output;

/// Writes a JSON Lines file. It has use for no option.
pub(crate) struct JsonLinesWriter {
    output: Output,
    line: Vec<u8>,
}

impl JsonLinesWriter {
    pub(crate) fn new(output: Output) -> JsonLinesWriter {
        JsonLinesWriter { output, line: Vec::new() }
    }
}

impl Writer for JsonLinesWriter {
    fn write(&mut self, entry: EntryRef<'_>) -> Result<()> {
        self.line.clear();
        for (field, text) in EntryRef::FIELDS.into_iter().zip(entry.texts()) {
            let Some(text) = text else { continue };
            self.line.extend(if self.line.is_empty() { "{\"" } else { ",\"" }.bytes());
            self.line.extend(field.bytes());
            self.line.extend(b"\":");
            match field {
                "metadata" => self.line.extend(text.bytes()),
                _ => serde_json::to_writer(&mut self.line, text).map_err(std::io::Error::from)?,
            }
        }
        self.line.extend(b"}\n");
        Ok(self.output.write_all(&self.line)?)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(self.output.finish()?)
    }
}
