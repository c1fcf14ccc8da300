//! An immutable part of a memory: its entries, their distinct sources, and the indexes over them.

use crate::arena::{Arena, HashIndex, Interner};
use crate::control::{Control, Pace};
use crate::entry::{EntryId, EntryRef, MOST_ID};
use crate::error::Result;
use crate::features::{Features, Kind, trigram_count};
use crate::fields::{ABSENT, FIELDS, FieldIndex, Profiles};
use crate::hash;
use crate::image::{self, Reader, Writer, check};
use crate::postings::{BLOCK, MAX_ROWS, Postings};
use crate::text;

/// The optional texts that few entries have, in one arena: three strings an entry that has any.
#[derive(Default)]
struct Extras {
    /// The entries that have any, ascending.
    entries: Vec<u32>,
    /// Which of the three each has, as bits.
    present: Vec<u8>,
    texts: Arena,
}

impl Extras {
    fn push(&mut self, entry: u32, extras: [Option<&str>; 3]) {
        if extras == [None; 3] {
            return;
        }
        self.entries.push(entry);
        let mut present = 0;
        for (bit, extra) in extras.iter().enumerate() {
            present |= u8::from(extra.is_some()) << bit;
            self.texts.push(extra.unwrap_or(""));
        }
        self.present.push(present);
    }

    fn shrink(&mut self) {
        self.entries.shrink_to_fit();
        self.present.shrink_to_fit();
        self.texts.shrink();
    }

    fn get(&self, entry: u32) -> [Option<&str>; 3] {
        match self.entries.binary_search(&entry) {
            Ok(at) => std::array::from_fn(|bit| {
                (self.present[at] >> bit & 1 == 1).then(|| self.texts.get((3 * at + bit) as u32))
            }),
            Err(_) => [None; 3],
        }
    }

    fn write(&self, to: &mut Writer<'_>) -> image::Result<()> {
        to.column(&self.entries)?;
        to.column(&self.present)?;
        self.texts.write(to)
    }

    /// Those of so many entries.
    fn read(from: &mut Reader<'_>, len: usize) -> image::Result<Extras> {
        let extras = Extras { entries: from.column()?, present: from.column()?, texts: Arena::read(from)? };
        let (entries, texts) = (extras.entries.len(), extras.texts.len());
        let fit = extras.present.len() == entries && Some(texts) == entries.checked_mul(3);
        let ascend = extras.entries.is_sorted_by(|a, b| a < b);
        let lead = extras.entries.last().is_none_or(|last| (*last as usize) < len);
        check(fit && ascend && lead, "texts of entries lead nowhere")?;
        Ok(extras)
    }

    fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<u32>() + self.present.capacity() + self.texts.bytes()
    }
}

/// The entries of a segment, in insertion order. Places are numbered from 0.
#[derive(Default)]
struct Entries {
    ids: Vec<EntryId>,
    /// Each entry's row. In a finished segment rows are in index order.
    row_of: Vec<u32>,
    /// Each entry's source text, in `sources`: equal texts are stored once.
    source_of: Vec<u32>,
    sources: Arena,
    targets: Arena,
    profile_of: Vec<u32>,
    profiles: Profiles,
    source_id_of: Vec<u32>,
    source_ids: Interner,
    extras: Extras,
}

