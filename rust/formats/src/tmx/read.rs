//! Reading TMX.

use diglot_engine::{Control, EntryRef};
use quick_xml::events::{BytesStart, Event};

use super::write::shown_time;
use super::{DIALECT, DOMAIN, NAMESPACE, OURS, REST, TU_ATTRIBUTES, TUV_ATTRIBUTES};
use crate::error::{Fault, Problem, Result, start_of};
use crate::inline::{Builder, Segment};
use crate::input::Input;
use crate::json::{self, Object};
use crate::languages::{Languages, missing_source};
use crate::options::Options;
use crate::rest::{Exact, Times};
use crate::xml::{Xml, attributes, local};
use crate::{MOST_UNIT_BYTES, Reader, Sink, language, shorten};

/// Units that are read at a time.
const UNITS: usize = 256;

/// Units between two looks at the control.
const UNITS_BETWEEN_CHECKS: usize = 16;

/// The most `tuv` that a `tu` may have, and the most notes and properties each of them may have.
const MOST_PARTS: usize = 1024;

/// Reads the units of a TMX file.
pub(crate) struct TmxReader {
    xml: Xml,
    prefix: String,
    /// The source language that the header gives.
    source_language: Option<String>,
    wanted: Languages,
    units: u64,
    in_body: bool,
}

/// A `tu`.
#[derive(Default)]
struct Unit {
    line: u64,
    id: Option<String>,
    source_language: Option<String>,
    about: About,
    variants: Vec<Variant>,
    fault: Option<Fault>,
}

/// A `tuv`.
#[derive(Default)]
struct Variant {
    line: u64,
    language: Option<String>,
    about: About,
    segment: Option<Segment>,
    fault: Option<Fault>,
}

/// What a `tu` or a `tuv` says besides its texts.
#[derive(Default)]
struct About {
    created: Option<String>,
    changed: Option<String>,
    attributes: Vec<(&'static str, String)>,
    notes: Vec<Note>,
    props: Vec<Prop>,
}

#[derive(Default)]
struct Note {
    language: Option<String>,
    text: String,
}

#[derive(Default)]
struct Prop {
    kind: String,
    language: Option<String>,
    text: String,
}

/// What comes next in a `tu` or a `tuv`. Notes and properties come with their texts, the others have theirs to be read.
enum Child {
    Note(Note),
    Prop(Prop),
    Variant { variant: Variant, empty: bool },
    Segment { empty: bool },
    Other,
    Nothing,
    End,
}

impl TmxReader {
    /// Reads up to the first unit.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) for what is not TMX.
    pub(crate) fn new(input: Input, options: &Options) -> Result<TmxReader> {
        let mut xml = Xml::new(input, "TMX")?;
        let root = xml.root("tmx", "TMX")?;
        let mut reader = TmxReader {
            xml,
            prefix: root.prefix,
            source_language: None,
            wanted: Languages::new(options),
            units: 0,
            in_body: false,
        };
        if !root.empty {
            reader.read_header()?;
        }
        Ok(reader)
    }

    fn read_header(&mut self) -> Result<()> {
        loop {
            let mut source_language = None;
            let open = match self.xml.next()? {
                Event::End(_) => return Ok(()),
                Event::Empty(element) => {
                    header_language(&element, &self.prefix, &mut source_language);
                    false
                }
                Event::Start(element) if local(element.name().into_inner(), &self.prefix) == Some("body") => {
                    self.in_body = true;
                    self.xml.begin("what comes before a unit");
                    return Ok(());
                }
                Event::Start(element) => {
                    header_language(&element, &self.prefix, &mut source_language);
                    true
                }
                _ => false,
            };
            self.source_language = source_language.or(self.source_language.take());
            if open {
                self.xml.skip()?;
            }
        }
    }

