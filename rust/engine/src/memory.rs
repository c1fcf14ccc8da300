//! The memory: what is stored, how it changes, and what a search sees.
//!
//! Every change makes a new immutable [`Snapshot`] and puts it in the place of the last one. Readers take the current
//! snapshot and never wait; writers take turns. Single adds go to a live part; full live parts become segments and small
//! segments larger ones on background threads (see [`crate::background`]).

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;

use crate::background;
use crate::batch::{Parts, Prepared};
use crate::control::Control;
use crate::entry::{EntryId, EntryRef, Filter, MOST_ID};
use crate::error::{Error, MOST_TEXT_BYTES, Result};
use crate::features::Elements;
use crate::fields;
use crate::live::{LIVE, Live, LiveEntry};
use crate::parallel;
use crate::removed::Removed;
use crate::search::{self, Query, View};
use crate::segment::Segment;
use crate::text;
use crate::topk::{Ranked, TopK};

/// What a search looks for.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    /// Which entries may be hits.
    pub filter: Filter,
    /// How many hits at the most; at least 1.
    pub max_hits: usize,
    /// The lowest score of a hit, in `[0, 1]`.
    pub min_score: f64,
}

impl Default for SearchOptions {
    fn default() -> Self {
        SearchOptions { filter: Filter::default(), max_hits: 5, min_score: 0.2 }
    }
}

/// One hit of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The entry's id.
    pub id: EntryId,
    /// Its score in `[0, 1]`.
    pub score: f64,
}

/// The hits of a search, best first, and the snapshot that holds their entries.
pub struct Found {
    snapshot: Arc<Snapshot>,
    hits: Vec<Ranked>,
}

impl Found {
    /// Score descending, then id ascending.
    pub fn hits(&self) -> impl ExactSizeIterator<Item = Hit> {
        self.hits.iter().map(|hit| Hit { id: hit.id, score: hit.score })
    }

    /// How much of a text the source of each hit has, in the order of the hits.
    ///
    /// A score falls as a source gets longer than the query; this does not.
    pub fn coverage(&self, text: &str) -> Vec<Coverage> {
        let text = text::normalize(text);
        let mut trigrams = Elements::trigrams(&text);
        let all = trigrams.total().max(1) as f64;
        let sources = self.hits.iter().map(|hit| self.snapshot.part(hit.part as usize).normalized(hit.entry));
        sources
            .map(|source| Coverage {
                share: trigrams.shared_trigrams(source) as f64 / all,
                phrase: source.contains(&text),
                exact: source == text,
            })
            .collect()
    }

    /// The hits with their entries.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (Hit, EntryRef<'_>)> {
        self.entries_in(0..self.hits.len())
    }

    /// Some of the hits with their entries: those in the range that there are.
    pub fn entries_in(&self, range: Range<usize>) -> impl ExactSizeIterator<Item = (Hit, EntryRef<'_>)> {
        let end = range.end.min(self.hits.len());
        self.hits[range.start.min(end)..end].iter().map(|hit| {
            (Hit { id: hit.id, score: hit.score }, self.snapshot.part(hit.part as usize).entry(hit.entry))
        })
    }
}

/// How much of a text a source has; both normalized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// The share of the text's trigrams, with multiplicity, that the source has, in `[0, 1]`.
    pub share: f64,
    /// Whether the source contains the text.
    pub phrase: bool,
    /// Whether the source is the text.
    pub exact: bool,
}

/// Counts and sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Entries that can be found.
    pub entries: usize,
    /// Distinct normalized sources, counted in each segment by itself; removed entries count until they are reclaimed.
    pub rows: usize,
    /// Immutable parts of the memory.
    pub segments: usize,
    /// Entries that were added one by one and are not in a segment yet.
    pub live: usize,
    /// Entries that were removed and still take room.
    pub removed: usize,
    /// Bytes in use, by part.
    pub bytes: Bytes,
}

