//! The memory and its snapshots.

use std::collections::HashSet;
use std::num::NonZero;
use std::sync::Arc;
use std::time::{Duration, Instant};

use diglot_engine::{Control, EntryId, Error, Filter, SearchOptions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::batch::{Batch, Ids, Queries};
use crate::control::{CancelFlag, detached};
use crate::dispose;
use crate::entry::{self, Fields};
use crate::errors::{self, At};
use crate::found::Found;

/// A translation memory.
#[pyclass(frozen, module = "diglot._engine")]
#[derive(Default)]
pub(crate) struct Memory(pub(crate) diglot_engine::Memory);

impl Drop for Memory {
    fn drop(&mut self) {
        if self.0.len() > dispose::MANY {
            dispose::elsewhere(&mut self.0);
        }
    }
}

/// The options of a search as Python gives them, already checked there.
#[derive(FromPyObject)]
pub(crate) struct Options<'py>(
    Option<Bound<'py, PyString>>,
    Option<Bound<'py, PyString>>,
    Option<Bound<'py, PyString>>,
    Option<Bound<'py, PyString>>,
    usize,
    f64,
);

impl Options<'_> {
    pub(crate) fn read(&self) -> PyResult<SearchOptions> {
        let Options(source_language, target_language, domain, namespace, max_hits, min_score) = self;
        Ok(SearchOptions {
            filter: filter([source_language, target_language, domain, namespace])?,
            max_hits: *max_hits,
            min_score: *min_score,
        })
    }
}

/// The filter with these values of source language, target language, domain and namespace.
pub(crate) fn filter(values: [&Option<Bound<'_, PyString>>; 4]) -> PyResult<Filter> {
    let text = |field: &str, value: &Option<Bound<'_, PyString>>| -> PyResult<Option<String>> {
        value.as_ref().map(|value| Ok(errors::utf8(field, value, At::Single)?.to_owned())).transpose()
    };
    let [source_language, target_language, domain, namespace] = values;
    Ok(Filter {
        source_language: text("source_language", source_language)?,
        target_language: text("target_language", target_language)?,
        domain: text("domain", domain)?,
        namespace: text("namespace", namespace)?,
    })
}

/// Bytes of a text that is analysed in a few microseconds.
const SHORT: usize = 1024;

