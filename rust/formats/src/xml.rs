//! Reading XML in a stream, and writing what it can hold.
//!
//! Of document type definitions nothing is read: the five entities of XML itself and character references are resolved,
//! no others are, and no other file is opened. Namespaces are not resolved: an element belongs to the format if its prefix
//! is that of the root, so a prefix that is not bound does no harm.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};

use crate::error::{Error, Fault, Result};
use crate::inline::Builder;
use crate::input::{self, Input, Text};
use crate::shorten;

/// The deepest that elements may nest.
pub(crate) const MOST_DEPTH: usize = 256;

/// The most attributes that an element may have. Each is compared with those before it.
const MOST_ATTRIBUTES: usize = 256;

/// Bytes that the buffer of an event may keep when it is done.
const KEPT: usize = 1 << 16;

/// An XML file that is read event by event.
pub(crate) struct Xml {
    reader: quick_xml::Reader<Text>,
    buffer: Vec<u8>,
    depth: usize,
    started: bool,
    /// Line feeds in the tag that was read last.
    tag_lines: u64,
}

/// The tag of a root element.
pub(crate) struct Root {
    /// The prefix of its name, which is the one that elements of the format have.
    pub(crate) prefix: String,
    pub(crate) empty: bool,
    attributes: Vec<(String, String)>,
}

impl Root {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

impl Xml {
    /// # Errors
    /// [`Error::Format`] for what is no XML at all, and for an encoding that is not known.
    pub(crate) fn new(input: Input, format: &str) -> Result<Xml> {
        let head = input.head();
        if !is_likely(head) {
            let what = input::describe(head).unwrap_or("this is no XML");
            return Err(Error::format(1, format!("{what}; {format} begins with <")));
        }
        let text = input.into_text(declared)?;
        let mut reader = quick_xml::Reader::from_reader(text);
        // In many files there is an & that means nothing but itself.
        reader.config_mut().allow_dangling_amp = true;
        let mut xml = Xml { reader, buffer: Vec::new(), depth: 0, started: false, tag_lines: 0 };
        xml.begin("the beginning of the file");
        Ok(xml)
    }

    /// Begins a part of the file of at most [`MOST_UNIT_BYTES`](crate::MOST_UNIT_BYTES).
    pub(crate) fn begin(&mut self, what: &'static str) {
        self.reader.get_mut().begin(what);
    }

    /// The line where what was read last ends, counted from 1.
    fn line(&mut self) -> u64 {
        self.reader.get_mut().line()
    }

    /// The line where the tag that was read last begins.
    pub(crate) fn line_of_tag(&mut self) -> u64 {
        self.line() - self.tag_lines
    }

    /// Bytes of the file read so far, as they are on disk.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.reader.get_ref().bytes_read()
    }