impl Entries {
    fn get(&self, at: u32) -> EntryRef<'_> {
        let [source_language, target_language, domain, namespace] =
            self.profiles.get(self.profile_of[at as usize]);
        let source_id = self.source_id_of[at as usize];
        let [created_at, notes, metadata] = self.extras.get(at);
        EntryRef {
            source: self.sources.get(self.source_of[at as usize]),
            target: self.targets.get(at),
            source_language,
            target_language,
            domain,
            namespace,
            source_id: (source_id != ABSENT).then(|| self.source_ids.get(source_id)),
            created_at,
            notes,
            metadata,
        }
    }

    fn write(&self, to: &mut Writer<'_>) -> image::Result<()> {
        to.column(&self.ids)?;
        to.column(&self.row_of)?;
        to.column(&self.source_of)?;
        self.sources.write(to)?;
        self.targets.write(to)?;
        to.column(&self.profile_of)?;
        self.profiles.write(to)?;
        to.column(&self.source_id_of)?;
        self.source_ids.write_frozen(to)?;
        self.extras.write(to)
    }

    fn read(from: &mut Reader<'_>) -> image::Result<Entries> {
        let ids: Vec<EntryId> = from.column()?;
        let len = ids.len();
        let entries = Entries {
            ids,
            row_of: from.column()?,
            source_of: from.column()?,
            sources: Arena::read(from)?,
            targets: Arena::read(from)?,
            profile_of: from.column()?,
            profiles: Profiles::read(from)?,
            source_id_of: from.column()?,
            source_ids: Interner::read_frozen(from)?,
            extras: Extras::read(from, len)?,
        };
        let ids = &entries.ids;
        let ids_fit = ids.is_sorted_by(|a, b| a < b) && ids.last().is_none_or(|last| *last <= MOST_ID);
        check(ids_fit && len < ABSENT as usize, "ids of entries are out of order")?;
        let below = |column: &[u32], most: usize| {
            column.len() == len && column.iter().copied().max().is_none_or(|number| (number as usize) < most)
        };
        let source_ids = entries.source_ids.len();
        let lead = below(&entries.source_of, entries.sources.len())
            && below(&entries.profile_of, entries.profiles.len())
            && entries.row_of.len() == len
            && entries.targets.len() == len
            && entries.source_id_of.len() == len
            && entries.source_id_of.iter().all(|id| *id == ABSENT || (*id as usize) < source_ids);
        check(lead, "entries lead nowhere")?;
        Ok(entries)
    }

    /// Bytes of the fixed-size columns.
    fn column_bytes(&self) -> usize {
        self.ids.capacity() * size_of::<EntryId>()
            + [&self.row_of, &self.source_of, &self.profile_of, &self.source_id_of]
                .iter()
                .map(|column| column.capacity() * size_of::<u32>())
                .sum::<usize>()
            + self.profiles.bytes()
    }
}

/// The entries of each row.
struct RowTables {
    /// For each row where its entries start in `entries`, which has them in insertion order.
    starts: Vec<u32>,
    entries: Vec<u32>,
    /// The first entry of each row, once more: ties are decided by it, in thousands.
    first: Vec<u32>,
}

impl RowTables {
    /// From the row of each entry.
    fn new(row_of: &[u32], rows: usize) -> RowTables {
        let (starts, entries) = by_row(row_of, rows);
        let first = starts[..rows].iter().map(|start| entries.get(*start as usize).copied().unwrap_or(0));
        RowTables { first: first.collect(), starts, entries }
    }

    fn of(&self, row: u32) -> &[u32] {
        &self.entries[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }
}

/// See the module.
pub(crate) struct Segment {
    entries: Entries,
    /// The normalized source of each row, in the order of the trigram index.
    texts: Arena,
    /// Finds rows by their text.
    row_index: HashIndex,
    row_tables: RowTables,
    pub(crate) trigrams: Postings,
    /// Over the rows that have tokens, by ascending number of those.
    pub(crate) tokens: Postings,
    /// The row at each place of the token index.
    pub(crate) token_rows: Vec<u32>,
    pub(crate) fields: FieldIndex,
}

impl Segment {
    /// How many entries there are, removed ones included.
    pub(crate) fn len(&self) -> usize {
        self.entries.ids.len()
    }

    /// How many distinct normalized sources there are.
    pub(crate) fn rows(&self) -> usize {
        self.texts.len()
    }

    /// The normalized source of a row.
    #[inline]
    pub(crate) fn text(&self, row: u32) -> &str {
        self.texts.get(row)
    }

    /// The rows' texts.
    pub(crate) fn texts(&self) -> &Arena {
        &self.texts
    }

    /// The row with this normalized source.
    pub(crate) fn find_row(&self, normalized: &str) -> Option<u32> {
        self.row_index.find(hash::bytes(normalized.as_bytes()), |row| self.text(row) == normalized)
    }

    /// The entries of a row, in insertion order.
    #[inline]
    pub(crate) fn row_entries(&self, row: u32) -> &[u32] {
        self.row_tables.of(row)
    }

    /// The first entry of a row, removed ones included.
    #[inline]
    pub(crate) fn row_first(&self, row: u32) -> u32 {
        self.row_tables.first[row as usize]
    }

    /// The ids of all entries, ascending.
    pub(crate) fn ids(&self) -> &[EntryId] {
        &self.entries.ids
    }

    /// The row of each entry.
    pub(crate) fn row_of(&self) -> &[u32] {
        &self.entries.row_of
    }