    /// Reads a unit, and hands on what is wanted of it. Returns whether there was one.
    fn read_unit(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        loop {
            let mut unit = Unit::default();
            let open = match self.xml.next()? {
                Event::End(_) => return Ok(false),
                Event::Start(element) if local(element.name().into_inner(), &self.prefix) == Some("tu") => {
                    unit.read_attributes(&element);
                    true
                }
                Event::Empty(element) if local(element.name().into_inner(), &self.prefix) == Some("tu") => {
                    unit.read_attributes(&element);
                    false
                }
                Event::Start(_) => {
                    self.xml.skip()?;
                    continue;
                }
                _ => continue,
            };
            unit.line = self.xml.line_of_tag();
            self.units += 1;
            if open {
                self.xml.begin("a unit");
                self.read_unit_content(&mut unit)?;
            }
            self.hand_on(&unit, sink);
            self.xml.begin("what stands between two units");
            return Ok(true);
        }
    }

    fn read_unit_content(&mut self, unit: &mut Unit) -> Result<()> {
        loop {
            match self.next_child(&mut unit.fault)? {
                Child::Note(note) => keep(&mut unit.about.notes, note, "<note>", &mut unit.fault),
                Child::Prop(prop) => keep(&mut unit.about.props, prop, "<prop>", &mut unit.fault),
                Child::Variant { mut variant, empty } => {
                    variant.line = self.xml.line_of_tag();
                    if !empty {
                        self.read_variant_content(&mut variant)?;
                    }
                    keep(&mut unit.variants, variant, "<tuv>", &mut unit.fault);
                }
                Child::Segment { empty } => self.skip(empty)?,
                Child::Other => self.skip(false)?,
                Child::Nothing => {}
                Child::End => return Ok(()),
            }
        }
    }

    fn read_variant_content(&mut self, variant: &mut Variant) -> Result<()> {
        loop {
            match self.next_child(&mut variant.fault)? {
                Child::Note(note) => keep(&mut variant.about.notes, note, "<note>", &mut variant.fault),
                Child::Prop(prop) => keep(&mut variant.about.props, prop, "<prop>", &mut variant.fault),
                Child::Segment { empty } if variant.segment.is_none() => {
                    let mut segment = Builder::new(&DIALECT);
                    if !empty {
                        self.xml.read_content(&mut segment, &self.prefix, &mut variant.fault)?;
                    }
                    variant.segment = Some(segment.finish());
                }
                Child::Segment { empty } => {
                    let twice = || ("repeated_segment", "a <tuv> has more than one <seg>".to_owned());
                    variant.fault.get_or_insert_with(twice);
                    self.skip(empty)?;
                }
                Child::Variant { empty, .. } => self.skip(empty)?,
                Child::Other => self.skip(false)?,
                Child::Nothing => {}
                Child::End => return Ok(()),
            }
        }
    }

    fn skip(&mut self, empty: bool) -> Result<()> {
        if empty { Ok(()) } else { self.xml.skip() }
    }

