//! Entries in and out: a `TranslationMemoryEntry` is read attribute by attribute, and leaves with its slots filled.

use diglot_engine::{EntryId, EntryRef, Error, Hit};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyString, PyTuple, PyType};
use pyo3::{IntoPyObjectExt, intern, pyfunction};

use crate::errors::{self, At};
use crate::json;

static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The fields of one entry, held so that they can be borrowed.
pub(crate) struct Fields<'py> {
    texts: [Option<Bound<'py, PyString>>; 9],
    metadata: Option<String>,
    at: At,
}

/// The texts of fields, borrowed, in the order of [`EntryRef::FIELDS`]; those that are not given are not there.
///
/// # Errors
/// `lone_surrogate`, naming the field.
fn borrowed<'a>(texts: &'a [Option<Bound<'_, PyString>>], at: At) -> PyResult<EntryRef<'a>> {
    let mut borrowed = [None; EntryRef::FIELDS.len()];
    for ((borrowed, text), field) in borrowed.iter_mut().zip(texts).zip(EntryRef::FIELDS) {
        *borrowed = text.as_ref().map(|text| errors::utf8(field, text, at)).transpose()?;
    }
    Ok(EntryRef::of_texts(borrowed))
}

impl<'py> Fields<'py> {
    /// Reads an entry.
    ///
    /// # Errors
    /// `InvalidTypeError` for what is no entry and for a field of a wrong type; and as [`json::write_object`].
    pub(crate) fn read(entry: &Bound<'py, PyAny>, at: At) -> PyResult<Fields<'py>> {
        let py = entry.py();
        let class = CLASS.import(py, "diglot.model", "TranslationMemoryEntry")?;
        if !entry.is_instance(class)? {
            return Err(errors::invalid_type("entry", "a TranslationMemoryEntry", entry, at));
        }
        // A literal per field: interned names make this several times faster than a loop over the names.
        let texts = [
            required(entry, intern!(py, "source"), at)?,
            required(entry, intern!(py, "target"), at)?,
            optional(entry, intern!(py, "source_language"), at)?,
            optional(entry, intern!(py, "target_language"), at)?,
            optional(entry, intern!(py, "domain"), at)?,
            optional(entry, intern!(py, "namespace"), at)?,
            optional(entry, intern!(py, "source_id"), at)?,
            optional(entry, intern!(py, "created_at"), at)?,
            optional(entry, intern!(py, "notes"), at)?,
        ];
        let metadata = entry.getattr(intern!(py, "metadata"))?;
        let metadata = match metadata.is_none() {
            true => None,
            false => Some(json::write_object("metadata", &metadata, at)?),
        };
        Ok(Fields { texts, metadata, at })
    }

    /// The entry as the engine takes it.
    ///
    /// # Errors
    /// `lone_surrogate`, naming the field.
    pub(crate) fn entry(&self) -> PyResult<EntryRef<'_>> {
        Ok(EntryRef { metadata: self.metadata.as_deref(), ..borrowed(&self.texts, self.at)? })
    }
}

/// An entry as a row of a database: its id and its fields, metadata as JSON. What is not given is `absent`.
pub(crate) fn row<'py>(
    id: EntryId,
    entry: EntryRef<'_>,
    absent: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = absent.py();
    let id = id.into_bound_py_any(py)?;
    let texts = entry.texts();
    let values: [_; 1 + EntryRef::FIELDS.len()] = std::array::from_fn(|at| match at.checked_sub(1) {
        None => id.clone(),
        Some(field) => texts[field].map_or_else(|| absent.clone(), |text| PyString::new(py, text).into_any()),
    });
    PyTuple::new(py, values)
}

/// A row of a database, held so that its texts can be borrowed.
pub(crate) struct Row<'py> {
    pub(crate) id: EntryId,
    texts: [Option<Bound<'py, PyString>>; EntryRef::FIELDS.len()],
}

impl<'py> Row<'py> {
    /// Reads a tuple as [`row`] makes it.
    ///
    /// # Errors
    /// `InvalidTypeError` for what is no such tuple.
    pub(crate) fn read(row: &Bound<'py, PyAny>) -> PyResult<Row<'py>> {
        let values = match row.cast::<PyTuple>() {
            Ok(values) if values.len() == 1 + EntryRef::FIELDS.len() => values,
            _ => return Err(errors::invalid_type("row", "a tuple of an id and ten fields", row, At::Single)),
        };
        let id = self::id(&values.get_item(0)?, At::Single)?;
        let mut texts = [const { None }; EntryRef::FIELDS.len()];
        for (number, (text, value)) in texts.iter_mut().zip(values.iter().skip(1)).enumerate() {
            let optional = number >= 2;
            if optional && value.is_none() {
                continue;
            }
            let name = EntryRef::FIELDS[number];
            let expected = if optional { "a str or None" } else { "a str" };
            let value = value.cast_into::<PyString>().map_err(|failure| {
                errors::invalid_type(name, expected, &failure.into_inner(), At::Row(id))
            })?;
            *text = Some(value);
        }
        Ok(Row { id, texts })
    }

    /// The entry as the engine takes it.
    ///
    /// # Errors
    /// `lone_surrogate`, naming the field.
    pub(crate) fn entry(&self) -> PyResult<EntryRef<'_>> {
        borrowed(&self.texts, At::Row(self.id))
    }
}

