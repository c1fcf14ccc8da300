//! The exact best hits in one segment.
//!
//! A row is a candidate where its tokens or its trigrams may reach the floor, the score that the worst of the best hits
//! has so far. Both are looked for in the same way, tokens first: few lists raise the floor at little cost. Blocks are
//! visited from the query's own size outward, until their sizes alone rule them out. A row of size `s` reaches the
//! floor only if it shares `needed = ceil(floor · (|q| + s) / 2)` features with a query of size `|q|`; so up to
//! `needed - 1` of the query's lists, the longest, can be left out of the counting, and the rows that then share enough
//! of the others are compared with the query by their texts.

use std::cell::RefCell;
use std::collections::HashSet;

use crate::control::Control;
use crate::entry::EntryId;
use crate::error::Result;
use crate::features::{Elements, Features, Kind, dice, needed_overlap};
use crate::fields::{self, FIELDS, Selection};
use crate::kernel::{self, Candidate, Counters, MOST, Scan};
use crate::live::{LiveEntry, Profile};
use crate::memory::LivePart;
use crate::postings::{BLOCK, CHUNK, CHUNKS, Line, LookupScratch, Postings, Rows, Run};
use crate::removed::Removed;
use crate::segment::Segment;
use crate::topk::{Ranked, TopK};

/// A query, analysed.
pub(crate) struct Query<'a> {
    pub(crate) normalized: &'a str,
    pub(crate) tokens: Elements<'a>,
    pub(crate) trigrams: Elements<'static>,
    token_keys: Vec<u32>,
    trigram_keys: Vec<u32>,
    /// For the comparison with live entries; made when there are some.
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
            tokens: Elements::tokens(normalized),
            trigrams: Elements::trigrams(normalized),
            token_keys,
            trigram_keys,
            profile: None,
        }
    }

    pub(crate) fn profile(&mut self) -> &Profile {
        self.profile.get_or_insert_with(|| Profile::of(self.normalized))
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
pub(crate) struct Scratch {
    counters: Box<Counters>,
    lookup: LookupScratch,
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
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch {
        counters: Counters::new(),
        lookup: LookupScratch::default(),
        block_runs: Vec::new(),
        block_starts: Vec::new(),
        candidates: Vec::new(),
        promising: Vec::new(),
        mask: Vec::new(),
        seen: Vec::new(),
        seen_rows: Vec::new(),
    });
}

/// A row to be compared, and the most that its score can be.
#[derive(Clone, Copy)]
struct Promising {
    bound: f64,
    row: u32,
    size: u32,
}

/// A filter that lets fewer entries than this pass is answered from those entries alone.
const LISTED: usize = 512;

/// Offers every entry of the segment that can be among the best.
pub(crate) fn segment(
    view: View<'_>,
    query: &mut Query<'_>,
    selection: &Selection<'_>,
    top: &mut TopK,
    control: Control<'_>,
) -> Result<()> {
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.seen.resize(scratch.seen.len().max(view.segment.rows().div_ceil(64)), 0);
        let result = Search { view, query, selection, top, control, scratch, masked: false }.run();
        for row in scratch.seen_rows.drain(..) {
            scratch.seen[row as usize / 64] = 0;
        }
        result
    })
}

/// Offers the entries whose normalized source is the query.
pub(crate) fn equal(view: View<'_>, query: &Query<'_>, selection: &Selection<'_>, top: &mut TopK) {
    if let Some(row) = view.segment.find_row(query.normalized) {
        view.offer(selection, row, 1.0, top);
    }
}

/// Offers the entries of a live part, which are compared one by one.
pub(crate) fn live(
    number: u32,
    part: &LivePart,
    query: &mut Query<'_>,
    wanted: &[Option<String>; FIELDS],
    top: &mut TopK,
) {
    if part.len == 0 {
        return;
    }
    let own = query.profile().clone();
    for (at, entry) in part.entries() {
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
                score = dice(query.trigrams.shared_trigrams(&entry.normalized), trigrams);
            }
            if tokens_may {
                score = f64::max(score, dice(query.tokens.shared_tokens(&entry.normalized).0, tokens));
            }
        }
        if score > 0.0 {
            top.offer(Ranked { score, id: entry.id, part: number, entry: at as u32 });
        }
    }
}

