//! Exact fuzzy lookup over millions of translation-memory segments.
//!
//! A [`Memory`] holds entries (validated source/target pairs) and answers
//! "which sources are most like this query?" with the exact best hits. The
//! engine knows no Python; everything here is safe to call from many threads at
//! once.
//!
//! From the bottom up:
//!
//! - [`text`] normalizes texts and takes them apart, `features` turns the parts
//!   into numbers to count.
//! - `postings` is the inverted index, `kernel` counts with it, `search` finds
//!   the best rows of one segment, `topk` keeps the best hits.
//! - `segment` holds entries that no longer change, `live` those just added,
//!   `removed` what was removed of them, `fields` what filters need.
//! - `batch` is what is on its way into a memory, `duplicates` says what of it
//!   is there already.
//! - `scan` goes through all entries.
//! - `memory` puts them together, `background` turns live parts into segments
//!   and merges segments, by `gather`; [`image`] keeps them in files.

mod arena;
mod background;
mod batch;
mod control;
mod duplicates;
mod entry;
mod error;
mod features;
mod fields;
mod gather;
mod hash;
pub mod image;
mod kernel;
mod live;
mod memory;
mod parallel;
mod postings;
mod removed;
mod scan;
mod search;
mod segment;
pub mod text;
mod topk;

pub use batch::{Batch, Prepared};
pub use control::Control;
pub use duplicates::{Change, Outcome, Pair, Policy};
pub use entry::{EntryId, EntryRef, Filter, MOST_ID};
pub use error::{Error, MOST_TEXT_BYTES, Result};
#[doc(hidden)]
pub use kernel::bench::Block as KernelBlock;
pub use memory::{Bytes, Coverage, Found, Hit, Memory, SearchOptions, Snapshot, Stats};
pub use scan::{By, MOST_PHRASE_CHARS, Phrase, Side};

/// The instruction set that searches use on this machine.
pub fn instruction_set() -> &'static str {
    kernel::name()
}