    /// An entry's combination of filter fields.
    #[inline]
    pub(crate) fn profile(&self, entry: u32) -> u32 {
        self.entries.profile_of[entry as usize]
    }

    pub(crate) fn profiles(&self) -> &Profiles {
        &self.entries.profiles
    }

    /// The source texts, each once.
    pub(crate) fn sources(&self) -> &Arena {
        &self.entries.sources
    }

    /// The number of an entry's source text.
    #[inline]
    pub(crate) fn source_of(&self, entry: u32) -> u32 {
        self.entries.source_of[entry as usize]
    }

    /// The target text of each entry.
    pub(crate) fn targets(&self) -> &Arena {
        &self.entries.targets
    }

    /// The entry at a place.
    pub(crate) fn entry(&self, at: u32) -> EntryRef<'_> {
        self.entries.get(at)
    }

    /// Changes all ids, which stay in order.
    pub(crate) fn renumber(&mut self, change: impl Fn(&mut EntryId)) {
        self.entries.ids.iter_mut().for_each(change);
    }

    pub(crate) fn write(&self, to: &mut Writer<'_>) -> image::Result<()> {
        self.entries.write(to)?;
        self.texts.write(to)?;
        self.row_index.write(to)?;
        self.trigrams.write(to)?;
        self.tokens.write(to)?;
        to.column(&self.token_rows)
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> image::Result<Segment> {
        let entries = Entries::read(from)?;
        let texts = Arena::read(from)?;
        let rows = texts.len();
        let leads = entries.row_of.iter().copied().max().is_none_or(|row| (row as usize) < rows);
        check(leads, "entries lead nowhere")?;
        let row_index = HashIndex::read(from, rows)?;
        let trigrams = Postings::read(from)?;
        let tokens = Postings::read(from)?;
        let token_rows: Vec<u32> = from.column()?;
        let leads = token_rows.iter().copied().max().is_none_or(|row| (row as usize) < rows);
        let fit = trigrams.len() == rows && tokens.len() == token_rows.len();
        check(leads && fit, "rows of an index lead nowhere")?;
        let row_tables = RowTables::new(&entries.row_of, rows);
        check(row_tables.starts.is_sorted_by(|a, b| a < b), "a row has no entries")?;
        let fields = FieldIndex::build(&entries.profiles, &entries.profile_of, &entries.row_of, rows);
        Ok(Segment { entries, texts, row_index, row_tables, trigrams, tokens, token_rows, fields })
    }

    /// Bytes of the largest arena.
    pub(crate) fn largest_arena(&self) -> usize {
        let Entries { sources, targets, source_ids, extras, .. } = &self.entries;
        [
            self.texts.text_len(),
            sources.text_len(),
            targets.text_len(),
            source_ids.text_len(),
            extras.texts.text_len(),
        ]
        .into_iter()
        .max()
        .unwrap_or(0)
    }

    /// Adds the bytes in use to the sums by part.
    pub(crate) fn add_bytes(&self, bytes: &mut crate::memory::Bytes) {
        let columns =
            |columns: &[&Vec<u32>]| columns.iter().map(|column| column.capacity() * 4).sum::<usize>();
        bytes.trigram_index += self.trigrams.bytes();
        bytes.token_index += self.tokens.bytes() + columns(&[&self.token_rows]);
        bytes.normalized_texts += self.texts.bytes();
        let RowTables { starts, entries, first } = &self.row_tables;
        bytes.row_tables += self.row_index.bytes() + columns(&[starts, entries, first]);
        bytes.sources += self.entries.sources.bytes();
        bytes.targets += self.entries.targets.bytes();
        bytes.entry_columns += self.entries.column_bytes();
        bytes.other_texts += self.entries.source_ids.bytes() + self.entries.extras.bytes();
        bytes.filters += self.fields.bytes();
    }

    /// Checks every structure against the entries; panics where one is broken.
    pub(crate) fn internal_validate(&self) {
        let rows = self.rows();
        assert!(self.ids().is_sorted_by(|a, b| a < b), "ids ascend");
        assert_eq!(self.row_tables.starts.len(), rows + 1);
        assert_eq!(self.row_tables.entries.len(), self.len());
        let mut features = Features::default();
        let mut expected = [const { std::collections::BTreeMap::<u32, Vec<u32>>::new() }; 2];
        let mut place_of = vec![None; rows];
        self.token_rows
            .iter()
            .enumerate()
            .for_each(|(place, row)| place_of[*row as usize] = Some(place as u32));
        for row in 0..rows as u32 {
            let normalized = self.text(row);
            assert_eq!(self.find_row(normalized), Some(row), "a row is found by its text");
            assert_eq!(self.row_entries(row).first(), Some(&self.row_first(row)), "a row has entries");
            assert!(self.row_entries(row).is_sorted_by(|a, b| a < b), "a row's entries are in order");
            for entry in self.row_entries(row) {
                assert_eq!(self.row_of()[*entry as usize], row);
                assert_eq!(text::normalize(self.entry(*entry).source), normalized);
            }
            assert_eq!(self.trigrams.sizes()[row as usize] as usize, trigram_count(normalized));
            let tokens = text::tokens(normalized).count();
            match place_of[row as usize] {
                Some(place) => assert_eq!(self.tokens.sizes()[place as usize] as usize, tokens),
                None => assert_eq!(tokens, 0, "a row with tokens is in the token index"),
            }
            let places = [(Kind::Trigram, Some(row)), (Kind::Token, place_of[row as usize])];
            for ((kind, place), expected) in places.into_iter().zip(&mut expected) {
                let mut keys = Vec::new();
                features.keys(kind, normalized, &mut keys);
                keys.sort_unstable();
                keys.dedup();
                for key in keys {
                    expected
                        .entry(key)
                        .or_default()
                        .push(place.expect("a row without tokens has no token keys"));
                }
            }
        }
        let [trigrams, mut tokens] = expected;
        tokens.values_mut().for_each(|places| places.sort_unstable());
        for (postings, expected) in [(&self.trigrams, trigrams), (&self.tokens, tokens)] {
            assert!(postings.blocks().is_sorted_by(|a, b| a.most <= b.least), "sizes ascend");
            assert!(postings.all().eq(expected), "every feature has exactly its rows");
        }
    }
}

/// Bytes of an entry's texts but its source and target.
fn other_bytes(entry: &EntryRef<'_>) -> usize {
    let [_, _, others @ ..] = entry.texts();
    others.into_iter().flatten().map(str::len).sum()
}

/// Takes in entries and makes a segment of them.
#[derive(Default)]
pub(crate) struct SegmentBuilder {
    entries: Entries,
    /// The normalized source of each row, in order of first appearance.
    texts: Arena,
    row_index: HashIndex,
    row_hash: Vec<u64>,
    /// For each row its latest source text, and for each source text the one before it of the same row.
    row_source: Vec<u32>,
    source_before: Vec<u32>,
    /// Bytes of all texts but sources and targets, as if none were stored once only.
    other: usize,
    /// Bytes of the largest arena, at the most.
    largest: usize,
}

/// How many source texts of a row are compared before another copy is stored.
const COMPARED_SOURCES: usize = 8;

impl SegmentBuilder {
    /// Whether an entry with such texts still fits.
    pub(crate) fn has_room(&self, entry: &EntryRef<'_>, normalized: &str) -> bool {
        let most = [entry.source.len(), entry.target.len(), normalized.len(), other_bytes(entry)]
            .into_iter()
            .max()
            .unwrap_or(0);
        self.largest + most <= Arena::MOST_BYTES
            // An index takes at most four words a feature, and a text has at most one feature a byte.
            && self.texts.text_len() + normalized.len() <= Arena::MOST_BYTES / 4
            && self.texts.len() < MAX_ROWS
            && self.entries.ids.len() < u32::MAX as usize / 4
    }

