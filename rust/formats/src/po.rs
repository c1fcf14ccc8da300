//! Gettext catalogs: PO files, and MO files, which are made of them.
//!
//! A message becomes an entry from `msgid` to `msgstr`, with `msgctxt` as its `source_id`, the translator's comments as
//! its `notes`, and everything else under `po` in its metadata. A message with plural forms becomes several: from `msgid`
//! to the form for one thing, and from `msgid_plural` to each other form; if there is but one form, it goes with both.

mod escapes;
mod header;
mod message;
mod mo;
mod plural;
mod reader;
mod writer;

pub(crate) use mo::MoReader;
pub(crate) use reader::PoReader;
pub(crate) use writer::PoWriter;

/// The most forms that a message may have. Arabic has six, and no language more.
const MOST_FORMS: usize = 32;

/// Whether a file begins as PO does: a message stands in its first lines.
pub(crate) fn is_likely(head: &[u8]) -> bool {
    // In UTF-16 there is a NUL beside every letter.
    let letters: Vec<u8> = head.iter().copied().filter(|byte| *byte != 0).collect();
    letters.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"msgid \""))
}
