//! Reading XLIFF.

use std::collections::HashMap;

use diglot_engine::text::is_white_space;
use diglot_engine::{Control, EntryRef};
use quick_xml::events::{BytesStart, Event};

use super::{DIALECT_1, DIALECT_2, REST, XLIFF_1, XLIFF_2};
use crate::error::{Fault, Problem, Result, start_of};
use crate::inline::{Builder, Dialect, Segment};
use crate::input::Input;
use crate::json::Object;
use crate::languages::Languages;
use crate::options::Options;
use crate::rest::{Exact, Times};
use crate::xml::{Xml, attributes, local};
use crate::{MOST_UNIT_BYTES, Reader, Sink, shorten};

/// Units that are read at a time.
const UNITS: usize = 256;

/// Units between two looks at the control.
const UNITS_BETWEEN_CHECKS: usize = 16;

/// The most notes, codes and segments that a unit may have.
const MOST_PARTS: usize = 4096;

/// States of a target that is no translation yet.
const UNTRANSLATED: [&str; 3] = ["new", "needs-translation", "initial"];

/// Reads the units of an XLIFF file.
pub(crate) struct XliffReader {
    xml: Xml,
    prefix: String,
    second: bool,
    wanted: Languages,
    /// Whether what is in each of the open elements may be translated; the root's first.
    translate: Vec<bool>,
    /// The languages of the file, source and target.
    languages: [Option<String>; 2],
    /// What the file that the units belong to is called.
    original: Option<String>,
    units: u64,
    done: bool,
}

/// A `trans-unit` or a `unit`.
#[derive(Default)]
struct Unit {
    line: u64,
    id: Option<String>,
    name: Option<String>,
    translate: bool,
    approved: Option<String>,
    notes: Vec<String>,
    /// The codes that inline elements refer to.
    data: Vec<(String, String)>,
    rest: Option<String>,
    fault: Option<Fault>,
    pairs: Vec<Pair>,
}

/// A source and its target.
#[derive(Default)]
struct Pair {
    line: u64,
    id: Option<String>,
    source: Option<Side>,
    /// The source, cut into segments.
    segments: Option<Side>,
    target: Option<Side>,
    state: Option<String>,
    /// `state-qualifier` or `subState`.
    detail: Option<String>,
}

/// The content of a source or a target.
#[derive(Default)]
struct Side {
    language: Option<String>,
    whole: Segment,
    /// The segments in it, by their number.
    parts: Vec<(String, Segment)>,
    fault: Option<Fault>,
}

/// What comes next in a unit.
enum Child {
    Source(Side),
    Segments(Side),
    Target { side: Side, state: Option<String>, detail: Option<String> },
    Segment(Box<Pair>),
    Note,
    Group,
    Data(String),
    Rest,
    Other,
    Nothing,
    End,
}

impl XliffReader {
    /// Reads the root's tag.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) for what is not XLIFF.
    pub(crate) fn new(input: Input, options: &Options) -> Result<XliffReader> {
        let mut xml = Xml::new(input, "XLIFF")?;
        let root = xml.root("xliff", "XLIFF")?;
        let version = root.attribute("version").unwrap_or_default();
        Ok(XliffReader {
            second: version.starts_with('2'),
            languages: ["srcLang", "trgLang"].map(|name| root.attribute(name).map(str::to_owned)),
            wanted: Languages::new(options),
            translate: vec![true],
            original: None,
            units: 0,
            done: root.empty,
            prefix: root.prefix,
            xml,
        })
    }

    /// Whether the file is in XLIFF 2.
    pub(crate) fn is_second(&self) -> bool {
        self.second
    }

