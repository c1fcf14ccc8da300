//! The text of a file, unpacked and cut into blocks of whole lines.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;

use flate2::read::MultiGzDecoder;

use super::MOST_LINE_BYTES;

/// Bytes of text in a block, the line that it started with not counted.
const BLOCK: u64 = 1 << 20;

/// Adds up what is read.
pub(super) struct Counted<'a, R> {
    reader: R,
    bytes: &'a AtomicU64,
}

impl<'a, R> Counted<'a, R> {
    pub(super) fn new(reader: R, bytes: &'a AtomicU64) -> Counted<'a, R> {
        Counted { reader, bytes }
    }
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.reader.read(buffer)?;
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

/// Sends the text of `packed` until it ends, fails, has a line that is too long, or nobody listens any more.
pub(super) fn send_blocks(packed: impl Read, sender: SyncSender<io::Result<Vec<u8>>>) {
    if let Err(error) = try_send_blocks(packed, &sender) {
        // Nobody listens: then nobody wants to know.
        _ = sender.send(Err(error));
    }
}

fn try_send_blocks(packed: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) -> io::Result<()> {
    let mut text = unpacked(packed)?;
    let mut block = Vec::new();
    loop {
        let start = block.len();
        let outcome = text.by_ref().take(BLOCK).read_to_end(&mut block);
        if let Ok(0) = outcome {
            _ = sender.send(Ok(block));
            return Ok(());
        }
        let whole = memchr::memrchr(b'\n', &block[start..]).map(|at| start + at + 1);
        let part = block.split_off(whole.unwrap_or(0));
        // Too long a line is sent as far as it was read: the receiver knows its number and refuses it.
        let too_long = part.len() > MOST_LINE_BYTES;
        let lines = std::mem::replace(&mut block, part);
        if !lines.is_empty() && sender.send(Ok(lines)).is_err() {
            return Ok(());
        }
        if too_long {
            _ = sender.send(Ok(block));
            return Ok(());
        }
        outcome?;
    }
}

/// The plain text of what may be packed.
fn unpacked<'a>(mut packed: impl Read + 'a) -> io::Result<Box<dyn Read + 'a>> {
    let mut magic = Vec::new();
    packed.by_ref().take(4).read_to_end(&mut magic)?;
    let whole = io::Cursor::new(magic.clone()).chain(packed);
    Ok(match magic[..] {
        [0x1F, 0x8B, ..] => Box::new(MultiGzDecoder::new(whole)),
        // A frame, or a skippable frame before the first one.
        [0x28, 0xB5, 0x2F, 0xFD] | [0x50..=0x5F, 0x2A, 0x4D, 0x18] => Box::new(zstd::Decoder::new(whole)?),
        _ => Box::new(whole),
    })
}