    fn next_child(&mut self, fault: &mut Option<Fault>) -> Result<Child> {
        let (element, empty) = match self.xml.next()? {
            Event::Start(element) => (element, false),
            Event::Empty(element) => (element, true),
            Event::End(_) => return Ok(Child::End),
            _ => return Ok(Child::Nothing),
        };
        Ok(match local(element.name().into_inner(), &self.prefix) {
            Some("note") => {
                let mut note = Note::new(&element, fault);
                if !empty {
                    note.text = self.xml.read_text(fault)?;
                }
                Child::Note(note)
            }
            Some("prop") => {
                let mut prop = Prop::new(&element, fault);
                if !empty {
                    prop.text = self.xml.read_text(fault)?;
                }
                Child::Prop(prop)
            }
            Some("tuv") => Child::Variant { variant: Variant::new(&element), empty },
            Some("seg") => Child::Segment { empty },
            _ if empty => Child::Nothing,
            _ => Child::Other,
        })
    }
}

/// Keeps a part of a unit, unless there are too many of them.
fn keep<T>(parts: &mut Vec<T>, part: T, what: &str, fault: &mut Option<Fault>) {
    if parts.len() < MOST_PARTS {
        parts.push(part);
    } else {
        fault.get_or_insert_with(|| {
            ("unit_too_large", format!("there are more than the {MOST_PARTS} {what} that are allowed"))
        });
    }
}

/// Takes the source language out of the header.
fn header_language(element: &BytesStart<'_>, prefix: &str, language: &mut Option<String>) {
    if local(element.name().into_inner(), prefix) != Some("header") {
        return;
    }
    // Whatever else is wrong with the header does no harm.
    _ = attributes(element, |name, value| {
        if name == "srclang" {
            *language = Some(value.into_owned());
        }
    });
}

impl Unit {
    fn read_attributes(&mut self, element: &BytesStart<'_>) {
        let mut other_id = None;
        let outcome = attributes(element, |name, value| match name {
            "tuid" => self.id = Some(value.into_owned()),
            "id" => other_id = Some(value.into_owned()),
            "srclang" => self.source_language = Some(value.into_owned()),
            "creationdate" => self.about.created = Some(value.into_owned()),
            "changedate" => self.about.changed = Some(value.into_owned()),
            _ => {
                if let Some(known) = TU_ATTRIBUTES.iter().find(|known| **known == name) {
                    self.about.attributes.push((known, value.into_owned()));
                }
            }
        });
        self.fault = outcome.err();
        // Not TMX, but there are files with it.
        self.id = self.id.take().or(other_id);
    }
}

impl Variant {
    fn new(element: &BytesStart<'_>) -> Variant {
        let mut variant = Variant::default();
        let mut old_language = None;
        let outcome = attributes(element, |name, value| match name {
            "xml:lang" => variant.language = Some(value.into_owned()),
            "lang" => old_language = Some(value.into_owned()),
            _ => {
                if let Some(known) = TUV_ATTRIBUTES.iter().find(|known| **known == name) {
                    match *known {
                        "creationdate" => variant.about.created = Some(value.clone().into_owned()),
                        "changedate" => variant.about.changed = Some(value.clone().into_owned()),
                        _ => {}
                    }
                    variant.about.attributes.push((known, value.into_owned()));
                }
            }
        });
        variant.fault = outcome.err();
        variant.language = variant.language.take().or(old_language).filter(|language| !language.is_empty());
        variant
    }

    /// The segment, if it can be used.
    fn segment(&self) -> std::result::Result<&Segment, Fault> {
        match (&self.fault, &self.segment, &self.language) {
            (Some(fault), ..) => Err(fault.clone()),
            (_, None, _) => Err(("missing_segment", "a <tuv> has no <seg>".to_owned())),
            (.., None) => Err(("missing_language", "a <tuv> has no language (xml:lang)".to_owned())),
            (None, Some(segment), Some(_)) => Ok(segment),
        }
    }
}

impl Note {
    fn new(element: &BytesStart<'_>, fault: &mut Option<Fault>) -> Note {
        let mut note = Note::default();
        let outcome = attributes(element, |name, value| {
            if matches!(name, "xml:lang" | "lang") {
                note.language = Some(value.into_owned());
            }
        });
        if let Err(error) = outcome {
            fault.get_or_insert(error);
        }
        note
    }
}

impl Prop {
    fn new(element: &BytesStart<'_>, fault: &mut Option<Fault>) -> Prop {
        let mut prop = Prop::default();
        let outcome = attributes(element, |name, value| match name {
            "type" => prop.kind = value.into_owned(),
            "xml:lang" | "lang" => prop.language = Some(value.into_owned()),
            _ => {}
        });
        if let Err(error) = outcome {
            fault.get_or_insert(error);
        }
        prop
    }
}

impl About {
    /// The text of the first property of a type.
    fn prop(&self, kind: &str) -> Option<&str> {
        self.props.iter().find(|prop| prop.kind == kind).map(|prop| prop.text.as_str())
    }

