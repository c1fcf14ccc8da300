//! What becomes of entries that a memory, or the batch they come in, has already.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;
use serde_json::value::RawValue;

use crate::batch::Batch;
use crate::control::{Control, Pace};
use crate::entry::{EntryId, EntryRef};
use crate::error::Result;
use crate::fields;
use crate::live::LiveEntry;
use crate::memory::{Memory, Snapshot};
use crate::text;

/// Which entries are taken as duplicates, and which of them stay.
///
/// Entries are duplicates if their sources, languages, domains and namespaces are the same, and for
/// [`Skip`](Policy::Skip) their targets, too. Texts are compared exactly, languages without regard to case; a field that
/// is not there is the same as another that is not there.
///
/// Entries of a batch come one after the other, so an entry may be a duplicate of one before it in the same batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Policy {
    /// There are no duplicates: all entries are added.
    Keep,
    /// A duplicate is left out.
    Skip,
    /// An entry takes the place (the id, and so the place in the order) of the oldest of its duplicates, and the further
    /// ones are removed. If there is only one, and equal in every field, the entry is left out.
    Replace,
    /// As [`Replace`](Policy::Replace) if the entry's date is later than those of all its duplicates; otherwise it is
    /// left out. The date is the `changed_at` of the metadata, or else `created_at`; an entry without a date in
    /// ISO 8601, with year, month and day, is older than all that have one, and a time without an offset is in UTC.
    Newest,
}

/// What became of the entries with a pair of languages. Tags that differ only in case are the same language.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Language tag of their sources, as most of them have it.
    pub source_language: Option<String>,
    /// Language tag of their targets, as most of them have it.
    pub target_language: Option<String>,
    /// How many were added.
    pub added: usize,
    /// How many were left out because there is such an entry.
    pub duplicate: usize,
    /// How many took the place of another.
    pub replaced: usize,
    /// How many entries of the memory were removed without another taking their place.
    pub removed: usize,
}

/// What a policy makes of entries in one state of a memory: what is to be done there, in one step.
#[derive(Default)]
pub struct Change {
    /// The entries to remove, ascending.
    pub removed: Vec<EntryId>,
    /// The entries to put in, numbered by their ids: first those that take the place of removed ones, then new ones,
    /// numbered from the memory's next id on.
    pub batch: Batch,
    /// Counts by pair of languages, in the order of these.
    pub outcomes: Vec<Outcome>,
}

/// A source language and a target language, as they were given.
pub type Pair<'a> = (Option<&'a str>, Option<&'a str>);

impl Outcome {
    /// Counts of entries by pair of languages, all of them as added.
    pub fn all_added<'a>(pairs: impl IntoIterator<Item = (Pair<'a>, usize)>) -> Vec<Outcome> {
        let mut counts = Counts::default();
        pairs.into_iter().for_each(|(pair, entries)| counts.of(pair).added += entries);
        counts.into_outcomes()
    }
}

impl Batch {
    /// How many entries there are of each pair of languages.
    pub fn pairs(&self) -> HashMap<Pair<'_>, usize> {
        let mut pairs = HashMap::new();
        for ([source_language, target_language, ..], entries) in self.combinations() {
            *pairs.entry((source_language, target_language)).or_default() += entries;
        }
        pairs
    }

    /// What `policy` makes of the entries if they are added to a memory in this state.
    ///
    /// # Errors
    /// [`Error::Aborted`](crate::Error::Aborted).
    pub fn resolve(&self, memory: &Snapshot, policy: Policy, control: Control<'_>) -> Result<Change> {
        let mut counts = Counts::default();
        let existing = Existing::new(memory);
        let mut replacing = Vec::new();
        let mut added = Vec::new();
        let mut removed = Vec::new();
        let mut pace = Pace::default();
        let mut groups = Groups::default();
        let mut present = Vec::new();
        for (normalized, members) in self.rows() {
            pace.step(normalized.len() * members.len(), control)?;
            if policy == Policy::Keep {
                for (at, entry) in members {
                    counts.of(pair(&entry)).added += 1;
                    added.push((at, at));
                }
                continue;
            }
            present.clear();
            present.extend(existing.equal(normalized));
            if let ([(at, entry)], []) = (&*members, &*present) {
                counts.of(pair(entry)).added += 1;
                added.push((*at, *at));
                continue;
            }
            for (at, entry) in members {
                groups.of(policy, &entry, true).expect("groups are made of these").members.push((at, entry));
            }
            for (id, entry) in present.drain(..) {
                if let Some(group) = groups.of(policy, &entry, false) {
                    group.existing.push((id, entry));
                }
            }
            for mut group in groups.drain() {
                pace.step(group.existing.len() + group.members.len(), control)?;
                group.existing.sort_unstable_by_key(|(id, _)| *id);
                let settled = group.settle(policy, &mut counts);
                if let Some(winner) = settled.winner {
                    match group.existing.first() {
                        Some((id, _)) => {
                            removed.push(*id);
                            replacing.push((*id, winner));
                        }
                        None => added.push((group.members[0].0, winner)),
                    }
                }
                removed.extend(settled.removed);
            }
        }
        removed.sort_unstable();
        replacing.sort_unstable();
        added.sort_unstable();
        let new = added.into_iter().zip(memory.next_id()..).map(|((_, winner), id)| (id, winner));
        let batch = self.pick(replacing.into_iter().chain(new), control)?;
        Ok(Change { removed, batch, outcomes: counts.into_outcomes() })
    }
}

