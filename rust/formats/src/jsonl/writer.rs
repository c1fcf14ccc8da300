//! Writing JSON Lines.

use std::io::Write;

use diglot_engine::EntryRef;

use super::line::FIELDS;
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
        let texts = [
            Some(entry.source),
            Some(entry.target),
            entry.source_language,
            entry.target_language,
            entry.domain,
            entry.namespace,
            entry.source_id,
            entry.created_at,
            entry.notes,
        ];
        self.line.clear();
        for ((field, _), text) in FIELDS.iter().zip(texts) {
            if let Some(text) = text {
                self.line.extend(if self.line.is_empty() { "{\"" } else { ",\"" }.bytes());
                self.line.extend(field.bytes());
                self.line.extend(b"\":");
                serde_json::to_writer(&mut self.line, text).map_err(std::io::Error::from)?;
            }
        }
        if let Some(metadata) = entry.metadata {
            self.line.extend(b",\"metadata\":");
            self.line.extend(metadata.bytes());
        }
        self.line.extend(b"}\n");
        Ok(self.output.write_all(&self.line)?)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(self.output.finish()?)
    }
}
