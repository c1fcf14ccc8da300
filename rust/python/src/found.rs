//! The hits of searches, turned into Python objects only as far as they are asked for.

use diglot_engine::Hit;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::errors::{self, At};
use crate::{dispose, entry};

/// Bytes of sources that are not compared with the GIL held.
const LONG: usize = 1 << 16;

/// The hits of one or many queries.
#[pyclass(frozen, module = "diglot._engine")]
pub(crate) struct Found(pub(crate) Vec<diglot_engine::Found>);

impl Drop for Found {
    fn drop(&mut self) {
        if self.0.len() > dispose::MANY {
            dispose::elsewhere(&mut self.0);
        }
    }
}

impl Found {
    fn of(&self, query: usize) -> PyResult<&diglot_engine::Found> {
        self.0.get(query).ok_or_else(|| PyIndexError::new_err("there are fewer queries"))
    }
}

#[pymethods]
impl Found {
    /// How many queries there were.
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// How many hits a query has.
    fn count(&self, query: usize) -> PyResult<usize> {
        Ok(self.of(query)?.hits().len())
    }

    /// Some hits of a query, best first.
    fn hits<'py>(
        &self,
        py: Python<'py>,
        query: usize,
        start: usize,
        stop: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let hits = self.of(query)?.entries_in(start..stop);
        let hits: Vec<Bound<'py, PyAny>> =
            hits.map(|(hit, fields)| entry::hit(py, hit, fields)).collect::<PyResult<_>>()?;
        PyList::new(py, hits)
    }

    /// How much of a text the source of each hit of a query has: the share of the text's trigrams, whether the source
    /// contains the text, and whether it is the text, all of normalized forms.
    fn coverage(
        &self,
        py: Python<'_>,
        query: usize,
        text: &Bound<'_, PyString>,
    ) -> PyResult<Vec<(f64, bool, bool)>> {
        let text = errors::utf8("query", text, At::Single)?;
        let found = self.of(query)?;
        let bytes: usize = found.entries().map(|(_, entry)| entry.source.len()).sum();
        // Getting the GIL back can take longer than comparing short texts does.
        let coverage = if bytes > LONG { py.detach(|| found.coverage(text)) } else { found.coverage(text) };
        Ok(coverage.iter().map(|of| (of.share, of.phrase, of.exact)).collect())
    }

    /// Ids (`int64`) and scores (`float64`) of the hits of the queries from `start` to before `stop`, in native byte
    /// order, `width` to a query; −1 and 0.0 where there is no hit.
    fn arrays<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        stop: usize,
        width: usize,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let found =
            self.0.get(start..stop).ok_or_else(|| PyIndexError::new_err("there are fewer queries"))?;
        let cells = |cell: fn(Option<Hit>) -> [u8; 8]| {
            PyBytes::new_with(py, found.len() * width * 8, |bytes| {
                let none = std::iter::repeat(None);
                let hits = found.iter().flat_map(|of| of.hits().map(Some).chain(none.clone()).take(width));
                bytes
                    .chunks_exact_mut(8)
                    .zip(hits)
                    .for_each(|(bytes, hit)| bytes.copy_from_slice(&cell(hit)));
                Ok(())
            })
        };
        let ids = cells(|hit| hit.map_or(-1, |hit| hit.id as i64).to_ne_bytes())?;
        let scores = cells(|hit| hit.map_or(0.0, |hit| hit.score).to_ne_bytes())?;
        Ok((ids, scores))
    }
}
