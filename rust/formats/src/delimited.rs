//! Tables with delimiters between their columns: CSV and TSV.
//!
//! A row is an entry, or several if there are columns for several target languages. Which column has which field is said
//! by the names in the first row, or by `columns` in the options.

mod columns;
mod reader;
mod rows;
mod writer;

pub use columns::Column;
pub(crate) use reader::TableReader;
pub(crate) use writer::TableWriter;

use diglot_engine::EntryRef;

use crate::error::{Error, Result};
use crate::options::Options;

// The places of fields in `EntryRef::FIELDS`, which is the order in which a table has them.
const SOURCE: usize = 0;
const TARGET: usize = 1;
const METADATA: usize = 9;

/// The delimiter that is asked for, or the usual one of the format.
fn delimiter(options: &Options, usual: u8) -> Result<u8> {
    match options.delimiter {
        None => Ok(usual),
        Some(wanted) if wanted.is_ascii() && !matches!(wanted, '"' | '\r' | '\n' | '\0') => Ok(wanted as u8),
        Some(wanted) => Err(Error::Option {
            option: "delimiter",
            message: format!(
                "is {wanted:?}; one ASCII character other than a quotation mark or the end of a line is allowed"
            ),
        }),
    }
}

/// The place of a field in [`EntryRef::FIELDS`].
fn field(name: &str) -> Result<usize> {
    EntryRef::FIELDS.iter().position(|field| *field == name).ok_or_else(|| Error::Option {
        option: "columns",
        message: format!("has {name:?}, which is no field; allowed are {}", EntryRef::FIELDS.join(", ")),
    })
}