impl Snapshot {
    /// What `policy` makes of the entries that are there: of duplicates one stays, with [`Skip`](Policy::Skip) the
    /// first, with [`Replace`](Policy::Replace) the last, with [`Newest`](Policy::Newest) that of the latest date (of
    /// equal dates the first).
    ///
    /// # Errors
    /// [`Error::Aborted`](crate::Error::Aborted).
    pub fn duplicates(&self, policy: Policy, control: Control<'_>) -> Result<Change> {
        let mut counts = Counts::default();
        let mut removed = Vec::new();
        let mut pace = Pace::default();
        let mut groups = Groups::default();
        let existing = Existing::new(self);
        let rows = if policy == Policy::Keep { None } else { Some(self.rows(&existing)) };
        for entries in rows.into_iter().flatten() {
            pace.step(entries.iter().map(|(_, entry)| entry.source.len()).sum(), control)?;
            if entries.len() < 2 {
                continue;
            }
            for (id, entry) in entries {
                groups.of(policy, &entry, true).expect("groups are made of these").existing.push((id, entry));
            }
            for group in groups.drain() {
                let mut entries = group.existing;
                entries.sort_unstable_by_key(|(id, _)| *id);
                let stays = match policy {
                    Policy::Keep | Policy::Skip => 0,
                    Policy::Replace => entries.len() - 1,
                    Policy::Newest => latest(entries.iter().map(|(_, entry)| entry)),
                };
                entries.remove(stays);
                for (id, entry) in entries {
                    counts.of(pair(&entry)).duplicate += 1;
                    counts.of(pair(&entry)).removed += 1;
                    removed.push(id);
                }
            }
        }
        removed.sort_unstable();
        Ok(Change { removed, batch: Batch::new(), outcomes: counts.into_outcomes() })
    }
}

/// How often it is found what becomes of entries while others change the memory, before they have to wait.
const ROUNDS: usize = 3;

impl Memory {
    /// Adds a batch as `policy` says, all at once. Returns the counts by pair of languages and the ids of the new entries.
    ///
    /// It is as if no other writer had been at work from beginning to end, though they are not kept waiting: if what they
    /// did in the meantime could change the outcome, that is found anew.
    ///
    /// `commit` is called when nothing can go wrong any more, just before the entries are shown.
    ///
    /// # Errors
    /// [`Error::Aborted`](crate::Error::Aborted), what `commit` returns, and as [`Memory::publish`]. The memory is as it
    /// was then.
    pub fn merge(
        &self,
        batch: &Batch,
        policy: Policy,
        commit: impl FnOnce() -> Result<()>,
        control: Control<'_>,
    ) -> Result<(Vec<Outcome>, Range<EntryId>)> {
        let resolve = |seen: &Snapshot| batch.resolve(seen, policy, control);
        let holds = |seen: &Snapshot, now: &Snapshot| {
            policy == Policy::Keep || seen.edits() == now.edits() && !has_any(batch, seen, now)
        };
        self.change(resolve, holds, commit, control)
    }

    /// Removes all but one of the entries that are duplicates by `policy`, as [`Snapshot::duplicates`] says.
    ///
    /// # Errors
    /// As [`Memory::merge`].
    pub fn dedupe(
        &self,
        policy: Policy,
        commit: impl FnOnce() -> Result<()>,
        control: Control<'_>,
    ) -> Result<Vec<Outcome>> {
        let resolve = |seen: &Snapshot| seen.duplicates(policy, control);
        // What was added since came after.
        let holds = |seen: &Snapshot, now: &Snapshot| seen.edits() == now.edits();
        Ok(self.change(resolve, holds, commit, control)?.0)
    }

