//! The Python layer over `diglot-engine`: types in, types out, errors mapped, GIL released.
//!
//! What a caller may pass is decided by `diglot.store` and `diglot.model`; this layer checks only what it has to read.

mod batch;
mod control;
mod dispose;
mod duplicates;
mod entry;
mod errors;
mod formats;
mod found;
mod image;
mod json;
mod jsonl;
mod memory;
mod options;
mod scan;
mod text;

/// The Rust side of diglot. Private: use the names that `diglot` itself exports.
#[pyo3::pymodule]
mod _engine {
    #[allow(non_upper_case_globals)]
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::batch::{Batch, Ids, Queries};
    #[pymodule_export]
    use crate::control::CancelFlag;
    #[pymodule_export]
    use crate::duplicates::{count_pairs, dedupe, find_duplicates, fold_pairs, merge, resolve};
    #[pymodule_export]
    use crate::entry::check_entry;
    #[pymodule_export]
    use crate::formats::{FileReader, FileWriter, file_formats};
    #[pymodule_export]
    use crate::found::Found;
    #[pymodule_export]
    use crate::image::{open_memories, save_snapshots};
    #[pymodule_export]
    use crate::jsonl::{JsonLines, read_jsonl};
    #[pymodule_export]
    use crate::memory::{Memory, Snapshot};
    #[pymodule_export]
    use crate::scan::{containing, count_by};
    #[pymodule_export]
    use crate::text::{normalize, similarity, tokens, trigrams};
}
