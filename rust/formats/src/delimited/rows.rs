//! The rows of a table, each with the lines that it stands on.
//!
//! Rows are told apart as RFC 4180 has it. The parsers that there are take anything for a row, and where quotation marks
//! are not as they should be they change texts in silence; this one says so.

use diglot_engine::Control;

use crate::MOST_UNIT_BYTES;
use crate::error::{Error, Result};
use crate::lines::Lines;

/// How the rows of a table are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    /// Whether a cell may stand in quotation marks.
    pub(super) quoting: bool,
    /// What makes the next character within quotation marks a part of the text. Two quotation marks are one in any case.
    pub(super) escape: Option<u8>,
}

/// Splits a text into rows. A row is valid until the next one is read.
pub(super) struct Rows {
    lines: Lines,
    dialect: Dialect,
    /// The cells of the row, one behind the other, and where each of them ends.
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// Where a row is, and whether it can be told apart from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Its first line.
    pub(super) line: u64,
    /// Its last line.
    pub(super) last_line: u64,
    pub(super) marks: Marks,
}

/// How the quotation marks of a row are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marks {
    AsTheyShould,
    /// Something other than the end of the cell comes after those that close it.
    Inside,
    /// The text ends before they are closed.
    Open,
}

#[derive(Clone, Copy)]
enum State {
    /// At the start of a cell.
    Start,
    Plain,
    Quoted,
    /// After a quotation mark within quotation marks: the second one, or the first half of two.
    Closed,
    Escaped,
}

impl Rows {
    pub(super) fn new(lines: Lines, dialect: Dialect) -> Rows {
        Rows { lines, dialect, text: Vec::new(), ends: Vec::new() }
    }

    pub(super) fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }

    /// How many cells the row has.
    pub(super) fn width(&self) -> usize {
        self.ends.len()
    }

    /// The cells of the row.
    ///
    /// # Errors
    /// They are not UTF-8.
    pub(super) fn cells(&self) -> std::result::Result<impl Iterator<Item = &str>, std::str::Utf8Error> {
        let text = std::str::from_utf8(&self.text)?;
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        // The delimiter and quotation marks are ASCII, so every end is that of a character.
        Ok(starts.zip(&self.ends).map(move |(start, end)| text.get(start..*end).unwrap_or_default()))
    }

    /// Reads a row that has anything in it. Returns where it is, or `None` if there is none.
    ///
    /// # Errors
    /// Those of [`Lines::more`], and [`Error::Format`] for a row that is too long.
    pub(super) fn read(&mut self, control: Control<'_>) -> Result<Option<Row>> {
        loop {
            let empty = self.lines.rest().iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            self.lines.take(empty);
            if !self.lines.rest().is_empty() {
                break;
            }
            if !self.lines.more(control)? {
                return Ok(None);
            }
        }
        let line = self.lines.number();
        let mut row = Row { line, last_line: line, marks: Marks::AsTheyShould };
        let mut state = State::Start;
        let mut bytes = 0;
        self.text.clear();
        self.ends.clear();
        loop {
            let (taken, ended) = parse(
                self.lines.rest(),
                self.dialect,
                &mut state,
                &mut row.marks,
                &mut self.text,
                &mut self.ends,
            );
            bytes += taken;
            if bytes > MOST_UNIT_BYTES {
                let message = format!(
                    "the row has more than the {MOST_UNIT_BYTES} bytes that are allowed; are quotation marks not closed?"
                );
                return Err(Error::format(line, message));
            }
            self.lines.take(taken);
            row.last_line = self.lines.number();
            if ended {
                return Ok(Some(row));
            }
            if !self.lines.more(control)? {
                if matches!(state, State::Quoted | State::Escaped) {
                    row.marks = Marks::Open;
                }
                self.ends.push(self.text.len());
                return Ok(Some(row));
            }
        }
    }
}

/// Goes on with a row. Returns how many bytes are its, and whether its end is among them or comes next.
fn parse(
    input: &[u8],
    dialect: Dialect,
    state: &mut State,
    marks: &mut Marks,
    text: &mut Vec<u8>,
    ends: &mut Vec<usize>,
) -> (usize, bool) {
    let Dialect { delimiter, quoting, escape } = dialect;
    let mut at = 0;
    while let Some(byte) = input.get(at).copied() {
        match state {
            State::Start if byte == b'"' && quoting => {
                *state = State::Quoted;
                at += 1;
            }
            State::Start | State::Plain => {
                *state = State::Plain;
                let rest = &input[at..];
                let end = memchr::memchr3(delimiter, b'\n', b'\r', rest).unwrap_or(rest.len());
                text.extend_from_slice(&rest[..end]);
                at += end;
                match rest.get(end) {
                    None => {}
                    Some(byte) if *byte == delimiter => {
                        ends.push(text.len());
                        *state = State::Start;
                        at += 1;
                    }
                    // The end of the line is left for whoever looks for the next row.
                    Some(_) => {
                        ends.push(text.len());
                        return (at, true);
                    }
                }
            }
            State::Quoted => {
                let rest = &input[at..];
                let end = memchr::memchr2(b'"', escape.unwrap_or(b'"'), rest).unwrap_or(rest.len());
                text.extend_from_slice(&rest[..end]);
                at += end;
                if let Some(byte) = rest.get(end) {
                    *state = if *byte == b'"' { State::Closed } else { State::Escaped };
                    at += 1;
                }
            }
            State::Closed if byte == b'"' => {
                text.push(b'"');
                *state = State::Quoted;
                at += 1;
            }
            State::Closed => {
                if byte != delimiter && byte != b'\n' && byte != b'\r' {
                    *marks = Marks::Inside;
                }
                *state = State::Plain;
            }
            State::Escaped => {
                text.push(byte);
                *state = State::Quoted;
                at += 1;
            }
        }
    }
    (at, false)
}