    /// Takes an entry in. Ids ascend.
    pub(crate) fn push(&mut self, id: EntryId, entry: &EntryRef<'_>, normalized: &str) {
        debug_assert!(self.entries.ids.last().is_none_or(|last| *last < id));
        let hash = hash::bytes(normalized.as_bytes());
        let row = self.find_hashed(hash, normalized).unwrap_or_else(|| {
            let row = self.texts.push(normalized);
            self.row_index.insert(hash, row, |row| self.row_hash[row as usize]);
            self.row_hash.push(hash);
            self.row_source.push(ABSENT);
            row
        });
        let mut source = self.row_source[row as usize];
        for _ in 0..COMPARED_SOURCES {
            if source == ABSENT || self.entries.sources.get(source) == entry.source {
                break;
            }
            source = self.source_before[source as usize];
        }
        if source == ABSENT || self.entries.sources.get(source) != entry.source {
            source = self.entries.sources.push(entry.source);
            self.source_before.push(self.row_source[row as usize]);
            self.row_source[row as usize] = source;
        }
        let at = self.entries.ids.len() as u32;
        self.entries.ids.push(id);
        self.entries.row_of.push(row);
        self.entries.source_of.push(source);
        self.entries.targets.push(entry.target);
        self.entries.profile_of.push(self.entries.profiles.intern(entry));
        self.entries
            .source_id_of
            .push(entry.source_id.map_or(ABSENT, |text| self.entries.source_ids.intern(text)));
        self.entries.extras.push(at, [entry.created_at, entry.notes, entry.metadata]);
        self.other += other_bytes(entry);
        let arenas = [&self.texts, &self.entries.sources, &self.entries.targets].map(Arena::text_len);
        self.largest = arenas.into_iter().fold(self.other, usize::max);
    }