fn required<'py>(
    entry: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
    at: At,
) -> PyResult<Option<Bound<'py, PyString>>> {
    match entry.getattr(name)?.cast_into::<PyString>() {
        Ok(text) => Ok(Some(text)),
        Err(failure) => Err(errors::invalid_type(name.to_str()?, "a str", &failure.into_inner(), at)),
    }
}

fn optional<'py>(
    entry: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
    at: At,
) -> PyResult<Option<Bound<'py, PyString>>> {
    let value = entry.getattr(name)?;
    if value.is_none() {
        return Ok(None);
    }
    match value.cast_into::<PyString>() {
        Ok(text) => Ok(Some(text)),
        Err(failure) => Err(errors::invalid_type(name.to_str()?, "a str or None", &failure.into_inner(), at)),
    }
}

/// Checks the fields of an entry. Returns its metadata as JSON text, if it has any.
#[pyfunction]
#[pyo3(signature = (entry, position=None, /))]
pub(crate) fn check_entry(entry: &Bound<'_, PyAny>, position: Option<usize>) -> PyResult<Option<String>> {
    let at = position.map_or(At::Single, |position| At::Item("entries", position));
    let fields = Fields::read(entry, at)?;
    let borrowed = fields.entry()?;
    for (field, text) in [("source", borrowed.source), ("target", borrowed.target)] {
        if text.chars().all(diglot_engine::text::is_white_space) {
            return Err(errors::engine(entry.py(), &Error::EmptyText { field }, at));
        }
    }
    Ok(fields.metadata)
}

/// An instance of a class with slots, to be filled without its constructor.
struct Instance<'py>(Bound<'py, PyAny>);

impl<'py> Instance<'py> {
    fn new(class: &Bound<'py, PyType>) -> PyResult<Instance<'py>> {
        // SAFETY: We are attached and `class` is a live class, written in Python, so this is how its instances are
        // allocated. The result is a new reference, or null with an exception set.
        let instance = unsafe {
            Bound::from_owned_ptr_or_err(class.py(), ffi::PyType_GenericAlloc(class.as_type_ptr(), 0))
        };
        Ok(Instance(instance?))
    }

    /// Sets a slot as `object.__setattr__` does, which passes by the `__setattr__` of a frozen class.
    fn set(
        &self,
        name: &Bound<'py, PyString>,
        value: impl IntoPyObject<'py, Error: Into<PyErr>>,
    ) -> PyResult<()> {
        let py = self.0.py();
        let value = value.into_bound_py_any(py)?;
        // SAFETY: We are attached, and all three are live objects.
        match unsafe { ffi::PyObject_GenericSetAttr(self.0.as_ptr(), name.as_ptr(), value.as_ptr()) } {
            0 => Ok(()),
            _ => Err(PyErr::fetch(py)),
        }
    }
}

/// A `TranslationMemoryEntry`. What it holds was checked on its way in, so its constructor need not run.
pub(crate) fn object<'py>(py: Python<'py>, entry: EntryRef<'_>) -> PyResult<Bound<'py, PyAny>> {
    static LOADS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let metadata = match entry.metadata {
        Some(text) => Some(LOADS.import(py, "json", "loads")?.call1((text,))?),
        None => None,
    };
    let object = Instance::new(CLASS.import(py, "diglot.model", "TranslationMemoryEntry")?)?;
    object.set(intern!(py, "source"), entry.source)?;
    object.set(intern!(py, "target"), entry.target)?;
    object.set(intern!(py, "source_language"), entry.source_language)?;
    object.set(intern!(py, "target_language"), entry.target_language)?;
    object.set(intern!(py, "domain"), entry.domain)?;
    object.set(intern!(py, "namespace"), entry.namespace)?;
    object.set(intern!(py, "source_id"), entry.source_id)?;
    object.set(intern!(py, "created_at"), entry.created_at)?;
    object.set(intern!(py, "notes"), entry.notes)?;
    object.set(intern!(py, "metadata"), metadata)?;
    Ok(object.0)
}

/// A `TranslationMemoryHit`.
pub(crate) fn hit<'py>(py: Python<'py>, hit: Hit, entry: EntryRef<'_>) -> PyResult<Bound<'py, PyAny>> {
    static HIT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let object = Instance::new(HIT.import(py, "diglot.model", "TranslationMemoryHit")?)?;
    object.set(intern!(py, "entry"), self::object(py, entry)?)?;
    object.set(intern!(py, "score"), hit.score)?;
    object.set(intern!(py, "id"), hit.id)?;
    Ok(object.0)
}

/// An entry's id from any Python integer.
///
/// # Errors
/// `InvalidTypeError` for what is no integer, `UnknownEntryError` for one that no entry can have.
pub(crate) fn id(value: &Bound<'_, PyAny>, at: At) -> PyResult<EntryId> {
    if value.is_instance_of::<PyBool>() {
        return Err(errors::invalid_type("id", "an int", value, at));
    }
    value.extract::<EntryId>().map_err(|failure| {
        let py = value.py();
        if failure.is_instance_of::<pyo3::exceptions::PyOverflowError>(py) {
            errors::unknown_entry(py, value)
        } else if failure.is_instance_of::<pyo3::exceptions::PyTypeError>(py) {
            errors::invalid_type("id", "an int", value, at)
        } else {
            failure
        }
    })
}