    /// The next event. After the root has ended, [`Event::Eof`] is all that comes.
    ///
    /// # Errors
    /// [`Error::Format`] for what is not well-formed, and for what is nested too deep; [`Error::Io`].
    pub(crate) fn next(&mut self) -> Result<Event<'_>> {
        if self.buffer.capacity() > KEPT {
            self.buffer = Vec::new();
        }
        self.buffer.clear();
        let event = match self.reader.read_event_into(&mut self.buffer) {
            Ok(event) => event,
            Err(error) => {
                let message = format!("the XML is not well-formed: {}", shorten(&error));
                let text = self.reader.get_mut();
                let ill_formed = Error::format(text.line(), message);
                return Err(text.failure().unwrap_or(ill_formed));
            }
        };
        if let Event::Start(tag) | Event::Empty(tag) = &event {
            self.tag_lines = memchr::memchr_iter(b'\n', tag.as_bytes()).count() as u64;
        }
        let text = self.reader.get_mut();
        let mut refused = |message| Err(Error::format(text.line(), message));
        let mut ill_formed = |what: &str| refused(format!("the XML is not well-formed: {what}"));
        match &event {
            Event::Start(_) | Event::Empty(_) if self.depth == 0 && self.started => {
                return ill_formed("there is a second root element");
            }
            Event::Start(_) => {
                self.started = true;
                self.depth += 1;
                if self.depth > MOST_DEPTH {
                    return refused(format!(
                        "elements are nested more than the {MOST_DEPTH} levels that are allowed"
                    ));
                }
            }
            Event::Empty(_) => self.started = true,
            Event::End(_) => self.depth -= 1,
            Event::Text(text) if self.depth == 0 && !text.trim_ascii().is_empty() => {
                return ill_formed("there is text outside of the root element");
            }
            Event::CData(_) | Event::GeneralRef(_) if self.depth == 0 => {
                return ill_formed("there is text outside of the root element");
            }
            Event::Eof if self.depth > 0 => {
                return ill_formed("the file ends too early, in the middle of an element");
            }
            Event::Eof if !self.started => return ill_formed("there is no element"),
            _ => {}
        }
        Ok(event)
    }

    /// Reads the tag of the root element, which has this name in this format.
    ///
    /// # Errors
    /// As [`Xml::next`], and [`Error::Format`] for another root element.
    pub(crate) fn root(&mut self, name: &str, format: &str) -> Result<Root> {
        loop {
            let (element, empty) = match self.next()? {
                Event::Start(element) => (element, false),
                Event::Empty(element) => (element, true),
                _ => continue,
            };
            let mut found = Vec::new();
            // Whatever is wrong with one of them does not make it another file.
            _ = attributes(&element, |name, value| found.push((name.to_owned(), value.into_owned())));
            let full_name = element.name().into_inner();
            let prefix = full_name.split_once(':').map_or("", |(prefix, _)| prefix);
            if local(full_name, prefix) != Some(name) {
                let full_name = shorten(&full_name);
                let message = format!("the root element is <{full_name}>; that of {format} is <{name}>");
                return Err(Error::format(self.line(), message));
            }
            return Ok(Root { prefix: prefix.to_owned(), empty, attributes: found });
        }
    }

    /// Reads the content of the element that began last, and its end. The first fault is kept, and the rest read over.
    ///
    /// # Errors
    /// As [`Xml::next`].
    pub(crate) fn read_content(
        &mut self,
        builder: &mut Builder<'_>,
        prefix: &str,
        fault: &mut Option<Fault>,
    ) -> Result<()> {
        let mut inside = 0;
        loop {
            let event = self.next()?;
            match event {
                Event::Start(_) => inside += 1,
                Event::End(_) if inside == 0 => return Ok(()),
                Event::End(_) => inside -= 1,
                _ => {}
            }
            if fault.is_none() {
                *fault = builder.feed(&event, prefix).err();
            }
        }
    }

    /// Reads the text in the element that began last, tags in it left out, and its end. The first fault is kept.
    ///
    /// # Errors
    /// As [`Xml::next`].
    pub(crate) fn read_text(&mut self, fault: &mut Option<Fault>) -> Result<String> {
        let mut text = String::new();
        let mut inside = 0;
        loop {
            let outcome = match self.next()? {
                Event::Start(_) => {
                    inside += 1;
                    continue;
                }
                Event::End(_) if inside == 0 => return Ok(text),
                Event::End(_) => {
                    inside -= 1;
                    continue;
                }
                Event::Text(part) => push_allowed(&mut text, &part.xml10_content()),
                Event::CData(part) => push_allowed(&mut text, &part.xml10_content()),
                Event::GeneralRef(reference) => resolve(&reference, &mut text),
                _ => continue,
            };
            if let Err(error) = outcome {
                fault.get_or_insert(error);
            }
        }
    }

    /// Reads to the end of the element that began last.
    ///
    /// # Errors
    /// As [`Xml::next`].
    pub(crate) fn skip(&mut self) -> Result<()> {
        let depth = self.depth;
        while self.depth >= depth {
            self.next()?;
        }
        Ok(())
    }
}

/// Whether a file that begins with these bytes may be XML, in UTF-8 or UTF-16.
fn is_likely(head: &[u8]) -> bool {
    let begins = Encoding::for_bom(head).map_or(head, |(_, mark)| &head[mark..]);
    begins.iter().find(|byte| !byte.is_ascii_whitespace() && **byte != 0) == Some(&b'<')
}

