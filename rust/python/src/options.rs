//! The options of file formats out of Python keywords.

use std::path::PathBuf;

use diglot_formats::{Column, Options};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyMapping, PyString};

use crate::errors::{self, At};

/// The names of all options, for the error.
const NAMES: &str = "source_language, target_languages, fuzzy, obsolete, columns, header, delimiter, quoting, escape, \
                     encoding, target_path";

/// Checks and converts options. `None` is the same as no option.
///
/// # Errors
/// `InvalidTypeError`; `InvalidValueError` for names that are unknown and values that no format allows.
pub(crate) fn options(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    let mut options = Options::default();
    for (name, value) in keywords.into_iter().flatten() {
        let name: String = name.extract()?;
        if value.is_none() {
            continue;
        }
        match name.as_str() {
            "source_language" => options.source_language = Some(text(&name, &value)?),
            "target_languages" => options.target_languages = languages(&name, &value)?,
            "fuzzy" => options.fuzzy = truth(&name, &value)?,
            "obsolete" => options.obsolete = truth(&name, &value)?,
            "columns" => options.columns = columns(&name, &value)?,
            "header" => options.header = Some(truth(&name, &value)?),
            "delimiter" => options.delimiter = Some(character(&name, &value)?),
            "quoting" => options.quoting = Some(truth(&name, &value)?),
            "escape" => options.escape = Some(character(&name, &value)?),
            "encoding" => options.encoding = Some(text(&name, &value)?),
            "target_path" => {
                let path = value.extract::<PathBuf>();
                options.target_path =
                    Some(path.map_err(|_| {
                        errors::invalid_type(&name, "a str or os.PathLike", &value, At::Single)
                    })?);
            }
            _ => {
                let what = format!("is no option of a file format; allowed are {NAMES}");
                return Err(errors::invalid_value(value.py(), &name, what, At::Single));
            }
        }
    }
    Ok(options)
}

fn text(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let text =
        value.cast::<PyString>().map_err(|_| errors::invalid_type(name, "a str", value, At::Single))?;
    Ok(errors::utf8(name, text, At::Single)?.to_owned())
}

fn truth(name: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let truth =
        value.cast::<PyBool>().map_err(|_| errors::invalid_type(name, "a bool", value, At::Single))?;
    Ok(truth.is_true())
}

fn character(name: &str, value: &Bound<'_, PyAny>) -> PyResult<char> {
    let text = text(name, value)?;
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => Ok(character),
        _ => {
            let what = format!("is {text:?}; it must be one character");
            Err(errors::invalid_value(value.py(), name, what, At::Single))
        }
    }
}

/// One language, or an iterable of them.
fn languages(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyString>() {
        // A string is an iterable of strings, too, and never meant so.
        return Ok(vec![text(name, value)?]);
    }
    let languages = value
        .try_iter()
        .map_err(|_| errors::invalid_type(name, "a str or an iterable of str", value, At::Single))?;
    languages.map(|language| text("a language of target_languages", &language?)).collect()
}

/// A mapping from fields to the names or numbers of columns.
fn columns(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Column)>> {
    let expected = "a mapping from fields to the names or numbers of columns";
    let mapping =
        value.cast::<PyMapping>().map_err(|_| errors::invalid_type(name, expected, value, At::Single))?;
    let columns = mapping.items()?.into_iter().map(|item| {
        let (field, column): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let field = text("a field of columns", &field)?;
        let column = if column.is_instance_of::<PyString>() {
            Column::Name(text("a column of columns", &column)?)
        } else if column.is_instance_of::<PyInt>() && !column.is_instance_of::<PyBool>() {
            // What is no number of a column, such as -1, is as wrong as 0 is.
            Column::Number(column.extract().unwrap_or(0))
        } else {
            return Err(errors::invalid_type("a column of columns", "a str or an int", &column, At::Single));
        };
        Ok((field, column))
    });
    columns.collect()
}
