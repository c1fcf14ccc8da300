//! Duplicates: what becomes of entries that are there already.

use std::collections::HashMap;

use diglot_engine::{Change, Outcome, Policy};
use pyo3::prelude::*;

use crate::batch::{Batch, Ids};
use crate::control::{CancelFlag, detached};
use crate::errors::{self, At};
use crate::memory::{Memory, Snapshot};

/// A policy by its name.
pub(crate) struct Named(Policy);

impl FromPyObject<'_, '_> for Named {
    type Error = PyErr;

    fn extract(name: Borrowed<'_, '_, PyAny>) -> PyResult<Named> {
        let py = name.py();
        match name.extract()? {
            "keep" => Ok(Named(Policy::Keep)),
            "skip" => Ok(Named(Policy::Skip)),
            "replace" => Ok(Named(Policy::Replace)),
            "newest" => Ok(Named(Policy::Newest)),
            name => Err(errors::invalid_value(
                py,
                "duplicates",
                format_args!("is {name:?}; it must be keep, skip, replace or newest"),
                At::Single,
            )),
        }
    }
}

/// Source language, target language; and how many entries were added, duplicates, replaced, removed.
type Counts = (Option<String>, Option<String>, usize, usize, usize, usize);

fn counts(outcomes: Vec<Outcome>) -> Vec<Counts> {
    let counts = outcomes.into_iter().map(|outcome| {
        let Outcome { source_language, target_language, added, duplicate, replaced, removed } = outcome;
        (source_language, target_language, added, duplicate, replaced, removed)
    });
    counts.collect()
}

type Pair = (Option<String>, Option<String>);

/// How many entries of a batch there are of each pair of languages, as they were given.
#[pyfunction]
pub(crate) fn count_pairs(py: Python<'_>, batch: &Batch) -> HashMap<Pair, usize> {
    let owned = |language: Option<&str>| language.map(str::to_owned);
    py.detach(|| {
        batch.read(|batch| {
            let pairs = batch.pairs().into_iter();
            pairs.map(|((source, target), entries)| ((owned(source), owned(target)), entries)).collect()
        })
    })
}

/// Entries by pair of languages, counted as added. Tags that differ only in case are the same language.
#[pyfunction]
pub(crate) fn fold_pairs(py: Python<'_>, pairs: HashMap<Pair, usize>) -> Vec<Counts> {
    py.detach(|| {
        counts(Outcome::all_added(
            pairs
                .iter()
                .map(|((source, target), entries)| ((source.as_deref(), target.as_deref()), *entries)),
        ))
    })
}

/// What becomes of the entries of a batch in a state of a memory: the ids to remove there, a batch of entries numbered by
/// their ids, and counts. The batch was absorbed, not prepared, and stays as it is.
#[pyfunction]
#[pyo3(signature = (batch, memory, policy, flag=None, signal=None))]
pub(crate) fn resolve(
    py: Python<'_>,
    batch: &Batch,
    memory: &Snapshot,
    policy: Named,
    flag: Option<&CancelFlag>,
    signal: Option<Py<PyAny>>,
) -> PyResult<(Ids, Batch, Vec<Counts>)> {
    let change = detached(py, flag, signal.as_ref(), |control| {
        batch
            .read(|batch| batch.resolve(&memory.0, policy.0, control))
            .map_err(|failure| (At::Single, failure))
    })?;
    let Change { removed, batch, outcomes } = change;
    Ok((removed.into(), batch.into(), counts(outcomes)))
}

/// The ids of the entries of a memory that are duplicates, and counts.
#[pyfunction]
#[pyo3(signature = (memory, policy, flag=None, signal=None))]
pub(crate) fn find_duplicates(
    py: Python<'_>,
    memory: &Snapshot,
    policy: Named,
    flag: Option<&CancelFlag>,
    signal: Option<Py<PyAny>>,
) -> PyResult<(Ids, Vec<Counts>)> {
    let change = detached(py, flag, signal.as_ref(), |control| {
        memory.0.duplicates(policy.0, control).map_err(|failure| (At::Single, failure))
    })?;
    Ok((change.removed.into(), counts(change.outcomes)))
}

/// Adds a batch, which was absorbed, not prepared, to a memory.
#[pyfunction]
#[pyo3(signature = (memory, batch, policy, flag=None, signal=None))]
pub(crate) fn merge(
    py: Python<'_>,
    memory: &Memory,
    batch: &Batch,
    policy: Named,
    flag: Option<&CancelFlag>,
    signal: Option<Py<PyAny>>,
) -> PyResult<Vec<Counts>> {
    let commit = || flag.map_or(Ok(()), CancelFlag::commit);
    detached(py, flag, signal.as_ref(), |control| {
        let merged = batch.read(|batch| memory.0.merge(batch, policy.0, commit, control));
        merged.map(|(outcomes, _)| counts(outcomes)).map_err(|failure| (At::Single, failure))
    })
}

/// Removes the entries of a memory that are duplicates.
#[pyfunction]
#[pyo3(signature = (memory, policy, flag=None, signal=None))]
pub(crate) fn dedupe(
    py: Python<'_>,
    memory: &Memory,
    policy: Named,
    flag: Option<&CancelFlag>,
    signal: Option<Py<PyAny>>,
) -> PyResult<Vec<Counts>> {
    let commit = || flag.map_or(Ok(()), CancelFlag::commit);
    detached(py, flag, signal.as_ref(), |control| {
        memory.0.dedupe(policy.0, commit, control).map(counts).map_err(|failure| (At::Single, failure))
    })
}
