//! Text analysis, so that a user can see why a score is what it is.

use diglot_engine::text;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::errors::{self, At};

fn normal(field: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.cast::<PyString>() {
        Ok(value) => Ok(text::normalize(errors::utf8(field, value, At::Single)?)),
        Err(_) => Err(errors::invalid_type(field, "a str", value, At::Single)),
    }
}

/// The form in which texts are compared.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn normalize(text: &Bound<'_, PyAny>) -> PyResult<String> {
    normal("text", text)
}

/// The tokens of a text's normalized form, in order.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn tokens(text: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    Ok(text::tokens(&normal("text", text)?).map(str::to_owned).collect())
}

/// The trigrams of a text's normalized form, in order.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn trigrams(text: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    Ok(text::trigrams(&normal("text", text)?).map(str::to_owned).collect())
}

/// The similarity of two texts, from 0 to 1.
#[pyfunction]
#[pyo3(signature = (a, b, /))]
pub(crate) fn similarity(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<f64> {
    Ok(text::similarity(&normal("a", a)?, &normal("b", b)?))
}