/// Whether a file that begins with these bytes is XML with a tag of this name, in UTF-8 or UTF-16.
pub(crate) fn has_tag(head: &[u8], name: &str) -> bool {
    if !is_likely(head) {
        return false;
    }
    let start = &head[..head.len().min(4096)];
    // In UTF-16 there is a NUL beside every letter.
    let letters: Vec<u8> = start.iter().copied().filter(|byte| *byte != 0).collect();
    memchr::memmem::find_iter(&letters, name).any(|at| at > 0 && matches!(letters[at - 1], b'<' | b':'))
}

/// The encoding that an XML file has without a byte order mark.
fn declared(head: &[u8]) -> std::result::Result<&'static Encoding, String> {
    match head {
        [b'<', 0, 0, 0, ..] | [0, 0, 0, b'<', ..] => {
            return Err("the text is in UTF-32; UTF-8 and UTF-16 are allowed".to_owned());
        }
        [b'<', 0, ..] => return Ok(UTF_16LE),
        [0, b'<', ..] => return Ok(UTF_16BE),
        _ => {}
    }
    let Some(label) = declared_label(head) else { return Ok(UTF_8) };
    match Encoding::for_label(label) {
        // These bytes were read as ASCII, so they are not that.
        Some(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => Ok(UTF_8),
        Some(encoding) => Ok(encoding),
        None => {
            let label = String::from_utf8_lossy(label);
            Err(format!("the file says it is in {label:?}, which is no known encoding; UTF-8 is best"))
        }
    }
}

/// What the XML declaration at the start says of the encoding.
fn declared_label(head: &[u8]) -> Option<&[u8]> {
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memchr::memmem::find(declaration, b"?>")?];
    let value = &declaration[memchr::memmem::find(declaration, b"encoding")? + b"encoding".len()..];
    let value = value.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first()?;
    let end = memchr::memchr(*quote, value)?;
    (matches!(quote, b'"' | b'\'')).then_some(&value[..end])
}

/// The name of an element if it has the prefix of the format, which is the root's.
pub(crate) fn local<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    match prefix {
        "" => (!name.contains(':')).then_some(name),
        _ => name.strip_prefix(prefix)?.strip_prefix(':'),
    }
}

/// Hands the attributes of an element to `take`: names as they are written, values resolved and normalized.
///
/// # Errors
/// A [`Fault`] for attributes that are not well-formed, and for entities that XML does not have.
pub(crate) fn attributes<'a>(
    element: &'a BytesStart<'a>,
    mut take: impl FnMut(&'a str, Cow<'a, str>),
) -> std::result::Result<(), Fault> {
    for (number, attribute) in element.attributes().enumerate() {
        if number == MOST_ATTRIBUTES {
            let message =
                format!("an element has more than the {MOST_ATTRIBUTES} attributes that are allowed");
            return Err(("invalid_attribute", message));
        }
        let attribute = attribute.map_err(|error| ("invalid_attribute", shorten(&error)))?;
        let value = attribute
            .normalized_value(XmlVersion::Implicit1_0)
            .map_err(|error| ("invalid_reference", format!("in an attribute: {}", shorten(&error))))?;
        if let Some(character) = forbidden(&value) {
            return Err(not_allowed(character));
        }
        take(attribute.key.into_inner(), value);
    }
    Ok(())
}

/// What a reference stands for, added to a text.
///
/// # Errors
/// A [`Fault`] for an entity that XML itself does not have, and for what is no character of XML.
pub(crate) fn resolve(reference: &BytesRef<'_>, text: &mut String) -> std::result::Result<(), Fault> {
    match reference.resolve_char_ref() {
        Ok(Some(character)) if is_allowed(character) => text.push(character),
        Ok(Some(character)) => return Err(not_allowed(character)),
        Ok(None) => match quick_xml::escape::resolve_predefined_entity(reference) {
            Some(value) => text.push_str(value),
            None => {
                let message = format!(
                    "&{}; is not defined; only amp, lt, gt, quot, apos and numbers of characters are allowed",
                    shorten(&&**reference)
                );
                return Err(("undefined_entity", message));
            }
        },
        Err(error) => return Err(("invalid_reference", format!("&{};: {error}", shorten(&&**reference)))),
    }
    Ok(())
}

fn push_allowed(text: &mut String, part: &str) -> std::result::Result<(), Fault> {
    text.push_str(part);
    forbidden(part).map_or(Ok(()), |character| Err(not_allowed(character)))
}

