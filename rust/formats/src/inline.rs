//! Text with inline elements: what of it is text, and its markup in a form that is always valid.
//!
//! The formats mark the same things up in different words. Some elements stand around text (`hi`, `g`, `pc`), some hold
//! the code of another format (`bpt`, `ph`), some are empty (`x`, `sc`). What a format does not have, in this form at
//! least, is code to it: `<b>bold</b>` becomes `<bpt i="1">&lt;b&gt;</bpt>bold<ept i="1">&lt;/b&gt;</ept>` in TMX. So
//! nothing is lost, the text is the same, and what is kept can be written into any file.

use quick_xml::events::{BytesStart, Event};

use crate::error::Fault;
use crate::json::{self, Members};
use crate::xml;

/// The inline elements of a format.
pub(crate) struct Dialect {
    pub(crate) elements: &'static [Element],
    /// Attributes that have one of some values, and which.
    pub(crate) values: &'static [(&'static str, &'static [&'static str])],
    /// Whether there is an element for characters that XML cannot hold (`cp`).
    pub(crate) characters: bool,
    /// How to write what the format does not have.
    pub(crate) foreign: Foreign,
}

/// An inline element.
pub(crate) struct Element {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Attributes that it must have.
    pub(crate) required: &'static [&'static str],
    /// Attributes that it may have.
    pub(crate) optional: &'static [&'static str],
}

/// What the content of an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Text, with more inline elements.
    Span,
    /// Code, with flows of text of their own in it (`sub`).
    Code,
    /// A flow of text in code. It is no part of the text around the code.
    Flow,
    /// Nothing.
    Empty,
}

/// The names of elements whose content is code, in whatever format they are.
const CODES: [&str; 5] = ["bpt", "ept", "ph", "it", "ut"];

/// The keys of the metadata that have the markup of entries.
const MARKUP: [&str; 3] = ["tmx", "xliff", "xliff2"];

/// How a format writes code that it knows nothing of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// As the content of `bpt` and `ept`, which share the value of this attribute, and of `ph`; `numbered` if that has the
    /// attribute, too.
    Content { attribute: &'static str, numbered: bool },
    /// As the attributes `dispStart` and `dispEnd` of `pc`, and `disp` of `ph`: no element has code for its content.
    Attribute,
}

impl Dialect {
    /// Adds a text to the content of an element. What XML cannot hold becomes an element, or U+FFFD where there is none.
    pub(crate) fn push_text(&self, out: &mut String, text: &str) {
        let mut rest = text;
        while let Some(character) = xml::forbidden(rest).filter(|_| self.characters) {
            let at = rest.find(character).unwrap_or(rest.len());
            xml::push_text(out, &rest[..at]);
            out.push_str(&format!("<cp hex=\"{:04X}\"/>", character as u32));
            rest = &rest[at + character.len_utf8()..];
        }
        xml::push_text(out, rest);
    }
}

/// A text with inline elements.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    /// What is text of it.
    pub(crate) text: String,
    /// The content with its markup, as XML; empty if there is no markup.
    pub(crate) markup: String,
}