    fn find_hashed(&self, hash: u64, normalized: &str) -> Option<u32> {
        let same = |row| self.row_hash[row as usize] == hash && self.texts.get(row) == normalized;
        self.row_index.find(hash, same)
    }

    /// The row with this normalized source.
    pub(crate) fn find_row(&self, normalized: &str) -> Option<u32> {
        self.find_hashed(hash::bytes(normalized.as_bytes()), normalized)
    }

    /// The normalized sources of the rows.
    pub(crate) fn texts(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.texts.len() as u32).map(|row| self.texts.get(row))
    }

    /// For each row where the places of its entries start in the second list.
    pub(crate) fn by_row(&self) -> (Vec<u32>, Vec<u32>) {
        by_row(&self.entries.row_of, self.texts.len())
    }

    /// How many entries it holds.
    pub(crate) fn len(&self) -> usize {
        self.entries.ids.len()
    }

    /// The entry at a place, with its id and its normalized source.
    pub(crate) fn get(&self, at: usize) -> Option<(EntryId, EntryRef<'_>, &str)> {
        let id = *self.entries.ids.get(at)?;
        Some((id, self.entries.get(at as u32), self.texts.get(self.entries.row_of[at])))
    }

    /// The entries, as [`SegmentBuilder::get`] has them.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (EntryId, EntryRef<'_>, &str)> {
        (0..self.len()).map_while(|at| self.get(at))
    }

    /// As [`Batch::combinations`](crate::Batch::combinations).
    pub(crate) fn combinations(&self) -> impl Iterator<Item = ([Option<&str>; FIELDS], usize)> {
        let Entries { profiles, profile_of, .. } = &self.entries;
        let mut counts = vec![0; profiles.len()];
        profile_of.iter().for_each(|profile| counts[*profile as usize] += 1);
        (0..).zip(counts).map(|(profile, entries)| (profiles.get(profile), entries))
    }

    /// Builds the indexes. Uses all cores.
    pub(crate) fn finish(self, control: Control<'_>) -> Result<Segment> {
        let SegmentBuilder {
            mut entries,
            texts: unsorted,
            row_index,
            row_hash,
            row_source,
            source_before,
            ..
        } = self;
        drop((row_index, row_hash, row_source, source_before));
        entries.ids.shrink_to_fit();
        entries.source_of.shrink_to_fit();
        entries.profile_of.shrink_to_fit();
        entries.source_id_of.shrink_to_fit();
        entries.sources.shrink();
        entries.targets.shrink();
        entries.source_ids.freeze();
        entries.profiles.freeze();
        entries.extras.shrink();
        control.check()?;

        // Rows by size, block by block; within a block, where order is free, those that the same filters let pass
        // stand together, so that a search passes over whole chunks of the others.
        let rows = unsorted.len();
        let mut pace = Pace::default();
        let mut count = |texts: &Arena, row: u32, count: fn(&str) -> usize| {
            let text = texts.get(row);
            pace.step(text.len(), control)?;
            Ok(count(text) as u32)
        };
        let size =
            (0..rows as u32).map(|row| count(&unsorted, row, trigram_count)).collect::<Result<Vec<u32>>>()?;
        let kin = kin(&entries, rows);
        let mut order: Vec<u32> = (0..rows as u32).collect();
        order.sort_by_key(|row| size[*row as usize]);
        order.chunks_mut(BLOCK).for_each(|block| block.sort_by_key(|row| kin[*row as usize]));
        drop(kin);
        let mut texts = Arena::default();
        let mut renumbered = vec![0u32; rows];
        let mut row_index = HashIndex::with_room(rows);
        let mut copied = Pace::default();
        for &row in &order {
            let text = unsorted.get(row);
            copied.step(text.len(), control)?;
            let new = texts.push(text);
            renumbered[row as usize] = new;
            row_index.insert(hash::bytes(text.as_bytes()), new, |_| unreachable!("the index has room"));
        }
        let sizes = order.iter().map(|row| size[*row as usize]).collect();
        drop((unsorted, order, size));
        texts.shrink();
        entries.row_of.iter_mut().for_each(|row| *row = renumbered[*row as usize]);
        drop(renumbered);
        entries.row_of.shrink_to_fit();
        control.check()?;

        let row_tables = RowTables::new(&entries.row_of, rows);

        let trigrams = Postings::build(
            sizes,
            Features::default,
            |features, row, keys| features.keys(Kind::Trigram, texts.get(row as u32), keys),
            control,
        )?;
        let count_tokens = |text: &str| text::tokens(text).count();
        let counts =
            (0..rows as u32).map(|row| count(&texts, row, count_tokens)).collect::<Result<Vec<u32>>>()?;
        control.check()?;
        let mut token_rows: Vec<u32> = (0..rows as u32).filter(|row| counts[*row as usize] > 0).collect();
        token_rows.shrink_to_fit();
        token_rows.sort_by_key(|row| counts[*row as usize]);
        let sizes = token_rows.iter().map(|row| counts[*row as usize]).collect();
        drop(counts);
        let tokens = Postings::build(
            sizes,
            Features::default,
            |features, place, keys| features.keys(Kind::Token, texts.get(token_rows[place]), keys),
            control,
        )?;
        let fields = FieldIndex::build(&entries.profiles, &entries.profile_of, &entries.row_of, rows);
        Ok(Segment { entries, texts, row_index, row_tables, trigrams, tokens, token_rows, fields })
    }
}

