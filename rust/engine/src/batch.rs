//! Entries on their way into a memory: copied and checked one by one, then indexed, then shown all at once.

use crate::control::{Control, Pace};
use crate::entry::{EntryId, EntryRef, MOST_ID};
use crate::error::{Error, MOST_TEXT_BYTES, Result};
use crate::fields::FIELDS;
use crate::live::{LIVE, LiveEntry};
use crate::segment::{Segment, SegmentBuilder};
use crate::text;

/// Refuses an entry that must not be stored; otherwise returns its normalized source.
pub(crate) fn checked(entry: &EntryRef<'_>) -> Result<String> {
    for (field, text) in EntryRef::FIELDS.into_iter().zip(entry.texts()) {
        if let Some(bytes) = text.map(str::len).filter(|bytes| *bytes > MOST_TEXT_BYTES) {
            return Err(Error::TooLong { field, bytes });
        }
    }
    for (field, text) in [("source", entry.source), ("target", entry.target)] {
        if text::is_blank(text) {
            return Err(Error::EmptyText { field });
        }
    }
    let normalized = text::normalize(entry.source);
    if normalized.is_empty() {
        return Err(Error::EmptyText { field: "source" });
    }
    if normalized.len() > MOST_TEXT_BYTES {
        return Err(Error::TooLong { field: "source", bytes: normalized.len() });
    }
    Ok(normalized)
}

/// Entries that were copied and checked, not yet in a memory. All of them become visible at once when their
/// [`Prepared`] form is published.
///
/// Entries are numbered; their ids will be these numbers added to the first id that the batch gets.
#[derive(Default)]
pub struct Batch {
    builders: Vec<SegmentBuilder>,
    len: usize,
    /// The lowest number that the next entry can have.
    end: EntryId,
}

impl Batch {
    /// An empty batch.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// Copies an entry into the batch, under the next number: 0, or one more than the last.
    ///
    /// # Errors
    /// As [`Batch::push_at`].
    pub fn push(&mut self, entry: EntryRef<'_>) -> Result<()> {
        self.push_at(self.end, entry)
    }

    /// Copies an entry into the batch, under a number above all others.
    ///
    /// # Errors
    /// [`Error::EmptyText`], [`Error::TooLong`] and [`Error::IdTaken`]; the batch is as it was.
    pub fn push_at(&mut self, number: EntryId, entry: EntryRef<'_>) -> Result<()> {
        if !(self.end..=MOST_ID).contains(&number) {
            return Err(Error::IdTaken { id: number, least: self.end });
        }
        let normalized = checked(&entry)?;
        self.push_checked(number, &entry, &normalized);
        Ok(())
    }

    /// Copies an entry whose normalized source is known, under a number above all others.
    fn push_checked(&mut self, number: EntryId, entry: &EntryRef<'_>, normalized: &str) {
        if self.builders.last().is_none_or(|builder| !builder.has_room(entry, normalized)) {
            self.builders.push(SegmentBuilder::default());
        }
        let builder = self.builders.last_mut().expect("one was just added if there was none");
        builder.push(number, entry, normalized);
        self.len += 1;
        self.end = number + 1;
    }

    /// Copies the entries of another batch, under the next numbers.
    pub fn append(&mut self, other: &Batch) {
        for (_, entry, normalized) in other.entries() {
            self.push_checked(self.end, &entry, normalized);
        }
    }

    /// How many entries it holds.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The entries in order, each with its number and its normalized source.
    pub fn entries(&self) -> impl Iterator<Item = (EntryId, EntryRef<'_>, &str)> {
        self.builders.iter().flat_map(SegmentBuilder::entries)
    }

    /// The entry at a place, counted from 0, as [`Batch::entries`] has it.
    pub fn get(&self, at: usize) -> Option<(EntryId, EntryRef<'_>, &str)> {
        let mut at = at;
        self.builders.iter().find_map(|builder| {
            let found = builder.get(at);
            at = at.saturating_sub(builder.len());
            found
        })
    }

    /// The combinations of values that filters test, each with how many entries have it.
    pub(crate) fn combinations(&self) -> impl Iterator<Item = ([Option<&str>; FIELDS], usize)> {
        self.builders.iter().flat_map(SegmentBuilder::combinations)
    }

    /// Whether an entry has this normalized source.
    pub(crate) fn has_row(&self, normalized: &str) -> bool {
        self.builders.iter().any(|builder| builder.find_row(normalized).is_some())
    }