/// Bytes in use, by part of a memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The rows of every trigram.
    pub trigram_index: usize,
    /// The rows of every token.
    pub token_index: usize,
    /// What is compared.
    pub normalized_texts: usize,
    /// Rows by text, and the entries of each row.
    pub row_tables: usize,
    /// The entries of each language, domain and namespace.
    pub filters: usize,
    /// Source texts.
    pub sources: usize,
    /// Target texts.
    pub targets: usize,
    /// The fixed-size part of entries.
    pub entry_columns: usize,
    /// Source ids, creation times, notes and metadata.
    pub other_texts: usize,
    /// Entries not in a segment yet.
    pub live: usize,
}

impl Bytes {
    /// The parts by name.
    pub fn parts(&self) -> [(&'static str, usize); 10] {
        [
            ("trigram_index", self.trigram_index),
            ("token_index", self.token_index),
            ("normalized_texts", self.normalized_texts),
            ("row_tables", self.row_tables),
            ("filters", self.filters),
            ("sources", self.sources),
            ("targets", self.targets),
            ("entry_columns", self.entry_columns),
            ("other_texts", self.other_texts),
            ("live", self.live),
        ]
    }
}

/// A segment and what was removed of it.
#[derive(Clone)]
pub(crate) struct SealedPart {
    pub(crate) segment: Arc<Segment>,
    pub(crate) removed: Removed,
}

/// The filled slots of a live part and which of them were removed.
#[derive(Clone)]
pub(crate) struct LivePart {
    pub(crate) live: Arc<Live>,
    pub(crate) len: usize,
    pub(crate) removed: [u64; LIVE / 64],
}

impl LivePart {
    fn new() -> LivePart {
        LivePart { live: Arc::new(Live::new()), len: 0, removed: [0; LIVE / 64] }
    }

    pub(crate) fn is_removed(&self, at: usize) -> bool {
        self.removed[at / 64] >> (at % 64) & 1 == 1
    }

    pub(crate) fn remove(&mut self, at: usize) {
        self.removed[at / 64] |= 1 << (at % 64);
    }

    /// The entries that were not removed, with their slots.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, &LiveEntry)> {
        (0..self.len).filter(|at| !self.is_removed(*at)).map(|at| (at, self.live.get(at)))
    }
}

/// The state of a memory at one moment.
pub struct Snapshot {
    pub(crate) sealed: Arc<Vec<SealedPart>>,
    /// The last one is being filled, the others are full and wait to become segments.
    pub(crate) lives: Vec<LivePart>,
    len: usize,
    next_id: EntryId,
    /// How often entries were added, replaced or removed until now.
    changes: u64,
    /// How many entries were replaced or removed until now.
    edits: u64,
}

/// One part of a snapshot.
#[derive(Clone, Copy)]
enum PartRef<'a> {
    Sealed(&'a SealedPart),
    Live(&'a LivePart),
}

impl<'a> PartRef<'a> {
    fn entry(self, at: u32) -> EntryRef<'a> {
        match self {
            PartRef::Sealed(part) => part.segment.entry(at),
            PartRef::Live(part) => part.live.get(at as usize).entry(),
        }
    }

    /// The normalized source of an entry.
    fn normalized(self, at: u32) -> &'a str {
        match self {
            PartRef::Sealed(part) => part.segment.text(part.segment.row_of()[at as usize]),
            PartRef::Live(part) => &part.live.get(at as usize).normalized,
        }
    }

    fn len(self) -> usize {
        match self {
            PartRef::Sealed(part) => part.segment.len(),
            PartRef::Live(part) => part.len,
        }
    }

    fn is_removed(self, at: usize) -> bool {
        match self {
            PartRef::Sealed(part) => part.removed.contains(at as u32),
            PartRef::Live(part) => part.is_removed(at),
        }
    }

    fn id(self, at: usize) -> EntryId {
        match self {
            PartRef::Sealed(part) => part.segment.ids()[at],
            PartRef::Live(part) => part.live.get(at).id,
        }
    }

    /// The first place at or after `at` that was not removed.
    fn present_from(self, at: usize) -> Option<usize> {
        (at..self.len()).find(|at| !self.is_removed(*at))
    }

    /// The place of an entry that was not removed. Replacing an entry in a live part can leave ids out of order there.
    fn find(self, id: EntryId) -> Option<usize> {
        match self {
            PartRef::Sealed(part) => {
                part.segment.ids().binary_search(&id).ok().filter(|at| !part.removed.contains(*at as u32))
            }
            PartRef::Live(part) => part.entries().find(|(_, entry)| entry.id == id).map(|(at, _)| at),
        }
    }
}