    fn change(
        &self,
        resolve: impl Fn(&Snapshot) -> Result<Change>,
        holds: impl Fn(&Snapshot, &Snapshot) -> bool,
        commit: impl FnOnce() -> Result<()>,
        control: Control<'_>,
    ) -> Result<(Vec<Outcome>, Range<EntryId>)> {
        let mut round = 1;
        loop {
            let held = (round == ROUNDS).then(|| self.writer_with_room());
            let seen: Arc<Snapshot> = self.snapshot();
            let Change { removed, batch, outcomes } = resolve(&seen)?;
            let prepared = batch.prepare(control)?;
            round += 1;
            // Most of what came since is looked at before others have to wait, little is left for then.
            let later = self.snapshot();
            if !holds(&seen, &later) {
                continue;
            }
            let mut writer = held.unwrap_or_else(|| self.writer_with_room());
            if holds(&later, &self.snapshot()) {
                control.check()?;
                let ids = self.apply_in_turn(&mut writer, &seen, &removed, prepared, commit)?;
                return Ok((outcomes, ids));
            }
        }
    }
}

/// Whether a batch may have duplicates of what was added to a memory since.
fn has_any(batch: &Batch, seen: &Snapshot, now: &Snapshot) -> bool {
    now.entries(seen.next_id()).any(|(_, entry)| batch.has_row(&text::normalize(entry.source)))
}

/// The entries of a memory by their normalized source.
struct Existing<'a> {
    memory: &'a Snapshot,
    /// Those that are in no segment yet.
    live: HashMap<&'a str, Vec<&'a LiveEntry>>,
}

impl<'a> Existing<'a> {
    fn new(memory: &'a Snapshot) -> Existing<'a> {
        let mut live: HashMap<_, Vec<_>> = HashMap::new();
        for (_, entry) in memory.lives.iter().flat_map(|part| part.entries()) {
            live.entry(&*entry.normalized).or_default().push(entry);
        }
        Existing { memory, live }
    }

    /// The entries with a normalized source, in no order.
    fn equal(&self, normalized: &str) -> impl Iterator<Item = (EntryId, EntryRef<'a>)> {
        let sealed = self.memory.sealed.iter().flat_map(move |part| {
            let row = part.segment.find_row(normalized);
            row.into_iter()
                .flat_map(|row| part.segment.row_entries(row))
                .filter(|at| !part.removed.contains(**at))
                .map(|at| (part.segment.ids()[*at as usize], part.segment.entry(*at)))
        });
        let live = self.live.get(normalized).into_iter().flatten().map(|entry| (entry.id, entry.entry()));
        sealed.chain(live)
    }
}

impl Snapshot {
    /// The entries, those with the same normalized source together.
    fn rows<'a>(&'a self, existing: &'a Existing<'a>) -> impl Iterator<Item = Vec<(EntryId, EntryRef<'a>)>> {
        let sealed = self.sealed.iter().enumerate().flat_map(move |(number, part)| {
            (0..part.segment.rows() as u32).map(|row| part.segment.text(row)).filter(move |text| {
                self.sealed[..number].iter().all(|before| before.segment.find_row(text).is_none())
            })
        });
        let live = existing
            .live
            .keys()
            .copied()
            .filter(|text| self.sealed.iter().all(|before| before.segment.find_row(text).is_none()));
        sealed.chain(live).map(|text| existing.equal(text).collect())
    }
}

/// What makes entries duplicates.
#[derive(PartialEq, Eq, Hash)]
struct Key<'a> {
    source: &'a str,
    /// Absent where duplicates may have different ones.
    target: Option<&'a str>,
    languages: [Option<Cow<'a, str>>; 2],
    domain: Option<&'a str>,
    namespace: Option<&'a str>,
}

impl<'a> Key<'a> {
    fn new(policy: Policy, entry: &EntryRef<'a>) -> Key<'a> {
        let EntryRef { source, target, source_language, target_language, domain, namespace, .. } = *entry;
        let comparable = |language: Option<&'a str>| {
            let language = language?;
            match language.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
                true => Some(Cow::Borrowed(language)),
                false => Some(Cow::Owned(fields::comparable(0, language))),
            }
        };
        Key {
            source,
            target: (policy == Policy::Skip).then_some(target),
            languages: [source_language, target_language].map(comparable),
            domain,
            namespace,
        }
    }
}

