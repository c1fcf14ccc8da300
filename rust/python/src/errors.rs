//! Errors as Python sees them. The classes are written in `diglot.errors`.

use std::fmt::Display;
use std::io;
use std::path::Path;

use diglot_engine::{Error, image};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Which item of a batch is being read; shown in front of what was wrong with it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum At {
    /// The only one.
    Single,
    /// The item with this position in the argument of that name.
    Item(&'static str, usize),
    /// The row of a database with this id.
    Row(u64),
}

impl At {
    fn position(self) -> Option<usize> {
        match self {
            At::Single | At::Row(_) => None,
            At::Item(_, position) => Some(position),
        }
    }

    fn before(self, message: &str) -> String {
        match self {
            At::Single => message.to_owned(),
            At::Item(argument, position) => format!("{argument}[{position}]: {message}"),
            At::Row(id) => format!("the entry with the id {id}: {message}"),
        }
    }
}

#[cold]
fn error(py: Python<'_>, class: &str, code: &str, field: Option<&str>, at: At, message: &str) -> PyErr {
    let make = || {
        let details = PyDict::new(py);
        details.set_item("code", code)?;
        details.set_item("field", field)?;
        details.set_item("position", at.position())?;
        py.import("diglot.errors")?.getattr(class)?.call((at.before(message),), Some(&details))
    };
    make().map_or_else(|failure| failure, PyErr::from_value)
}

/// `field` has a type that is not allowed there. `expected` says what is.
pub(crate) fn invalid_type(field: &str, expected: &str, value: &Bound<'_, PyAny>, at: At) -> PyErr {
    let found = match value.get_type().name() {
        Ok(name) => name.to_string(),
        Err(failure) => return failure,
    };
    let message = format!("{field} must be {expected}, not {found}");
    error(value.py(), "InvalidTypeError", "invalid_type", Some(field), at, &message)
}

/// `field` has a value that is not allowed there. `what` says what was wrong.
pub(crate) fn invalid_value(py: Python<'_>, field: &str, what: impl Display, at: At) -> PyErr {
    error(py, "InvalidValueError", "invalid_value", Some(field), at, &format!("{field} {what}"))
}

/// The text of a Python string.
///
/// # Errors
/// `lone_surrogate` for a string that UTF-8 cannot hold.
pub(crate) fn utf8<'a>(field: &str, value: &'a Bound<'_, PyString>, at: At) -> PyResult<&'a str> {
    value.to_str().map_err(|failure| {
        let py = value.py();
        if !failure.is_instance_of::<pyo3::exceptions::PyUnicodeEncodeError>(py) {
            return failure;
        }
        match failure.value(py).getattr("start").and_then(|start| start.extract::<usize>()) {
            Ok(start) => {
                let message = format!(
                    "{field} has a lone surrogate at character {start}; only text that UTF-8 can hold is allowed"
                );
                error(py, "InvalidValueError", "lone_surrogate", Some(field), at, &message)
            }
            Err(failure) => failure,
        }
    })
}

/// The engine's errors, one by one.
pub(crate) fn engine(py: Python<'_>, failure: &Error, at: At) -> PyErr {
    let message = failure.to_string();
    match failure {
        Error::EmptyText { field } => error(py, "InvalidValueError", "empty_text", Some(field), at, &message),
        Error::TooLong { field, .. } => {
            error(py, "InvalidValueError", "text_too_long", Some(field), at, &message)
        }
        Error::MaxHits => error(py, "InvalidValueError", "invalid_value", Some("max_hits"), at, &message),
        Error::MinScore { .. } => {
            error(py, "InvalidValueError", "invalid_value", Some("min_score"), at, &message)
        }
        Error::PhraseTooLong { .. } => {
            error(py, "InvalidValueError", "text_too_long", Some("text"), at, &message)
        }
        Error::IdTaken { .. } => error(py, "InvalidValueError", "invalid_value", Some("id"), at, &message),
        Error::UnknownEntry { id } => unknown_entry(py, id),
        Error::Aborted => error(py, "AbortedError", "aborted", None, At::Single, &message),
    }
}

/// No entry has this id.
pub(crate) fn unknown_entry(py: Python<'_>, id: impl Display) -> PyErr {
    let message = format!("no entry has the id {id}");
    error(py, "UnknownEntryError", "unknown_entry", Some("id"), At::Single, &message)
}

/// A file does not hold what it should.
pub(crate) fn format(py: Python<'_>, path: &Path, line: u64, field: Option<&str>, message: &str) -> PyErr {
    let make = || {
        let details = PyDict::new(py);
        details.set_item("path", path.as_os_str())?;
        details.set_item("line", line)?;
        details.set_item("field", field)?;
        let message = format!("{}, line {line}: {message}", path.display());
        py.import("diglot.errors")?.getattr("FormatError")?.call((message,), Some(&details))
    };
    make().map_or_else(|failure| failure, PyErr::from_value)
}

/// A snapshot file was not written or read.
pub(crate) fn image(py: Python<'_>, path: &Path, failure: image::Error) -> PyErr {
    let why = match failure {
        image::Error::Io(failure) => return io(py, path, failure),
        image::Error::Aborted => return engine(py, &Error::Aborted, At::Single),
        image::Error::Unusable(why) => why,
    };
    let make = || {
        let details = PyDict::new(py);
        details.set_item("path", path.as_os_str())?;
        let message = format!("{} cannot be used: {why}", path.display());
        py.import("diglot.errors")?.getattr("SnapshotError")?.call((message,), Some(&details))
    };
    make().map_or_else(|failure| failure, PyErr::from_value)
}

/// A file cannot be read or written.
pub(crate) fn io(py: Python<'_>, path: &Path, failure: io::Error) -> PyErr {
    let Some(number) = failure.raw_os_error() else { return failure.into() };
    // Given all three, OSError makes itself a FileNotFoundError and the like.
    match py.import("os").and_then(|os| os.call_method1("strerror", (number,))) {
        Ok(message) => PyOSError::new_err((number, message.unbind(), path.as_os_str().to_owned())),
        Err(failure) => failure,
    }
}