impl Snapshot {
    fn empty() -> Snapshot {
        Snapshot {
            sealed: Arc::default(),
            lives: vec![LivePart::new()],
            len: 0,
            next_id: 0,
            changes: 0,
            edits: 0,
        }
    }

    /// The same entries in other parts.
    pub(crate) fn rearranged(&self, sealed: Vec<SealedPart>, lives: Vec<LivePart>) -> Snapshot {
        Snapshot { sealed: Arc::new(sealed), lives, ..*self }
    }

    /// A state without live entries, whose next id is one that no entry has or had.
    pub(crate) fn of_segments(sealed: Vec<SealedPart>, next_id: EntryId) -> Snapshot {
        let len = sealed.iter().map(|part| part.segment.len() - part.removed.len()).sum();
        Snapshot { sealed: Arc::new(sealed), len, next_id, ..Snapshot::empty() }
    }

    /// What a change starts from.
    fn to_change(&self) -> Snapshot {
        let Snapshot { sealed, lives, len, next_id, changes, edits } = self;
        Snapshot {
            sealed: sealed.clone(),
            lives: lives.clone(),
            len: *len,
            next_id: *next_id,
            changes: changes + 1,
            edits: *edits,
        }
    }

    /// Adds entries whose ids are `first` and their numbers in the batch.
    fn add(&mut self, first: EntryId, prepared: Prepared) {
        if prepared.is_empty() {
            return;
        }
        self.len += prepared.len();
        self.next_id = self.next_id.max(first + prepared.end());
        match prepared.parts {
            Parts::Live(mut entries) => {
                entries.iter_mut().for_each(|entry| entry.id += first);
                self.push_live(entries);
            }
            Parts::Segments(segments) => {
                let sealed = Arc::make_mut(&mut self.sealed);
                for mut segment in segments {
                    segment.renumber(|id| *id += first);
                    sealed.push(SealedPart { segment: Arc::new(segment), removed: Removed::default() });
                }
            }
        }
    }

    fn push_live(&mut self, entries: Vec<LiveEntry>) {
        if self.lives.last().is_none_or(|live| live.len + entries.len() > LIVE) {
            self.lives.push(LivePart::new());
        }
        let live = self.lives.last_mut().expect("one was just added if there was none");
        for entry in entries {
            live.live.set(live.len, entry);
            live.len += 1;
        }
    }

    fn remove(&mut self, id: EntryId) -> Result<()> {
        let (part, at) = self.find(id).ok_or(Error::UnknownEntry { id })?;
        let sealed = self.sealed.len();
        if part < sealed {
            Arc::make_mut(&mut self.sealed)[part].removed.insert(at as u32);
        } else {
            self.lives[part - sealed].remove(at);
        }
        self.len -= 1;
        self.edits += 1;
        Ok(())
    }