/// For each row where its entries start in the second list, which has them in insertion order.
fn by_row(row_of: &[u32], rows: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; rows + 1];
    row_of.iter().for_each(|row| starts[*row as usize + 1] += 1);
    for row in 0..rows {
        starts[row + 1] += starts[row];
    }
    let mut next = starts.clone();
    let mut entries = vec![0u32; row_of.len()];
    for (entry, row) in row_of.iter().enumerate() {
        let place = &mut next[*row as usize];
        entries[*place as usize] = entry as u32;
        *place += 1;
    }
    (starts, entries)
}

/// For each row a number that is the same for rows whose entries have the same languages: of the first entry's source,
/// and of all targets, the commonest first.
fn kin(entries: &Entries, rows: usize) -> Vec<u64> {
    const SOURCE: usize = 0;
    const TARGET: usize = 1;
    const RANKS: u32 = 48;
    let profiles = &entries.profiles;
    let rank_of = |field| {
        let mut counts = vec![0u32; profiles.classes(field)];
        for profile in &entries.profile_of {
            if let Some(count) = counts.get_mut(profiles.class(*profile, field) as usize) {
                *count += 1;
            }
        }
        let mut classes: Vec<usize> = (0..counts.len()).collect();
        classes.sort_by_key(|class| std::cmp::Reverse(counts[*class]));
        let mut ranks = vec![0u32; counts.len()];
        (0..).zip(classes).for_each(|(rank, class)| ranks[class] = rank);
        ranks
    };
    let (source_ranks, target_ranks) = (rank_of(SOURCE), rank_of(TARGET));
    let mut kin = vec![0u64; rows];
    for (profile, row) in entries.profile_of.iter().zip(&entries.row_of) {
        let kin = &mut kin[*row as usize];
        let source = source_ranks.get(profiles.class(*profile, SOURCE) as usize).map_or(0, |rank| rank + 1);
        if *kin == 0 {
            *kin = u64::from(source.min(0xffff)) << RANKS;
        }
        if let Some(rank) = target_ranks.get(profiles.class(*profile, TARGET) as usize)
            && *rank < RANKS
        {
            *kin |= 1 << (RANKS - 1 - rank);
        }
    }
    kin
}
