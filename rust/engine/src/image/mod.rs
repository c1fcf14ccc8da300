//! Images: snapshots as files, with their indexes, so that a memory need not be built anew.
//!
//! An image has the states of one or more memories, and a tag: some bytes of whoever saved it, such as the state of the
//! database that they were made from. It is no archive: a version of the engine reads only what was written by a version
//! that would build the same index, on a machine with the same order of bytes, and there must be a way to build the
//! memories without it.
//!
//! ```text
//! head     magic, order of bytes, version of the format, fingerprint of the analysis
//! columns  the arrays of every segment of every memory, one after the other, as they are in memory
//! table    the tag, the next id and the number of segments of every memory, the length of every column, the checksum of
//!          every piece of one
//! tail     the length of the table, the checksum of head and table
//! ```
//!
//! Every byte is under a checksum, so what is damaged by accident is not read. What a checksum cannot say is checked
//! as well: that texts are UTF-8, and that every number that leads from one array to another leads somewhere. Whatever a
//! file holds, reading it takes time and memory in proportion to its size, and the memory made of it does not panic.

mod fingerprint;
mod reader;
mod replace;
mod writer;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::control::Control;
use crate::entry::MOST_ID;
use crate::error;
use crate::gather::{Part, gather};
use crate::memory::{Memory, SealedPart, Snapshot};
use crate::removed::Removed;
use crate::segment::Segment;

pub(crate) use reader::Reader;
pub(crate) use writer::Writer;

/// What every image starts with.
const MAGIC: [u8; 8] = *b"diglot\xffi";

/// Reads as another number where the order of bytes is another one.
const ORDER: u32 = 0x0102_0304;

/// To be raised with every change of what the columns are or mean. What they depend on beyond that is in the
/// fingerprint.
const VERSION: u32 = 1;

/// Bytes of the head: magic, order, version, fingerprint.
const HEAD: usize = 8 + 4 + 4 + 8;

/// Bytes of the tail: length and checksum.
const TAIL: usize = 8 + 8;

/// Bytes of a column that are written, read and summed at a time.
const PIECE: usize = 1 << 20;

