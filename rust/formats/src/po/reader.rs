//! Reading PO files.

use diglot_engine::Control;
use encoding_rs::Encoding;

use super::MOST_FORMS;
use super::escapes::unquote;
use super::header::{self, Header};
use super::message::Message;
use crate::decoded::Decoded;
use crate::error::{Error, Problem, Result, start_of};
use crate::input::{Input, describe};
use crate::lines::Lines;
use crate::options::Options;
use crate::{MOST_UNIT_BYTES, Reader, Sink};

/// Reads the messages of a PO file. It has use for the languages, `fuzzy` and `obsolete` of the options.
pub(crate) struct PoReader {
    lines: Lines,
    messages: Messages,
}

/// What was made of the lines so far.
struct Messages {
    /// What the file may be if it is no PO file.
    looks_like: Option<&'static str>,
    encoding: &'static Encoding,
    options: Options,
    header: Header,
    draft: Draft,
    /// Whether a keyword was read.
    begun: bool,
    units: u64,
}

impl PoReader {
    pub(crate) fn new(input: Input, options: &Options) -> Result<PoReader> {
        let looks_like = describe(input.head());
        if input.head().is_empty() {
            return Err(Error::format(1, "this is an empty file"));
        }
        let text = Decoded::new(input, header::encoding)?;
        let messages = Messages {
            looks_like,
            encoding: text.encoding,
            options: options.clone(),
            header: Header::without(options)?,
            draft: Draft::default(),
            begun: false,
            units: 0,
        };
        Ok(PoReader { lines: Lines::new(text), messages })
    }
}

impl Reader for PoReader {
    fn read(&mut self, sink: &mut dyn Sink, control: Control<'_>) -> Result<bool> {
        if !self.lines.more(control)? {
            self.messages.end(sink)?;
            return Ok(false);
        }
        while let Some((number, line)) = self.lines.next() {
            self.messages.line(number, line, sink)?;
        }
        Ok(true)
    }

    fn bytes_read(&self) -> u64 {
        self.lines.bytes_read()
    }

    fn units_read(&self) -> u64 {
        self.messages.units
    }
}

impl Messages {
    fn line(&mut self, number: u64, line: &[u8], sink: &mut dyn Sink) -> Result<()> {
        let draft = &mut self.draft;
        draft.bytes += line.len();
        if draft.bytes > MOST_UNIT_BYTES {
            let message = format!("the message has more than the {MOST_UNIT_BYTES} bytes that are allowed");
            return Err(Error::format(number, message));
        }
        let Ok(line) = std::str::from_utf8(line) else {
            let message =
                format!("the line is not valid {}, which the header says it is in", self.encoding.name());
            draft.fail(number, "invalid_encoding", message);
            return Ok(());
        };
        let line = line.trim_ascii_start();
        let (line, obsolete) = match line.strip_prefix("#~") {
            Some(line) => (line.trim_ascii_start(), true),
            None => (line, false),
        };
        let previous = line.strip_prefix(if obsolete { "|" } else { "#|" });
        let comment = line.strip_prefix('#').filter(|_| !obsolete);
        let keyword = line.split([' ', '\t', '"', '[']).next().unwrap_or_default();
        let is_over = if previous.or(comment).is_some() {
            draft.has_keyword || draft.fault.is_some()
        } else {
            match keyword {
                "msgctxt" => draft.is_over(true),
                "msgid" => draft.is_over(false),
                // What is wrong in a message is over with it.
                _ => draft.fault.is_some() && line.trim_ascii().is_empty(),
            }
        };
        if is_over {
            self.end(sink)?;
        }
        if let Some(previous) = previous {
            self.draft.statement(number, previous.trim_ascii_start(), true, self.encoding);
        } else if let Some(comment) = comment {
            self.draft.comment(comment);
        } else if !line.trim_ascii().is_empty() {
            if !self.begun && !is_keyword(keyword) {
                return Err(Error::format(number, self.not_po(line)));
            }
            self.begun = true;
            self.draft.message.details.obsolete |= obsolete;
            self.draft.statement(number, line, false, self.encoding);
        }
        Ok(())
    }

