//! The exact best hits in one segment.
//!
//! A row is a candidate where its tokens or its trigrams may reach the floor, the score that the worst of the best hits
//! has so far. Both are looked for in the same way, tokens first: few lists raise the floor at little cost. Blocks are
//! visited from the query's own size outward, until their sizes alone rule them out. A row of size `s` reaches the
//! floor only if it shares `needed = ceil(floor · (|q| + s) / 2)` features with a query of size `|q|`; so up to
//! `needed - 1` of the query's lists, the longest, can be left out of the counting, and the rows that then share enough
//! of the others are compared with the query by their texts.

use std::cell::Cell;
use std::collections::HashSet;

use crate::control::{Control, Pace};
use crate::entry::EntryId;
use crate::error::Result;
use crate::features::{Elements, Features, Kind, Presence, dice, needed_overlap, smallest_size};
use crate::fields::{self, FIELDS, Selection};
use crate::kernel::{self, Candidate, Counters, MOST, Scan};
use crate::live::{LiveEntry, Profile};
use crate::memory::LivePart;
use crate::postings::{BLOCK, CHUNK, CHUNKS, Line, LookupScratch, Postings, Rows, Run};
use crate::removed::Removed;
use crate::segment::Segment;
use crate::topk::{Ranked, TopK};

/// A query, analysed. What only comparisons need is made for the first one: a search for a text that is there often
/// compares nothing.
pub(crate) struct Query<'a> {
    pub(crate) normalized: &'a str,
    token_keys: Vec<u32>,
    trigram_keys: Vec<u32>,
    tokens: Option<Elements<'a>>,
    trigrams: Option<Elements<'static>>,
    presence: Option<Presence>,
    /// For the comparison with live entries.
    profile: Option<Profile>,
}

impl<'a> Query<'a> {
    pub(crate) fn new(normalized: &'a str) -> Query<'a> {
        let mut features = Features::default();
        let mut token_keys = Vec::new();
        let mut trigram_keys = Vec::new();
        features.keys(Kind::Token, normalized, &mut token_keys);
        features.keys(Kind::Trigram, normalized, &mut trigram_keys);
        Query {
            normalized,
            token_keys,
            trigram_keys,
            tokens: None,
            trigrams: None,
            presence: None,
            profile: None,
        }
    }

    pub(crate) fn profile(&mut self) -> &Profile {
        self.profile.get_or_insert_with(|| Profile::of(self.normalized))
    }

    /// How many tokens a normalized text shares with it, and how many the text has.
    #[inline]
    fn shared_tokens(&mut self, text: &str) -> (usize, usize) {
        self.tokens.get_or_insert_with(|| Elements::tokens(self.normalized)).shared_tokens(text)
    }

    /// How many trigrams a normalized text shares with it.
    #[inline]
    fn shared_trigrams(&mut self, text: &str) -> usize {
        self.trigrams.get_or_insert_with(|| Elements::trigrams(self.normalized)).shared_trigrams(text)
    }

    /// How many trigrams a normalized text may share with it: no fewer than it does.
    #[inline]
    fn most_trigrams(&mut self, text: &str) -> usize {
        let presence = self.presence.get_or_insert_with(|| Presence::new(self.normalized));
        presence.most_shared(text).min(self.trigram_keys.len())
    }
}

/// A segment as a snapshot sees it.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// Its number among the parts of the snapshot.
    pub(crate) part: u32,
    pub(crate) segment: &'a Segment,
    pub(crate) removed: &'a Removed,
}

impl View<'_> {
    /// Offers the entries of a row.
    fn offer(&self, selection: &Selection<'_>, row: u32, score: f64, top: &mut TopK) {
        for &entry in self.segment.row_entries(row) {
            let id = self.segment.ids()[entry as usize];
            // Later entries have higher ids: where this one is not good enough, none is.
            if !top.would_take(score, id) {
                break;
            }
            if self.passes(selection, entry) {
                top.offer(Ranked { score, id, part: self.part, entry });
            }
        }
    }

    fn passes(&self, selection: &Selection<'_>, entry: u32) -> bool {
        !self.removed.contains(entry) && (selection.is_all() || selection.passes(self.segment.profile(entry)))
    }
}

/// Working memory, kept between searches of a thread.
#[derive(Default)]
pub(crate) struct Scratch {
    counters: Counters,
    lists: LookupScratch,
    block_runs: Vec<Run>,
    block_starts: Vec<u32>,
    candidates: Vec<Candidate>,
    promising: Vec<Promising>,
    mask: Vec<Line>,
    /// A bit for each row that was compared.
    seen: Vec<u64>,
    seen_rows: Vec<u32>,
}