/// Entries that are duplicates of each other.
#[derive(Default)]
struct Group<'a> {
    existing: Vec<(EntryId, EntryRef<'a>)>,
    /// Those of a batch, with their places in it.
    members: Vec<(usize, EntryRef<'a>)>,
}

/// What a group comes to.
struct Settled {
    /// The place in the batch of the entry that is to be put in.
    winner: Option<usize>,
    /// The entries of the memory that are removed and leave their place to none.
    removed: Vec<EntryId>,
}

impl<'a> Group<'a> {
    /// Adds the members one after the other.
    fn settle(&self, policy: Policy, counts: &mut Counts<'a>) -> Settled {
        let mut winner: Option<(usize, EntryRef<'a>)> = None;
        let mut dates = (policy == Policy::Newest).then(|| {
            let dates = self.existing.iter().map(|(_, entry)| date(entry));
            dates.max().unwrap_or_default()
        });
        // All but the oldest, until an entry takes its place.
        let mut further = self.existing.get(1..).unwrap_or_default();
        let mut removed = Vec::new();
        for (at, entry) in &self.members {
            let there = winner.map(|(_, entry)| entry).or(self.existing.first().map(|(_, entry)| *entry));
            let Some(there) = there else {
                counts.of(pair(entry)).added += 1;
                winner = Some((*at, *entry));
                if let Some(latest) = &mut dates {
                    *latest = date(entry);
                }
                continue;
            };
            let replaces = match (policy, &mut dates) {
                (Policy::Newest, Some(latest)) => {
                    let date = date(entry);
                    let later = date > *latest;
                    *latest = date.max(*latest);
                    later
                }
                (Policy::Replace, _) => there != *entry || !further.is_empty(),
                _ => false,
            };
            if replaces {
                counts.of(pair(entry)).replaced += 1;
                winner = Some((*at, *entry));
                for (id, entry) in further {
                    counts.of(pair(entry)).removed += 1;
                    removed.push(*id);
                }
                further = &[];
            } else {
                counts.of(pair(entry)).duplicate += 1;
            }
        }
        Settled { winner: winner.map(|(at, _)| at), removed }
    }
}

/// The groups of one row.
#[derive(Default)]
struct Groups<'a>(HashMap<Key<'a>, Group<'a>>);

impl<'a> Groups<'a> {
    /// The group of an entry, if there is one or it is to be made.
    fn of(&mut self, policy: Policy, entry: &EntryRef<'a>, make: bool) -> Option<&mut Group<'a>> {
        let key = Key::new(policy, entry);
        if make { Some(self.0.entry(key).or_default()) } else { self.0.get_mut(&key) }
    }

    fn drain(&mut self) -> impl Iterator<Item = Group<'a>> {
        self.0.drain().map(|(_, group)| group)
    }
}

/// Counts by pair of languages.
#[derive(Default)]
struct Counts<'a>(BTreeMap<Pair<'a>, Outcome>);

fn pair<'a>(entry: &EntryRef<'a>) -> Pair<'a> {
    (entry.source_language, entry.target_language)
}

impl<'a> Counts<'a> {
    fn of(&mut self, pair: Pair<'a>) -> &mut Outcome {
        self.0.entry(pair).or_default()
    }

    fn into_outcomes(self) -> Vec<Outcome> {
        // Those with the same languages, and the largest share of them.
        let mut pairs: BTreeMap<[Option<String>; 2], (Outcome, usize)> = BTreeMap::new();
        for ((source_language, target_language), part) in self.0 {
            let spelled = [source_language, target_language];
            let key = spelled.map(|language| language.map(|language| fields::comparable(0, language)));
            let (outcome, largest) = pairs.entry(key).or_default();
            let Outcome { added, duplicate, replaced, removed, .. } = part;
            let share = added + duplicate + replaced;
            if *outcome == Outcome::default() || share > *largest {
                *largest = share;
                [outcome.source_language, outcome.target_language] =
                    spelled.map(|language| language.map(str::to_owned));
            }
            outcome.added += added;
            outcome.duplicate += duplicate;
            outcome.replaced += replaced;
            outcome.removed += removed;
        }
        pairs.into_values().map(|(outcome, _)| outcome).collect()
    }
}

/// When an entry was changed last, as far as it says so. What says nothing is before all that does.
fn date(entry: &EntryRef<'_>) -> Option<Timestamp> {
    let changed = entry.metadata.filter(|metadata| metadata.contains("changed_at")).and_then(|metadata| {
        let values: HashMap<String, &RawValue> = serde_json::from_str(metadata).ok()?;
        instant(&serde_json::from_str::<String>(values.get("changed_at")?.get()).ok()?)
    });
    changed.or_else(|| instant(entry.created_at?))
}

fn instant(text: &str) -> Option<Timestamp> {
    let pieces = Pieces::parse(text).ok()?;
    let offset = pieces.to_numeric_offset().unwrap_or(Offset::UTC);
    offset.to_timestamp(pieces.date().to_datetime(pieces.time().unwrap_or_default())).ok()
}

/// The first of those with the latest date.
fn latest<'a>(entries: impl Iterator<Item = &'a EntryRef<'a>>) -> usize {
    let mut best = (0, None);
    for (at, date) in entries.map(date).enumerate() {
        if date > best.1 {
            best = (at, date);
        }
    }
    best.0
}