    fn not_po(&self, line: &str) -> String {
        let what = match self.looks_like {
            Some(what) => what.to_owned(),
            None => format!("{:?} stands where a comment, msgctxt or msgid is expected", start_of(line)),
        };
        format!("this is no PO file: {what}")
    }

    /// Ends the message.
    fn end(&mut self, sink: &mut dyn Sink) -> Result<()> {
        let draft = std::mem::take(&mut self.draft);
        if !draft.has_keyword && draft.fault.is_none() {
            // Comments without a message.
            return Ok(());
        }
        let complete = draft.complete();
        if let Ok(message) = &complete
            && message.id.is_empty()
            && message.context.is_none()
        {
            self.header = Header::parse(&message.strings[0], &self.options)?;
            return Ok(());
        }
        self.units += 1;
        match complete {
            Ok(message) => message.offer(&self.header, &self.options, sink),
            Err(problem) => sink.skip(problem),
        }
        Ok(())
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "domain" | "msgctxt" | "msgid" | "msgid_plural" | "msgstr")
}

/// Which string the next line goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Context,
    Id,
    Plural,
    String(usize),
    PreviousContext,
    PreviousId,
    PreviousPlural,
    /// Names the domain of what follows, which nothing here has use for.
    Domain,
}

/// A message of which some lines were read.
#[derive(Debug, Default)]
struct Draft {
    /// What is known of it, without its own strings.
    message: Message,
    id: Option<String>,
    strings: Vec<Option<String>>,
    has_keyword: bool,
    has_id: bool,
    has_string: bool,
    place: Option<Place>,
    /// The first thing that is wrong with it.
    fault: Option<(u64, &'static str, String)>,
    bytes: usize,
}

impl Draft {
    /// Whether a `msgctxt` or `msgid` is that of the next message.
    fn is_over(&self, is_context: bool) -> bool {
        match self.has_keyword {
            true => self.has_string || self.has_id || is_context,
            false => self.fault.is_some(),
        }
    }

    fn fail(&mut self, line: u64, code: &'static str, message: String) {
        self.fault.get_or_insert((line, code, message));
    }

    fn comment(&mut self, comment: &str) {
        let details = &mut self.message.details;
        match comment.as_bytes().first() {
            Some(b'.') => add_line(&mut details.extracted, &comment[1..]),
            Some(b':') => details.references.extend(references(&comment[1..])),
            // `=` is where gettext keeps some flags since version 0.26.
            Some(b',' | b'=') => {
                let flags = comment[1..].split(',').map(str::trim).filter(|flag| !flag.is_empty());
                details.flags.extend(flags.map(str::to_owned));
            }
            _ => add_line(&mut self.message.notes, comment),
        }
    }

    fn statement(&mut self, number: u64, line: &str, previous: bool, encoding: &'static Encoding) {
        let is_keyword = !line.starts_with('"');
        let (place, strings) = match self.place {
            _ if is_keyword => match place(line, previous) {
                Ok(found) => found,
                Err(message) => return self.fail(number, "syntax", message),
            },
            Some(place) => (place, line),
            None => return self.fail(number, "syntax", "a string stands before any keyword".to_owned()),
        };
        self.place = Some(place);
        self.has_id |= place == Place::Id;
        self.has_string |= matches!(place, Place::String(_));
        // The name of a domain is no part of a message.
        if !previous && !self.has_keyword && place != Place::Domain {
            self.has_keyword = true;
            self.message.line = number;
        }
        if self.fault.is_some() {
            return;
        }
        let message = &mut self.message;
        let mut domain = None;
        let text = match place {
            Place::Context => &mut message.context,
            Place::Id => &mut self.id,
            Place::Plural => &mut message.plural,
            Place::String(form) => {
                let expected = self.strings.len();
                if is_keyword && form > expected {
                    let what = format!("msgstr[{form}] stands where msgstr[{expected}] is expected");
                    return self.fail(number, "syntax", what);
                }
                if form == expected {
                    self.strings.push(None);
                }
                &mut self.strings[form]
            }
            Place::PreviousContext => &mut message.details.previous_context,
            Place::PreviousId => &mut message.details.previous_id,
            Place::PreviousPlural => &mut message.details.previous_plural,
            Place::Domain => &mut domain,
        };
        if is_keyword && text.is_some() {
            return self.fail(number, "syntax", format!("{:?} is given twice", start_of(line)));
        }
        if let Err(message) = unquote(strings, encoding, text.get_or_insert_default()) {
            self.fail(number, "syntax", message);
        }
    }