    fn dialect(&self) -> &'static Dialect {
        if self.second { &DIALECT_2 } else { &DIALECT_1 }
    }

    /// Reads a unit, and hands on what is wanted of it. Returns whether there was one.
    fn read_unit(&mut self, sink: &mut dyn Sink) -> Result<bool> {
        loop {
            let inherited = self.translate.last().copied().unwrap_or(true);
            let mut unit = Unit { translate: inherited, ..Unit::default() };
            match self.xml.next()? {
                Event::End(_) => {
                    self.translate.pop();
                    if self.translate.is_empty() {
                        return Ok(false);
                    }
                    continue;
                }
                Event::Empty(element) => {
                    match local(element.name().into_inner(), &self.prefix) {
                        Some("trans-unit" | "unit") => unit.read_attributes(&element),
                        _ => continue,
                    }
                    unit.line = self.xml.line_of_tag();
                }
                Event::Start(element) => match local(element.name().into_inner(), &self.prefix) {
                    Some("trans-unit" | "unit") => {
                        unit.read_attributes(&element);
                        unit.line = self.xml.line_of_tag();
                        self.xml.begin("a unit");
                        self.read_children(&mut unit)?;
                    }
                    Some("file") => {
                        let second = self.second;
                        let (languages, original) = (&mut self.languages, &mut self.original);
                        *original = None;
                        if !second {
                            *languages = [None, None];
                        }
                        let mut translate = inherited;
                        _ = attributes(&element, |name, value| match name {
                            "source-language" if !second => languages[0] = Some(value.into_owned()),
                            "target-language" if !second => languages[1] = Some(value.into_owned()),
                            "original" if !value.is_empty() => *original = Some(value.into_owned()),
                            "translate" => translate = value != "no",
                            _ => {}
                        });
                        self.translate.push(translate);
                        continue;
                    }
                    Some("body" | "group") => {
                        let mut translate = inherited;
                        _ = attributes(&element, |name, value| {
                            if name == "translate" {
                                translate = value != "no";
                            }
                        });
                        self.translate.push(translate);
                        continue;
                    }
                    _ => {
                        self.xml.skip()?;
                        self.xml.begin("what stands between two units");
                        continue;
                    }
                },
                _ => continue,
            }
            self.units += 1;
            self.hand_on(&unit, sink);
            self.xml.begin("what stands between two units");
            return Ok(true);
        }
    }

    /// Reads the children of a unit, and of the groups and segments in it.
    fn read_children(&mut self, unit: &mut Unit) -> Result<()> {
        if !self.second {
            unit.pairs.push(Pair { line: unit.line, ..Pair::default() });
        }
        // The segment that is open, and how many groups of notes and codes are.
        let mut in_segment = false;
        let mut groups = 0;
        loop {
            match self.next_child(unit)? {
                Child::Source(mut side) => {
                    self.read_side(&mut side)?;
                    if let Some(pair) = unit.pairs.last_mut() {
                        pair.source.get_or_insert(side);
                    }
                }
                Child::Segments(mut side) => {
                    self.read_side(&mut side)?;
                    if let Some(pair) = unit.pairs.last_mut() {
                        pair.segments.get_or_insert(side);
                    }
                }
                Child::Target { mut side, state, detail } => {
                    self.read_side(&mut side)?;
                    if let Some(pair) = unit.pairs.last_mut().filter(|pair| pair.target.is_none()) {
                        pair.target = Some(side);
                        pair.state = pair.state.take().or(state);
                        pair.detail = pair.detail.take().or(detail);
                    }
                }
                Child::Segment(mut pair) if !in_segment => {
                    pair.line = self.xml.line_of_tag();
                    in_segment = true;
                    unit.push_part(|unit| &mut unit.pairs, *pair);
                }
                Child::Segment(_) | Child::Other => self.xml.skip()?,
                Child::Note => {
                    let note = self.xml.read_text(&mut unit.fault)?;
                    unit.push_part(|unit| &mut unit.notes, note);
                }
                Child::Data(id) => {
                    let code = self.xml.read_text(&mut unit.fault)?;
                    unit.push_part(|unit| &mut unit.data, (id, code));
                }
                Child::Rest => unit.rest = Some(self.xml.read_text(&mut unit.fault)?),
                Child::Group => groups += 1,
                Child::Nothing => {}
                Child::End if groups > 0 => groups -= 1,
                Child::End if in_segment => in_segment = false,
                Child::End => return Ok(()),
            }
        }
    }

    fn next_child(&mut self, unit: &mut Unit) -> Result<Child> {
        let (element, empty) = match self.xml.next()? {
            Event::Start(element) => (element, false),
            Event::Empty(element) => (element, true),
            Event::End(_) => return Ok(Child::End),
            _ => return Ok(Child::Nothing),
        };
        let name = element.name().into_inner();
        if name == REST && !empty {
            return Ok(Child::Rest);
        }
        let name = local(name, &self.prefix);
        if empty {
            // A text that is there and empty is not the same as none; other elements say nothing.
            match (name, unit.pairs.last_mut()) {
                (Some("source"), Some(pair)) => _ = pair.source.get_or_insert_default(),
                (Some("target"), Some(pair)) => _ = pair.target.get_or_insert_default(),
                _ => {}
            }
            return Ok(Child::Nothing);
        }
        Ok(match (self.second, name) {
            (_, Some("source")) => Child::Source(Side::new(&element, |_, _| {})),
            (false, Some("seg-source")) => Child::Segments(Side::new(&element, |_, _| {})),
            (_, Some("target")) => {
                let (mut state, mut detail) = (None, None);
                let side = Side::new(&element, |name, value| match name {
                    "state" => state = Some(value),
                    "state-qualifier" => detail = Some(value),
                    _ => {}
                });
                Child::Target { side, state, detail }
            }
            (true, Some("segment")) => {
                let mut pair = Pair::default();
                let outcome = attributes(&element, |name, value| match name {
                    "id" => pair.id = Some(value.into_owned()),
                    "state" => pair.state = Some(value.into_owned()),
                    "subState" => pair.detail = Some(value.into_owned()),
                    _ => {}
                });
                unit.keep(outcome);
                Child::Segment(Box::new(pair))
            }
            (_, Some("note")) => Child::Note,
            (true, Some("notes" | "originalData")) => Child::Group,
            (true, Some("data")) => {
                let mut id = String::new();
                let outcome = attributes(&element, |name, value| {
                    if name == "id" {
                        id = value.into_owned();
                    }
                });
                unit.keep(outcome);
                Child::Data(id)
            }
            _ => Child::Other,
        })
    }

    /// Reads the content of a source or a target, and its end.
    fn read_side(&mut self, side: &mut Side) -> Result<()> {
        let mut whole = Builder::new(self.dialect());
        let mut part: Option<(usize, String, Builder<'_>)> = None;
        let mut level = 0;
        loop {
            let event = self.xml.next()?;
            let mut boundary = false;
            match &event {
                Event::Start(element) => {
                    level += 1;
                    if let (None, Some(id)) = (&part, segment_id(element, &self.prefix)) {
                        part = Some((level, id, Builder::new(&DIALECT_1)));
                        boundary = true;
                    }
                }
                Event::End(_) if level == 0 => break,
                Event::End(_) => {
                    if let Some((_, id, builder)) = part.take_if(|(at, ..)| *at == level) {
                        side.parts.push((id, builder.finish()));
                        boundary = true;
                    }
                    level -= 1;
                }
                _ => {}
            }
            if side.fault.is_none() {
                side.fault = whole.feed(&event, &self.prefix).err();
                if let Some((_, _, builder)) = part.as_mut().filter(|_| !boundary && side.fault.is_none()) {
                    side.fault = builder.feed(&event, &self.prefix).err();
                }
            }
        }
        side.whole = whole.finish();
        Ok(())
    }
}

