//! Files of other programs, read and written a slice at a time.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use diglot_engine::EntryRef;
use diglot_formats::{Error, Fault, Format, Problem, Reader, Sink, Writer, refused, shorten};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList, PyString};

use crate::batch::{Batch, Waiting, lock, pull};
use crate::control::{CancelFlag, detached};
use crate::entry::{self, Fields};
use crate::errors::{self, At};
use crate::memory::{self, Snapshot};

/// Entries of a snapshot that are written at a time.
const ENTRIES: usize = 4096;

/// Entries between two looks at the control.
const ENTRIES_BETWEEN_CHECKS: usize = 64;

/// What was left out: line, unit, code, message.
type Skipped = (u64, Option<String>, &'static str, String);

fn skipped(problem: Problem) -> Skipped {
    (problem.line, problem.unit, problem.code, problem.message)
}

/// The error as Python has it.
pub(crate) fn raise(py: Python<'_>, path: &Path, failure: &mut Error) -> PyErr {
    match failure {
        Error::Io(failure) => {
            errors::io(py, path, std::mem::replace(failure, std::io::ErrorKind::Other.into()))
        }
        Error::Format { line, field, message } => errors::format(py, path, *line, *field, message),
        Error::Option { option, message } => errors::invalid_value(py, option, message, At::Single),
        Error::Unwritable(problem) => errors::format(py, path, problem.line, None, &problem.message),
        Error::Aborted => errors::engine(py, &diglot_engine::Error::Aborted, At::Single),
    }
}

/// Runs `work` as [`detached`] does. What it returns as an error has ended the file, which is closed.
fn on_file<F: Send, T: Send>(
    py: Python<'_>,
    path: &Path,
    file: &Mutex<Option<F>>,
    flag: Option<&CancelFlag>,
    signal: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut F, diglot_engine::Control<'_>) -> Result<T, Error> + Send,
) -> PyResult<Option<T>> {
    let outcome = detached(py, flag, signal, |control| {
        let mut file = lock(file);
        let outcome = match file.as_mut() {
            None => Ok(None),
            Some(open) => work(open, control).map(Some),
        };
        if outcome.is_err() {
            *file = None;
        }
        match outcome {
            // What the signal raised is known only there.
            Err(Error::Aborted) => Err((At::Single, diglot_engine::Error::Aborted)),
            outcome => Ok(outcome),
        }
    })?;
    outcome.map_err(|mut failure| raise(py, path, &mut failure))
}

struct OpenReader {
    reader: Box<dyn Reader>,
    problems: Vec<Problem>,
}

/// A file that is being read.
#[pyclass(frozen, module = "diglot._engine")]
pub(crate) struct FileReader {
    path: PathBuf,
    format: Format,
    bytes_total: Option<u64>,
    open: Mutex<Option<OpenReader>>,
    /// Bytes and units, as far as they were known when the last slice ended.
    progress: Mutex<(u64, u64)>,
    problems: Mutex<Vec<Problem>>,
}

/// Puts entries into a batch.
struct IntoBatch<'a> {
    batch: &'a mut diglot_engine::Batch,
    /// What all entries get, whatever the file says.
    domain: Option<&'a str>,
    namespace: Option<&'a str>,
    /// Where entries may be; `None` for anywhere, and nowhere in particular.
    namespaces: Option<&'a [&'a str]>,
    problems: &'a mut Vec<Problem>,
}