    /// All notes as one text.
    fn joined_notes(&self) -> Option<String> {
        let texts: Vec<&str> = self.notes.iter().map(|note| note.text.as_str()).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Writes the notes one by one.
    fn write_notes(&self, object: &mut Object) {
        let out = object.key("notes");
        for (number, note) in self.notes.iter().enumerate() {
            out.push(if number == 0 { '[' } else { ',' });
            match &note.language {
                None => json::push_string(out, &note.text),
                Some(language) => {
                    out.push('[');
                    json::push_string(out, &note.text);
                    out.push(',');
                    json::push_string(out, language);
                    out.push(']');
                }
            }
        }
        out.push(']');
    }

    /// Writes the attributes and properties.
    fn write(&self, object: &mut Object) {
        for (name, value) in &self.attributes {
            object.string(name, value);
        }
        let mut props = self.props.iter().filter(|prop| !OURS.contains(&prop.kind.as_str())).peekable();
        if props.peek().is_some() {
            let out = object.key("props");
            for (number, prop) in props.enumerate() {
                out.push(if number == 0 { '[' } else { ',' });
                out.push('[');
                json::push_string(out, &prop.kind);
                out.push(',');
                json::push_string(out, &prop.text);
                if let Some(language) = &prop.language {
                    out.push(',');
                    json::push_string(out, language);
                }
                out.push(']');
            }
            out.push(']');
        }
    }
}

impl Variant {
    /// What the variant says besides its text.
    fn about(&self) -> Object {
        let mut object = Object::default();
        self.about.write(&mut object);
        if !self.about.notes.is_empty() {
            self.about.write_notes(&mut object);
        }
        object
    }
}

impl TmxReader {
    /// Makes entries of the pairs of a unit that are wanted.
    fn hand_on(&self, unit: &Unit, sink: &mut dyn Sink) {
        let skip = |sink: &mut dyn Sink, line: u64, (code, message): Fault| {
            sink.skip(Problem { line, unit: unit.id.as_deref().map(start_of), code, message });
        };
        if let Some(fault) = &unit.fault {
            return skip(sink, unit.line, fault.clone());
        }
        let source = match self.source(unit) {
            Ok(source) => source,
            Err(fault) => return skip(sink, unit.line, fault),
        };
        let segment = match source.segment() {
            Ok(segment) => segment,
            Err(fault) => return skip(sink, source.line, fault),
        };
        let source_language = source.language.as_deref().unwrap_or_default();
        let mut targets = 0;
        let mut bytes = 0;
        for target in &unit.variants {
            if std::ptr::eq(target, source) {
                continue;
            }
            if let Some(target_language) = &target.language {
                // Two texts in one language are a pair all the same; of more it would not be clear which.
                if unit.variants.len() > 2 && language::same(target_language, source_language) {
                    let message = format!(
                        "a second <tuv> is in {}, the language of the source",
                        shorten(target_language)
                    );
                    skip(sink, target.line, ("repeated_source", message));
                    continue;
                }
                if !self.wanted.wants_target(Some(target_language)) {
                    continue;
                }
            }
            targets += 1;
            let translation = match target.segment() {
                Ok(translation) => translation,
                Err(fault) => {
                    skip(sink, target.line, fault);
                    continue;
                }
            };
            bytes += segment.text.len() + translation.text.len();
            if bytes > MOST_UNIT_BYTES {
                let message =
                    format!("its pairs have more than the {MOST_UNIT_BYTES} bytes that are allowed");
                return skip(sink, target.line, ("unit_too_large", message));
            }
            bytes += offer(unit, (source, segment), (target, translation), sink);
        }
        if targets == 0 {
            skip(sink, unit.line, self.wanted.missing_target(unit.languages()));
        }
    }