fn checksum(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// The head of the images that this build writes and reads.
fn head() -> [u8; HEAD] {
    let mut head = [0; HEAD];
    head[..8].copy_from_slice(&MAGIC);
    head[8..12].copy_from_slice(&ORDER.to_ne_bytes());
    head[12..16].copy_from_slice(&VERSION.to_ne_bytes());
    head[16..].copy_from_slice(&fingerprint::of_analysis().to_ne_bytes());
    head
}

/// Why an image was not written or read.
#[derive(Debug)]
pub enum Error {
    /// The file system did not let us.
    Io(io::Error),
    /// The file is no image that this build can use.
    Unusable(Unusable),
    /// The caller's [`Control`] asked to stop.
    Aborted,
}

/// Why a file cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// It is not an image at all.
    Foreign,
    /// It was written on a machine with another order of bytes.
    ByteOrder,
    /// It has another version of the format.
    Version {
        /// Which.
        found: u32,
    },
    /// It was written by a build that takes texts apart in another way.
    Analysis,
    /// It is not what was written.
    Damaged {
        /// What was wrong first.
        what: &'static str,
    },
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::Foreign => write!(f, "it is no snapshot of a memory"),
            Unusable::ByteOrder => write!(f, "it is from a machine with another order of bytes"),
            Unusable::Version { found } => {
                write!(f, "it has version {found} of the format; version {VERSION} is needed")
            }
            Unusable::Analysis => {
                write!(f, "it is from a build of the engine that analyses text differently")
            }
            Unusable::Damaged { what } => write!(f, "it is damaged: {what}"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(failure) => failure.fmt(f),
            Error::Unusable(why) => why.fmt(f),
            Error::Aborted => error::Error::Aborted.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(failure: io::Error) -> Error {
        Error::Io(failure)
    }
}

impl From<Unusable> for Error {
    fn from(why: Unusable) -> Error {
        Error::Unusable(why)
    }
}

/// Nothing else of the engine's errors comes up when images are written or read.
impl From<error::Error> for Error {
    fn from(_: error::Error) -> Error {
        Error::Aborted
    }
}

/// The result of writing or reading.
pub type Result<T> = std::result::Result<T, Error>;

/// Fails where what was read cannot be.
pub(crate) fn check(holds: bool, what: &'static str) -> Result<()> {
    if holds { Ok(()) } else { Err(Unusable::Damaged { what }.into()) }
}

/// Writes the segments of a snapshot; its live entries become one more.
fn write(snapshot: &Snapshot, to: &mut Writer<'_>) -> Result<()> {
    let lives: Vec<_> = snapshot.lives.iter().map(Part::Live).collect();
    let live = gather(&lives, to.control())?;
    to.number(snapshot.next_id());
    to.number((snapshot.sealed.len() + usize::from(live.is_some())) as u64);
    for part in snapshot.sealed.iter() {
        part.segment.write(to)?;
        to.column(&part.removed.places())?;
    }
    if let Some(live) = live {
        live.write(to)?;
        to.column::<u32>(&[])?;
    }
    Ok(())
}

fn read(from: &mut Reader<'_>) -> Result<Snapshot> {
    let next_id = from.number()?;
    check(next_id <= MOST_ID + 1, "ids are out of range")?;
    let mut sealed = Vec::new();
    for _ in 0..from.number()? {
        let segment = Segment::read(from)?;
        check(segment.ids().last().is_none_or(|last| *last < next_id), "ids are out of range")?;
        let places: Vec<u32> = from.column()?;
        let lead = places.last().is_none_or(|last| (*last as usize) < segment.len());
        check(lead && places.is_sorted_by(|a, b| a < b), "removed entries lead nowhere")?;
        let mut removed = Removed::default();
        places.into_iter().for_each(|at| _ = removed.insert(at));
        sealed.push(SealedPart { segment: Arc::new(segment), removed });
    }
    check(!has_twice(&sealed), "an entry is there twice")?;
    Ok(Snapshot::of_segments(sealed, next_id))
}

/// Whether two entries have the same id.
fn has_twice(sealed: &[SealedPart]) -> bool {
    let mut ranges: Vec<_> = sealed
        .iter()
        .filter_map(|part| Some((*part.segment.ids().first()?, *part.segment.ids().last()?)))
        .collect();
    ranges.sort_unstable();
    // Only where entries were replaced do the ids of segments mingle.
    if ranges.is_sorted_by(|(_, last), (first, _)| last < first) {
        return false;
    }
    let mut ids = Vec::new();
    for SealedPart { segment, removed } in sealed {
        ids.extend((0..).zip(segment.ids()).filter(|(at, _)| !removed.contains(*at)).map(|(_, id)| *id));
    }
    ids.sort_unstable();
    !ids.is_sorted_by(|a, b| a < b)
}

/// Writes states of memories to one file, with a tag of the caller's. The file is there as a whole or, after an error or
/// a crash, as it was before. Searches and writes go on meanwhile.
///
/// Files that a crash left behind while the same image was written are removed. Where `like` is given, those who may
/// read and write that file may do so with this one, and nobody else.
///
/// # Errors
/// [`Error::Io`], [`Error::Aborted`].
pub fn save(
    snapshots: &[&Snapshot],
    path: &Path,
    tag: &[u8],
    like: Option<&Path>,
    control: Control<'_>,
) -> Result<()> {
    replace::replace(path, like, |file| {
        let mut writer = Writer::new(file, control)?;
        for snapshot in snapshots {
            write(snapshot, &mut writer)?;
        }
        writer.finish(tag)
    })
}

/// The `count` memories that were saved to a file, in order, and the tag that they were saved with.
///
/// # Errors
/// [`Error::Unusable`] where the file is not a whole image of so many memories from a build like this one;
/// [`Error::Io`], [`Error::Aborted`].
pub fn open(path: &Path, count: usize, control: Control<'_>) -> Result<(Vec<Memory>, Vec<u8>)> {
    let mut reader = Reader::open(path, control)?;
    let snapshots = (0..count).map(|_| read(&mut reader)).collect::<Result<Vec<_>>>()?;
    let tag = reader.finish()?;
    Ok((snapshots.into_iter().map(Memory::with).collect(), tag))
}