impl Sink for IntoBatch<'_> {
    fn entry(&mut self, entry: EntryRef<'_>) -> Result<(), Fault> {
        let domain = self.domain.or(entry.domain);
        let mut namespace = self.namespace.or(entry.namespace);
        if let Some(allowed) = self.namespaces {
            namespace = Some(choose(namespace, allowed)?);
        }
        self.batch.push(EntryRef { domain, namespace, ..entry }).map_err(|refusal| refused(&refusal))
    }

    fn skip(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

/// The one of the namespaces that are allowed in which an entry belongs that names this one, or none.
fn choose<'a>(named: Option<&str>, allowed: &[&'a str]) -> Result<&'a str, Fault> {
    match (named, allowed) {
        (None, [only]) => Ok(only),
        (None, _) => {
            let message = format!("namespace is missing; allowed are {}", quoted(allowed));
            Err(("missing_namespace", message))
        }
        (Some(named), _) => allowed.iter().find(|one| **one == named).copied().ok_or_else(|| {
            let named = shorten(&format!("{named:?}"));
            ("foreign_namespace", format!("namespace is {named}; allowed are {}", quoted(allowed)))
        }),
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// Keeps entries and problems in the order of the file.
#[derive(Default)]
struct InOrder {
    entries: Waiting,
    /// How many entries come before each problem.
    problems: Vec<(usize, Problem)>,
}

impl Sink for InOrder {
    fn entry(&mut self, entry: EntryRef<'_>) -> Result<(), Fault> {
        entry.check().map_err(|refusal| refused(&refusal))?;
        // A text that was checked is far shorter than what has no room.
        _ = self.entries.push(entry);
        Ok(())
    }

    fn skip(&mut self, problem: Problem) {
        self.problems.push((self.entries.len(), problem));
    }
}

impl FileReader {
    fn slice<T: Send>(
        &self,
        py: Python<'_>,
        flag: Option<&CancelFlag>,
        signal: Option<Py<PyAny>>,
        work: impl FnOnce(&mut OpenReader, diglot_engine::Control<'_>) -> Result<T, Error> + Send,
    ) -> PyResult<Option<T>> {
        on_file(py, &self.path, &self.open, flag, signal.as_ref(), |open, control| {
            let outcome = work(open, control);
            *lock(&self.progress) = (open.reader.bytes_read(), open.reader.units_read());
            lock(&self.problems).append(&mut open.problems);
            outcome
        })
    }
}

#[pymethods]
impl FileReader {
    /// Opens a file. Its format, if it is not given, is what its name or its first bytes tell.
    #[new]
    #[pyo3(signature = (path, format=None, options=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<FileReader> {
        let options = crate::options::options(options)?;
        let opened = py.detach(|| {
            let format = format.map(Format::from_name).transpose()?;
            let bytes_total =
                std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file).map(|file| file.len());
            Ok((diglot_formats::open(&path, format, &options)?, bytes_total))
        });
        let ((format, reader), bytes_total) = opened.map_err(|mut failure| raise(py, &path, &mut failure))?;
        let open = OpenReader { reader, problems: Vec::new() };
        Ok(FileReader {
            path,
            format,
            bytes_total,
            open: Mutex::new(Some(open)),
            progress: Mutex::default(),
            problems: Mutex::default(),
        })
    }

    /// The format's name.
    #[getter]
    fn format(&self) -> &'static str {
        self.format.name()
    }

    /// The size of the file on disk; `None` for a pipe and the like.
    #[getter]
    fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }

    /// Bytes of the file read so far, as they are on disk.
    #[getter]
    fn bytes_read(&self) -> u64 {
        lock(&self.progress).0
    }

    /// Units of the format read so far, with those that were left out.
    #[getter]
    fn units_read(&self) -> u64 {
        lock(&self.progress).1
    }

    /// Reads some units into a batch, without the GIL. Returns whether there are more. All entries get the domain and the
    /// namespace that are given; those that are then in none of `namespaces` are left out, and those without one get the
    /// only one of them.
    #[pyo3(signature = (batch, domain=None, namespace=None, namespaces=None, flag=None, signal=None))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
    fn read_into(
        &self,
        py: Python<'_>,
        batch: &Batch,
        domain: Option<Bound<'_, PyString>>,
        namespace: Option<Bound<'_, PyString>>,
        namespaces: Option<Vec<Bound<'_, PyString>>>,
        flag: Option<&CancelFlag>,
        signal: Option<Py<PyAny>>,
    ) -> PyResult<bool> {
        let domain = domain.as_ref().map(|text| errors::utf8("domain", text, At::Single)).transpose()?;
        let namespace =
            namespace.as_ref().map(|text| errors::utf8("namespace", text, At::Single)).transpose()?;
        let namespaces = namespaces.as_ref().map(|names| {
            names
                .iter()
                .map(|name| errors::utf8("namespaces", name, At::Single))
                .collect::<PyResult<Vec<_>>>()
        });
        let namespaces = namespaces.transpose()?;
        let more = self.slice(py, flag, signal, |open, control| {
            batch.with(|batch| {
                let OpenReader { reader, problems } = open;
                let namespaces = namespaces.as_deref();
                reader.read(&mut IntoBatch { batch, domain, namespace, namespaces, problems }, control)
            })
        })?;
        Ok(more.unwrap_or(false))
    }

    /// Reads some units, without the GIL. Returns entries, and for what was left out `(line, unit, code, message)`, in the
    /// order of the file; and whether there are more.
    #[pyo3(signature = (flag=None, signal=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        flag: Option<&CancelFlag>,
        signal: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyList>, bool)> {
        let read = self.slice(py, flag, signal, |open, control| {
            let mut sink = InOrder::default();
            let more = open.reader.read(&mut sink, control)?;
            Ok((sink, more))
        })?;
        let items = PyList::empty(py);
        let Some((InOrder { entries, problems }, more)) = read else { return Ok((items, false)) };
        let mut problems = problems.into_iter().peekable();
        for (number, entry) in entries.entries().enumerate() {
            while let Some((_, problem)) = problems.next_if(|(before, _)| *before <= number) {
                items.append(skipped(problem))?;
            }
            items.append(entry::object(py, entry)?)?;
        }
        for (_, problem) in problems {
            items.append(skipped(problem))?;
        }
        Ok((items, more))
    }

    /// What `read_into` left out since this was called last: `(line, unit, code, message)` each.
    fn take_problems(&self) -> Vec<Skipped> {
        std::mem::take(&mut *lock(&self.problems)).into_iter().map(skipped).collect()
    }
}