/// The number of a segment in a text, if an element is one.
fn segment_id(element: &BytesStart<'_>, prefix: &str) -> Option<String> {
    if local(element.name().into_inner(), prefix) != Some("mrk") {
        return None;
    }
    let (mut is_segment, mut id) = (false, None);
    // What is wrong with the tag, the builder will find.
    _ = attributes(element, |name, value| match name {
        "mtype" => is_segment = value == "seg",
        "mid" => id = Some(value.into_owned()),
        _ => {}
    });
    id.filter(|_| is_segment)
}

impl Unit {
    fn read_attributes(&mut self, element: &BytesStart<'_>) {
        let outcome = attributes(element, |name, value| match name {
            "id" => self.id = Some(value.into_owned()),
            "resname" | "name" => self.name = Some(value.into_owned()),
            "translate" => self.translate = value != "no",
            "approved" => self.approved = Some(value.into_owned()),
            _ => {}
        });
        self.keep(outcome);
    }

    /// Keeps the first fault.
    fn keep(&mut self, outcome: std::result::Result<(), Fault>) {
        if let Err(fault) = outcome {
            self.fault.get_or_insert(fault);
        }
    }

    fn push_part<T>(&mut self, parts: fn(&mut Unit) -> &mut Vec<T>, part: T) {
        if parts(self).len() < MOST_PARTS {
            parts(self).push(part);
        } else {
            let message =
                format!("a unit has more than the {MOST_PARTS} segments, notes or codes that are allowed");
            self.fault.get_or_insert(("unit_too_large", message));
        }
    }
}

