//! Going through all entries of a memory.

use diglot_engine::{EntryId, Phrase, Side};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::control::{CancelFlag, detached};
use crate::errors::{self, At};
use crate::memory::{Options, Snapshot};

/// The values of the fields that were asked for, and how many entries have them.
type Count = ([Option<String>; 4], usize);

/// What to look for, where ("source", "target" or "both"), and the lowest id.
type Wanted<'py> = (Bound<'py, PyString>, String, EntryId);

/// The ids of the first entries that contain a text.
#[pyfunction]
#[pyo3(signature = (memory, wanted, options, flag=None, signal=None))]
pub(crate) fn containing(
    py: Python<'_>,
    memory: &Snapshot,
    wanted: Wanted<'_>,
    options: Options<'_>,
    flag: Option<&CancelFlag>,
    signal: Option<Py<PyAny>>,
) -> PyResult<Vec<EntryId>> {
    let (text, side, start) = wanted;
    let side = match side.as_str() {
        "source" => Side::Source,
        "target" => Side::Target,
        "both" => Side::Both,
        _ => {
            let what = format!("is '{side}'; it must be 'source', 'target' or 'both'");
            return Err(errors::invalid_value(py, "side", what, At::Single));
        }
    };
    let text = errors::utf8("text", &text, At::Single)?;
    let options = options.read()?;
    detached(py, flag, signal.as_ref(), |control| {
        let phrase = Phrase::new(text).map_err(|failure| (At::Single, failure))?;
        memory
            .0
            .containing(&phrase, side, &options.filter, start, options.max_hits, control)
            .map_err(|failure| (At::Single, failure))
    })
}

/// How many entries pass the filters of `options`, by the values of the fields that `by` says: source language, target
/// language, domain, namespace.
#[pyfunction]
#[pyo3(signature = (memory, by, options, flag=None, signal=None))]
pub(crate) fn count_by(
    py: Python<'_>,
    memory: &Snapshot,
    by: [bool; 4],
    options: Options<'_>,
    flag: Option<&CancelFlag>,
    signal: Option<Py<PyAny>>,
) -> PyResult<Vec<Count>> {
    let options = options.read()?;
    detached(py, flag, signal.as_ref(), |control| {
        let counts =
            memory.0.count_by(by, &options.filter, control).map_err(|failure| (At::Single, failure))?;
        let owned = |values: [Option<&str>; 4]| values.map(|value| value.map(str::to_owned));
        Ok(counts.into_iter().map(|(values, entries)| (owned(values), entries)).collect())
    })
}