    /// The distinct normalized sources, each with its entries in order and their places.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&str, Vec<(usize, EntryRef<'_>)>)> {
        let mut first = 0;
        let parts: Vec<_> = self
            .builders
            .iter()
            .map(|builder| {
                let part = (first, builder, builder.by_row());
                first += builder.len();
                part
            })
            .collect();
        let of_row = move |normalized: &str, from: usize| {
            let mut entries = Vec::new();
            for (first, builder, (starts, places)) in &parts[from..] {
                let Some(row) = builder.find_row(normalized) else { continue };
                let places = &places[starts[row as usize] as usize..starts[row as usize + 1] as usize];
                entries.extend(places.iter().map(|place| {
                    let (_, entry, _) = builder.get(*place as usize).expect("a row has places of entries");
                    (first + *place as usize, entry)
                }));
            }
            entries
        };
        self.builders
            .iter()
            .enumerate()
            .flat_map(|(number, builder)| {
                let before = &self.builders[..number];
                let new = |text: &&str| before.iter().all(|builder| builder.find_row(text).is_none());
                builder.texts().filter(new).map(move |text| (number, text))
            })
            .map(move |(number, text)| (text, of_row(text, number)))
    }

    /// A batch of some of the entries, given by their new numbers, ascending, and their places.
    ///
    /// # Errors
    /// [`Error::Aborted`].
    pub(crate) fn pick(
        &self,
        picked: impl Iterator<Item = (EntryId, usize)>,
        control: Control<'_>,
    ) -> Result<Batch> {
        let mut batch = Batch::new();
        let mut pace = Pace::default();
        for (number, at) in picked {
            let (_, entry, normalized) = self.get(at).expect("a place of an entry");
            pace.step(normalized.len(), control)?;
            batch.push_checked(number, &entry, normalized);
        }
        Ok(batch)
    }

    /// Does the work of making the entries searchable (the long part of an add), on all cores.
    ///
    /// # Errors
    /// [`Error::Aborted`].
    pub fn prepare(self, control: Control<'_>) -> Result<Prepared> {
        control.check()?;
        let parts = match <[SegmentBuilder; 1]>::try_from(self.builders) {
            Ok([builder]) if builder.len() <= LIVE => {
                let mut pace = Pace::default();
                let live = builder.entries().map(|(number, entry, normalized)| {
                    pace.step(normalized.len(), control)?;
                    Ok(LiveEntry::new(number, &entry, normalized))
                });
                Parts::Live(live.collect::<Result<_>>()?)
            }
            Ok(builders) => Parts::Segments(finish(Vec::from(builders), control)?),
            Err(builders) => Parts::Segments(finish(builders, control)?),
        };
        Ok(Prepared { parts, len: self.len, end: self.end })
    }
}

fn finish(builders: Vec<SegmentBuilder>, control: Control<'_>) -> Result<Vec<Segment>> {
    builders.into_iter().map(|builder| builder.finish(control)).collect()
}

/// A batch ready to be published with [`Memory::publish`](crate::Memory::publish) or
/// [`Memory::apply`](crate::Memory::apply), which are quick.
pub struct Prepared {
    /// In place of ids, they have the numbers of the batch.
    pub(crate) parts: Parts,
    len: usize,
    end: EntryId,
}

pub(crate) enum Parts {
    Live(Vec<LiveEntry>),
    Segments(Vec<Segment>),
}

impl Prepared {
    /// One entry, number 0.
    pub(crate) fn one(entry: &EntryRef<'_>) -> Result<Prepared> {
        let normalized = checked(entry)?;
        let entry = LiveEntry::new(0, entry, &normalized);
        Ok(Prepared { parts: Parts::Live(vec![entry]), len: 1, end: 1 })
    }

    /// How many entries it holds.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds `by` to the numbers from `from` on.
    pub(crate) fn shift(&mut self, from: EntryId, by: EntryId) {
        let shift = |id: &mut EntryId| {
            if *id >= from {
                *id += by;
            }
        };
        match &mut self.parts {
            Parts::Live(entries) => entries.iter_mut().for_each(|entry| shift(&mut entry.id)),
            Parts::Segments(segments) => segments.iter_mut().for_each(|segment| segment.renumber(shift)),
        }
        if self.end > from {
            self.end += by;
        }
    }

    /// The entry at a place, counted from 0, with its number.
    pub fn get(&self, at: usize) -> Option<(EntryId, EntryRef<'_>)> {
        match &self.parts {
            Parts::Live(entries) => entries.get(at).map(|entry| (entry.id, entry.entry())),
            Parts::Segments(segments) => {
                let mut at = at;
                segments.iter().find_map(|segment| {
                    let found = segment.ids().get(at).map(|number| (*number, segment.entry(at as u32)));
                    at = at.saturating_sub(segment.len());
                    found
                })
            }
        }
    }

    /// One more than the highest number.
    pub(crate) fn end(&self) -> EntryId {
        self.end
    }

    /// The numbers of the entries, ascending.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = EntryId> {
        let (live, segments): (&[LiveEntry], &[Segment]) = match &self.parts {
            Parts::Live(entries) => (entries, &[]),
            Parts::Segments(segments) => (&[], segments),
        };
        live.iter()
            .map(|entry| entry.id)
            .chain(segments.iter().flat_map(|segment| segment.ids().iter().copied()))
    }
}