    fn parts(&self) -> impl Iterator<Item = PartRef<'_>> {
        self.sealed.iter().map(PartRef::Sealed).chain(self.lives.iter().map(PartRef::Live))
    }

    fn part(&self, number: usize) -> PartRef<'_> {
        match self.sealed.get(number) {
            Some(part) => PartRef::Sealed(part),
            None => PartRef::Live(&self.lives[number - self.sealed.len()]),
        }
    }

    /// How many entries it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The id that the next entry gets: one more than the highest so far.
    pub fn next_id(&self) -> EntryId {
        self.next_id
    }

    /// How many entries were replaced or removed until now.
    pub(crate) fn edits(&self) -> u64 {
        self.edits
    }

    /// The part and place of an entry.
    fn find(&self, id: EntryId) -> Option<(usize, usize)> {
        self.parts().enumerate().find_map(|(number, part)| Some((number, part.find(id)?)))
    }

    /// The entry with this id.
    pub fn get(&self, id: EntryId) -> Option<EntryRef<'_>> {
        self.find(id).map(|(part, at)| self.part(part).entry(at as u32))
    }

    /// The entries whose source has this normalized form, in insertion order.
    pub fn equal(&self, normalized: &str) -> Vec<(EntryId, EntryRef<'_>)> {
        let mut found = Vec::new();
        for part in self.sealed.iter() {
            let Some(row) = part.segment.find_row(normalized) else { continue };
            let entries = part.segment.row_entries(row).iter().filter(|at| !part.removed.contains(**at));
            found.extend(entries.map(|at| (part.segment.ids()[*at as usize], part.segment.entry(*at))));
        }
        for part in &self.lives {
            let entries = part.entries().filter(|(_, entry)| *entry.normalized == *normalized);
            found.extend(entries.map(|(_, entry)| (entry.id, entry.entry())));
        }
        found.sort_unstable_by_key(|(id, _)| *id);
        found
    }

    /// The entries in insertion order, from the first whose id is at least `from`.
    pub fn entries(&self, from: EntryId) -> impl Iterator<Item = (EntryId, EntryRef<'_>)> {
        // Live parts are few and small; their order is by slot, which a replaced entry keeps out of order.
        let mut live: Vec<&LiveEntry> = self
            .lives
            .iter()
            .flat_map(|part| part.entries().map(|(_, entry)| entry))
            .filter(|entry| entry.id >= from)
            .collect();
        live.sort_unstable_by_key(|entry| entry.id);
        let mut live = live.into_iter().peekable();
        let mut sealed: Vec<(PartRef<'_>, usize)> = self
            .sealed
            .iter()
            .map(|part| {
                let start = part.segment.ids().partition_point(|id| *id < from);
                (PartRef::Sealed(part), start)
            })
            .filter_map(|(part, start)| Some((part, part.present_from(start)?)))
            .collect();
        std::iter::from_fn(move || {
            let first = (0..sealed.len()).min_by_key(|at| sealed[*at].0.id(sealed[*at].1));
            let first_id = first.map(|at| sealed[at].0.id(sealed[at].1));
            match (first, first_id) {
                (Some(number), Some(id)) if live.peek().is_none_or(|entry| id < entry.id) => {
                    let (part, at) = sealed[number];
                    match part.present_from(at + 1) {
                        Some(next) => sealed[number].1 = next,
                        None => _ = sealed.swap_remove(number),
                    }
                    Some((id, part.entry(at as u32)))
                }
                _ => live.next().map(|entry| (entry.id, entry.entry())),
            }
        })
    }

    /// The exact best hits for a query in this state of the memory.
    ///
    /// # Errors
    /// As [`Memory::search`].
    pub fn search(
        self: &Arc<Self>,
        query: &str,
        options: &SearchOptions,
        control: Control<'_>,
    ) -> Result<Found> {
        Ok(Found { hits: self.ranked(query, options, control)?, snapshot: self.clone() })
    }

    fn ranked(&self, query: &str, options: &SearchOptions, control: Control<'_>) -> Result<Vec<Ranked>> {
        let normalized = text::normalize(query);
        if normalized.is_empty() {
            return Err(Error::EmptyText { field: "query" });
        }
        if normalized.len() > MOST_TEXT_BYTES {
            return Err(Error::TooLong { field: "query", bytes: normalized.len() });
        }
        if options.max_hits == 0 {
            return Err(Error::MaxHits);
        }
        if !(0.0..=1.0).contains(&options.min_score) {
            return Err(Error::MinScore { value: options.min_score });
        }
        control.check()?;
        let wanted = fields::wanted(&options.filter);
        let mut query = Query::new(&normalized);
        let mut top = TopK::new(options.max_hits, options.min_score);

        let mut views: Vec<_> = self
            .sealed
            .iter()
            .enumerate()
            .filter_map(|(number, part)| {
                let segment = &*part.segment;
                let selection = segment.fields.resolve(segment.profiles(), &wanted)?;
                Some((View { part: number as u32, segment, removed: &part.removed }, selection))
            })
            .collect();
        for (view, selection) in &views {
            search::equal(*view, &query, selection, &mut top);
        }
        for (number, part) in self.lives.iter().enumerate() {
            control.check()?;
            search::live((self.sealed.len() + number) as u32, part, &mut query, &wanted, &mut top, control)?;
        }
        // Large segments first: they are the likeliest to raise the floor for the others.
        views.sort_by_key(|(view, _)| std::cmp::Reverse(view.segment.rows()));
        for (view, selection) in &views {
            search::segment(*view, &mut query, selection, &mut top, control)?;
        }
        if options.min_score == 0.0 && !top.is_full() {
            let unlike = search::Unlike::new(&top, options.max_hits);
            for (view, selection) in &views {
                control.check()?;
                unlike.offer_segment(*view, selection, &mut top, control)?;
            }
            for (number, part) in self.lives.iter().enumerate() {
                unlike.offer_live((self.sealed.len() + number) as u32, part, &wanted, &mut top);
            }
        }
        Ok(top.into_sorted())
    }
}