/// An element that has begun.
enum Open {
    Span(&'static str),
    Code(&'static str),
    Flow(&'static str),
    /// Foreign: a pair with this number.
    Pair(u32),
    /// Foreign, but by its name code: all of it is the content of one `ph`.
    Whole,
    /// Inside code: nothing but more code.
    Verbatim,
    /// What was written in full when it began: a character, or an element that holds nothing. What stands in it all the
    /// same comes behind it.
    Complete,
}

/// Collects a [`Segment`] from the events between its tags.
pub(crate) struct Builder<'d> {
    dialect: &'d Dialect,
    /// Whether what comes is the markup of another format, in which the same names may stand for something else.
    other: bool,
    segment: Segment,
    marked: bool,
    open: Vec<Open>,
    /// How many of the open elements hide their text: codes and what is in them.
    hidden: usize,
    /// Places in the markup where the number of a foreign code has to go.
    numbers: Vec<(usize, u32)>,
    foreign: u32,
    /// The largest number that the format's own elements have.
    largest: u32,
}

impl<'d> Builder<'d> {
    pub(crate) fn new(dialect: &'d Dialect) -> Builder<'d> {
        Builder {
            dialect,
            other: false,
            segment: Segment::default(),
            marked: false,
            open: Vec::new(),
            hidden: 0,
            numbers: Vec::new(),
            foreign: 0,
            largest: 0,
        }
    }

    /// Takes an event. `prefix` is the one that elements of the format have.
    ///
    /// # Errors
    /// A [`Fault`] for what makes the segment unusable.
    pub(crate) fn feed(&mut self, event: &Event<'_>, prefix: &str) -> Result<(), Fault> {
        match event {
            Event::Start(element) => self.start(element, prefix, false),
            Event::Empty(element) => self.start(element, prefix, true),
            Event::End(element) => {
                self.end(element);
                Ok(())
            }
            Event::Text(text) => self.text(&text.xml10_content()),
            Event::CData(text) => self.text(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let mut text = String::new();
                xml::resolve(reference, &mut text)?;
                self.text(&text)
            }
            // Comments and processing instructions are no part of a text.
            _ => Ok(()),
        }
    }

    /// The segment, at its end.
    pub(crate) fn finish(mut self) -> Segment {
        if !self.marked {
            self.segment.markup.clear();
        }
        if !self.numbers.is_empty() {
            let unnumbered = std::mem::take(&mut self.segment.markup);
            let mut from = 0;
            for (at, number) in self.numbers {
                self.segment.markup.push_str(&unnumbered[from..at]);
                self.segment.markup.push_str(&(self.largest.saturating_add(number)).to_string());
                from = at;
            }
            self.segment.markup.push_str(&unnumbered[from..]);
        }
        self.segment
    }

    fn text(&mut self, text: &str) -> Result<(), Fault> {
        if let Some(character) = xml::forbidden(text) {
            return Err(xml::not_allowed(character));
        }
        if self.hidden == 0 {
            self.segment.text.push_str(text);
        }
        if self.marked {
            self.push_text(text);
        }
        Ok(())
    }

    /// Adds a text to the markup.
    fn push_text(&mut self, text: &str) {
        let markup = &mut self.segment.markup;
        if self.hidden > 0 && self.dialect.foreign == Foreign::Attribute {
            xml::push_value(markup, text);
        } else {
            self.dialect.push_text(markup, text);
        }
    }

    /// From now on there is markup.
    fn mark(&mut self) {
        if !self.marked {
            self.marked = true;
            self.dialect.push_text(&mut self.segment.markup, &self.segment.text);
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>, prefix: &str, empty: bool) -> Result<(), Fault> {
        if self.character(tag, prefix, empty)? {
            return Ok(());
        }
        self.mark();
        let in_code = matches!(self.open.last(), Some(Open::Code(_) | Open::Whole | Open::Verbatim));
        let name = xml::local(tag.name().into_inner(), prefix);
        let is_code = name.is_some_and(|name| CODES.contains(&name));
        let element = self.dialect.elements.iter().find(|element| Some(element.name) == name);
        // Flows stand in code, and nothing else does.
        let fits = |element: &&Element| {
            let has_code = self.other && is_code && element.kind == Kind::Empty && !empty;
            (element.kind == Kind::Flow) == in_code && !has_code
        };
        if let Some(element) = element.filter(fits)
            && self.start_own(element, tag, empty)?
        {
            return Ok(());
        }
        if in_code {
            self.push_tag(tag, empty);
            if !empty {
                self.open(Open::Verbatim);
            }
        } else {
            self.start_foreign(tag, empty, is_code);
        }
        Ok(())
    }

    /// Takes an element that stands for a character; it is text like other text. Returns whether it is one.
    fn character(&mut self, tag: &BytesStart<'_>, prefix: &str, empty: bool) -> Result<bool, Fault> {
        if !(self.dialect.characters || self.other)
            || xml::local(tag.name().into_inner(), prefix) != Some("cp")
        {
            return Ok(false);
        }
        let mut character = None;
        xml::attributes(tag, |name, value| {
            if name == "hex" {
                character = u32::from_str_radix(&value, 16).ok().and_then(char::from_u32);
            }
        })?;
        let Some(character) = character else {
            return Err((
                "invalid_character",
                "a <cp> has no attribute hex with the number of a character".to_owned(),
            ));
        };
        if self.hidden == 0 {
            self.segment.text.push(character);
        }
        if self.marked {
            self.push_text(character.encode_utf8(&mut [0; 4]));
        }
        if !empty {
            self.open(Open::Complete);
        }
        Ok(true)
    }

    /// Begins an element of the format. Returns whether it has the attributes that it needs, and no others or with values
    /// that they cannot have.
    fn start_own(&mut self, element: &Element, tag: &BytesStart<'_>, empty: bool) -> Result<bool, Fault> {
        let before = self.segment.markup.len();
        self.segment.markup.push('<');
        self.segment.markup.push_str(element.name);
        let mut missing = element.required.len();
        let mut unknown = false;
        let mut largest = self.largest;
        let markup = &mut self.segment.markup;
        xml::attributes(tag, |name, value| {
            if element.required.contains(&name) {
                missing -= 1;
            } else if !element.optional.contains(&name) {
                // Those of other namespaces would need a declaration, and are left out.
                unknown |= !name.contains(':');
                return;
            }
            if let Some((_, known)) = self.dialect.values.iter().find(|(attribute, _)| *attribute == name) {
                unknown |= !known.contains(&&*value);
            }
            if matches!(name, "i" | "id") {
                largest = largest.max(value.parse().unwrap_or(0));
            }
            xml::push_attribute(markup, name, &value);
        })?;
        if missing > 0 || unknown {
            self.segment.markup.truncate(before);
            return Ok(false);
        }
        self.largest = largest;
        self.segment.markup.push_str(if empty || element.kind == Kind::Empty { "/>" } else { ">" });
        if !empty {
            self.open(match element.kind {
                Kind::Code => Open::Code(element.name),
                Kind::Flow => Open::Flow(element.name),
                Kind::Span => Open::Span(element.name),
                Kind::Empty => Open::Complete,
            });
        }
        Ok(true)
    }

    /// Begins an element that the format does not have, or not in this form. `code`: it has a code's name.
    fn start_foreign(&mut self, tag: &BytesStart<'_>, empty: bool, code: bool) {
        self.foreign += 1;
        match self.dialect.foreign {
            Foreign::Content { attribute, numbered } => {
                let pair = !empty && !code;
                self.segment.markup.push_str(if pair { "<bpt" } else { "<ph" });
                if pair || numbered {
                    self.push_number(attribute, self.foreign);
                }
                self.segment.markup.push('>');
                self.push_tag(tag, empty);
                match (pair, empty) {
                    (true, _) => {
                        self.segment.markup.push_str("</bpt>");
                        self.open(Open::Pair(self.foreign));
                    }
                    (false, true) => self.segment.markup.push_str("</ph>"),
                    (false, false) => self.open(Open::Whole),
                }
            }
            Foreign::Attribute if code && !empty => {
                self.segment.markup.push_str("<ph");
                self.push_number("id", self.foreign);
                self.segment.markup.push_str(" disp=\"");
                self.open(Open::Whole);
                self.push_tag(tag, empty);
            }
            Foreign::Attribute => {
                self.segment.markup.push_str(if empty { "<ph" } else { "<pc" });
                self.push_number("id", self.foreign);
                let markup = &mut self.segment.markup;
                if empty {
                    xml::push_attribute(markup, "disp", &format!("<{}/>", &**tag));
                    markup.push_str("/>");
                } else {
                    xml::push_attribute(markup, "dispStart", &format!("<{}>", &**tag));
                    xml::push_attribute(markup, "dispEnd", &format!("</{}>", tag.name().into_inner()));
                    markup.push('>');
                    self.open(Open::Span("pc"));
                }
            }
        }
    }

    fn open(&mut self, open: Open) {
        self.hidden += usize::from(open.hides());
        self.open.push(open);
    }

    fn end(&mut self, name: &str) {
        // The reader has seen to it that tags are paired.
        let Some(open) = self.open.pop() else { return };
        // What ends a code is part of it.
        if matches!(open, Open::Whole | Open::Verbatim) {
            self.push_text(&format!("</{name}>"));
        }
        self.hidden -= usize::from(open.hides());
        match open {
            Open::Span(own) | Open::Code(own) | Open::Flow(own) => {
                let markup = &mut self.segment.markup;
                markup.push_str("</");
                markup.push_str(own);
                markup.push('>');
            }
            Open::Pair(number) => {
                let Foreign::Content { attribute, .. } = self.dialect.foreign else { return };
                self.segment.markup.push_str("<ept");
                self.push_number(attribute, number);
                self.segment.markup.push('>');
                self.push_text(&format!("</{name}>"));
                self.segment.markup.push_str("</ept>");
            }
            Open::Whole => self.segment.markup.push_str(match self.dialect.foreign {
                Foreign::Content { .. } => "</ph>",
                Foreign::Attribute => "\"/>",
            }),
            Open::Verbatim | Open::Complete => {}
        }
    }

    /// Adds a tag as text to the markup.
    fn push_tag(&mut self, tag: &BytesStart<'_>, empty: bool) {
        self.push_text("<");
        self.push_text(tag);
        self.push_text(if empty { "/>" } else { ">" });
    }

    /// Adds an attribute whose value is the number of a foreign code.
    fn push_number(&mut self, attribute: &str, number: u32) {
        let markup = &mut self.segment.markup;
        markup.push(' ');
        markup.push_str(attribute);
        markup.push_str("=\"");
        self.numbers.push((markup.len(), number));
        markup.push('"');
    }
}

impl Open {
    /// Whether what is in the element is no text.
    fn hides(&self) -> bool {
        matches!(self, Open::Code(_) | Open::Flow(_) | Open::Whole | Open::Verbatim)
    }
}

/// The segment that a markup is of; `None` if it is not well-formed, or has what XML does not allow. `other`: the markup is
/// that of another format.
fn parse(dialect: &Dialect, markup: &str, other: bool) -> Option<Segment> {
    let mut reader = quick_xml::Reader::from_str(markup);
    let mut builder = Builder { other, ..Builder::new(dialect) };
    loop {
        match reader.read_event().ok()? {
            Event::Eof => break,
            event => builder.feed(&event, "").ok()?,
        }
    }
    builder.open.is_empty().then(|| builder.finish())
}

/// The markup that a member of the metadata is, if it is markup of this text. `other`: as in [`parse`].
fn markup_of(dialect: &Dialect, value: &str, text: &str, other: bool) -> Option<String> {
    let segment = parse(dialect, &serde_json::from_str::<String>(value).ok()?, other)?;
    (segment.text == text && !segment.markup.is_empty()).then_some(segment.markup)
}

/// The markup that a member of the format's own part of the metadata is, if it is markup of this text.
pub(crate) fn own_markup(dialect: &Dialect, value: &str, text: &str) -> Option<String> {
    markup_of(dialect, value, text, false)
}

/// The markup of this text that the metadata has of other formats than the one with this key, as this one has it. `name`
/// is `source` or `target`.
pub(crate) fn other_markup(
    dialect: &Dialect,
    key: &str,
    metadata: &Members<'_>,
    name: &str,
    text: &str,
) -> Option<String> {
    let others = MARKUP.into_iter().filter(|other| *other != key);
    others
        .filter_map(|other| json::members(metadata.get(other)?.get()))
        .find_map(|members| markup_of(dialect, members.get(name)?.get(), text, true))
}
