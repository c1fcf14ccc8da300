//! Snapshots as files.

use std::path::PathBuf;

use diglot_engine::image;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::control::{CancelFlag, detached};
use crate::errors;
use crate::memory::{Memory, Snapshot};

/// Writes states of memories to one file, in one step, with a tag of the caller's.
#[pyfunction]
#[pyo3(signature = (snapshots, path, tag, like=None, flag=None, signal=None))]
pub(crate) fn save_snapshots(
    py: Python<'_>,
    snapshots: Vec<PyRef<'_, Snapshot>>,
    path: PathBuf,
    tag: &[u8],
    like: Option<PathBuf>,
    flag: Option<&CancelFlag>,
    signal: Option<Py<PyAny>>,
) -> PyResult<()> {
    let snapshots: Vec<&diglot_engine::Snapshot> =
        snapshots.iter().map(|snapshot| snapshot.0.as_ref()).collect();
    let saved = detached(py, flag, signal.as_ref(), |control| {
        Ok(image::save(&snapshots, &path, tag, like.as_deref(), control))
    })?;
    saved.map_err(|failure| errors::image(py, &path, failure))
}

/// The memories, `count` of them, whose states `save_snapshots` wrote to a file, and the tag.
#[pyfunction]
#[pyo3(signature = (path, count, flag=None, signal=None))]
pub(crate) fn open_memories<'py>(
    py: Python<'py>,
    path: PathBuf,
    count: usize,
    flag: Option<&CancelFlag>,
    signal: Option<Py<PyAny>>,
) -> PyResult<(Vec<Memory>, Bound<'py, PyBytes>)> {
    let opened = detached(py, flag, signal.as_ref(), |control| Ok(image::open(&path, count, control)))?;
    let (memories, tag) = opened.map_err(|failure| errors::image(py, &path, failure))?;
    Ok((memories.into_iter().map(Memory).collect(), PyBytes::new(py, &tag)))
}