/// What only the writer whose turn it is may touch.
#[derive(Default)]
pub(crate) struct Writer {
    /// Whether a thread is turning live parts into segments.
    pub(crate) sealing: bool,
    /// Whether a thread is merging segments.
    pub(crate) merging: bool,
    /// The memory is gone: background work stops.
    pub(crate) closed: bool,
}

pub(crate) struct Shared {
    pub(crate) snapshot: ArcSwap<Snapshot>,
    pub(crate) writer: Mutex<Writer>,
    /// Signalled whenever background work ends.
    pub(crate) progress: Condvar,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Writer> {
        // A panic under the lock is a bug, but it leaves a whole snapshot: every change is one store.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Full live parts that may wait before writers have to.
const WAITING: usize = 16;

/// A translation memory that can be searched and changed from many threads at once.
pub struct Memory {
    shared: Arc<Shared>,
}

impl Default for Memory {
    fn default() -> Self {
        Memory::new()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
    }
}

impl Memory {
    /// An empty memory.
    pub fn new() -> Memory {
        Memory::with(Snapshot::empty())
    }

    /// A memory with a state.
    pub(crate) fn with(snapshot: Snapshot) -> Memory {
        let shared = Arc::new(Shared {
            snapshot: ArcSwap::from_pointee(snapshot),
            writer: Mutex::default(),
            progress: Condvar::new(),
        });
        background::start(&shared, &mut shared.lock());
        Memory { shared }
    }

    /// The state right now; later changes do not touch it.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.snapshot.load_full()
    }

    /// How many entries can be found.
    pub fn len(&self) -> usize {
        self.shared.snapshot.load().len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds one entry; it can be found when this returns.
    ///
    /// # Errors
    /// As [`Batch::push`](crate::Batch::push).
    pub fn add(&self, entry: EntryRef<'_>) -> Result<EntryId> {
        let prepared = Prepared::one(&entry)?;
        Ok(self.publish_in_turn(&mut self.writer_with_room(), prepared)?.start)
    }

    /// As [`Memory::add`], but only if no other writer and no background work has to be waited for.
    ///
    /// # Errors
    /// As [`Batch::push`](crate::Batch::push).
    pub fn add_at_once(&self, entry: EntryRef<'_>) -> Result<Option<EntryId>> {
        let prepared = Prepared::one(&entry)?;
        let Ok(mut writer) = self.shared.writer.try_lock() else { return Ok(None) };
        if !self.has_room() {
            return Ok(None);
        }
        Ok(Some(self.publish_in_turn(&mut writer, prepared)?.start))
    }

    /// Makes all entries of a batch visible at once. Returns the ids from the first to the last: the next id of the
    /// memory and, for each entry, its number in the batch added to that.
    ///
    /// # Errors
    /// [`Error::IdTaken`] if the ids would exceed [`MOST_ID`].
    pub fn publish(&self, prepared: Prepared) -> Result<Range<EntryId>> {
        self.publish_in_turn(&mut self.writer_with_room(), prepared)
    }

    fn publish_in_turn(&self, writer: &mut Writer, prepared: Prepared) -> Result<Range<EntryId>> {
        let now = self.shared.snapshot.load();
        let first = now.next_id;
        let end = end_of_ids(first, &prepared)?;
        if !prepared.is_empty() {
            let mut next = now.to_change();
            next.add(first, prepared);
            self.store(writer, next);
        }
        Ok(first..end)
    }

    /// Removes some entries and makes those of a batch visible, in one step. The ids of those added are `first` and
    /// their numbers in the batch added to that. An id is one that no entry has then, be it new or that of an entry that
    /// is removed; it says the place in the order.
    ///
    /// Nothing is done, and `false` returned, if the memory is not as it was `seen` any more: what was added, replaced
    /// or removed since may be at odds with what was made of it.
    ///
    /// # Errors
    /// [`Error::UnknownEntry`] for the first id to remove that is not there, or is given twice; [`Error::IdTaken`] for
    /// the first to add that an entry has that is not removed, or that exceeds [`MOST_ID`].
    pub fn apply(
        &self,
        seen: &Snapshot,
        removed: &[EntryId],
        first: EntryId,
        added: Prepared,
    ) -> Result<bool> {
        let mut sorted = removed.to_vec();
        sorted.sort_unstable();
        let mut writer = self.writer_with_room();
        let now = self.shared.snapshot.load();
        if now.changes != seen.changes {
            return Ok(false);
        }
        end_of_ids(first, &added)?;
        let mut sorted = sorted.into_iter().peekable();
        for id in added.numbers().map(|number| first + number).take_while(|id| *id < now.next_id) {
            while sorted.next_if(|removed| *removed < id).is_some() {}
            if sorted.next_if_eq(&id).is_none() && now.find(id).is_some() {
                return Err(Error::IdTaken { id, least: now.next_id });
            }
        }
        let mut next = now.to_change();
        for &id in removed {
            next.remove(id)?;
        }
        next.add(first, added);
        self.store(&mut writer, next);
        Ok(true)
    }

    /// As [`Memory::apply`], to a memory that may have other entries than it had when it was `seen`: new ids, those from
    /// its next id on, are moved past the ids given since. Returns them. `commit` is called before it is done.
    pub(crate) fn apply_in_turn(
        &self,
        writer: &mut Writer,
        seen: &Snapshot,
        removed: &[EntryId],
        mut added: Prepared,
        commit: impl FnOnce() -> Result<()>,
    ) -> Result<Range<EntryId>> {
        let now = self.shared.snapshot.load();
        added.shift(seen.next_id, now.next_id - seen.next_id);
        let end = end_of_ids(0, &added)?.max(now.next_id);
        let mut next = now.to_change();
        for &id in removed {
            next.remove(id)?;
        }
        commit()?;
        if !(removed.is_empty() && added.is_empty()) {
            next.add(0, added);
            self.store(writer, next);
        }
        Ok(now.next_id..end)
    }

    /// Gives no id below this one to a new entry any more. Ids above [`MOST_ID`] change nothing.
    pub fn reserve_ids(&self, next_id: EntryId) {
        let mut writer = self.shared.lock();
        let now = self.shared.snapshot.load();
        if next_id > now.next_id && next_id <= MOST_ID + 1 {
            let mut next = now.to_change();
            next.next_id = next_id;
            self.store(&mut writer, next);
        }
    }

    /// Removes entries; all or nothing.
    ///
    /// # Errors
    /// [`Error::UnknownEntry`] for the first id that is not there, or is given twice.
    pub fn remove(&self, ids: &[EntryId]) -> Result<()> {
        let mut writer = self.shared.lock();
        let mut next = self.shared.snapshot.load().to_change();
        for &id in ids {
            next.remove(id)?;
        }
        if !ids.is_empty() {
            self.store(&mut writer, next);
        }
        Ok(())
    }

    /// Puts another entry in the place of one: same id, same place in the order.
    ///
    /// # Errors
    /// [`Error::UnknownEntry`], and as [`Batch::push`](crate::Batch::push).
    pub fn replace(&self, id: EntryId, entry: EntryRef<'_>) -> Result<()> {
        let prepared = Prepared::one(&entry)?;
        let mut writer = self.writer_with_room();
        let mut next = self.shared.snapshot.load().to_change();
        next.remove(id)?;
        next.add(id, prepared);
        self.store(&mut writer, next);
        Ok(())
    }

    /// The exact best hits for a query.
    ///
    /// # Errors
    /// [`Error::EmptyText`] for a query that normalizes to nothing, [`Error::TooLong`], [`Error::MaxHits`],
    /// [`Error::MinScore`], [`Error::Aborted`].
    pub fn search(&self, query: &str, options: &SearchOptions, control: Control<'_>) -> Result<Found> {
        self.snapshot().search(query, options, control)
    }

    /// Many searches over one snapshot, on at most `threads` threads.
    ///
    /// # Errors
    /// As [`Memory::search`], with the position of the query at fault.
    pub fn search_many(
        &self,
        queries: &[&str],
        options: &SearchOptions,
        threads: usize,
        control: Control<'_>,
    ) -> std::result::Result<Vec<Found>, (usize, Error)> {
        let snapshot = self.snapshot();
        parallel::map_on(
            threads,
            queries.len(),
            || (),
            |(), at| snapshot.search(queries[at], options, control),
        )
    }

    /// Waits until background sealing and merging have nothing left to do.
    pub fn settle(&self) {
        let mut writer = self.shared.lock();
        while writer.sealing || writer.merging {
            writer = self.shared.progress.wait(writer).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Counts and sizes.
    pub fn stats(&self) -> Stats {
        let snapshot = self.snapshot();
        let mut stats = Stats { entries: snapshot.len, segments: snapshot.sealed.len(), ..Stats::default() };
        for part in snapshot.sealed.iter() {
            stats.rows += part.segment.rows();
            stats.removed += part.removed.len();
            part.segment.add_bytes(&mut stats.bytes);
            stats.bytes.entry_columns += part.removed.bytes();
        }
        for part in &snapshot.lives {
            let present = part.entries().count();
            stats.rows += part.len;
            stats.live += present;
            stats.removed += part.len - present;
            stats.bytes.live += part.live.bytes();
        }
        stats
    }

    /// Checks the invariants of every structure, and panics where one is broken. For tests.
    #[doc(hidden)]
    pub fn internal_validate(&self) {
        let snapshot = self.snapshot();
        let mut ids = std::collections::HashSet::new();
        for part in snapshot.parts() {
            for at in (0..part.len()).filter(|at| !part.is_removed(*at)) {
                assert!(ids.insert(part.id(at)), "an entry is in one part only");
            }
        }
        assert_eq!(ids.len(), snapshot.len, "the length counts the entries that are present");
        snapshot.sealed.iter().for_each(|part| part.segment.internal_validate());
        for part in &snapshot.lives {
            for (_, entry) in part.entries() {
                assert_eq!(text::normalize(entry.entry().source), *entry.normalized);
                assert_eq!(entry.profile, crate::live::Profile::of(&entry.normalized));
            }
        }
    }

    /// Whether an add or a replacement would begin at once, not wait for background work that is far behind.
    pub fn has_room(&self) -> bool {
        self.shared.snapshot.load().lives.len() <= WAITING
    }

    /// Waits until an add or a replacement would begin at once.
    pub fn wait_for_room(&self) {
        drop(self.writer_with_room());
    }

    /// The writer's lock, once background work is not too far behind.
    pub(crate) fn writer_with_room(&self) -> MutexGuard<'_, Writer> {
        let mut writer = self.shared.lock();
        while writer.sealing && self.shared.snapshot.load().lives.len() > WAITING {
            writer = self.shared.progress.wait(writer).unwrap_or_else(PoisonError::into_inner);
        }
        writer
    }

    fn store(&self, writer: &mut Writer, next: Snapshot) {
        self.shared.snapshot.store(Arc::new(next));
        background::start(&self.shared, writer);
    }
}

/// One more than the highest id of the entries of a batch whose ids start at `first`.
fn end_of_ids(first: EntryId, prepared: &Prepared) -> Result<EntryId> {
    match first.checked_add(prepared.end()).filter(|end| *end <= MOST_ID + 1) {
        Some(end) => Ok(end),
        None => {
            Err(Error::IdTaken { id: first.saturating_add(prepared.end().saturating_sub(1)), least: first })
        }
    }
}
