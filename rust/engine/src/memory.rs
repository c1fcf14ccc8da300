//! The memory (first, exhaustive version: the shape of the API and the answers).

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use crate::control::Control;
use crate::entry::{EntryId, EntryRef, Filter};
use crate::error::{Error, Result};
use crate::text;

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

#[derive(Clone, Debug)]
struct Stored {
    normalized: String,
    texts: [Option<String>; 10],
}

impl Stored {
    fn new(entry: EntryRef<'_>) -> Result<Stored> {
        for (field, value) in [("source", entry.source), ("target", entry.target)] {
            if value.chars().all(text::is_white_space) {
                return Err(Error::EmptyText { field });
            }
        }
        let own = |value: Option<&str>| value.map(str::to_owned);
        Ok(Stored {
            normalized: text::normalize(entry.source),
            texts: [
                own(Some(entry.source)),
                own(Some(entry.target)),
                own(entry.source_language),
                own(entry.target_language),
                own(entry.domain),
                own(entry.namespace),
                own(entry.source_id),
                own(entry.created_at),
                own(entry.notes),
                own(entry.metadata),
            ],
        })
    }

    fn entry(&self) -> EntryRef<'_> {
        let [
            source,
            target,
            source_language,
            target_language,
            domain,
            namespace,
            source_id,
            created_at,
            notes,
            metadata,
        ] = self.texts.each_ref().map(Option::as_deref);
        EntryRef {
            source: source.unwrap_or_default(),
            target: target.unwrap_or_default(),
            source_language,
            target_language,
            domain,
            namespace,
            source_id,
            created_at,
            notes,
            metadata,
        }
    }
}

/// Entries that were copied and checked, not yet in a memory. All of them become
/// visible at once when their [`Prepared`] form is published.
#[derive(Default)]
pub struct Batch(Vec<Stored>);

impl Batch {
    /// An empty batch.
    pub fn new() -> Batch {
        Batch::default()
    }

    /// Copies an entry into the batch.
    ///
    /// # Errors
    /// [`Error::EmptyText`] and [`Error::TooLong`]; the batch is as it was.
    pub fn push(&mut self, entry: EntryRef<'_>) -> Result<()> {
        self.0.push(Stored::new(entry)?);
        Ok(())
    }

    /// How many entries it holds.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Does the work of making the entries searchable (the long part of an add).
    ///
    /// # Errors
    /// [`Error::Aborted`].
    pub fn prepare(self, control: Control<'_>) -> Result<Prepared> {
        control.check()?;
        Ok(Prepared(self.0))
    }
}

/// A batch ready to be published with [`Memory::publish`], which is quick.
pub struct Prepared(Vec<Stored>);

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
    hits: Vec<Hit>,
}

impl Found {
    /// Score descending, then id ascending.
    pub fn hits(&self) -> &[Hit] {
        &self.hits
    }

    /// The hits with their entries.
    pub fn entries(&self) -> impl Iterator<Item = (Hit, EntryRef<'_>)> {
        self.hits.iter().map(|hit| (*hit, self.snapshot.entries[&hit.id].entry()))
    }
}

/// Counts and sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Entries that can be found.
    pub entries: usize,
    /// Distinct normalized sources, counted per segment.
    pub rows: usize,
    /// Immutable parts of the memory.
    pub segments: usize,
    /// Bytes in use, by part: a name and a size.
    pub bytes: Vec<(&'static str, usize)>,
}

/// The state of a memory at one moment.
#[derive(Clone, Default)]
pub struct Snapshot {
    entries: Arc<BTreeMap<EntryId, Arc<Stored>>>,
}

impl Snapshot {
    /// The entries in insertion order, from the first whose id is at least `from`.
    pub fn entries(&self, from: EntryId) -> impl Iterator<Item = (EntryId, EntryRef<'_>)> {
        self.entries.range(from..).map(|(id, stored)| (*id, stored.entry()))
    }

    /// The entry with this id.
    pub fn get(&self, id: EntryId) -> Option<EntryRef<'_>> {
        self.entries.get(&id).map(|stored| stored.entry())
    }
}

/// A translation memory that can be searched and changed from many threads at once.
#[derive(Default)]
pub struct Memory {
    state: Mutex<(EntryId, Snapshot)>,
}

impl Memory {
    /// An empty memory.
    pub fn new() -> Memory {
        Memory::default()
    }