impl Side {
    fn new(element: &BytesStart<'_>, mut other: impl FnMut(&str, String)) -> Side {
        let mut side = Side::default();
        let outcome = attributes(element, |name, value| match name {
            "xml:lang" => side.language = Some(value.into_owned()),
            _ => other(name, value.into_owned()),
        });
        side.fault = outcome.err();
        side
    }
}

fn is_blank(text: &str) -> bool {
    text.chars().all(is_white_space)
}

/// What is to be made an entry.
struct Candidate<'a> {
    line: u64,
    source: (&'a Side, &'a Segment),
    target: (&'a Side, &'a Segment),
    /// The number of the segment.
    id: Option<&'a str>,
    pair: &'a Pair,
}

impl XliffReader {
    /// Makes entries of the pairs of a unit that are wanted.
    fn hand_on(&self, unit: &Unit, sink: &mut dyn Sink) {
        let skip = |sink: &mut dyn Sink, line: u64, (code, message): Fault| {
            sink.skip(Problem { line, unit: unit.id.as_deref().map(start_of), code, message });
        };
        if let Some(fault) = &unit.fault {
            return skip(sink, unit.line, fault.clone());
        }
        if !unit.translate {
            let message = "it is not to be translated (translate=\"no\")".to_owned();
            return skip(sink, unit.line, ("not_translatable", message));
        }
        if unit.pairs.is_empty() {
            return skip(sink, unit.line, ("missing_segment", "the unit has no segment".to_owned()));
        }
        let mut bytes = 0;
        for pair in &unit.pairs {
            let candidates = match candidates(pair) {
                Ok(candidates) => candidates,
                Err(fault) => {
                    skip(sink, pair.line, fault);
                    continue;
                }
            };
            for candidate in candidates {
                match candidate {
                    Ok(candidate) => {
                        bytes += candidate.source.1.text.len() + candidate.target.1.text.len();
                        if bytes > MOST_UNIT_BYTES {
                            let message =
                                format!("it has more than the {MOST_UNIT_BYTES} bytes that are allowed");
                            return skip(sink, pair.line, ("unit_too_large", message));
                        }
                        bytes += self.offer(unit, &candidate, sink);
                    }
                    Err(fault) => skip(sink, pair.line, fault),
                }
            }
        }
    }

