//! Python values as JSON text.

use std::fmt::Write;

use diglot_engine::MOST_TEXT_BYTES;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

use crate::errors::{self, At};

/// How deep lists and mappings may be nested. Far from what overflows a stack, here and in `json.loads`.
const MOST_LEVELS: usize = 128;

/// The compact JSON text of a mapping.
///
/// # Errors
/// What JSON cannot hold is refused with its path, such as `metadata.a[3].b`.
pub(crate) fn write_object(field: &str, value: &Bound<'_, PyAny>, at: At) -> PyResult<String> {
    let mut writer = Writer { field, at, path: Vec::new(), out: String::new() };
    match value.cast::<PyMapping>() {
        Ok(mapping) => writer.mapping(mapping)?,
        Err(_) => return Err(errors::invalid_type(field, "a mapping with str keys, or None", value, at)),
    }
    Ok(writer.out)
}

enum Step<'py> {
    Key(Bound<'py, PyString>),
    Index(usize),
}

struct Writer<'a, 'py> {
    field: &'a str,
    at: At,
    path: Vec<Step<'py>>,
    out: String,
}

impl<'py> Writer<'_, 'py> {
    fn value(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if value.is_none() {
            self.out.push_str("null");
        } else if let Ok(text) = value.cast::<PyString>() {
            self.text(text)?;
        } else if let Ok(truth) = value.cast::<PyBool>() {
            self.out.push_str(if truth.is_true() { "true" } else { "false" });
        } else if value.is_instance_of::<PyInt>() {
            self.int(value)?;
        } else if let Ok(number) = value.cast::<PyFloat>() {
            let number = number.value();
            if !number.is_finite() {
                let what = format!("is {number}; JSON has finite numbers only");
                return Err(errors::invalid_value(value.py(), &self.place(), what, self.at));
            }
            // The shortest text that reads back as the same float, and always as a float.
            write!(self.out, "{number:?}").expect("a String takes all that is written to it");
        } else if let Ok(list) = value.cast::<PyList>() {
            self.items(list.iter(), value.py())?;
        } else if let Ok(tuple) = value.cast::<PyTuple>() {
            self.items(tuple.iter(), value.py())?;
        } else if let Ok(mapping) = value.cast::<PyMapping>() {
            self.mapping(mapping)?;
        } else {
            let expected = "a str, int, float, bool, None, list or mapping";
            return Err(errors::invalid_type(&self.place(), expected, value, self.at));
        }
        // A small graph of shared lists can stand for a tree of any size.
        if self.out.len() > MOST_TEXT_BYTES {
            let what = format!("has more than {MOST_TEXT_BYTES} bytes as JSON");
            return Err(errors::invalid_value(value.py(), self.field, what, self.at));
        }
        Ok(())
    }

    fn int(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if let Ok(number) = value.extract::<i64>() {
            write!(self.out, "{number}").expect("a String takes all that is written to it");
            return Ok(());
        }
        let (py, number) = (value.py(), value.as_ptr());
        // SAFETY: `value` is a live object and we are attached; the result is a new reference or null with an
        // exception set, as `from_owned_ptr_or_err` expects.
        let digits = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyNumber_ToBase(number, 10)) };
        match digits {
            Ok(digits) => self.out.push_str(digits.cast::<PyString>()?.to_str()?),
            // Python refuses to write integers beyond sys.get_int_max_str_digits().
            Err(failure) if failure.is_instance_of::<pyo3::exceptions::PyValueError>(py) => {
                let what = format!("cannot be written: {}", failure.value(py));
                return Err(errors::invalid_value(py, &self.place(), what, self.at));
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    fn items(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>, py: Python<'py>) -> PyResult<()> {
        self.deeper(py)?;
        self.out.push('[');
        for (index, item) in items.enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.path.push(Step::Index(index));
            self.value(&item)?;
            self.path.pop();
        }
        self.out.push(']');
        Ok(())
    }

    fn mapping(&mut self, mapping: &Bound<'py, PyMapping>) -> PyResult<()> {
        self.deeper(mapping.py())?;
        self.out.push('{');
        // `items()` copies, so nothing that runs meanwhile can change what is walked.
        for (index, item) in mapping.items()?.iter().enumerate() {
            let (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = item.extract()?;
            let Ok(key) = key.cast::<PyString>() else {
                return Err(errors::invalid_type(
                    &format!("a key of {}", self.place()),
                    "a str",
                    &key,
                    self.at,
                ));
            };
            if index > 0 {
                self.out.push(',');
            }
            self.path.push(Step::Key(key.clone()));
            self.text(key)?;
            self.out.push(':');
            self.value(&value)?;
            self.path.pop();
        }
        self.out.push('}');
        Ok(())
    }

    fn deeper(&self, py: Python<'py>) -> PyResult<()> {
        if self.path.len() < MOST_LEVELS {
            return Ok(());
        }
        let what = format!("is nested more than {MOST_LEVELS} levels deep, or contains itself");
        Err(errors::invalid_value(py, self.field, what, self.at))
    }

    fn text(&mut self, text: &Bound<'py, PyString>) -> PyResult<()> {
        let text = match text.to_str() {
            Ok(text) => text,
            Err(_) => errors::utf8(&self.place(), text, self.at)?,
        };
        self.out.push('"');
        let mut rest = 0;
        for (at, byte) in text.bytes().enumerate() {
            if byte >= 0x20 && byte != b'"' && byte != b'\\' {
                continue;
            }
            self.out.push_str(&text[rest..at]);
            match byte {
                b'"' => self.out.push_str("\\\""),
                b'\\' => self.out.push_str("\\\\"),
                b'\n' => self.out.push_str("\\n"),
                b'\r' => self.out.push_str("\\r"),
                b'\t' => self.out.push_str("\\t"),
                _ => write!(self.out, "\\u{byte:04x}").expect("a String takes all that is written to it"),
            }
            rest = at + 1;
        }
        self.out.push_str(&text[rest..]);
        self.out.push('"');
        Ok(())
    }

    /// Where the walk is, as `metadata.a[3].b`; keys that are no identifiers are quoted.
    fn place(&self) -> String {
        let mut place = self.field.to_owned();
        for step in &self.path {
            match step {
                Step::Index(index) => {
                    write!(place, "[{index}]").expect("a String takes all that is written to it")
                }
                Step::Key(key) => {
                    let key = key.to_string_lossy();
                    let plain = !key.starts_with(|c: char| c.is_ascii_digit())
                        && !key.is_empty()
                        && key.chars().all(|c| c.is_alphanumeric() || c == '_');
                    if plain {
                        place.push('.');
                        place.push_str(&key);
                    } else {
                        write!(place, "[{key:?}]").expect("a String takes all that is written to it");
                    }
                }
            }
        }
        place
    }
}