fn matches(wanted: &[Option<String>; FIELDS], entry: &LiveEntry) -> bool {
    if *wanted == [const { None }; FIELDS] {
        return true;
    }
    let values = fields::values(&entry.entry());
    (0..FIELDS).all(|field| {
        wanted[field].as_ref().is_none_or(|wanted| {
            values[field].is_some_and(|value| fields::comparable(field, value) == *wanted)
        })
    })
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
    pub(crate) fn offer_segment(&self, view: View<'_>, selection: &Selection<'_>, top: &mut TopK) {
        let mut left = self.max_hits;
        let mut offer = |entry: u32| {
            let id = view.segment.ids()[entry as usize];
            if view.passes(selection, entry) && !self.found.contains(&id) {
                top.offer(Ranked { score: 0.0, id, part: view.part, entry });
                left -= 1;
            }
            left > 0
        };
        match selection.fewest() {
            Some(entries) => _ = entries.iter().all(|entry| offer(*entry)),
            None => _ = (0..view.segment.len() as u32).all(offer),
        }
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
}

impl Search<'_, '_, '_> {
    fn run(&mut self) -> Result<()> {
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

    fn is_masked_out(&self, row: u32) -> bool {
        self.masked
            && self.scratch.mask[row as usize / CHUNK].0[row as usize % CHUNK / 64] >> (row % 64) & 1 == 0
    }

    /// Compares the rows of some entries, one by one.
    fn compare_listed(&mut self, entries: &[u32]) -> Result<()> {
        let segment = self.view.segment;
        for (at, &entry) in entries.iter().enumerate() {
            if at % 64 == 0 {
                self.control.check()?;
            }
            let row = segment.row_of()[entry as usize];
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
        let own = self.query.trigrams.total();
        let mut score = 0.0;
        if dice(own.min(size), own + size) >= floor {
            score = dice(self.query.trigrams.shared_trigrams(text), own + size);
        }
        let own = self.query.tokens.total();
        if own > 0 {
            let (shared, size) = self.query.tokens.shared_tokens(text);
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
        postings.lookup(keys, &mut self.scratch.lookup);
        self.arrange(postings);

        let sizes = postings.sizes();
        let blocks = postings.len().div_ceil(BLOCK);
        let start = (sizes.partition_point(|size| (*size as usize) < own) / BLOCK).min(blocks - 1);
        let (mut below, mut above) = (start, start);
        // The best score that sizes allow in the blocks below and from `above` on.
        let best = |size: u32| dice(own.min(size as usize), own + size as usize);
        loop {
            let floor = self.top.floor();
            let below_best = below.checked_sub(1).map(|block| best(sizes[(block + 1) * BLOCK - 1]));
            let above_best = (above < blocks).then(|| {
                let first = sizes[above * BLOCK] as usize;
                if first <= own { 1.0 } else { best(first as u32) }
            });
            let below_best = below_best.filter(|best| *best >= floor);
            let above_best = above_best.filter(|best| *best >= floor);
            let block = match (below_best, above_best) {
                (None, None) => return Ok(()),
                (Some(down), Some(up)) if down > up => {
                    below -= 1;
                    below
                }
                (_, Some(_)) => {
                    above += 1;
                    above - 1
                }
                (Some(_), None) => {
                    below -= 1;
                    below
                }
            };
            self.control.check()?;
            self.block(kind, postings, own, block);
        }
    }

    /// Sorts the runs that were looked up by block, and within a block by how common their features are, rarest first.
    fn arrange(&mut self, postings: &Postings) {
        let Scratch { lookup, block_runs, block_starts, .. } = &mut *self.scratch;
        lookup.lists.sort_unstable_by_key(|list| list.rows);
        let blocks = postings.len().div_ceil(BLOCK);
        block_starts.clear();
        block_starts.resize(blocks + 1, 0);
        for run in &lookup.runs {
            block_starts[usize::from(run.block) + 1] += 1;
        }
        for block in 0..blocks {
            block_starts[block + 1] += block_starts[block];
        }
        block_runs.clear();
        block_runs.resize(lookup.runs.len(), Run::default());
        for list in &lookup.lists {
            for run in &lookup.runs[list.first as usize..list.end as usize] {
                let place = &mut block_starts[usize::from(run.block)];
                block_runs[*place as usize] = *run;
                *place += 1;
            }
        }
        // Every start has moved to the next one.
        block_starts.copy_within(0..blocks, 1);
        block_starts[0] = 0;
    }

    fn block(&mut self, kind: Kind, postings: &Postings, own: usize, block: usize) {
        let floor = self.top.floor();
        let sizes = &postings.sizes()[block * BLOCK..postings.len().min((block + 1) * BLOCK)];
        let mut totals = [0usize; CHUNKS];
        let mut fewest = usize::MAX;
        let mut most = 0;
        let mut last = (0, 0);
        for (chunk, sizes) in sizes.chunks(CHUNK).enumerate() {
            let (first, largest) = (sizes[0] as usize, sizes[sizes.len() - 1] as usize);
            let closest = own.clamp(first, largest);
            if dice(own.min(closest), own + closest) < floor {
                continue;
            }
            if last.0 != first {
                last = (first, needed_overlap(floor, own + first));
            }
            totals[chunk] = last.1;
            fewest = fewest.min(last.1);
            most = most.max(last.1);
        }
        if fewest == usize::MAX {
            return;
        }
        let (start, end) =
            (self.scratch.block_starts[block] as usize, self.scratch.block_starts[block + 1] as usize);
        let runs = &self.scratch.block_runs[start..end];
        if runs.len() < fewest {
            return;
        }
        let left_out = left_out(runs, kind, fewest).max((most.saturating_sub(usize::from(MOST))).min(fewest - 1)).min(runs.len());
        let counted = &runs[..runs.len() - left_out];
        let needed = totals.map(|needed| needed.saturating_sub(left_out).min(usize::from(MOST)) as u8);
        let mut dense = Vec::with_capacity(counted.len());
        let counters = &mut *self.scratch.counters;
        let mut sparse = 0;
        for run in counted {
            match postings.rows(*run) {
                Rows::Sparse(offsets) if sparse < usize::from(MOST) => {
                    counters.add(offsets);
                    sparse += 1;
                }
                Rows::Sparse(offsets) => counters.add_saturating(offsets),
                Rows::Dense(bitmap) => dense.push(bitmap),
            }
        }
        let candidates = &mut self.scratch.candidates;
        candidates.clear();
        let mask = (self.masked && kind == Kind::Trigram).then(|| {
            self.scratch.mask[block * CHUNKS..(block + 1) * CHUNKS].as_array::<CHUNKS>().expect("a mask has whole blocks")
        });
        kernel::scan(counters, &Scan { dense: &dense, needed: &needed, mask }, candidates);

        let promising = &mut self.scratch.promising;
        promising.clear();
        for candidate in candidates.iter() {
            let size = sizes[usize::from(candidate.offset)] as usize;
            let shared = if candidate.count == MOST { usize::MAX } else { usize::from(candidate.count) + left_out };
            let bound = dice(shared.min(own).min(size), own + size);
            if bound >= floor {
                let place = (block * BLOCK + usize::from(candidate.offset)) as u32;
                promising.push(Promising { bound, row: place, size: size as u32 });
            }
        }
        self.compare(kind, own);
    }

    /// Compares the promising rows, the most promising first, until none can reach the floor.
    fn compare(&mut self, kind: Kind, own: usize) {
        let segment = self.view.segment;
        let mut promising = std::mem::take(&mut self.scratch.promising);
        if kind == Kind::Token {
            promising.iter_mut().for_each(|row| row.row = segment.token_rows[row.row as usize]);
        }
        promising.sort_unstable_by(|a, b| b.bound.total_cmp(&a.bound).then(a.row.cmp(&b.row)));
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
            if self.is_masked_out(row) || !self.see(row) {
                continue;
            }
            let text = segment.text(row);
            // Tokens were looked for first, with a floor that was no higher: a row that comes up for its trigrams alone
            // cannot reach the floor with its tokens.
            let mut score = 0.0;
            let trigrams = match kind {
                Kind::Trigram => size as usize,
                Kind::Token => {
                    score = dice(self.query.tokens.shared_tokens(text).0, own + size as usize);
                    segment.trigrams.sizes()[row as usize] as usize
                }
            };
            let all = self.query.trigrams.total() + trigrams;
            if kind == Kind::Trigram || dice(trigrams.min(self.query.trigrams.total()), all) >= floor {
                score = f64::max(score, dice(self.query.trigrams.shared_trigrams(text), all));
            }
            if score > 0.0 && score >= floor {
                self.view.offer(self.selection, row, score, self.top);
            }
        }
        self.scratch.promising = promising;
    }
}

/// How many of a block's lists, the longest of `runs`, are best left out of the counting, given that a row must be in
/// `needed` of them.
fn left_out(runs: &[Run], kind: Kind, needed: usize) -> usize {
    if kind == Kind::Token {
        return 0;
    }
    let rows: usize = runs.iter().map(|run| usize::from(run.len)).sum();
    let mut mean = rows as f64 / BLOCK as f64;
    let mut left_out = 0;
    while left_out + 1 < needed && left_out < runs.len() {
        let list = f64::from(runs[runs.len() - 1 - left_out].len) / BLOCK as f64;
        mean -= list;
        let least = (needed - left_out - 1) as f64;
        if least < mean + Z.with(|z| z.get()) * mean.sqrt() {
            break;
        }
        left_out += 1;
    }
    left_out
}
thread_local! { pub static Z: std::cell::Cell<f64> = const { std::cell::Cell::new(6.0) }; }
pub mod stat { use std::sync::atomic::*; 
 pub static C: [AtomicU64; 24] = [const { AtomicU64::new(0) }; 24];
 pub fn add(i: usize, n: u64) { C[i].fetch_add(n, Ordering::Relaxed); }
}
