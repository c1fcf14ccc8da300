//! One segment from the entries of several parts.

use crate::control::Control;
use crate::entry::EntryId;
use crate::error::Result;
use crate::memory::{LivePart, SealedPart};
use crate::segment::{Segment, SegmentBuilder};

/// Where entries come from.
#[derive(Clone, Copy)]
pub(crate) enum Part<'a> {
    Live(&'a LivePart),
    Sealed(&'a SealedPart),
}

/// A segment with all entries of some parts; `None` where all were removed.
pub(crate) fn gather(parts: &[Part<'_>], control: Control<'_>) -> Result<Option<Segment>> {
    let mut order: Vec<(EntryId, u32, u32)> = Vec::new();
    for (number, part) in (0..).zip(parts) {
        match part {
            Part::Live(part) => order.extend(part.entries().map(|(at, entry)| (entry.id, number, at as u32))),
            Part::Sealed(part) => order.extend(
                (0..)
                    .zip(part.segment.ids())
                    .filter(|(at, _)| !part.removed.contains(*at))
                    .map(|(at, id)| (*id, number, at)),
            ),
        }
    }
    if order.is_empty() {
        return Ok(None);
    }
    order.sort_unstable();
    let mut builder = SegmentBuilder::default();
    for (count, (id, number, at)) in order.into_iter().enumerate() {
        if count % 4096 == 0 {
            control.check()?;
        }
        match parts[number as usize] {
            Part::Live(part) => {
                let entry = part.live.get(at as usize);
                builder.push(id, &entry.entry(), &entry.normalized);
            }
            Part::Sealed(part) => {
                let segment = &part.segment;
                builder.push(id, &segment.entry(at), segment.text(segment.row_of()[at as usize]));
            }
        }
    }
    builder.finish(control).map(Some)
}