    /// The message, if it is whole.
    fn complete(self) -> std::result::Result<Message, Problem> {
        let Draft { mut message, id, strings, fault, .. } = self;
        for text in [&mut message.notes, &mut message.details.extracted] {
            text.take_if(|text| text.trim().is_empty());
        }
        let fault = fault.or_else(|| {
            let what = match (&id, strings.len(), &message.plural) {
                (None, ..) => "the message has no msgid",
                (_, 0, _) => "the message has no msgstr",
                (_, 2.., None) => "the message has several msgstr, but no msgid_plural",
                _ => return None,
            };
            Some((message.line, "syntax", what.to_owned()))
        });
        match fault {
            None => {
                message.id = id.unwrap_or_default();
                message.strings = strings.into_iter().flatten().collect();
                Ok(message)
            }
            Some((line, code, what)) => {
                let unit = id.as_deref().map(start_of);
                Err(Problem { line, unit, code, message: what })
            }
        }
    }
}

/// The string that a keyword begins, and the rest of its line.
fn place(line: &str, previous: bool) -> std::result::Result<(Place, &str), String> {
    let end = line.bytes().position(|byte| !byte.is_ascii_lowercase() && byte != b'_').unwrap_or(line.len());
    let (keyword, rest) = line.split_at(end);
    let place = match (keyword, previous) {
        ("msgctxt", false) => Place::Context,
        ("msgctxt", true) => Place::PreviousContext,
        ("msgid", false) => Place::Id,
        ("msgid", true) => Place::PreviousId,
        ("msgid_plural", false) => Place::Plural,
        ("msgid_plural", true) => Place::PreviousPlural,
        ("domain", false) => Place::Domain,
        ("msgstr", false) => match rest.trim_ascii_start().strip_prefix('[') {
            None => Place::String(0),
            Some(index) => {
                let (form, rest) = index.split_once(']').unwrap_or((index, ""));
                return match form.trim().parse() {
                    Ok(form) if form < MOST_FORMS => Ok((Place::String(form), rest)),
                    _ => Err(format!(
                        "{:?} is no form; from 0 to {} are allowed",
                        start_of(form),
                        MOST_FORMS - 1
                    )),
                };
            }
        },
        _ => return Err(format!("{:?} stands where a keyword or a string is expected", start_of(line))),
    };
    Ok((place, rest))
}

fn add_line(text: &mut Option<String>, line: &str) {
    let line = line.strip_prefix(' ').unwrap_or(line);
    match text {
        None => *text = Some(line.to_owned()),
        Some(text) => {
            text.push('\n');
            text.push_str(line);
        }
    }
}

/// The references of a line. Names with spaces stand between U+2068 and U+2069.
fn references(line: &str) -> impl Iterator<Item = String> {
    let mut isolated = false;
    let split = line.split(move |character: char| {
        match character {
            '\u{2068}' => isolated = true,
            '\u{2069}' => isolated = false,
            _ => {}
        }
        !isolated && character.is_ascii_whitespace()
    });
    split.filter(|reference| !reference.is_empty()).map(str::to_owned).collect::<Vec<_>>().into_iter()
}
