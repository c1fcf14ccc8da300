//! What is collected from a Python iterator, a slice of time after the other, so that an event loop can run in between.

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use diglot_engine::{EntryId, EntryRef, Prepared};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyString};

use crate::control::{CancelFlag, detached};
use crate::dispose;
use crate::entry::{self, Fields, Row};
use crate::errors::{self, At};

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is thrown away by the caller after an error, or is not used again.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes items until there are no more, `take` breaks, or `seconds` have passed. Returns whether there are no more.
pub(crate) fn pull<'py>(
    iterator: &Bound<'py, PyIterator>,
    seconds: f64,
    mut take: impl FnMut(Bound<'py, PyAny>) -> PyResult<ControlFlow<()>>,
) -> PyResult<bool> {
    let until = Instant::now() + Duration::from_secs_f64(seconds);
    for item in iterator {
        if take(item?)?.is_break() || Instant::now() >= until {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The queries of one `search_many`.
#[pyclass(frozen, module = "diglot._engine")]
#[derive(Default)]
pub(crate) struct Queries(Mutex<Vec<String>>);

impl Drop for Queries {
    fn drop(&mut self) {
        let queries = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if queries.len() > dispose::MANY {
            dispose::elsewhere(queries);
        }
    }
}

impl Queries {
    pub(crate) fn get(&self) -> MutexGuard<'_, Vec<String>> {
        lock(&self.0)
    }
}

#[pymethods]
impl Queries {
    #[new]
    fn new() -> Queries {
        Queries::default()
    }

    /// Adds the strings of an iterator for at most about `seconds`. Returns whether there are no more.
    fn extend(&self, iterator: &Bound<'_, PyIterator>, seconds: f64) -> PyResult<bool> {
        let mut queries = self.get();
        pull(iterator, seconds, |item| {
            let at = At::Item("queries", queries.len());
            match item.cast::<PyString>() {
                Ok(text) => queries.push(errors::utf8("query", text, at)?.to_owned()),
                Err(_) => return Err(errors::invalid_type("query", "a str", &item, at)),
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    fn __len__(&self) -> usize {
        self.get().len()
    }
}

/// The ids of one `remove_many`.
#[pyclass(frozen, module = "diglot._engine")]
#[derive(Default)]
pub(crate) struct Ids(Mutex<Vec<EntryId>>);

impl From<Vec<EntryId>> for Ids {
    fn from(ids: Vec<EntryId>) -> Ids {
        Ids(Mutex::new(ids))
    }
}

impl Ids {
    pub(crate) fn get(&self) -> MutexGuard<'_, Vec<EntryId>> {
        lock(&self.0)
    }
}

#[pymethods]
impl Ids {
    #[new]
    fn new() -> Ids {
        Ids::default()
    }

    /// Adds the ids of an iterator for at most about `seconds`. Returns whether there are no more.
    fn extend(&self, iterator: &Bound<'_, PyIterator>, seconds: f64) -> PyResult<bool> {
        let mut ids = self.get();
        pull(iterator, seconds, |item| {
            let id = entry::id(&item, At::Item("ids", ids.len()))?;
            ids.push(id);
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The ids as ranges, each with its first and last id, ascending.
    fn ranges(&self, py: Python<'_>) -> Vec<(EntryId, EntryId)> {
        py.detach(|| {
            let mut ids = self.get().clone();
            ids.sort_unstable();
            let mut ranges: Vec<(EntryId, EntryId)> = Vec::new();
            for id in ids {
                match ranges.last_mut() {
                    Some((_, last)) if id.saturating_sub(1) <= *last => *last = id,
                    _ => ranges.push((id, id)),
                }
            }
            ranges
        })
    }

    fn __len__(&self) -> usize {
        self.get().len()
    }
}

/// Bytes that are copied from Python before the engine has to take them in.
const WAITING_BYTES: usize = 1 << 20;

/// Entries copied from Python: their texts one after the other, and the length of each (`None` has none).
#[derive(Default)]
pub(crate) struct Waiting {
    text: String,
    lengths: Vec<[Option<u32>; EntryRef::FIELDS.len()]>,
}

impl Waiting {
    /// Copies an entry. Returns whether its fields are short enough.
    pub(crate) fn push(&mut self, entry: EntryRef<'_>) -> Option<()> {
        let mut lengths = [None; EntryRef::FIELDS.len()];
        for (length, field) in lengths.iter_mut().zip(entry.texts()) {
            if let Some(field) = field {
                *length = Some(u32::try_from(field.len()).ok()?);
                self.text.push_str(field);
            }
        }
        self.lengths.push(lengths);
        Some(())
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether it is time to take them.
    pub(crate) fn is_full(&self) -> bool {
        self.text.len() >= WAITING_BYTES
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = EntryRef<'_>> {
        let mut rest = self.text.as_str();
        self.lengths.iter().map(move |lengths| {
            EntryRef::of_texts(lengths.map(|length| {
                let (field, after) = rest.split_at(length? as usize);
                rest = after;
                Some(field)
            }))
        })
    }
}

#[derive(Default)]
struct State {
    waiting: Waiting,
    /// The numbers of those that wait, which only rows of a database bring along.
    numbers: Vec<Option<EntryId>>,
    batch: diglot_engine::Batch,
    prepared: Option<Prepared>,
}

impl State {
    /// Copies an entry. Breaks when it is time to `absorb`.
    fn take(
        &mut self,
        number: Option<EntryId>,
        entry: EntryRef<'_>,
        py: Python<'_>,
        at: At,
    ) -> PyResult<ControlFlow<()>> {
        if self.waiting.push(entry).is_none() {
            return Err(errors::invalid_value(py, "entry", "has a field of more than 4 GiB", at));
        }
        self.numbers.push(number);
        match self.waiting.is_full() {
            true => Ok(ControlFlow::Break(())),
            false => Ok(ControlFlow::Continue(())),
        }
    }
}

/// Entries on their way into a memory: `extend` copies them, `absorb` checks and analyses what was copied, `prepare`
/// makes them searchable, and `Memory.publish` shows them, all at once.
#[pyclass(frozen, module = "diglot._engine")]
#[derive(Default)]
pub(crate) struct Batch(Mutex<State>);

impl From<diglot_engine::Batch> for Batch {
    fn from(batch: diglot_engine::Batch) -> Batch {
        Batch(Mutex::new(State { batch, ..State::default() }))
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let state = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if state.batch.len() > dispose::MANY || state.prepared.is_some() {
            dispose::elsewhere(state);
        }
    }
}

impl Batch {
    /// Looks at what was absorbed.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&diglot_engine::Batch) -> T) -> T {
        look(&lock(&self.0).batch)
    }

    /// What was prepared, once.
    pub(crate) fn take(&self) -> Option<Prepared> {
        lock(&self.0).prepared.take()
    }

    /// Lets what was absorbed be added to.
    pub(crate) fn with<T>(&self, add: impl FnOnce(&mut diglot_engine::Batch) -> T) -> T {
        add(&mut lock(&self.0).batch)
    }
}

#[pymethods]
impl Batch {
    #[new]
    fn new() -> Batch {
        Batch::default()
    }

    /// Copies the entries of an iterator for at most about `seconds`, or until it is time to `absorb` them. Returns
    /// whether there are no more.
    fn extend(&self, iterator: &Bound<'_, PyIterator>, seconds: f64) -> PyResult<bool> {
        let mut state = lock(&self.0);
        pull(iterator, seconds, |item| {
            let at = At::Item("entries", state.batch.len() + state.waiting.len());
            let fields = Fields::read(&item, at)?;
            state.take(None, fields.entry()?, item.py(), at)
        })
    }

    /// Copies the rows of a database as `extend` does entries. A row is a tuple of an id and the fields of an entry,
    /// metadata as JSON; ids ascend and become the numbers of the entries.
    fn extend_rows(&self, iterator: &Bound<'_, PyIterator>, seconds: f64) -> PyResult<bool> {
        let mut state = lock(&self.0);
        pull(iterator, seconds, |item| {
            let row = Row::read(&item)?;
            state.take(Some(row.id), row.entry()?, item.py(), At::Row(row.id))
        })
    }

    /// Takes one entry in at once.
    fn push(&self, entry: &Bound<'_, PyAny>) -> PyResult<()> {
        let fields = Fields::read(entry, At::Single)?;
        let mut state = lock(&self.0);
        state.batch.push(fields.entry()?).map_err(|failure| errors::engine(entry.py(), &failure, At::Single))
    }

    /// The entries that were taken in by some batches, in one.
    #[staticmethod]
    fn joined(py: Python<'_>, batches: Vec<PyRef<'_, Batch>>) -> Batch {
        let batches: Vec<&Batch> = batches.iter().map(|batch| &**batch).collect();
        py.detach(|| {
            let mut joined = diglot_engine::Batch::new();
            batches.iter().for_each(|batch| batch.read(|batch| joined.append(batch)));
            Batch::from(joined)
        })
    }

    /// Some entries as rows to insert into a database, by their places; those in the range that there are. An id is
    /// `first` and the number of the entry, and what is not given is 0.
    fn values<'py>(
        &self,
        py: Python<'py>,
        first: EntryId,
        start: usize,
        stop: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let state = lock(&self.0);
        let get = |at| match &state.prepared {
            Some(prepared) => prepared.get(at),
            None => state.batch.get(at).map(|(number, entry, _)| (number, entry)),
        };
        // Python's `sqlite3` takes many times as long for `None` as for a number.
        let absent = 0.into_bound_py_any(py)?;
        let values = PyList::empty(py);
        for (number, entry) in (start..stop).map_while(get) {
            values.append(entry::row(first + number, entry, &absent)?)?;
        }
        Ok(values)
    }

    /// Bytes that were copied and not yet absorbed.
    #[getter]
    fn waiting(&self) -> usize {
        lock(&self.0).waiting.text.len()
    }

    /// Checks and analyses what was copied.
    #[pyo3(signature = (flag=None, signal=None))]
    fn absorb(&self, py: Python<'_>, flag: Option<&CancelFlag>, signal: Option<Py<PyAny>>) -> PyResult<()> {
        detached(py, flag, signal.as_ref(), |control| {
            let mut state = lock(&self.0);
            let waiting = std::mem::take(&mut state.waiting);
            let numbers = std::mem::take(&mut state.numbers);
            for (number, entry) in numbers.into_iter().zip(waiting.entries()) {
                let at = number.map_or_else(|| At::Item("entries", state.batch.len()), At::Row);
                let pushed = control.check().and_then(|()| match number {
                    Some(number) => state.batch.push_at(number, entry),
                    None => state.batch.push(entry),
                });
                pushed.map_err(|failure| (at, failure))?;
            }
            Ok(())
        })
    }

    /// Makes what was absorbed ready for `Memory.publish`.
    #[pyo3(signature = (flag=None, signal=None))]
    fn prepare(&self, py: Python<'_>, flag: Option<&CancelFlag>, signal: Option<Py<PyAny>>) -> PyResult<()> {
        detached(py, flag, signal.as_ref(), |control| {
            let mut state = lock(&self.0);
            let batch = std::mem::take(&mut state.batch);
            state.prepared = Some(batch.prepare(control).map_err(|failure| (At::Single, failure))?);
            Ok(())
        })
    }

    fn __len__(&self) -> usize {
        let state = lock(&self.0);
        let prepared = state.prepared.as_ref().map_or(0, Prepared::len);
        state.batch.len() + state.waiting.len() + prepared
    }
}