/// The fault of a character that XML does not allow.
pub(crate) fn not_allowed(character: char) -> Fault {
    ("invalid_character", format!("U+{:04X} is in the text, which XML does not allow", character as u32))
}

/// Whether XML 1.0 can hold a character.
pub(crate) fn is_allowed(character: char) -> bool {
    match character {
        '\t' | '\n' | '\r' => true,
        '\0'..' ' | '\u{FFFE}' | '\u{FFFF}' => false,
        _ => true,
    }
}

/// The first character of a text that XML 1.0 cannot hold.
pub(crate) fn forbidden(text: &str) -> Option<char> {
    /// Bytes that are looked at together, without early exits, so that the compiler makes vector code of it.
    const TOGETHER: usize = 64;
    let bytes = text.as_bytes();
    let is_control = |byte: &u8| (*byte < b' ') & !matches!(byte, b'\t' | b'\n' | b'\r');
    // U+FFFE and U+FFFF begin so, few others do.
    let is_high = |(first, second): (&u8, &u8)| (*first == 0xEF) & (*second == 0xBF);
    let mut from = (0..bytes.len()).step_by(TOGETHER).find(|from| {
        let some = &bytes[*from..bytes.len().min(from + TOGETHER + 1)];
        let control = some.iter().fold(false, |found, byte| found | is_control(byte));
        some.iter().zip(&some[1..]).fold(control, |found, pair| found | is_high(pair))
    })?;
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text[from..].chars().find(|character| !is_allowed(*character))
}

/// A text with U+FFFD in the place of every character that XML cannot hold.
pub(crate) fn allowed(text: &str) -> Cow<'_, str> {
    match forbidden(text) {
        None => Cow::Borrowed(text),
        Some(_) => {
            text.chars().map(|character| if is_allowed(character) { character } else { '\u{FFFD}' }).collect()
        }
    }
}

/// Adds a text to the content of an element. What XML cannot hold becomes U+FFFD.
pub(crate) fn push_text(out: &mut String, text: &str) {
    push_escaped(out, &allowed(text), |byte| match byte {
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        b'&' => Some("&amp;"),
        // A reader makes line feeds of them otherwise.
        b'\r' => Some("&#13;"),
        _ => None,
    });
}

/// Adds a text to an attribute value in double quotes. What XML cannot hold becomes U+FFFD.
pub(crate) fn push_value(out: &mut String, text: &str) {
    push_escaped(out, &allowed(text), |byte| match byte {
        b'<' => Some("&lt;"),
        b'>' => Some("&gt;"),
        b'&' => Some("&amp;"),
        b'"' => Some("&quot;"),
        // A reader makes spaces of them otherwise.
        b'\t' => Some("&#9;"),
        b'\n' => Some("&#10;"),
        b'\r' => Some("&#13;"),
        _ => None,
    });
}

/// Adds an attribute with a space before it.
pub(crate) fn push_attribute(out: &mut String, name: &str, value: &str) {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    push_value(out, value);
    out.push('"');
}

fn push_escaped(out: &mut String, text: &str, escape: impl Fn(u8) -> Option<&'static str>) {
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte > b'>' {
            continue;
        }
        if let Some(escaped) = escape(byte) {
            out.push_str(&text[from..at]);
            out.push_str(escaped);
            from = at + 1;
        }
    }
    out.push_str(&text[from..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_forbidden_character_is_found_wherever_it_stands() {
        let suspects =
            ['\0', '\u{1}', '\t', '\u{1F}', '\u{7F}', '，', '\u{FFFD}', '\u{FFFE}', '\u{FFFF}', '😀'];
        for filler in ["a", "é", "가", "，", "\u{FFFD}", "😀"] {
            for before in 0..140 {
                for suspect in suspects {
                    let text = filler.repeat(before) + suspect.encode_utf8(&mut [0; 4]) + "b\u{2}";
                    let expected = text.chars().find(|character| !is_allowed(*character));
                    assert_eq!(forbidden(&text), expected, "{suspect:?} after {before} of {filler:?}");
                }
                assert_eq!(forbidden(&filler.repeat(before)), None);
            }
        }
    }
}
