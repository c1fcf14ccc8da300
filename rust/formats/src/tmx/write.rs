//! Writing TMX.
use crate::Writer;
use crate::error::Result;
use crate::options::Options;
use crate::output::Output;
use diglot_engine::EntryRef;

/// Writes.
pub(crate) struct TmxWriter(Output);
impl TmxWriter {
    pub(crate) fn new(output: Output, _options: &Options) -> Result<TmxWriter> {
        Ok(TmxWriter(output))
    }
}
impl Writer for TmxWriter {
    fn write(&mut self, _entry: EntryRef<'_>) -> Result<()> {
        Ok(())
    }
    fn finish(self: Box<Self>) -> Result<()> {
        Ok(self.0.finish()?)
    }
}
