//! Going through all entries: finding those that contain a piece of text, and counting them by their fields.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};

use crate::arena::Arena;
use crate::control::{Control, Pace};
use crate::entry::{EntryId, Filter};
use crate::error::{Error, Result};
use crate::fields::{self, FIELDS};
use crate::memory::Snapshot;
use crate::search;
use crate::text;

/// The most characters that a [`Phrase`] may have.
pub const MOST_PHRASE_CHARS: usize = 1000;

/// Bytes that a phrase may take when it is ready to be looked for: enough for the longest one.
const MOST_PHRASE_BYTES: usize = 1 << 27;

/// How much looking at an entry costs besides its bytes.
const ENTRY: usize = 16;

/// Which text of an entry a phrase is looked for in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Its source.
    Source,
    /// Its target.
    Target,
    /// Either.
    Both,
}

/// A piece of text to look for. A text contains it if it has the same characters in a row but for their case and for the
/// length of runs of white space, either as the phrase was given or as it is when normalized.
pub struct Phrase(Regex);

impl Phrase {
    /// Makes ready to look for a text. White space at its ends does not count.
    ///
    /// # Errors
    /// [`Error::EmptyText`] if it is white space, [`Error::PhraseTooLong`] if it has more than [`MOST_PHRASE_CHARS`].
    pub fn new(phrase: &str) -> Result<Phrase> {
        let normalized = text::normalize(phrase);
        if normalized.is_empty() {
            return Err(Error::EmptyText { field: "text" });
        }
        // A normalized character can be many: the ligature ﷺ becomes eighteen.
        let chars = phrase.chars().count().max(normalized.chars().count());
        if chars > MOST_PHRASE_CHARS {
            return Err(Error::PhraseTooLong { chars });
        }
        let words = |text: &str| {
            let words = text.split(text::is_white_space).filter(|word| !word.is_empty());
            words.map(regex::escape).collect::<Vec<_>>().join(WHITE_SPACE)
        };
        RegexBuilder::new(&format!("{}|{}", words(phrase), words(&normalized)))
            .case_insensitive(true)
            .size_limit(MOST_PHRASE_BYTES)
            .build()
            .map(Phrase)
            .map_err(|_| Error::PhraseTooLong { chars })
    }

    fn is_in(&self, side: Side, source: &str, target: &str) -> bool {
        (side != Side::Target && self.0.is_match(source)) || (side != Side::Source && self.0.is_match(target))
    }
}

/// A run of what [`text::is_white_space`] says.
const WHITE_SPACE: &str =
    r"[\t-\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}]+";

/// Which strings of an arena contain a phrase, found out as far as they are asked for. Many short strings are searched
/// several times as fast in one piece.
struct Scan<'a> {
    phrase: &'a Phrase,
    strings: &'a Arena,
    /// The strings before this one were looked at.
    next: u32,
    /// Those of them that contain the phrase, as bits.
    found: Vec<u64>,
}

impl<'a> Scan<'a> {
    fn new(phrase: &'a Phrase, strings: &'a Arena, first: u32) -> Scan<'a> {
        Scan { phrase, strings, next: first, found: vec![0; strings.len().div_ceil(64)] }
    }

    /// Whether a string contains the phrase. It is not one before the first.
    #[inline]
    fn matches(&mut self, at: u32, control: Control<'_>) -> Result<bool> {
        while at >= self.next {
            self.look(control)?;
        }
        Ok(self.found[at as usize / 64] >> (at % 64) & 1 == 1)
    }

    /// Looks at the next strings.
    fn look(&mut self, control: Control<'_>) -> Result<()> {
        control.check()?;
        let Scan { phrase: Phrase(regex), strings, .. } = *self;
        let mut from = strings.start(self.next);
        let last = strings.at_byte(from + PIECE).max(self.next).min(strings.len() as u32 - 1);
        let end = strings.start(last + 1);
        while let Some(found) = regex.find(&strings.text()[from..end]) {
            let at = strings.at_byte(from + found.start());
            let after = strings.start(at + 1);
            // What begins in one string and ends in another is in neither, but may hide what is.
            if from + found.end() <= after || regex.is_match(strings.get(at)) {
                self.found[at as usize / 64] |= 1 << (at % 64);
            }
            from = after;
        }
        self.next = last + 1;
        Ok(())
    }
}

/// Bytes that are searched between two polls: some tens of microseconds.
const PIECE: usize = 1 << 16;

