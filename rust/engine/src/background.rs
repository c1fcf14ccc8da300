//! Turning live parts into segments, and small segments into larger ones, while searches and writes go on.
//!
//! At most one thread does each; a thread ends when there is nothing left to do. The work runs on a snapshot without any
//! lock; only its result is put in place under the writer's lock, where entries removed in the meantime are removed from
//! it too.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use crate::arena::Arena;
use crate::control::Control;
use crate::gather::{self, Part};
use crate::memory::{SealedPart, Shared, Snapshot, Writer};
use crate::removed::Removed;
use crate::segment::Segment;

/// As many segments of one tier become one of the next.
const FAN_IN: usize = 4;

/// Segments with fewer than [`FAN_IN`] times as many entries are all of the lowest tier: every segment costs each search
/// some microseconds, and merging so few entries costs milliseconds.
const SMALL: usize = 8192;

/// Starts what there is to do and is not being done.
pub(crate) fn start(shared: &Arc<Shared>, writer: &mut Writer) {
    let snapshot = shared.snapshot.load();
    if !writer.sealing && snapshot.lives.len() > 1 {
        writer.sealing = spawn("diglot-seal", shared, seal, |writer| writer.sealing = false);
    }
    if !writer.merging && to_merge(&snapshot).is_some() {
        writer.merging = spawn("diglot-merge", shared, merge, |writer| writer.merging = false);
    }
}

/// Runs `work` on a thread until it has nothing left to do. If no thread can be had, a later write tries again.
fn spawn(
    name: &str,
    shared: &Arc<Shared>,
    work: fn(&Arc<Shared>) -> bool,
    finished: fn(&mut Writer),
) -> bool {
    let shared = shared.clone();
    let run = move || {
        // A panic here is a bug; the data is as it was, and waiting writers must not wait for ever.
        let worked = catch_unwind(AssertUnwindSafe(|| while work(&shared) {}));
        let mut writer = shared.lock();
        finished(&mut writer);
        if worked.is_ok() && !writer.closed {
            // What was written after the last look and before the lock.
            start(&shared, &mut writer);
        }
        shared.progress.notify_all();
    };
    thread::Builder::new().name(name.to_owned()).spawn(run).is_ok()
}

/// Turns all full live parts into one segment. Says whether there may be more to do.
fn seal(shared: &Arc<Shared>) -> bool {
    let snapshot = shared.snapshot.load_full();
    let full = snapshot.lives.len() - 1;
    if full == 0 {
        return false;
    }
    let parts: Vec<Part<'_>> = snapshot.lives[..full].iter().map(Part::Live).collect();
    let Some(segment) = gather(&parts, shared) else { return false };
    let mut writer = shared.lock();
    let now = shared.snapshot.load();
    let mut sealed = Vec::clone(&now.sealed);
    let mut removed = Removed::default();
    if let Some(segment) = segment {
        for (before, now) in snapshot.lives[..full].iter().zip(&now.lives) {
            for at in (0..now.len).filter(|at| now.is_removed(*at) && !before.is_removed(*at)) {
                remove(&segment, now.live.get(at).id, &mut removed);
            }
        }
        sealed.push(SealedPart { segment: Arc::new(segment), removed });
    }
    let next = now.rearranged(sealed, now.lives[full..].to_vec());
    shared.snapshot.store(Arc::new(next));
    start(shared, &mut writer);
    shared.progress.notify_all();
    true
}

/// Merges some segments. Says whether there may be more to do.
fn merge(shared: &Arc<Shared>) -> bool {
    let snapshot = shared.snapshot.load_full();
    let Some(numbers) = to_merge(&snapshot) else { return false };
    let parts: Vec<Part<'_>> = numbers.iter().map(|number| Part::Sealed(&snapshot.sealed[*number])).collect();
    let Some(segment) = gather(&parts, shared) else { return false };
    let _writer = shared.lock();
    let now = shared.snapshot.load();
    let mut sealed = Vec::with_capacity(now.sealed.len());
    let mut removed = Removed::default();
    for part in now.sealed.iter() {
        let before = numbers
            .iter()
            .map(|number| &snapshot.sealed[*number])
            .find(|before| Arc::ptr_eq(&before.segment, &part.segment));
        match (before, &segment) {
            (None, _) => sealed.push(part.clone()),
            (Some(before), Some(segment)) if part.removed.len() > before.removed.len() => {
                for at in (0..part.segment.len() as u32)
                    .filter(|at| part.removed.contains(*at) && !before.removed.contains(*at))
                {
                    remove(segment, part.segment.ids()[at as usize], &mut removed);
                }
            }
            _ => {}
        }
    }
    sealed.extend(segment.map(|segment| SealedPart { segment: Arc::new(segment), removed }));
    let next = now.rearranged(sealed, now.lives.clone());
    shared.snapshot.store(Arc::new(next));
    true
}

fn remove(segment: &Segment, id: u64, removed: &mut Removed) {
    let at = segment.ids().binary_search(&id).expect("the entry was there when the segment was built");
    removed.insert(at as u32);
}

/// The numbers of segments that should become one: enough of one tier, or one that is mostly removed entries.
fn to_merge(snapshot: &Snapshot) -> Option<Vec<usize>> {
    let present = |part: &SealedPart| part.segment.len() - part.removed.len();
    let mostly_removed = snapshot.sealed.iter().position(|part| part.removed.len() * 2 > part.segment.len());
    if let Some(number) = mostly_removed {
        return Some(vec![number]);
    }
    let tier = |part: &SealedPart| (present(part) / SMALL).max(1).ilog(FAN_IN);
    let most_tier = snapshot.sealed.iter().map(tier).max()?;
    (0..=most_tier).find_map(|wanted| {
        let mut of_tier: Vec<usize> =
            (0..snapshot.sealed.len()).filter(|number| tier(&snapshot.sealed[*number]) == wanted).collect();
        // What does not fit into one segment stays apart.
        let mut bytes = 0;
        of_tier.retain(|number| {
            let with = bytes + snapshot.sealed[*number].segment.largest_arena();
            let fits = with <= Arena::MOST_BYTES / 4;
            bytes = if fits { with } else { bytes };
            fits
        });
        (of_tier.len() >= FAN_IN).then_some(of_tier)
    })
}

/// As [`gather::gather`]; `None` where the memory is gone.
fn gather(parts: &[Part<'_>], shared: &Shared) -> Option<Option<Segment>> {
    let closed = || shared.writer.try_lock().is_ok_and(|writer| writer.closed);
    gather::gather(parts, Control::new(&closed)).ok()
}