    /// Offers one pair. Returns the bytes of what it has besides its texts.
    fn offer(&self, unit: &Unit, candidate: &Candidate<'_>, sink: &mut dyn Sink) -> usize {
        let Candidate { line, source: (source, source_segment), target: (target, target_segment), id, pair } =
            candidate;
        let key = if self.second { XLIFF_2 } else { XLIFF_1 };
        let marked = !source_segment.markup.is_empty() || !target_segment.markup.is_empty();
        let mut object = Object::default();
        for (name, value) in [
            ("source", Some(source_segment.markup.as_str()).filter(|markup| !markup.is_empty())),
            ("target", Some(target_segment.markup.as_str()).filter(|markup| !markup.is_empty())),
            ("file", self.original.as_deref()),
            ("segment", *id),
            ("state", pair.state.as_deref()),
            (if self.second { "subState" } else { "state-qualifier" }, pair.detail.as_deref()),
            ("approved", unit.approved.as_deref()),
        ] {
            if let Some(value) = value {
                object.string(name, value);
            }
        }
        if marked {
            let mut data = Object::default();
            for (id, code) in &unit.data {
                data.string(id, code);
            }
            object.object("data", data);
        }
        let mut metadata = Object::default();
        metadata.object(key, object);
        let metadata = metadata.finish();
        let notes = (!unit.notes.is_empty()).then(|| unit.notes.join("\n"));
        let shown = EntryRef {
            source: &source_segment.text,
            target: &target_segment.text,
            source_language: source.language.as_deref().or(self.languages[0].as_deref()),
            target_language: target.language.as_deref().or(self.languages[1].as_deref()),
            source_id: unit.name.as_deref().or(unit.id.as_deref()),
            notes: notes.as_deref(),
            metadata: metadata.as_deref(),
            ..EntryRef::default()
        };
        let rest = unit.rest.as_deref().filter(|_| unit.pairs.len() == 1);
        let exact = rest.map(|rest| Exact::new(rest, &shown, key, Times::default())).unwrap_or_default();
        let mut entry = exact.entry(shown);
        if self.wanted.admit(&mut entry) {
            sink.offer(entry, *line, unit.id.as_deref());
        } else {
            let (code, message) = self.wanted.refusal(entry.source_language, [entry.target_language]);
            let unit = unit.id.as_deref().map(start_of);
            sink.skip(Problem { line: *line, unit, code, message });
        }
        let others = [entry.domain, entry.namespace, entry.source_id, entry.notes, entry.metadata];
        others.into_iter().flatten().map(str::len).sum()
    }
}

/// What of a pair is a source with its target: all of it, or its segments one by one.
fn candidates(pair: &Pair) -> std::result::Result<Vec<std::result::Result<Candidate<'_>, Fault>>, Fault> {
    let untranslated = |what: &str| ("untranslated", what.to_owned());
    let Some(source) = &pair.source else {
        return Err(("missing_source", "it has no source".to_owned()));
    };
    let Some(target) = &pair.target else { return Err(untranslated("it has no target")) };
    if let Some(state) = pair.state.as_deref().filter(|state| UNTRANSLATED.contains(state)) {
        return Err(untranslated(&format!("its target is not translated (state=\"{state}\")")));
    }
    for side in [Some(source), pair.segments.as_ref(), Some(target)].into_iter().flatten() {
        if let Some(fault) = &side.fault {
            return Err(fault.clone());
        }
    }
    let segments = pair.segments.as_ref().filter(|segments| !segments.parts.is_empty());
    let Some(segments) = segments.filter(|_| !target.parts.is_empty()) else {
        if is_blank(&target.whole.text) && !is_blank(&source.whole.text) {
            return Err(untranslated("its target is empty"));
        }
        let (source, target) = ((source, &source.whole), (target, &target.whole));
        return Ok(vec![Ok(Candidate { line: pair.line, source, target, id: pair.id.as_deref(), pair })]);
    };
    let targets: HashMap<&str, &Segment> =
        target.parts.iter().map(|(id, segment)| (id.as_str(), segment)).collect();
    let of_part = |(id, segment): &'_ (String, Segment)| match targets.get(id.as_str()) {
        None => Err(untranslated(&format!("its segment {} has no target", shorten(id)))),
        Some(found) if is_blank(&found.text) && !is_blank(&segment.text) => {
            Err(untranslated(&format!("the target of its segment {} is empty", shorten(id))))
        }
        Some(found) => Ok(*found),
    };
    Ok(segments
        .parts
        .iter()
        .map(|part| {
            let (source, target) = ((source, &part.1), (target, of_part(part)?));
            Ok(Candidate { line: pair.line, source, target, id: Some(part.0.as_str()), pair })
        })
        .collect())
}

impl Reader for XliffReader {
    fn read(&mut self, sink: &mut dyn Sink, control: Control<'_>) -> Result<bool> {
        for number in 0..UNITS {
            if number % UNITS_BETWEEN_CHECKS == 0 {
                control.check()?;
            }
            if self.done {
                break;
            }
            self.done = !self.read_unit(sink)?;
        }
        if !self.done {
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