/// The fields to count entries by: source language, target language, domain, namespace.
pub type By = [bool; FIELDS];

impl Snapshot {
    /// The ids of the entries that contain a phrase and pass a filter, ascending: the first `most` from `from` on.
    ///
    /// It looks at every entry that passes the filter until it has enough.
    ///
    /// # Errors
    /// [`Error::Aborted`] if `control` says so.
    pub fn containing(
        &self,
        phrase: &Phrase,
        side: Side,
        filter: &Filter,
        from: EntryId,
        most: usize,
        control: Control<'_>,
    ) -> Result<Vec<EntryId>> {
        let mut pace = Pace::default();
        let mut found = Vec::new();
        let wanted = fields::wanted(filter);
        for part in self.sealed.iter() {
            let segment = &part.segment;
            let Some(selection) = segment.fields.resolve(segment.profiles(), &wanted) else { continue };
            let start = segment.ids().partition_point(|id| *id < from) as u32;
            let passes = |at: u32| !part.removed.contains(at) && selection.passes(segment.profile(at));
            // Parts overlap in their ids, so each may have the first ones.
            let before = found.len();
            let mut take = |at: u32| {
                found.push(segment.ids()[at as usize]);
                found.len() - before < most
            };
            if let Some(list) = selection.fewest() {
                for at in
                    list[list.partition_point(|at| *at < start)..].iter().copied().filter(|at| passes(*at))
                {
                    let (source, target) =
                        (segment.sources().get(segment.source_of(at)), segment.targets().get(at));
                    pace.step(ENTRY + source.len() + target.len(), control)?;
                    if phrase.is_in(side, source, target) && !take(at) {
                        break;
                    }
                }
            } else {
                let mut sources = Scan::new(phrase, segment.sources(), 0);
                let mut targets = Scan::new(phrase, segment.targets(), start);
                for at in start..segment.len() as u32 {
                    let contains = (side != Side::Target
                        && sources.matches(segment.source_of(at), control)?)
                        || (side != Side::Source && targets.matches(at, control)?);
                    if contains && passes(at) && !take(at) {
                        break;
                    }
                }
            }
        }
        for part in &self.lives {
            // Small, and out of order where entries were replaced: all that is found counts.
            for (_, entry) in part.entries().filter(|(_, entry)| entry.id >= from) {
                let fields = entry.entry();
                pace.step(ENTRY + fields.source.len() + fields.target.len(), control)?;
                if search::matches(&wanted, entry) && phrase.is_in(side, fields.source, fields.target) {
                    found.push(entry.id);
                }
            }
        }
        found.sort_unstable();
        found.truncate(most);
        Ok(found)
    }

    /// How many entries pass a filter, by the values of some fields as they were given; the other fields are `None`.
    ///
    /// # Errors
    /// [`Error::Aborted`] if `control` says so.
    pub fn count_by<'a>(
        &'a self,
        by: By,
        filter: &Filter,
        control: Control<'_>,
    ) -> Result<HashMap<[Option<&'a str>; FIELDS], usize>> {
        let mut pace = Pace::default();
        let mut counts = HashMap::new();
        let mut count = |values: [Option<&'a str>; FIELDS], entries: usize| {
            let values = std::array::from_fn(|field| values[field].filter(|_| by[field]));
            *counts.entry(values).or_default() += entries;
        };
        let wanted = fields::wanted(filter);
        for part in self.sealed.iter() {
            let segment = &part.segment;
            let Some(selection) = segment.fields.resolve(segment.profiles(), &wanted) else { continue };
            let mut of_profile = vec![0; segment.profiles().len()];
            let mut look = |at: u32| -> Result<()> {
                pace.step(ENTRY, control)?;
                let profile = segment.profile(at);
                if !part.removed.contains(at) && selection.passes(profile) {
                    of_profile[profile as usize] += 1;
                }
                Ok(())
            };
            match selection.fewest() {
                Some(list) => list.iter().try_for_each(|at| look(*at))?,
                None => (0..segment.len() as u32).try_for_each(look)?,
            }
            for (profile, entries) in of_profile.into_iter().enumerate().filter(|(_, entries)| *entries > 0) {
                count(segment.profiles().get(profile as u32), entries);
            }
        }
        for (_, entry) in self.lives.iter().flat_map(|part| part.entries()) {
            let fields = entry.entry();
            if search::matches(&wanted, entry) {
                count(fields::values(&fields), 1);
            }
        }
        Ok(counts)
    }
}
