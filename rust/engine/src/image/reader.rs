//! Reading an image, column by column.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::vec;

use bytemuck::Pod;

use super::{Error, HEAD, MAGIC, ORDER, PIECE, Result, TAIL, Unusable, VERSION, check, checksum, head};
use crate::control::Control;
use crate::parallel;

/// Gives the columns of an image in the order in which they were written.
pub(crate) struct Reader<'a> {
    file: File,
    control: Control<'a>,
    tag: Vec<u8>,
    numbers: vec::IntoIter<u64>,
    lengths: vec::IntoIter<u64>,
    checksums: vec::IntoIter<u64>,
    /// Where the next column starts.
    at: u64,
}

const SHORT: &str = "it ends too early";
const TABLE: &str = "its table is not as long as it says";
const SUM: &str = "a checksum is wrong";

/// The parts of a table, one after the other.
struct Table(vec::IntoIter<u8>);

impl Table {
    fn number(&mut self) -> Result<u64> {
        let (number, _) = self.0.as_slice().split_first_chunk().ok_or(Unusable::Damaged { what: TABLE })?;
        let number = u64::from_ne_bytes(*number);
        self.0.nth(7);
        Ok(number)
    }

    /// So many bytes.
    fn bytes(&mut self, count: u64) -> Result<Vec<u8>> {
        check(count <= self.0.len() as u64, TABLE)?;
        Ok(self.0.by_ref().take(count as usize).collect())
    }

    /// A list of numbers that says how many they are.
    fn numbers(&mut self) -> Result<vec::IntoIter<u64>> {
        let count = self.number()?;
        let bytes = self.bytes(count.checked_mul(8).ok_or(Unusable::Damaged { what: TABLE })?)?;
        let numbers = bytes.as_chunks().0.iter().map(|number| u64::from_ne_bytes(*number));
        Ok(numbers.collect::<Vec<_>>().into_iter())
    }
}

impl<'a> Reader<'a> {
    pub(super) fn open(path: &Path, control: Control<'a>) -> Result<Reader<'a>> {
        let file = File::open(path)?;
        let size = file.metadata()?.len();
        let head = check_head(&file, size)?;
        let mut tail = [0; TAIL];
        check(size >= (HEAD + TAIL) as u64, SHORT)?;
        read_at(&file, &mut tail, size - TAIL as u64)?;
        let [length, sum] = bytemuck::must_cast(tail);
        let columns = (size - (HEAD + TAIL) as u64).checked_sub(length);
        let columns = columns.ok_or(Unusable::Damaged { what: TABLE })?;
        let mut bytes = vec![0; HEAD + length as usize];
        bytes[..HEAD].copy_from_slice(&head);
        read_at(&file, &mut bytes[HEAD..], HEAD as u64 + columns)?;
        check(checksum(&bytes) == sum, SUM)?;
        bytes.drain(..HEAD);

        let mut table = Table(bytes.into_iter());
        let tag_length = table.number()?;
        let tag = table.bytes(tag_length)?;
        let [numbers, lengths, checksums] = [table.numbers()?, table.numbers()?, table.numbers()?];
        check(table.0.len() == 0, TABLE)?;
        let total = lengths.as_slice().iter().try_fold(0u64, |total, length| total.checked_add(*length));
        check(total == Some(columns), "its columns are not as long as it says")?;
        let pieces: u64 = lengths.as_slice().iter().map(|length| length.div_ceil(PIECE as u64)).sum();
        check(pieces == checksums.len() as u64, "its columns have not as many checksums as pieces")?;
        Ok(Reader { file, control, tag, numbers, lengths, checksums, at: HEAD as u64 })
    }

    /// How the caller stops what is done with columns.
    pub(crate) fn control(&self) -> Control<'a> {
        self.control
    }

    /// The next number.
    pub(crate) fn number(&mut self) -> Result<u64> {
        Ok(self.numbers.next().ok_or(Unusable::Damaged { what: "a number is missing" })?)
    }

