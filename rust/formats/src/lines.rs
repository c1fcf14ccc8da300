//! A text in blocks of whole lines, which are unpacked and decoded on a thread of their own.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use diglot_engine::Control;

use crate::MOST_UNIT_BYTES;
use crate::decoded::Decoded;
use crate::error::Result;
use crate::input::unreadable;

/// Bytes of text in a block, the line that it started with not counted.
const BLOCK: u64 = 1 << 18;

/// Blocks that wait between the two threads.
const BLOCKS_AHEAD: usize = 4;

/// How often a reader that waits for a pipe looks whether it still should.
const PATIENCE: Duration = Duration::from_millis(20);

pub(crate) struct Lines {
    blocks: Receiver<io::Result<Vec<u8>>>,
    bytes_read: Arc<AtomicU64>,
    block: Vec<u8>,
    at: usize,
    /// The lines that were taken.
    taken: u64,
}

impl Lines {
    pub(crate) fn new(text: Decoded) -> Lines {
        let bytes_read = Arc::clone(&text.bytes_read);
        let (sender, blocks) = sync_channel(BLOCKS_AHEAD);
        thread::spawn(move || send_blocks(text, &sender));
        Lines { blocks, bytes_read, block: Vec::new(), at: 0, taken: 0 }
    }

    /// Bytes of the file read so far, as they are on disk. It runs some blocks ahead.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Gets the next block when all of the last one was taken. Returns whether there is one.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Format`] for compressed data that is damaged, [`Error::Aborted`].
    pub(crate) fn more(&mut self, control: Control<'_>) -> Result<bool> {
        loop {
            control.check()?;
            match self.blocks.recv_timeout(PATIENCE) {
                Ok(block) => {
                    self.block = block.map_err(|error| unreadable(error, self.taken + 1))?;
                    self.at = 0;
                    return Ok(true);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.block.clear();
                    self.at = 0;
                    return Ok(false);
                }
            }
        }
    }

    /// What is left of the block. It ends with the end of a line, unless the text does not, or a line is longer than is
    /// allowed.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.block[self.at..]
    }

    /// Takes so many bytes.
    pub(crate) fn take(&mut self, bytes: usize) {
        let taken = &self.block[self.at..self.at + bytes];
        self.taken += memchr::memchr_iter(b'\n', taken).count() as u64;
        self.at += bytes;
    }

    /// The number, counted from 1, of the line that comes next.
    pub(crate) fn number(&self) -> u64 {
        self.taken + 1
    }

    /// The next line of the block, without its end (`\n` or `\r\n`), and its number.
    pub(crate) fn next(&mut self) -> Option<(u64, &[u8])> {
        let rest = self.block.get(self.at..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        self.taken += 1;
        let line = &rest[..end];
        Some((self.taken, line.strip_suffix(b"\r").unwrap_or(line)))
    }
}

/// Sends the text until it ends, fails, has a line that is too long, or nobody listens any more.
fn send_blocks(mut text: Decoded, sender: &SyncSender<io::Result<Vec<u8>>>) {
    let mut block = Vec::new();
    loop {
        let start = block.len();
        let outcome = text.by_ref().take(BLOCK).read_to_end(&mut block);
        if let Ok(0) = outcome {
            if !block.is_empty() {
                // Nobody listens: then nobody wants to know.
                _ = sender.send(Ok(block));
            }
            return;
        }
        if let Some(at) = memchr::memrchr(b'\n', &block[start..]) {
            let part = block.split_off(start + at + 1);
            if sender.send(Ok(std::mem::replace(&mut block, part))).is_err() {
                return;
            }
        } else if block.len() > MOST_UNIT_BYTES {
            // It is sent as far as it was read: the receiver knows its number and refuses it.
            _ = sender.send(Ok(block));
            return;
        }
        if let Err(error) = outcome {
            _ = sender.send(Err(error));
            return;
        }
    }
}
