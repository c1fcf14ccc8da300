//! The text of a file: unpacked, in UTF-8, its lines counted.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use encoding_rs::{Decoder, DecoderResult, Encoding};
use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Result};
use crate::{MOST_UNIT_BYTES, po, tmx, xliff};

/// Bytes that are read at a time, and that a format may look at to find out how a file is encoded.
const BLOCK: usize = 1 << 16;

/// A file, unpacked if it is packed.
pub(crate) struct Input {
    unpacked: Box<dyn Read + Send>,
    bytes_read: Arc<AtomicU64>,
    /// What was read to have a look at it.
    head: Vec<u8>,
}

impl Input {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Format`] if its compressed data is damaged from the start.
    pub(crate) fn open(path: &Path) -> Result<Input> {
        Input::new(File::open(path)?)
    }

    pub(crate) fn new(packed: impl Read + Send + 'static) -> Result<Input> {
        let bytes_read = Arc::new(AtomicU64::new(0));
        let counted = Counted { reader: packed, bytes: Arc::clone(&bytes_read) };
        let mut unpacked = unpacked(counted)?;
        let mut head = Vec::with_capacity(BLOCK);
        unpacked.by_ref().take(BLOCK as u64).read_to_end(&mut head).map_err(|error| unreadable(error, 1))?;
        Ok(Input { unpacked, bytes_read, head })
    }

    /// The first bytes: all of a small file.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    /// The first bytes, what comes after them, and how much of the file was read.
    pub(crate) fn into_parts(self) -> (Vec<u8>, Box<dyn Read + Send>, Arc<AtomicU64>) {
        (self.head, self.unpacked, self.bytes_read)
    }

    /// The file as text. `declared` finds the encoding that the file says it has in its first bytes; it is asked only if
    /// there is no byte order mark.
    ///
    /// # Errors
    /// What `declared` says, as an [`Error::Format`]; and UTF-32, which nobody writes and nobody reads.
    pub(crate) fn into_text(
        self,
        declared: impl FnOnce(&[u8]) -> std::result::Result<&'static Encoding, String>,
    ) -> Result<Text> {
        let Input { unpacked, bytes_read, head } = self;
        if head.starts_with(b"\xFF\xFE\0\0") || head.starts_with(b"\0\0\xFE\xFF") {
            return Err(Error::format(1, "the text is in UTF-32; UTF-8 and UTF-16 are allowed"));
        }
        let (encoding, mark) = match Encoding::for_bom(&head) {
            Some(found) => found,
            None => (declared(&head).map_err(|message| Error::format(1, message))?, 0),
        };
        Ok(Text {
            unpacked,
            bytes_read,
            decoder: encoding.new_decoder_without_bom_handling(),
            raw: head,
            raw_at: mark,
            ended: false,
            text: Vec::new(),
            at: 0,
            line: 1,
            counted: 0,
            allowed: usize::MAX,
            what: "",
            failure: None,
        })
    }
}

/// The plain bytes of what may be packed.
fn unpacked(mut packed: impl Read + Send + 'static) -> Result<Box<dyn Read + Send>> {
    let mut magic = Vec::new();
    packed.by_ref().take(4).read_to_end(&mut magic)?;
    let whole = io::Cursor::new(magic.clone()).chain(packed);
    Ok(match magic[..] {
        [0x1F, 0x8B, ..] => Box::new(MultiGzDecoder::new(io::BufReader::new(whole))),
        // A frame, or a skippable frame before the first one.
        [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18] => Box::new(zstd::Decoder::new(whole)?),
        _ => Box::new(whole),
    })
}

/// What a file is that begins with these bytes, if they can begin nothing else.
pub(crate) fn signature(head: &[u8]) -> Option<&'static str> {
    Some(match head {
        [b'P', b'K', 3 | 5, ..] => "this is a ZIP archive, as packages of CAT tools and office documents are",
        [b'%', b'P', b'D', b'F', ..] => "this is a PDF document",
        [b'B', b'Z', b'h', ..] => "this is compressed with bzip2",
        [0xFD, b'7', b'z', b'X', b'Z', ..] => "this is compressed with xz",
        [0xDE, 0x12, 0x04, 0x95, ..] | [0x95, 0x04, 0x12, 0xDE, ..] => {
            "this is a compiled gettext catalogue (MO)"
        }
        _ if head.starts_with(b"SQLite format 3\0") => "this is an SQLite database, as stores of diglot are",
        _ if tmx::is_likely(head) => "this is TMX",
        _ if xliff::is_likely(head) => "this is XLIFF",
        _ => return None,
    })
}

/// What a file is that begins with these bytes, if it is something that people take for another translation file.
pub(crate) fn describe(head: &[u8]) -> Option<&'static str> {
    let text = head.trim_ascii_start();
    let tag = |name: &[u8]| text.len() >= name.len() && text[..name.len()].eq_ignore_ascii_case(name);
    signature(head).or_else(|| {
        Some(match head {
            [] => "this is an empty file",
            _ if text.is_empty() => "this file has nothing but white space",
            _ if tag(b"<!doctype html") || tag(b"<html") => "this is an HTML page",
            _ if tag(b"{") || tag(b"[") => "this looks like JSON",
            _ if po::is_likely(head) => "this looks like a gettext PO file",
            _ if head.contains(&0) => "this is a binary file",
            _ => return None,
        })
    })
}

/// The error of a read that failed.
pub(crate) fn unreadable(error: io::Error, line: u64) -> Error {
    // The operating system's errors have a number, those of the decoders have none.
    match error.raw_os_error() {
        Some(_) => Error::Io(error),
        None => Error::format(line, format!("the compressed data is damaged or ends too early ({error})")),
    }
}

/// Adds up what is read.
struct Counted<R> {
    reader: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.reader.read(buffer)?;
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

/// The text of a file in UTF-8.
///
/// Read as a [`BufRead`], a failure is an [`io::Error`] that says nothing; [`Text::failure`] has what it is.
pub(crate) struct Text {
    unpacked: Box<dyn Read + Send>,
    bytes_read: Arc<AtomicU64>,
    decoder: Decoder,
    raw: Vec<u8>,
    raw_at: usize,
    /// Whether everything was read and decoded.
    ended: bool,
    text: Vec<u8>,
    at: usize,
    /// The line of what stands at `counted` in the text: lines are counted when somebody asks, not at every step.
    line: u64,
    counted: usize,
    /// Bytes that may still be taken in before `allow` is called again, and what they are of.
    allowed: usize,
    what: &'static str,
    failure: Option<Error>,
}

impl Text {
    /// Bytes of the file read so far, as they are on disk.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// The line, counted from 1, of what comes next.
    pub(crate) fn line(&mut self) -> u64 {
        self.line += line_feeds(&self.text[self.counted..self.at]);
        self.counted = self.at;
        self.line
    }

    /// Lets at most [`MOST_UNIT_BYTES`] more be taken in, of `what` (such as "a unit"); then reading fails.
    pub(crate) fn begin(&mut self, what: &'static str) {
        self.allowed = MOST_UNIT_BYTES;
        self.what = what;
    }

    /// Why reading failed, once.
    pub(crate) fn failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    fn fill(&mut self) -> Result<()> {
        while self.at == self.text.len() && !self.ended {
            self.line();
            self.text.clear();
            self.at = 0;
            self.counted = 0;
            if self.raw_at == self.raw.len() {
                self.raw.resize(BLOCK, 0);
                self.raw_at = 0;
                let read = loop {
                    match self.unpacked.read(&mut self.raw) {
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        read => break read,
                    }
                };
                let bytes = read.map_err(|error| {
                    self.raw.clear();
                    unreadable(error, self.line)
                })?;
                self.raw.truncate(bytes);
            }
            self.decode()?;
        }
        Ok(())
    }

    fn decode(&mut self) -> Result<()> {
        let raw = &self.raw[self.raw_at..];
        let last = raw.is_empty();
        // A few bytes more than one of the input may become when what is left of the last block comes first.
        let room = self.decoder.max_utf8_buffer_length_without_replacement(raw.len()).unwrap_or(4 * BLOCK);
        self.text.resize(room, 0);
        let (result, read, written) =
            self.decoder.decode_to_utf8_without_replacement(raw, &mut self.text, last);
        self.text.truncate(written);
        self.raw_at += read;
        match result {
            DecoderResult::Malformed(..) => {
                let lines = line_feeds(&self.text);
                let encoding = self.decoder.encoding().name();
                let message = format!(
                    "the text is not valid {encoding}, which it says it is in, or has to be in if it does not say so"
                );
                Err(Error::format(self.line + lines, message))
            }
            DecoderResult::InputEmpty | DecoderResult::OutputFull => {
                self.ended = last;
                Ok(())
            }
        }
    }
}

fn line_feeds(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut text = self.fill_buf()?;
        let bytes = text.read(buffer)?;
        self.consume(bytes);
        Ok(bytes)
    }
}

impl BufRead for Text {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.text.len() {
            let filled = self.fill();
            if let Err(error) = filled {
                self.failure = Some(error);
                return Err(io::Error::other("see Text::failure"));
            }
        }
        if self.allowed == 0 {
            let message = format!("{} has more than the {MOST_UNIT_BYTES} bytes that are allowed", self.what);
            self.failure = Some(Error::format(self.line(), message));
            return Err(io::Error::other("see Text::failure"));
        }
        let end = self.text.len().min(self.at.saturating_add(self.allowed));
        Ok(&self.text[self.at..end])
    }

    fn consume(&mut self, bytes: usize) {
        self.at += bytes;
        if self.allowed != usize::MAX {
            self.allowed -= bytes;
        }
    }
}
