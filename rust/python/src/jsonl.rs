//! Reading JSON Lines.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use diglot_engine::Control;
use diglot_formats::jsonl::{self, Progress};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::batch::{Batch, lock};
use crate::control::{CancelFlag, detached};
use crate::formats::raise;

/// How often Python hears of progress.
const REPORT: Duration = Duration::from_millis(50);

/// Reads the entries of a file. `progress` is called with the bytes read, the size of the file (or `None`) and the number
/// of entries so far, now and then and at the end, on the thread that calls this.
#[pyfunction]
#[pyo3(signature = (path, progress=None, flag=None, signal=None))]
pub(crate) fn read_jsonl(
    py: Python<'_>,
    path: PathBuf,
    progress: Option<Py<PyAny>>,
    flag: Option<&CancelFlag>,
    signal: Option<Py<PyAny>>,
) -> PyResult<Batch> {
    let mut reports = Reports { callback: progress.as_ref(), last: None, due: Instant::now(), raised: None };
    let read = detached(py, flag, signal.as_ref(), |control| {
        let failed = AtomicBool::new(false);
        let stop = || failed.load(Ordering::Relaxed) || control.check().is_err();
        let read = jsonl::read(&path, Control::new(&stop), &mut |progress| {
            reports.hear(progress);
            failed.store(reports.raised.is_some(), Ordering::Relaxed);
        });
        if read.is_ok() {
            reports.tell();
        }
        Ok(read)
    })?;
    if let Some(raised) = reports.raised {
        return Err(raised);
    }
    read.map(Batch::from).map_err(|mut failure| raise(py, &path, &mut failure))
}

/// Tells Python of progress, but not too often.
struct Reports<'a> {
    callback: Option<&'a Py<PyAny>>,
    last: Option<Progress>,
    due: Instant,
    raised: Option<PyErr>,
}

impl Reports<'_> {
    fn hear(&mut self, progress: Progress) {
        self.last = Some(progress);
        if Instant::now() >= self.due {
            self.tell();
            self.due = Instant::now() + REPORT;
        }
    }

    /// Tells what was heard last, if that was not done yet.
    fn tell(&mut self) {
        let (Some(callback), Some(progress), None) = (self.callback, self.last.take(), &self.raised) else {
            return;
        };
        let Progress { bytes_read, bytes_total, entries } = progress;
        self.raised = Python::attach(|py| callback.call1(py, (bytes_read, bytes_total, entries)).err());
    }
}

/// The lines of a JSON Lines file, which may be packed.
#[pyclass(frozen, module = "diglot._engine")]
pub(crate) struct JsonLines {
    path: PathBuf,
    lines: Mutex<jsonl::JsonLines>,
}

#[pymethods]
impl JsonLines {
    /// Opens a file.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<JsonLines> {
        let opened = py.detach(|| jsonl::JsonLines::open(&path));
        let lines = opened.map_err(|mut failure| raise(py, &path, &mut failure))?;
        Ok(JsonLines { path, lines: Mutex::new(lines) })
    }

    /// The next lines that are not only white space, with their numbers; `None` where there are no more.
    fn block<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let read = detached(py, None, None, |control| {
            let mut numbered = Vec::new();
            let read = lock(&self.lines).block(control, |number, line| {
                numbered.push((number, line.to_vec()));
                Ok(())
            });
            Ok(read.map(|more| more.then_some(numbered)))
        })?;
        let Some(lines) = read.map_err(|mut failure| raise(py, &self.path, &mut failure))? else {
            return Ok(None);
        };
        let lines = lines.iter().map(|(number, line)| (*number, PyBytes::new(py, line)));
        Ok(Some(PyList::new(py, lines)?))
    }
}
