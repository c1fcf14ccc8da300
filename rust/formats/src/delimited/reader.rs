//! Reading tables.

use diglot_engine::{Control, EntryRef};

use super::columns::Columns;
use super::rows::{Dialect, Marks, Row, Rows};
use super::{METADATA, SOURCE, delimiter};
use crate::decoded::Decoded;
use crate::error::{Error, Problem, Result, start_of};
use crate::input::{Input, describe};
use crate::jsonl;
use crate::languages::Languages;
use crate::lines::Lines;
use crate::options::Options;
use crate::{Reader, Sink};

/// Rows in one call at the most, and between two looks at the [`Control`].
const STRIDE: usize = 1024;

/// Reads a CSV or TSV file. It has use for the languages, `columns`, `header`, `delimiter`, `quoting`, `escape` and
/// `encoding` of the options.
pub(crate) struct TableReader {
    rows: Rows,
    /// What the file may be if it is no table.
    looks_like: Option<&'static str>,
    delimiter: u8,
    options: Options,
    languages: Languages,
    /// Known when the first row was read.
    columns: Option<Columns>,
    encoding: &'static str,
    units: u64,
}

impl TableReader {
    pub(crate) fn new(input: Input, usual_delimiter: u8, options: &Options) -> Result<TableReader> {
        let looks_like = describe(input.head());
        if input.head().is_empty() {
            return Err(Error::format(1, "this is an empty file"));
        }
        let delimiter = delimiter(options, usual_delimiter)?;
        let escape = match options.escape {
            None => None,
            Some(escape) if escape.is_ascii() && !matches!(escape, '"' | '\r' | '\n') => Some(escape as u8),
            Some(escape) => {
                let message = format!("is {escape:?}; one ASCII character, such as a backslash, is allowed");
                return Err(Error::Option { option: "escape", message });
            }
        };
        let dialect = Dialect { delimiter, quoting: options.quoting.unwrap_or(true), escape };
        let encoding = options.encoding()?;
        let text = Decoded::new(input, |_| Ok(encoding))?;
        Ok(TableReader {
            looks_like,
            encoding: text.encoding.name(),
            rows: Rows::new(Lines::new(text), dialect),
            delimiter,
            options: options.clone(),
            languages: Languages::new(options),
            columns: None,
            units: 0,
        })
    }

    /// Finds out what the columns are. Returns whether the first row is an entry, too.
    fn begin(&mut self, row: Row) -> Result<bool> {
        let named = Columns::are_named(&self.options);
        let found = match self.rows.cells() {
            Ok(cells) => Columns::find(&cells.collect::<Vec<_>>(), named, self.delimiter, &self.options),
            Err(_) => Err(Error::format(row.line, self.not_text())),
        };
        self.columns = Some(found.map_err(|error| match self.looks_like {
            Some(what) => Error::format(row.line, format!("this is no table: {what}")),
            None => error,
        })?);
        Ok(!named)
    }

    fn not_text(&self) -> String {
        format!("the row is not valid {}; another encoding can be given", self.encoding)
    }

    fn entries(&self, columns: &Columns, row: Row, sink: &mut dyn Sink) {
        let skip = |sink: &mut dyn Sink, code, message| {
            sink.skip(Problem { line: row.line, unit: None, code, message });
        };
        match row.marks {
            Marks::AsTheyShould => {}
            Marks::Inside => {
                let message = "text comes after the quotation marks that close a cell; within them, each has to be \
                               written as two, or an escape character has to be given";
                return skip(sink, "quotation_marks", message.to_owned());
            }
            Marks::Open => {
                let message =
                    "the quotation marks that are opened here are not closed: all that follows is in them";
                return skip(sink, "quotation_marks", message.to_owned());
            }
        }
        let Ok(cells) = self.rows.cells() else { return skip(sink, "invalid_encoding", self.not_text()) };
        if self.rows.width() != columns.width {
            let mut message = format!("cells: {}; the first row has {}", self.rows.width(), columns.width);
            if row.last_line > row.line {
                message +=
                    &format!(". It goes on to line {}: are quotation marks not closed?", row.last_line);
            }
            return skip(sink, "ragged_row", message);
        }
        let cells: Vec<&str> = cells.collect();
        let cell = |field: usize| columns.fields[field].map(|at| cells[at]).filter(|text| !text.is_empty());
        let metadata = match cell(METADATA).map(jsonl::object).transpose() {
            Ok(metadata) => metadata.flatten(),
            Err(message) => return skip(sink, "invalid_value", format!("metadata: {message}")),
        };
        let entry = EntryRef {
            source: cell(SOURCE).unwrap_or_default(),
            target: "",
            source_language: cell(2).or(columns.source_language.as_deref()),
            target_language: None,
            domain: cell(4),
            namespace: cell(5),
            source_id: cell(6),
            created_at: cell(7),
            notes: cell(8),
            metadata: metadata.as_deref(),
        };
        let mut admitted = false;
        for (at, language) in &columns.targets {
            let target_language = cell(3).or(language.as_deref());
            let mut entry = EntryRef { target: cells[*at], target_language, ..entry };
            if !self.languages.admit(&mut entry) {
                continue;
            }
            admitted = true;
            if columns.targets.len() > 1 && entry.target.is_empty() {
                let message =
                    format!("there is no translation into {}", language.as_deref().unwrap_or_default());
                skip(sink, "untranslated", message);
                continue;
            }
            sink.offer(entry, row.line, entry.source_id);
        }
        if !admitted {
            let targets = columns.targets.iter().map(|(_, language)| cell(3).or(language.as_deref()));
            let (code, message) = self.languages.refusal(entry.source_language, targets);
            let unit = entry.source_id.map(start_of);
            sink.skip(Problem { line: row.line, unit, code, message });
        }
    }
}

impl Reader for TableReader {
    fn read(&mut self, sink: &mut dyn Sink, control: Control<'_>) -> Result<bool> {
        control.check()?;
        for _ in 0..STRIDE {
            let Some(row) = self.rows.read(control)? else { return Ok(false) };
            if self.columns.is_none() && !self.begin(row)? {
                continue;
            }
            self.units += 1;
            if let Some(columns) = &self.columns {
                self.entries(columns, row, sink);
            }
        }
        Ok(true)
    }

    fn bytes_read(&self) -> u64 {
        self.rows.bytes_read()
    }

    fn units_read(&self) -> u64 {
        self.units
    }
}