thread_local! {
    /// Taken by a search while it runs: one that begins within it (a caller's `Control` may do anything) or comes after
    /// it panicked makes a new one.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// A row to be compared, and the most that its score can be.
#[derive(Clone, Copy)]
struct Promising {
    bound: f64,
    row: u32,
    size: u32,
}

/// What passing over an entry costs, in bytes of text compared.
const ENTRY: usize = 16;

/// How many features are looked up where a hit must have all of them.
const PERFECT: usize = 8;

/// How many features of a kind a query has.
#[derive(Clone, Copy)]
struct QuerySize {
    kind: Kind,
    own: usize,
    /// How many of them were not looked up, which a row may or may not have.
    not_looked_up: usize,
}

/// The candidates of a block are rows that share some features of one kind.
#[derive(Clone, Copy)]
struct Counted<'a> {
    kind: Kind,
    /// The query's size.
    own: usize,
    block: usize,
    /// How many of the query's features were not counted.
    left_out: usize,
    /// The sizes of the block's rows.
    sizes: &'a [u32],
}

/// A filter that lets fewer entries than this pass is answered from those entries alone.
const LISTED: usize = 1024;

/// A block may always have so many candidates: comparing them costs less than counting another list.
const FEW: usize = 16;

/// How far above the mean the count that a row needs must be, in standard deviations of a Poisson distribution, for its
/// chance to be small. Trigrams of one word come together, so this is more than it would be for independent ones.
const DEVIATIONS: f64 = 20.0;

/// How many of a block's most promising rows are compared before the others are looked at.
const FIRST: usize = 16;

/// Offers every entry of the segment that can be among the best.
pub(crate) fn segment(
    view: View<'_>,
    query: &mut Query<'_>,
    selection: &Selection<'_>,
    top: &mut TopK,
    control: Control<'_>,
) -> Result<()> {
    let mut scratch = SCRATCH.take().unwrap_or_default();
    scratch.seen.resize(scratch.seen.len().max(view.segment.rows().div_ceil(64)), 0);
    let search = Search {
        view,
        query,
        selection,
        top,
        control,
        scratch: &mut scratch,
        masked: false,
        tie_limit: (EntryId::MAX, u32::MAX),
    };
    let result = search.run();
    for row in scratch.seen_rows.drain(..) {
        scratch.seen[row as usize / 64] = 0;
    }
    SCRATCH.set(Some(scratch));
    result
}

/// Offers the entries whose normalized source is the query.
pub(crate) fn equal(view: View<'_>, query: &Query<'_>, selection: &Selection<'_>, top: &mut TopK) {
    let Some(row) = view.segment.find_row(query.normalized) else { return };
    match selection.fewest() {
        // A text that all tenants have must not cost one of them the entries of the others.
        Some(entries) if entries.len() < view.segment.row_entries(row).len() => {
            for &entry in entries.iter().filter(|entry| view.segment.row_of()[**entry as usize] == row) {
                if view.passes(selection, entry) {
                    let id = view.segment.ids()[entry as usize];
                    top.offer(Ranked { score: 1.0, id, part: view.part, entry });
                }
            }
        }
        _ => view.offer(selection, row, 1.0, top),
    }
}

/// Offers the entries of a live part, which are compared one by one.
pub(crate) fn live(
    number: u32,
    part: &LivePart,
    query: &mut Query<'_>,
    wanted: &[Option<String>; FIELDS],
    top: &mut TopK,
    control: Control<'_>,
) -> Result<()> {
    if part.len == 0 {
        return Ok(());
    }
    let own = query.profile().clone();
    let mut pace = Pace::default();
    for (at, entry) in part.entries() {
        pace.step(entry.normalized.len(), control)?;
        let floor = top.floor();
        let theirs = &entry.profile;
        let (trigrams, tokens) = (own.trigrams + theirs.trigrams, own.tokens + theirs.tokens);
        let trigrams_may = dice(own.most_trigrams(theirs), trigrams) >= floor;
        let tokens_may = dice(own.most_tokens(theirs), tokens) >= floor;
        if !(trigrams_may || tokens_may) || !matches(wanted, entry) {
            continue;
        }
        let mut score = 0.0;
        if *entry.normalized == *query.normalized {
            score = 1.0;
        } else {
            if trigrams_may {
                score = dice(query.shared_trigrams(&entry.normalized), trigrams);
            }
            if tokens_may {
                score = f64::max(score, dice(query.shared_tokens(&entry.normalized).0, tokens));
            }
        }
        if score > 0.0 {
            top.offer(Ranked { score, id: entry.id, part: number, entry: at as u32 });
        }
    }
    Ok(())
}