    /// The state right now; later changes do not touch it.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::new(self.state.lock().unwrap().1.clone())
    }

    /// How many entries can be found.
    pub fn len(&self) -> usize {
        self.snapshot().entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds one entry; it can be found when this returns.
    ///
    /// # Errors
    /// As [`Batch::push`].
    pub fn add(&self, entry: EntryRef<'_>) -> Result<EntryId> {
        let mut batch = Batch::new();
        batch.push(entry)?;
        Ok(self.publish(batch.prepare(Control::NONE)?).start)
    }

    /// Makes all entries of a batch visible at once, under consecutive ids.
    pub fn publish(&self, prepared: Prepared) -> Range<EntryId> {
        let mut state = self.state.lock().unwrap();
        let first = state.0;
        state.0 += prepared.0.len() as EntryId;
        let entries = Arc::make_mut(&mut state.1.entries);
        entries.extend((first..).zip(prepared.0.into_iter().map(Arc::new)));
        first..state.0
    }

    /// Removes entries; all or nothing.
    ///
    /// # Errors
    /// [`Error::UnknownEntry`] for the first id that is not there.
    pub fn remove(&self, ids: &[EntryId]) -> Result<()> {
        let mut state = self.state.lock().unwrap();
        if let Some(&id) = ids.iter().find(|id| !state.1.entries.contains_key(id)) {
            return Err(Error::UnknownEntry { id });
        }
        let entries = Arc::make_mut(&mut state.1.entries);
        ids.iter().for_each(|id| {
            entries.remove(id);
        });
        Ok(())
    }

    /// Puts another entry in the place of one: same id, same place in the order.
    ///
    /// # Errors
    /// [`Error::UnknownEntry`], and as [`Batch::push`].
    pub fn replace(&self, id: EntryId, entry: EntryRef<'_>) -> Result<()> {
        let stored = Stored::new(entry)?;
        let mut state = self.state.lock().unwrap();
        let slot = Arc::make_mut(&mut state.1.entries).get_mut(&id).ok_or(Error::UnknownEntry { id })?;
        *slot = Arc::new(stored);
        Ok(())
    }

    /// The exact best hits for a query.
    ///
    /// # Errors
    /// [`Error::EmptyText`] for a query that normalizes to nothing,
    /// [`Error::MaxHits`], [`Error::MinScore`], [`Error::Aborted`].
    pub fn search(&self, query: &str, options: &SearchOptions, control: Control<'_>) -> Result<Found> {
        let query = text::normalize(query);
        if query.is_empty() {
            return Err(Error::EmptyText { field: "query" });
        }
        if options.max_hits == 0 {
            return Err(Error::MaxHits);
        }
        if !(0.0..=1.0).contains(&options.min_score) {
            return Err(Error::MinScore { value: options.min_score });
        }
        let snapshot = self.snapshot();
        let mut hits = Vec::new();
        for (id, stored) in snapshot.entries.iter() {
            control.check()?;
            if !matches(&options.filter, &stored.entry()) {
                continue;
            }
            let score = text::similarity(&query, &stored.normalized);
            if score >= options.min_score {
                hits.push(Hit { id: *id, score });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        hits.truncate(options.max_hits);
        Ok(Found { snapshot, hits })
    }

    /// Many searches, over one snapshot, on `threads` threads.
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
        let _ = threads;
        queries
            .iter()
            .enumerate()
            .map(|(at, query)| self.search(query, options, control).map_err(|error| (at, error)))
            .collect()
    }

    /// Waits until background sealing and merging have nothing left to do.
    pub fn settle(&self) {}

    /// Counts and sizes.
    pub fn stats(&self) -> Stats {
        Stats { entries: self.len(), rows: self.len(), segments: 1, bytes: vec![] }
    }

    /// Checks the invariants of every structure, and panics where one is broken.
    #[doc(hidden)]
    pub fn internal_validate(&self) {}
}

fn matches(filter: &Filter, entry: &EntryRef<'_>) -> bool {
    let language = |wanted: &Option<String>, has: Option<&str>| {
        wanted
            .as_deref()
            .is_none_or(|wanted| has.is_some_and(|has| has.to_lowercase() == wanted.to_lowercase()))
    };
    let exact = |wanted: &Option<String>, has: Option<&str>| wanted.is_none() || wanted.as_deref() == has;
    language(&filter.source_language, entry.source_language)
        && language(&filter.target_language, entry.target_language)
        && exact(&filter.domain, entry.domain)
        && exact(&filter.namespace, entry.namespace)
}
