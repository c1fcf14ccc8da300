//! The Python layer over `diglot-engine`: types in, types out, errors mapped, GIL released.

#[pyo3::pymodule]
mod _engine {}