struct OpenWriter {
    writer: Box<dyn Writer>,
    /// Entries that were written.
    written: u64,
    /// Where in a snapshot writing goes on.
    next: diglot_engine::EntryId,
    problems: Vec<Problem>,
}

impl OpenWriter {
    fn write(&mut self, entry: EntryRef<'_>) -> Result<(), Error> {
        match self.writer.write(entry) {
            Ok(()) => self.written += 1,
            Err(Error::Unwritable(problem)) => self.problems.push(problem),
            Err(failure) => return Err(failure),
        }
        Ok(())
    }
}

/// A file that is being written. It is there when `finish` returns; dropped before, nothing is.
#[pyclass(frozen, module = "diglot._engine")]
pub(crate) struct FileWriter {
    path: PathBuf,
    format: Format,
    open: Mutex<Option<OpenWriter>>,
    written: Mutex<u64>,
    waiting: Mutex<Waiting>,
    problems: Mutex<Vec<Problem>>,
}

impl FileWriter {
    fn slice<T: Send>(
        &self,
        py: Python<'_>,
        flag: Option<&CancelFlag>,
        signal: Option<Py<PyAny>>,
        work: impl FnOnce(&mut OpenWriter, diglot_engine::Control<'_>) -> Result<T, Error> + Send,
    ) -> PyResult<Option<T>> {
        on_file(py, &self.path, &self.open, flag, signal.as_ref(), |open, control| {
            let outcome = work(open, control);
            *lock(&self.written) = open.written;
            lock(&self.problems).append(&mut open.problems);
            outcome
        })
    }
}

#[pymethods]
impl FileWriter {
    /// Begins a file. Its format, if it is not given, is what its name tells.
    #[new]
    #[pyo3(signature = (path, format=None, options=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<FileWriter> {
        let options = crate::options::options(options)?;
        let created = py.detach(|| {
            let format = format.map(Format::from_name).transpose()?;
            diglot_formats::create(&path, format, &options)
        });
        let (format, writer) = created.map_err(|mut failure| raise(py, &path, &mut failure))?;
        let open = OpenWriter { writer, written: 0, next: 0, problems: Vec::new() };
        Ok(FileWriter {
            path,
            format,
            open: Mutex::new(Some(open)),
            written: Mutex::default(),
            waiting: Mutex::default(),
            problems: Mutex::default(),
        })
    }