#[pymethods]
impl Memory {
    #[new]
    fn new() -> Memory {
        Memory::default()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Adds an entry. Returns its id.
    #[pyo3(signature = (entry, flag=None))]
    fn add(&self, py: Python<'_>, entry: &Bound<'_, PyAny>, flag: Option<&CancelFlag>) -> PyResult<EntryId> {
        let fields = Fields::read(entry, At::Single)?;
        let entry = fields.entry()?;
        py.detach(|| {
            flag.map_or(Ok(()), CancelFlag::commit)?;
            self.0.add(entry)
        })
        .map_err(|failure| errors::engine(py, &failure, At::Single))
    }

    /// Adds a short entry, unless something has to be waited for. Returns its id, or nothing if it is not added.
    fn add_at_once(&self, py: Python<'_>, entry: &Bound<'_, PyAny>) -> PyResult<Option<EntryId>> {
        let fields = Fields::read(entry, At::Single)?;
        let entry = fields.entry()?;
        // Giving the GIL up and waiting for it again takes longer than adding a short text does.
        if entry.source.len() >= SHORT {
            return Ok(None);
        }
        self.0.add_at_once(entry).map_err(|failure| errors::engine(py, &failure, At::Single))
    }

    /// Whether an add or a replacement would begin at once.
    fn has_room(&self) -> bool {
        self.0.has_room()
    }

    /// Waits until one would.
    fn wait_for_room(&self, py: Python<'_>) {
        py.detach(|| self.0.wait_for_room());
    }

    /// Shows the entries of a prepared batch. Returns their first id and the one after their last.
    fn publish(&self, py: Python<'_>, batch: &Batch) -> PyResult<(EntryId, EntryId)> {
        let ids = py.detach(|| match batch.take() {
            Some(prepared) => self.0.publish(prepared),
            None => Ok(0..0),
        });
        ids.map(|ids| (ids.start, ids.end)).map_err(|failure| errors::engine(py, &failure, At::Single))
    }

    /// Removes entries and shows those of a prepared batch, in one step, unless the memory changed since `seen`. Returns
    /// whether it did. Ids are `first` and the numbers in the batch added to that.
    fn apply(
        &self,
        py: Python<'_>,
        seen: &Snapshot,
        removed: &Ids,
        first: EntryId,
        batch: &Batch,
    ) -> PyResult<bool> {
        py.detach(|| match batch.take() {
            Some(prepared) => self.0.apply(&seen.0, &removed.get(), first, prepared),
            None => Ok(false),
        })
        .map_err(|failure| errors::engine(py, &failure, At::Single))
    }

    /// Gives no id below this one to a new entry any more.
    fn reserve_ids(&self, py: Python<'_>, next_id: EntryId) {
        py.detach(|| self.0.reserve_ids(next_id));
    }

    /// Puts an entry in the place of another.
    #[pyo3(signature = (id, entry, flag=None))]
    fn replace(
        &self,
        py: Python<'_>,
        id: &Bound<'_, PyAny>,
        entry: &Bound<'_, PyAny>,
        flag: Option<&CancelFlag>,
    ) -> PyResult<()> {
        let id = entry::id(id, At::Single)?;
        let fields = Fields::read(entry, At::Single)?;
        let entry = fields.entry()?;
        py.detach(|| {
            flag.map_or(Ok(()), CancelFlag::commit)?;
            self.0.replace(id, entry)
        })
        .map_err(|failure| errors::engine(py, &failure, At::Single))
    }

    /// Removes an entry.
    fn remove(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<()> {
        let id = entry::id(id, At::Single)?;
        py.detach(|| self.0.remove(&[id])).map_err(|failure| errors::engine(py, &failure, At::Single))
    }

    /// Removes entries, all or none.
    #[pyo3(signature = (ids, flag=None))]
    fn remove_many(&self, py: Python<'_>, ids: &Ids, flag: Option<&CancelFlag>) -> PyResult<()> {
        py.detach(|| {
            flag.map_or(Ok(()), CancelFlag::commit)?;
            self.0.remove(&ids.get())
        })
        .map_err(|failure| errors::engine(py, &failure, At::Single))
    }

    /// The best hits for a query, found without the GIL.
    #[pyo3(signature = (query, options, flag=None, signal=None))]
    fn search(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyString>,
        options: Options<'_>,
        flag: Option<&CancelFlag>,
        signal: Option<Py<PyAny>>,
    ) -> PyResult<Found> {
        self.snapshot().search(py, query, options, flag, signal)
    }

    /// The best hits for a query, found with the GIL held; `None` if that takes more than `seconds`. On an event loop
    /// it can take longer to get the GIL back than most searches take.
    fn search_within(
        &self,
        py: Python<'_>,
        seconds: f64,
        query: &Bound<'_, PyString>,
        options: Options<'_>,
    ) -> PyResult<Option<Found>> {
        self.snapshot().search_within(py, seconds, query, options)
    }

    /// The best hits for many queries, over one state of the memory.
    #[pyo3(signature = (queries, options, threads=None, flag=None, signal=None))]
    fn search_many(
        &self,
        py: Python<'_>,
        queries: &Queries,
        options: Options<'_>,
        threads: Option<usize>,
        flag: Option<&CancelFlag>,
        signal: Option<Py<PyAny>>,
    ) -> PyResult<Found> {
        let options = options.read()?;
        let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, NonZero::get));
        let found = detached(py, flag, signal.as_ref(), |control| {
            let queries = queries.get();
            let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
            self.0
                .search_many(&queries, &options, threads, control)
                .map_err(|(position, failure)| (At::Item("queries", position), failure))
        })?;
        Ok(Found(found))
    }

    /// The state right now.
    fn snapshot(&self) -> Snapshot {
        Snapshot(self.0.snapshot())
    }

    /// Counts (entries, rows, segments, live entries, removed entries) and the bytes of each part.
    fn stats<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(usize, usize, usize, usize, usize, Bound<'py, PyDict>)> {
        let stats = self.0.stats();
        let bytes = PyDict::new(py);
        for (part, size) in stats.bytes.parts() {
            bytes.set_item(part, size)?;
        }
        Ok((stats.entries, stats.rows, stats.segments, stats.live, stats.removed, bytes))
    }

    /// Waits until background work has nothing left to do. For tests and benches.
    fn settle(&self, py: Python<'_>) {
        py.detach(|| self.0.settle());
    }

    /// Checks the invariants of every structure. For tests.
    fn internal_validate(&self, py: Python<'_>) {
        py.detach(|| self.0.internal_validate());
    }
}

