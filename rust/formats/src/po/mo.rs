//! Reading MO files.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use diglot_engine::Control;
use encoding_rs::{Encoding, UTF_8};

use super::header::{self, Header};
use super::message::Message;
use crate::error::{Error, Problem, Result, start_of};
use crate::input::{Input, describe, unreadable};
use crate::options::Options;
use crate::{Reader, Sink};

/// The most bytes of an MO file (256 MiB). Its texts may be anywhere in it, so it is read as a whole.
const MOST_BYTES: usize = 1 << 28;

/// Bytes that are read between two looks at the [`Control`].
const BLOCK: u64 = 1 << 20;

/// Messages that are taken between two looks at the [`Control`], in one call.
const STRIDE: usize = 256;

/// Reads the messages of an MO file. It has use for the languages of the options. Instead of a line, it gives the number
/// of the message.
pub(crate) struct MoReader {
    /// What was not read yet.
    packed: Option<Box<dyn Read + Send>>,
    bytes_read: Arc<AtomicU64>,
    file: Vec<u8>,
    options: Options,
    encoding: &'static Encoding,
    header: Header,
    order: Order,
    originals: usize,
    translations: usize,
    count: usize,
    next: usize,
    units: u64,
    /// Bytes of texts that may still come. They do not overlap, so they are no more than the file has.
    allowed: usize,
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn number(self, bytes: [u8; 4]) -> usize {
        let number = match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        };
        number as usize
    }
}

impl MoReader {
    pub(crate) fn new(input: Input, options: &Options) -> Result<MoReader> {
        let (file, packed, bytes_read) = input.into_parts();
        let order = match file.get(..4) {
            Some([0xDE, 0x12, 0x04, 0x95]) => Order::Little,
            Some([0x95, 0x04, 0x12, 0xDE]) => Order::Big,
            _ => {
                let what = describe(&file).unwrap_or("it begins with other bytes");
                return Err(Error::format(1, format!("this is no MO file: {what}")));
            }
        };
        Ok(MoReader {
            packed: Some(packed),
            bytes_read,
            file,
            options: options.clone(),
            encoding: UTF_8,
            header: Header::without(options)?,
            order,
            originals: 0,
            translations: 0,
            count: 0,
            next: 0,
            units: 0,
            allowed: 0,
        })
    }

    /// Reads the rest of the file, and where its texts are.
    fn load(&mut self, packed: &mut (dyn Read + Send), control: Control<'_>) -> Result<()> {
        loop {
            control.check()?;
            let read =
                packed.take(BLOCK).read_to_end(&mut self.file).map_err(|error| unreadable(error, 1))?;
            if read == 0 {
                break;
            }
            if self.file.len() > MOST_BYTES {
                return Err(Error::format(
                    1,
                    format!("the MO file has more than the {MOST_BYTES} bytes that are allowed"),
                ));
            }
        }
        let version = self.number(4)? >> 16;
        if version > 1 {
            return Err(Error::format(
                1,
                format!("the MO file has the version {version}; 0 and 1 are known"),
            ));
        }
        self.allowed = self.file.len();
        self.count = self.number(8)?;
        self.originals = self.number(12)?;
        self.translations = self.number(16)?;
        for table in [self.originals, self.translations] {
            // Eight bytes for each message.
            let end = self.count.checked_mul(8).and_then(|bytes| bytes.checked_add(table));
            if end.is_none_or(|end| end > self.file.len()) {
                return Err(Error::format(1, "the MO file ends before its tables do"));
            }
        }
        Ok(())
    }

    fn number(&self, at: usize) -> Result<usize> {
        let bytes = self.file.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes
            .map(|bytes| self.order.number(bytes))
            .ok_or_else(|| Error::format(1, "the MO file ends in its head"))
    }

    /// The text of a table's row.
    fn text(&mut self, table: usize, row: usize) -> Result<std::ops::Range<usize>> {
        let bytes = self.number(table + 8 * row)?;
        let start = self.number(table + 8 * row + 4)?;
        let place = row as u64 + 1;
        let end = start.checked_add(bytes).filter(|end| *end <= self.file.len());
        let end = end.ok_or_else(|| Error::format(place, "a text lies beyond the end of the MO file"))?;
        self.allowed = self
            .allowed
            .checked_sub(bytes)
            .ok_or_else(|| Error::format(place, "the texts of the MO file are longer than all of it"))?;
        Ok(start..end)
    }

    fn message(&mut self, row: usize, sink: &mut dyn Sink) -> Result<()> {
        let id = self.text(self.originals, row)?;
        let translation = self.text(self.translations, row)?;
        if id.is_empty() {
            let text = &self.file[translation];
            self.encoding = header::encoding(text).map_err(|message| Error::format(1, message))?;
            let text = self.encoding.decode_without_bom_handling(text).0;
            self.header = Header::parse(&text, &self.options)?;
            return Ok(());
        }
        self.units += 1;
        let line = row as u64 + 1;
        let decode = |bytes: &[u8]| {
            self.encoding
                .decode_without_bom_handling_and_without_replacement(bytes)
                .map(|text| text.into_owned())
        };
        let (Some(id), Some(strings)) = (decode(&self.file[id]), decode(&self.file[translation])) else {
            let message =
                format!("the message is not valid {}, which the header says it is in", self.encoding.name());
            sink.skip(Problem { line, unit: None, code: "invalid_encoding", message });
            return Ok(());
        };
        let (context, id) = match id.split_once('\x04') {
            Some((context, id)) => (Some(context.to_owned()), id),
            None => (None, &id[..]),
        };
        let (id, plural) = match id.split_once('\0') {
            Some((id, plural)) => (id, Some(plural.to_owned())),
            None => (id, None),
        };
        let strings: Vec<String> = strings.split('\0').map(str::to_owned).collect();
        if strings.len() > super::MOST_FORMS || (plural.is_none() && strings.len() > 1) {
            let message = format!("the message has {} forms, which it cannot have", strings.len());
            sink.skip(Problem { line, unit: Some(start_of(id)), code: "syntax", message });
            return Ok(());
        }
        let message = Message { line, context, id: id.to_owned(), plural, strings, ..Message::default() };
        message.offer(&self.header, &self.options, sink);
        Ok(())
    }
}

impl Reader for MoReader {
    fn read(&mut self, sink: &mut dyn Sink, control: Control<'_>) -> Result<bool> {
        if let Some(mut packed) = self.packed.take() {
            self.load(&mut packed, control)?;
        }
        control.check()?;
        let end = self.count.min(self.next + STRIDE);
        for row in self.next..end {
            self.message(row, sink)?;
        }
        self.next = end;
        Ok(end < self.count)
    }

    fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    fn units_read(&self) -> u64 {
        self.units
    }
}
