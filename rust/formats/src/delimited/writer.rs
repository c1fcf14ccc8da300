//! Writing tables.

use diglot_engine::EntryRef;

use super::{Column, SOURCE, TARGET, delimiter, field};
use crate::Writer;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::output::Output;

/// Writes a CSV or TSV file in UTF-8, with a header. It has use for `columns` and `delimiter` of the options.
///
/// Cells are what the texts are: one that begins with `=` is written so, because a memory that gave back other texts than
/// it was given would be of no use. Spreadsheets that import it have to be told that it is text.
pub(crate) struct TableWriter {
    table: csv::Writer<Output>,
    /// The fields that are written, in the order of the columns.
    fields: Vec<usize>,
}

impl TableWriter {
    pub(crate) fn new(output: Output, usual_delimiter: u8, options: &Options) -> Result<TableWriter> {
        let mut table =
            csv::WriterBuilder::new().delimiter(delimiter(options, usual_delimiter)?).from_writer(output);
        let mut columns: Vec<(usize, &str)> = Vec::new();
        for (name, column) in &options.columns {
            match column {
                Column::Name(title) => columns.push((field(name)?, title)),
                Column::Number(_) => {
                    let message =
                        "has numbers; for a file that is written, the names of the columns are needed";
                    return Err(Error::Option { option: "columns", message: message.to_owned() });
                }
            }
        }
        if columns.is_empty() {
            columns.extend(EntryRef::FIELDS.into_iter().enumerate());
        }
        if [SOURCE, TARGET].iter().any(|text| !columns.iter().any(|(field, _)| field == text)) {
            let message = "must say which columns are source and target".to_owned();
            return Err(Error::Option { option: "columns", message });
        }
        table.write_record(columns.iter().map(|(_, title)| title)).map_err(failure)?;
        Ok(TableWriter { table, fields: columns.into_iter().map(|(field, _)| field).collect() })
    }
}

impl Writer for TableWriter {
    fn write(&mut self, entry: EntryRef<'_>) -> Result<()> {
        let texts = entry.texts();
        self.table
            .write_record(self.fields.iter().map(|field| texts[*field].unwrap_or_default()))
            .map_err(failure)
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let output = self.table.into_inner().map_err(|error| error.into_error())?;
        Ok(output.finish()?)
    }
}

fn failure(error: csv::Error) -> Error {
    Error::Io(error.into())
}