/// A memory's state at one moment.
#[pyclass(frozen, module = "diglot._engine")]
pub(crate) struct Snapshot(pub(crate) Arc<diglot_engine::Snapshot>);

#[pymethods]
impl Snapshot {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// The id that the next entry gets.
    #[getter]
    fn next_id(&self) -> EntryId {
        self.0.next_id()
    }

    /// As `Memory.search`, in this state.
    #[pyo3(signature = (query, options, flag=None, signal=None))]
    fn search(
        &self,
        py: Python<'_>,
        query: &Bound<'_, PyString>,
        options: Options<'_>,
        flag: Option<&CancelFlag>,
        signal: Option<Py<PyAny>>,
    ) -> PyResult<Found> {
        let query = errors::utf8("query", query, At::Single)?;
        let options = options.read()?;
        let found = detached(py, flag, signal.as_ref(), |control| {
            self.0.search(query, &options, control).map_err(|failure| (At::Single, failure))
        })?;
        Ok(Found(vec![found]))
    }

    /// As `Memory.search_within`, in this state.
    fn search_within(
        &self,
        py: Python<'_>,
        seconds: f64,
        query: &Bound<'_, PyString>,
        options: Options<'_>,
    ) -> PyResult<Option<Found>> {
        let query = errors::utf8("query", query, At::Single)?;
        let options = options.read()?;
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        match self.0.search(query, &options, Control::new(&|| Instant::now() >= until)) {
            Ok(found) => Ok(Some(Found(vec![found]))),
            Err(Error::Aborted) => Ok(None),
            Err(failure) => Err(errors::engine(py, &failure, At::Single)),
        }
    }

    /// An entry.
    fn get<'py>(&self, py: Python<'py>, id: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let id = entry::id(id, At::Single)?;
        let entry = self.0.get(id).ok_or_else(|| errors::unknown_entry(py, id))?;
        entry::object(py, entry)
    }

    /// Entries in insertion order, from the first whose id is at least `start`, as many as can be read within about
    /// `seconds` and at least one if there is one: `(id, entry)` each.
    fn entries<'py>(&self, py: Python<'py>, start: EntryId, seconds: f64) -> PyResult<Bound<'py, PyList>> {
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        let entries = PyList::empty(py);
        for (id, entry) in self.0.entries(start) {
            entries.append((id, entry::object(py, entry)?))?;
            if Instant::now() >= until {
                break;
            }
        }
        Ok(entries)
    }

    /// Whether there are entries with all these ids, each given once: an error that names the first if not.
    fn check_ids(&self, py: Python<'_>, ids: &Ids) -> PyResult<()> {
        py.detach(|| {
            let ids = ids.get();
            let mut seen = HashSet::with_capacity(ids.len());
            match ids.iter().find(|id| !seen.insert(**id) || self.0.get(**id).is_none()) {
                Some(id) => Err(Error::UnknownEntry { id: *id }),
                None => Ok(()),
            }
        })
        .map_err(|failure| errors::engine(py, &failure, At::Single))
    }

    /// The source ids of entries that have one, with their ids, in insertion order; as many as `entries` would read.
    fn source_ids<'py>(&self, py: Python<'py>, start: EntryId, seconds: f64) -> PyResult<Bound<'py, PyList>> {
        let until = Instant::now() + Duration::from_secs_f64(seconds);
        let pairs = PyList::empty(py);
        let with = self.0.entries(start).filter_map(|(id, entry)| Some((entry.source_id?, id)));
        for pair in with {
            pairs.append(pair)?;
            if Instant::now() >= until {
                break;
            }
        }
        Ok(pairs)
    }

    /// The ids that entries have within some ranges, which are given by their first and last ids and do not overlap.
    fn ids_within(&self, py: Python<'_>, ranges: Vec<(EntryId, EntryId)>) -> Ids {
        py.detach(|| {
            let ids = ranges.iter().flat_map(|(first, last)| {
                self.0.entries(*first).map(|(id, _)| id).take_while(move |id| id <= last)
            });
            Ids::from(ids.collect::<Vec<_>>())
        })
    }

    /// At most `count` entries in insertion order, from the first whose id is at least `start`, as rows of a database.
    fn rows<'py>(&self, py: Python<'py>, start: EntryId, count: usize) -> PyResult<Bound<'py, PyList>> {
        let absent = py.None().into_bound(py);
        let rows = PyList::empty(py);
        for (id, entry) in self.0.entries(start).take(count) {
            rows.append(entry::row(id, entry, &absent)?)?;
        }
        Ok(rows)
    }
}