    /// The variant that is the source.
    fn source<'u>(&self, unit: &'u Unit) -> std::result::Result<&'u Variant, Fault> {
        let find = |test: &dyn Fn(&str) -> bool| {
            unit.variants.iter().find(|variant| variant.language.as_deref().is_some_and(test))
        };
        let in_range = |wanted: &str| {
            find(&|tag| language::same(tag, wanted)).or_else(|| find(&|tag| language::is_in(tag, wanted)))
        };
        let declared = unit.source_language.as_deref().or(self.source_language.as_deref());
        let (wanted, found) = match (&self.wanted.source, declared) {
            (Some(wanted), _) => (wanted.as_str(), in_range(wanted)),
            (None, None | Some("" | "*all*")) => ("any language", unit.variants.first()),
            // Files say de-DE at the top and de in their units.
            (None, Some(declared)) => {
                (declared, in_range(declared).or_else(|| find(&|tag| language::is_in(declared, tag))))
            }
        };
        found.ok_or_else(|| missing_source(wanted, unit.languages()))
    }
}

impl Unit {
    /// The languages of the variants.
    fn languages(&self) -> impl Iterator<Item = Option<&str>> {
        self.variants.iter().map(|variant| variant.language.as_deref())
    }
}

/// Offers one pair. Returns the bytes of what it has besides its texts.
fn offer(
    unit: &Unit,
    (source, source_segment): (&Variant, &Segment),
    (target, target_segment): (&Variant, &Segment),
    sink: &mut dyn Sink,
) -> usize {
    let first = |of_part: fn(&About) -> Option<&String>| {
        let date = [&unit.about, &target.about, &source.about].into_iter().find_map(of_part)?;
        Some(shown_time(date))
    };
    let created_at = first(|about| about.created.as_ref());
    let changed_at = first(|about| about.changed.as_ref());
    let mut object = Object::default();
    for (key, segment) in [("source", source_segment), ("target", target_segment)] {
        if !segment.markup.is_empty() {
            object.string(key, &segment.markup);
        }
    }
    unit.about.write(&mut object);
    // One text does not tell where one of several notes ends, and in which language it is.
    if unit.about.notes.len() > 1 || unit.about.notes.iter().any(|note| note.language.is_some()) {
        unit.about.write_notes(&mut object);
    }
    object.object("source_tuv", source.about());
    object.object("target_tuv", target.about());
    let mut metadata = Object::default();
    metadata.object("tmx", object);
    if let Some(changed_at) = &changed_at {
        metadata.string("changed_at", changed_at);
    }
    let metadata = metadata.finish();
    let notes = unit.about.joined_notes();
    let entry = EntryRef {
        source: &source_segment.text,
        target: &target_segment.text,
        source_language: source.language.as_deref(),
        target_language: target.language.as_deref(),
        domain: unit.about.prop(DOMAIN),
        namespace: unit.about.prop(NAMESPACE),
        source_id: unit.id.as_deref(),
        created_at: created_at.as_deref(),
        notes: notes.as_deref(),
        metadata: metadata.as_deref(),
    };
    // The writer writes pairs.
    let rest = unit.about.prop(REST).filter(|_| unit.variants.len() == 2);
    let times = Times { created: unit.about.created.is_some(), changed: unit.about.changed.is_some() };
    let exact = rest.map(|rest| Exact::new(rest, &entry, "tmx", times)).unwrap_or_default();
    let entry = exact.entry(entry);
    sink.offer(entry, target.line, unit.id.as_deref());
    let others = [entry.domain, entry.namespace, entry.source_id, entry.notes, entry.metadata];
    others.into_iter().flatten().map(str::len).sum()
}

impl Reader for TmxReader {
    fn read(&mut self, sink: &mut dyn Sink, control: Control<'_>) -> Result<bool> {
        for number in 0..UNITS {
            if number % UNITS_BETWEEN_CHECKS == 0 {
                control.check()?;
            }
            if !self.in_body {
                break;
            }
            if !self.read_unit(sink)? {
                self.in_body = false;
            }
        }
        if self.in_body {
            return Ok(true);
        }
        self.xml.begin("the end of the file");
        while !matches!(self.xml.next()?, Event::Eof) {}
        Ok(false)
    }

    fn bytes_read(&self) -> u64 {
        self.xml.bytes_read()
    }

    fn units_read(&self) -> u64 {
        self.units
    }
}