    /// The format's name.
    #[getter]
    fn format(&self) -> &'static str {
        self.format.name()
    }

    /// Entries that were written.
    #[getter]
    fn written(&self) -> u64 {
        *lock(&self.written)
    }

    /// Copies entries for at most about `seconds`, or until it is time to `absorb` them. Returns whether there are no more.
    fn extend(&self, iterator: &Bound<'_, PyIterator>, seconds: f64) -> PyResult<bool> {
        let mut waiting = lock(&self.waiting);
        let before = lock(&self.written);
        let before = usize::try_from(*before).unwrap_or(usize::MAX);
        pull(iterator, seconds, |item| {
            let at = At::Item("entries", before.saturating_add(waiting.len()));
            let fields = Fields::read(&item, at)?;
            let entry = fields.entry()?;
            entry.check().map_err(|failure| errors::engine(item.py(), &failure, at))?;
            // A text that was checked is far shorter than what has no room.
            _ = waiting.push(entry);
            Ok(if waiting.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })
    }

    /// Writes what was copied, without the GIL.
    #[pyo3(signature = (flag=None, signal=None))]
    fn absorb(&self, py: Python<'_>, flag: Option<&CancelFlag>, signal: Option<Py<PyAny>>) -> PyResult<()> {
        self.slice(py, flag, signal, |open, control| {
            let waiting = std::mem::take(&mut *lock(&self.waiting));
            for (number, entry) in waiting.entries().enumerate() {
                if number % ENTRIES_BETWEEN_CHECKS == 0 {
                    control.check()?;
                }
                open.write(entry)?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Writes some of a snapshot's entries that the filters let through, without the GIL: on from where it stopped the last
    /// time. Returns whether there are more.
    #[pyo3(signature = (snapshot, filters, flag=None, signal=None))]
    fn write_snapshot(
        &self,
        py: Python<'_>,
        snapshot: &Snapshot,
        filters: [Option<Bound<'_, PyString>>; 4],
        flag: Option<&CancelFlag>,
        signal: Option<Py<PyAny>>,
    ) -> PyResult<bool> {
        let filter = memory::filter(filters.each_ref())?;
        let more = self.slice(py, flag, signal, |open, control| {
            if open.next == 0 {
                let sources = snapshot.0.count_by([true, false, false, false], &filter, control)?;
                if let [[Some(language), ..]] = sources.into_keys().collect::<Vec<_>>()[..] {
                    open.writer.all_sources_in(language);
                }
            }
            for (number, (id, entry)) in snapshot.0.entries(open.next).take(ENTRIES).enumerate() {
                if number % ENTRIES_BETWEEN_CHECKS == 0 {
                    control.check()?;
                }
                if filter.matches(&entry) {
                    open.write(entry)?;
                }
                open.next = id + 1;
            }
            Ok(snapshot.0.entries(open.next).next().is_some())
        })?;
        Ok(more.unwrap_or(false))
    }

    /// What could not be written since this was called last: `(number of the entry, source id, code, message)` each.
    fn take_problems(&self) -> Vec<Skipped> {
        std::mem::take(&mut *lock(&self.problems)).into_iter().map(skipped).collect()
    }

    /// Ends the file and puts it in its place.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let finished = py.detach(|| match lock(&self.open).take() {
            Some(open) => open.writer.finish(),
            None => Ok(()),
        });
        finished.map_err(|mut failure| raise(py, &self.path, &mut failure))
    }

    /// Gives the file up: nothing of it is left.
    fn abandon(&self, py: Python<'_>) {
        py.detach(|| drop(lock(&self.open).take()));
    }
}

/// The names of the formats, each with the endings of its files' names.
#[pyfunction]
pub(crate) fn file_formats() -> Vec<(&'static str, &'static [&'static str])> {
    Format::all().map(|format| (format.name(), format.extensions())).collect()
}