    /// The next array, read on all cores.
    pub(crate) fn column<T: Pod>(&mut self) -> Result<Vec<T>> {
        let length = self.lengths.next().ok_or(Unusable::Damaged { what: "a column is missing" })?;
        let count = length / size_of::<T>() as u64;
        check(count * size_of::<T>() as u64 == length, "a column has half an item")?;
        let mut values: Vec<T> = bytemuck::zeroed_vec(count as usize);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
        let pieces: Vec<_> = bytes.chunks_mut(PIECE).zip(self.checksums.by_ref()).map(Mutex::new).collect();
        let (file, start, control) = (&self.file, self.at, self.control);
        parallel::map(
            pieces.len(),
            || (),
            |(), number| {
                control.check()?;
                let mut piece = pieces[number].lock().expect("each piece is taken once");
                let (bytes, expected) = &mut *piece;
                read_at(file, bytes, start + (number * PIECE) as u64)?;
                check(checksum(bytes) == *expected, SUM)
            },
        )?;
        drop(pieces);
        self.at += length;
        Ok(values)
    }

    /// The next array, which is a text.
    pub(crate) fn text(&mut self) -> Result<String> {
        let bytes: Vec<u8> = self.column()?;
        // Cut where a character starts, if it is a text at all.
        let cut = |at: usize| {
            let after = bytes.iter().skip(at).take(4).position(|byte| byte & 0xc0 != 0x80);
            at.saturating_add(after.unwrap_or(0)).min(bytes.len())
        };
        let control = self.control;
        parallel::map(
            bytes.len().div_ceil(PIECE),
            || (),
            |(), number| {
                control.check()?;
                let piece = &bytes[cut(number * PIECE)..cut((number + 1) * PIECE)];
                check(simdutf8::basic::from_utf8(piece).is_ok(), "a text is not UTF-8")
            },
        )?;
        // SAFETY: the pieces are UTF-8 and, as each starts where the one before ends, so is the whole.
        Ok(unsafe { String::from_utf8_unchecked(bytes) })
    }

    /// The tag, when all was read.
    pub(super) fn finish(self) -> Result<Vec<u8>> {
        check(self.lengths.len() == 0 && self.numbers.len() == 0, "it has more columns than segments need")?;
        Ok(self.tag)
    }
}

/// Fails unless the file starts as images of this build do; returns what it starts with.
fn check_head(file: &File, size: u64) -> Result<[u8; HEAD]> {
    let mut found = [0; HEAD];
    let length = size.min(HEAD as u64) as usize;
    read_at(file, &mut found[..length], 0)?;
    if length < MAGIC.len() || found[..MAGIC.len()] != MAGIC {
        return Err(Unusable::Foreign.into());
    }
    check(length == HEAD, SHORT)?;
    let number = |at: usize| u32::from_ne_bytes([found[at], found[at + 1], found[at + 2], found[at + 3]]);
    match (number(8), number(12)) {
        (ORDER, VERSION) if found == head() => Ok(found),
        (ORDER, VERSION) => Err(Unusable::Analysis.into()),
        (ORDER, found) => Err(Unusable::Version { found }.into()),
        (order, _) if order == ORDER.swap_bytes() => Err(Unusable::ByteOrder.into()),
        _ => Err(Unusable::Damaged { what: "its head is none" }.into()),
    }
}

/// Fills `bytes` from a place of the file.
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> Result<()> {
    #[cfg(unix)]
    let read = std::os::unix::fs::FileExt::read_exact_at(file, bytes, at);
    #[cfg(windows)]
    let read = {
        let mut done = 0;
        loop {
            match std::os::windows::fs::FileExt::seek_read(file, &mut bytes[done..], at + done as u64) {
                _ if done == bytes.len() => break Ok(()),
                Ok(0) => break Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => done += count,
                Err(failure) if failure.kind() == io::ErrorKind::Interrupted => {}
                Err(failure) => break Err(failure),
            }
        }
    };
    // The file was longer before.
    read.map_err(|failure| match failure.kind() {
        io::ErrorKind::UnexpectedEof => Unusable::Damaged { what: SHORT }.into(),
        _ => Error::Io(failure),
    })
}