pub(crate) fn matches(wanted: &[Option<String>; FIELDS], entry: &LiveEntry) -> bool {
    if *wanted == [const { None }; FIELDS] {
        return true;
    }
    fields::pass(wanted, &fields::values(&entry.entry()))
}

/// Fills up with entries that share nothing with the query, in insertion order, where a score of 0 is good enough.
pub(crate) struct Unlike {
    /// The entries that share something: all of them, as they were too few.
    found: HashSet<EntryId>,
    max_hits: usize,
}

impl Unlike {
    pub(crate) fn new(top: &TopK, max_hits: usize) -> Unlike {
        Unlike { found: top.iter().map(|hit| hit.id).collect(), max_hits }
    }

    /// Offers the first entries of a segment.
    pub(crate) fn offer_segment(
        &self,
        view: View<'_>,
        selection: &Selection<'_>,
        top: &mut TopK,
        control: Control<'_>,
    ) -> Result<()> {
        let listed = selection.fewest();
        let mut left = self.max_hits;
        let mut pace = Pace::default();
        for at in 0..listed.map_or(view.segment.len(), <[u32]>::len) {
            pace.step(ENTRY, control)?;
            let entry = listed.map_or(at as u32, |entries| entries[at]);
            let id = view.segment.ids()[entry as usize];
            if view.passes(selection, entry) && !self.found.contains(&id) {
                top.offer(Ranked { score: 0.0, id, part: view.part, entry });
                left -= 1;
                if left == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Offers the entries of a live part.
    pub(crate) fn offer_live(
        &self,
        number: u32,
        part: &LivePart,
        wanted: &[Option<String>; FIELDS],
        top: &mut TopK,
    ) {
        for (at, entry) in part.entries() {
            if matches(wanted, entry) && !self.found.contains(&entry.id) {
                top.offer(Ranked { score: 0.0, id: entry.id, part: number, entry: at as u32 });
            }
        }
    }
}

struct Search<'s, 'q, 'c> {
    view: View<'s>,
    query: &'s mut Query<'q>,
    selection: &'s Selection<'s>,
    top: &'s mut TopK,
    control: Control<'c>,
    scratch: &'s mut Scratch,
    /// Whether the mask in the scratch says which rows can pass the filter.
    masked: bool,
    /// The id that a hit at the floor must be below, and the first entry here that is not.
    tie_limit: (EntryId, u32),
}

impl Search<'_, '_, '_> {
    fn run(mut self) -> Result<()> {
        let segment = self.view.segment;
        if let Some(row) = segment.find_row(self.query.normalized) {
            // Offered by `equal` before.
            self.see(row);
        }
        if let Some(entries) = self.selection.fewest()
            && entries.len() <= LISTED
        {
            return self.compare_listed(entries);
        }
        if !self.selection.is_all() {
            self.selection.mask(segment.row_of(), segment.rows(), &mut self.scratch.mask);
            self.masked = true;
        }
        self.pass(Kind::Token, &segment.tokens)?;
        self.pass(Kind::Trigram, &segment.trigrams)
    }

    /// Marks a row as compared; says whether it was not before.
    #[inline]
    fn see(&mut self, row: u32) -> bool {
        let (word, bit) = (row as usize / 64, 1u64 << (row % 64));
        let new = self.scratch.seen[word] & bit == 0;
        if new {
            self.scratch.seen[word] |= bit;
            self.scratch.seen_rows.push(row);
        }
        new
    }

    /// Compares the rows of some entries, one by one.
    fn compare_listed(&mut self, entries: &[u32]) -> Result<()> {
        let segment = self.view.segment;
        let mut pace = Pace::default();
        for (at, &entry) in entries.iter().enumerate() {
            if let Some(ahead) = entries.get(at + 16) {
                segment.texts().prefetch_place(segment.row_of()[*ahead as usize]);
            }
            if let Some(ahead) = entries.get(at + 6) {
                segment.texts().prefetch_text(segment.row_of()[*ahead as usize]);
            }
            let row = segment.row_of()[entry as usize];
            pace.step(segment.text(row).len(), self.control)?;
            let score = self.score(row);
            let id = segment.ids()[entry as usize];
            if score > 0.0 && self.top.would_take(score, id) && self.view.passes(self.selection, entry) {
                self.top.offer(Ranked { score, id, part: self.view.part, entry });
            }
        }
        Ok(())
    }

    /// The score of a row that is not equal to the query, or 0 where it is certain to be below the floor.
    fn score(&mut self, row: u32) -> f64 {
        let segment = self.view.segment;
        let text = segment.text(row);
        if text == self.query.normalized {
            return 0.0;
        }
        let floor = self.top.floor();
        let size = segment.trigrams.sizes()[row as usize] as usize;
        let own = self.query.trigram_keys.len();
        let mut score = 0.0;
        if dice(self.query.most_trigrams(text), own + size) >= floor {
            score = dice(self.query.shared_trigrams(text), own + size);
        }
        let own = self.query.token_keys.len();
        if own > 0 {
            let (shared, size) = self.query.shared_tokens(text);
            score = f64::max(score, dice(shared, own + size));
        }
        score
    }

    /// Looks for rows whose features of one kind may reach the floor.
    fn pass(&mut self, kind: Kind, postings: &Postings) -> Result<()> {
        let keys = match kind {
            Kind::Token => &self.query.token_keys,
            Kind::Trigram => &self.query.trigram_keys,
        };
        let own = keys.len();
        if own == 0 || postings.len() == 0 {
            return Ok(());
        }
        self.control.check()?;
        // Where only a perfect score will do, a row has all of the query's features, so a few say almost all.
        let looked_up = if self.top.floor() >= 1.0 { own.min(PERFECT) } else { own };
        let some = (0..looked_up).map(|at| keys[at * own / looked_up]);
        let Scratch { lists, block_runs, block_starts, .. } = &mut *self.scratch;
        postings.lookup(some, lists);
        arrange(lists, postings.blocks().len(), block_runs, block_starts);
        let query = QuerySize { kind, own, not_looked_up: own - looked_up };

        // From the first block that reaches the query's own size, downward and upward.
        let blocks = postings.blocks();
        let start = blocks.partition_point(|sizes| (sizes.most as usize) < own);
        let mut below = (0..start).rev().peekable();
        let mut above = (start..blocks.len()).peekable();
        loop {
            let floor = self.top.floor();
            let best = |block: usize| Some(blocks[block].best_dice(own)).filter(|best| *best >= floor);
            let down = below.peek().and_then(|block| best(*block));
            let up = above.peek().and_then(|block| best(*block));
            let block = match (down, up) {
                (None, None) => return Ok(()),
                (Some(down), Some(up)) if down > up => below.next(),
                (Some(_), None) => below.next(),
                (_, Some(_)) => above.next(),
            };
            self.control.check()?;
            self.block(query, postings, block.expect("a block that was looked at is there"))?;
        }
    }

    /// Offers the rows of one block.
    fn block(&mut self, query: QuerySize, postings: &Postings, block: usize) -> Result<()> {
        let QuerySize { kind, own, not_looked_up } = query;
        let floor = self.top.floor();
        let smallest = smallest_size(floor, own);
        let sizes = &postings.sizes()[block * BLOCK..postings.len().min((block + 1) * BLOCK)];
        let chunks = &postings.chunks()[block * CHUNKS..postings.chunks().len().min((block + 1) * CHUNKS)];
        // The features that a row of each chunk must share, of those that were looked up.
        let mut totals = [0usize; CHUNKS];
        let mut fewest = usize::MAX;
        let mut most = 0;
        let mut last = (0, 0);
        for (total, chunk) in totals.iter_mut().zip(chunks) {
            if chunk.best_dice(own) < floor {
                continue;
            }
            let least = smallest.max(chunk.least as usize);
            if last.0 != least {
                last = (least, needed_overlap(floor, own + least) - not_looked_up);
            }
            *total = last.1;
            fewest = fewest.min(last.1);
            most = most.max(last.1);
        }
        if fewest == usize::MAX {
            return Ok(());
        }
        let (start, end) =
            (self.scratch.block_starts[block] as usize, self.scratch.block_starts[block + 1] as usize);
        let runs = &self.scratch.block_runs[start..end];
        if runs.len() < fewest {
            return Ok(());
        }
        let left_out = left_out(runs, kind, fewest)
            .max((most.saturating_sub(usize::from(MOST))).min(fewest - 1))
            .min(runs.len());
        let counted = &runs[..runs.len() - left_out];
        let mask = self.masked.then_some(&*self.scratch.mask).filter(|_| kind == Kind::Trigram);
        let mask: Option<&[Line; CHUNKS]> =
            mask.map(|mask| mask[block * CHUNKS..].first_chunk().expect("a mask has whole blocks"));
        let mut needed = totals.map(|needed| needed.saturating_sub(left_out).min(usize::from(MOST)) as u8);
        if let Some(mask) = mask {
            needed
                .iter_mut()
                .zip(mask)
                .filter(|(_, line)| line.0 == [0; 8])
                .for_each(|(needed, _)| *needed = 0);
        }
        if needed == [0; CHUNKS] {
            return Ok(());
        }
        let mut dense = Vec::with_capacity(counted.len());
        let counters = &mut self.scratch.counters;
        let mut sparse = 0;
        for run in counted {
            match postings.rows(*run) {
                Rows::Sparse(offsets) => {
                    if sparse < usize::from(MOST) {
                        counters.add(offsets);
                        sparse += 1;
                    } else {
                        counters.add_saturating(offsets);
                    }
                }
                Rows::Dense(bitmap) => dense.push(bitmap),
            }
        }
        let candidates = &mut self.scratch.candidates;
        candidates.clear();
        kernel::scan(counters, &Scan { dense: &dense, needed: &needed, mask }, candidates);

        self.compare(Counted { kind, own, block, left_out: left_out + not_looked_up, sizes })
    }

    /// Compares the candidates of a block, in two rounds where they are many: the best few raise the floor, which leaves
    /// fewer of the others.
    fn compare(&mut self, counted: Counted<'_>) -> Result<()> {
        let candidates = std::mem::take(&mut self.scratch.candidates);
        let mut promising = std::mem::take(&mut self.scratch.promising);
        let mut below = usize::from(MOST) + 1;
        if candidates.len() > 2 * FIRST {
            let mut counts = [0usize; 1 + MOST as usize];
            candidates.iter().for_each(|candidate| counts[usize::from(candidate.count)] += 1);
            let mut first = 0;
            while first < FIRST {
                below -= 1;
                first += counts[below];
            }
            self.compare_counted(&counted, &candidates, below..usize::from(MOST) + 1, &mut promising)?;
        }
        self.compare_counted(&counted, &candidates, 0..below, &mut promising)?;
        self.scratch.candidates = candidates;
        self.scratch.promising = promising;
        Ok(())
    }

    /// Compares the candidates with a count in a range.
    fn compare_counted(
        &mut self,
        counted: &Counted<'_>,
        candidates: &[Candidate],
        counts: std::ops::Range<usize>,
        promising: &mut Vec<Promising>,
    ) -> Result<()> {
        let segment = self.view.segment;
        let Counted { kind, own, block, left_out, sizes } = *counted;
        let floor = self.top.floor();
        // What a row of the smallest size in the block needs; most are told apart by that.
        let least = smallest_size(floor, own).max(self.postings(kind).blocks()[block].least as usize);
        let least = needed_overlap(floor, own + least).saturating_sub(left_out).max(counts.start);
        promising.clear();
        for candidate in candidates {
            let count = usize::from(candidate.count);
            if count >= counts.end || count < least.min(usize::from(MOST)) {
                continue;
            }
            let size = sizes[usize::from(candidate.offset)];
            let shared = if candidate.count == MOST { own } else { (count + left_out).min(own) };
            let bound = dice(shared.min(size as usize), own + size as usize);
            if bound >= floor {
                let place = (block * BLOCK + usize::from(candidate.offset)) as u32;
                let row = if kind == Kind::Token { segment.token_rows[place as usize] } else { place };
                let masked_out = kind == Kind::Token && self.masked && !is_set(&self.scratch.mask, row);
                if !masked_out && !self.loses_tie(bound, row) {
                    promising.push(Promising { bound, row, size });
                }
            }
        }
        promising.sort_unstable_by(|a, b| b.bound.total_cmp(&a.bound).then(a.row.cmp(&b.row)));
        self.compare_all(kind, own, promising)
    }

    /// Whether a row's score can at best equal that of the worst hit, whose entry came earlier.
    #[inline]
    fn loses_tie(&mut self, bound: f64, row: u32) -> bool {
        if bound > self.top.floor() {
            return false;
        }
        let id = self.top.id_limit();
        if self.tie_limit.0 != id {
            self.tie_limit = (id, self.view.segment.ids().partition_point(|other| *other < id) as u32);
        }
        self.view.segment.row_first(row) >= self.tie_limit.1
    }

    fn postings(&self, kind: Kind) -> &Postings {
        match kind {
            Kind::Token => &self.view.segment.tokens,
            Kind::Trigram => &self.view.segment.trigrams,
        }
    }

    /// Compares rows that are in order of promise.
    fn compare_all(&mut self, kind: Kind, own: usize, promising: &[Promising]) -> Result<()> {
        let segment = self.view.segment;
        let mut pace = Pace::default();
        for at in 0..promising.len() {
            if let Some(ahead) = promising.get(at + 16) {
                segment.texts().prefetch_place(ahead.row);
            }
            if let Some(ahead) = promising.get(at + 6) {
                segment.texts().prefetch_text(ahead.row);
            }
            let Promising { bound, row, size } = promising[at];
            let floor = self.top.floor();
            if bound < floor {
                break;
            }
            if self.loses_tie(bound, row) || !self.see(row) {
                continue;
            }
            let text = segment.text(row);
            pace.step(text.len(), self.control)?;
            // Tokens were looked for first, with a floor that was no higher: a row that comes up for its trigrams alone
            // cannot reach the floor with its tokens.
            let mut score = 0.0;
            let trigrams = match kind {
                Kind::Trigram => size as usize,
                Kind::Token => {
                    score = dice(self.query.shared_tokens(text).0, own + size as usize);
                    segment.trigrams.sizes()[row as usize] as usize
                }
            };
            let all = self.query.trigram_keys.len() + trigrams;
            let most = self.query.most_trigrams(text);
            if dice(most, all) >= floor {
                score = f64::max(score, dice(self.query.shared_trigrams(text), all));
            }
            if score > 0.0 && score >= floor {
                self.view.offer(self.selection, row, score, self.top);
            }
        }
        Ok(())
    }
}

/// Sorts the runs of a query's lists by block, and within a block by how common their features are, rarest first.
fn arrange(lists: &LookupScratch, blocks: usize, block_runs: &mut Vec<Run>, block_starts: &mut Vec<u32>) {
    block_starts.clear();
    block_starts.resize(blocks + 1, 0);
    for run in &lists.runs {
        block_starts[usize::from(run.block) + 1] += 1;
    }
    for block in 0..blocks {
        block_starts[block + 1] += block_starts[block];
    }
    block_runs.clear();
    block_runs.resize(lists.runs.len(), Run::default());
    for list in &lists.lists {
        for run in &lists.runs[list.first as usize..list.end as usize] {
            let place = &mut block_starts[usize::from(run.block)];
            block_runs[*place as usize] = *run;
            *place += 1;
        }
    }
    // Every start has moved to the next one.
    block_starts.copy_within(0..blocks, 1);
    block_starts[0] = 0;
}

/// Whether a mask has a row.
#[inline]
fn is_set(mask: &[Line], row: u32) -> bool {
    mask[row as usize / CHUNK].0[row as usize % CHUNK / 64] >> (row % 64) & 1 == 1
}

/// How many of a block's lists, the longest of `runs`, are best left out of the counting, given that a row must be in
/// `needed` of them: as many as leave few candidates.
fn left_out(runs: &[Run], kind: Kind, needed: usize) -> usize {
    let mut rows: usize = runs.iter().map(|run| usize::from(run.len)).sum();
    for left_out in 0..needed.min(runs.len() + 1) {
        let counted = &runs[..runs.len() - left_out];
        let Some((longest, others)) = counted.split_last() else { return left_out };
        // With one more list left out:
        let rows_then = rows - usize::from(longest.len);
        let least = needed - left_out - 1;
        if least == 0 || others.is_empty() {
            return left_out;
        }
        // At most so many rows can have that many of the others ...
        let most = rows_then / least;
        // ... and few do where that is far above what a row has of them on average, as trigrams of a text are many and
        // common ones spread evenly. Tokens are too few for that.
        let mean = rows_then as f64 / BLOCK as f64;
        let rare = kind == Kind::Trigram && least as f64 > mean + DEVIATIONS * mean.sqrt();
        if most > FEW && !rare {
            return left_out;
        }
        rows = rows_then;
    }
    needed.saturating_sub(1).min(runs.len())
}
