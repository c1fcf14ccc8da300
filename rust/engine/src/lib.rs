//! Exact fuzzy lookup over millions of translation-memory segments.
//!
//! A [`Memory`] holds entries (validated source/target pairs) and answers
//! "which sources are most like this query?" with the exact best hits. The
//! engine knows no Python and no files; everything here is safe to call from
//! many threads at once.

mod control;
mod entry;
mod error;
mod memory;
pub mod text;

pub use control::Control;
pub use entry::{EntryId, EntryRef, Filter};
pub use error::{Error, Result};
pub use memory::{Batch, Found, Hit, Memory, Prepared, SearchOptions, Snapshot, Stats};
