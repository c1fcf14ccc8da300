//! The four fields that filters test, and finding the entries that pass.

use crate::arena::{HashIndex, Interner};
use crate::entry::{EntryRef, Filter};
use crate::hash;
use crate::image::{self, Reader, Writer, check};
use crate::postings::{BLOCK, CHUNK, CHUNKS, Line};

/// How many fields a filter can test.
pub(crate) const FIELDS: usize = 4;

/// In the place of a value's number: the entry does not have the field.
pub(crate) const ABSENT: u32 = u32::MAX;

/// The values of an entry's filter fields.
pub(crate) fn values<'a>(entry: &EntryRef<'a>) -> [Option<&'a str>; FIELDS] {
    [entry.source_language, entry.target_language, entry.domain, entry.namespace]
}

/// The form in which a field's values are compared: language tags do not tell upper from lower case.
pub(crate) fn comparable(field: usize, value: &str) -> String {
    if field < 2 { value.to_lowercase() } else { value.to_owned() }
}

/// What a filter wants of each field, in comparable form.
pub(crate) fn wanted(filter: &Filter) -> [Option<String>; FIELDS] {
    let fields = [&filter.source_language, &filter.target_language, &filter.domain, &filter.namespace];
    std::array::from_fn(|field| fields[field].as_deref().map(|value| comparable(field, value)))
}

/// Whether an entry with these values has what is wanted of each field.
pub(crate) fn pass(wanted: &[Option<String>; FIELDS], values: &[Option<&str>; FIELDS]) -> bool {
    (0..FIELDS).all(|field| {
        wanted[field]
            .as_ref()
            .is_none_or(|wanted| values[field].is_some_and(|value| comparable(field, value) == *wanted))
    })
}

/// One field's distinct values while a segment is built, and once it is.
#[derive(Default)]
pub(crate) struct Values {
    /// As given.
    given: Interner,
    /// In comparable form.
    comparable: Interner,
    /// For each given value the number of its comparable form.
    class: Vec<u32>,
}

impl Values {
    pub(crate) fn intern(&mut self, field: usize, value: &str) -> u32 {
        let number = self.given.intern(value);
        if number as usize == self.class.len() {
            self.class.push(self.comparable.intern(&comparable(field, value)));
        }
        number
    }

    pub(crate) fn get(&self, number: u32) -> &str {
        self.given.get(number)
    }

    fn write(&self, to: &mut Writer<'_>) -> image::Result<()> {
        self.given.write_frozen(to)?;
        self.comparable.write(to)?;
        to.column(&self.class)
    }

    fn read(from: &mut Reader<'_>) -> image::Result<Values> {
        let values = Values {
            given: Interner::read_frozen(from)?,
            comparable: Interner::read(from)?,
            class: from.column()?,
        };
        let classes = values.comparable.len();
        let leads = values.class.iter().all(|class| (*class as usize) < classes);
        check(leads && values.class.len() == values.given.len(), "a value of a filter leads nowhere")?;
        Ok(values)
    }

    fn bytes(&self) -> usize {
        self.given.bytes() + self.comparable.bytes() + self.class.capacity() * size_of::<u32>()
    }
}

/// The entries of each combination of values: entries of a project share theirs.
#[derive(Default)]
pub(crate) struct Profiles {
    pub(crate) values: [Values; FIELDS],
    profiles: Vec<[u32; FIELDS]>,
    index: HashIndex,
}

/// The values of a combination.
fn given<'a>(
    profiles: &[[u32; FIELDS]],
    values: &'a [Values; FIELDS],
    number: u32,
) -> [Option<&'a str>; FIELDS] {
    let profile = &profiles[number as usize];
    std::array::from_fn(|field| (profile[field] != ABSENT).then(|| values[field].get(profile[field])))
}

fn hash_values(values: &[Option<&str>; FIELDS]) -> u64 {
    values.iter().fold(1, |state, value| {
        let value = value.map_or(0, |value| hash::bytes(value.as_bytes()));
        hash::fold(state ^ value, 0x9e37_79b9_7f4a_7c15)
    })
}

impl Profiles {
    /// The number of an entry's combination.
    pub(crate) fn intern(&mut self, entry: &EntryRef<'_>) -> u32 {
        let values = values(entry);
        let hash = hash_values(&values);
        if let Some(number) = self.index.find(hash, |number| self.get(number) == values) {
            return number;
        }
        let number = self.profiles.len() as u32;
        self.profiles.push(std::array::from_fn(|field| {
            values[field].map_or(ABSENT, |value| self.values[field].intern(field, value))
        }));
        let (profiles, values) = (&self.profiles, &self.values);
        self.index.insert(hash, number, |number| hash_values(&given(profiles, values, number)));
        number
    }

    /// The values of a combination.
    pub(crate) fn get(&self, number: u32) -> [Option<&str>; FIELDS] {
        given(&self.profiles, &self.values, number)
    }

    /// How many combinations there are.
    pub(crate) fn len(&self) -> usize {
        self.profiles.len()
    }

    /// How many comparable values a field has.
    pub(crate) fn classes(&self, field: usize) -> usize {
        self.values[field].comparable.len()
    }

    /// The number of a field's comparable value, [`ABSENT`] where there is none.
    pub(crate) fn class(&self, number: u32, field: usize) -> u32 {
        match self.profiles[number as usize][field] {
            ABSENT => ABSENT,
            value => self.values[field].class[value as usize],
        }
    }

    /// Gives back what only new combinations need.
    pub(crate) fn freeze(&mut self) {
        self.index = HashIndex::default();
        self.profiles.shrink_to_fit();
        for values in &mut self.values {
            values.given.freeze();
            values.comparable.shrink();
            values.class.shrink_to_fit();
        }
    }

    pub(crate) fn write(&self, to: &mut Writer<'_>) -> image::Result<()> {
        self.values.iter().try_for_each(|values| values.write(to))?;
        to.column(&self.profiles)
    }

    pub(crate) fn read(from: &mut Reader<'_>) -> image::Result<Profiles> {
        let mut values: [Values; FIELDS] = Default::default();
        for values in &mut values {
            *values = Values::read(from)?;
        }
        let profiles: Vec<[u32; FIELDS]> = from.column()?;
        let leads = profiles.iter().all(|profile| {
            let mut fields = profile.iter().zip(&values);
            fields.all(|(value, values)| *value == ABSENT || (*value as usize) < values.given.len())
        });
        check(leads, "a combination of values leads nowhere")?;
        Ok(Profiles { values, profiles, index: HashIndex::default() })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.values.iter().map(Values::bytes).sum::<usize>()
            + self.index.bytes()
            + self.profiles.capacity() * size_of::<[u32; FIELDS]>()
    }
}

/// Where the entries with a certain value are.
#[derive(Clone, Copy)]
enum Members {
    /// Their places, in this range of the lists.
    List { start: u32, end: u32 },
    /// Too many to list: the bitmap with this number marks their rows.
    Rows { bitmap: u32 },
}

/// For each field and comparable value, the entries that have it.
pub(crate) struct FieldIndex {
    members: [Vec<Members>; FIELDS],
    lists: Vec<u32>,
    bitmaps: Vec<Vec<Line>>,
}

/// A value of which more than one entry in this many has it is kept as a bitmap of rows.
const COMMON: usize = 64;

impl FieldIndex {
    /// Indexes entries by their combination of values (`profile_of`) and their row (`row_of`).
    pub(crate) fn build(profiles: &Profiles, profile_of: &[u32], row_of: &[u32], rows: usize) -> FieldIndex {
        let mut index = FieldIndex { members: Default::default(), lists: Vec::new(), bitmaps: Vec::new() };
        for field in 0..FIELDS {
            let classes: Vec<u32> =
                (0..profiles.len() as u32).map(|profile| profiles.class(profile, field)).collect();
            let mut counts = vec![0usize; profiles.classes(field)];
            for profile in profile_of {
                if let Some(count) = counts.get_mut(classes[*profile as usize] as usize) {
                    *count += 1;
                }
            }
            let mut members: Vec<Members> = counts
                .iter()
                .map(|count| {
                    if count * COMMON > profile_of.len() {
                        index.bitmaps.push(vec![Line::default(); rows.div_ceil(BLOCK) * CHUNKS]);
                        Members::Rows { bitmap: index.bitmaps.len() as u32 - 1 }
                    } else {
                        let start = index.lists.len() as u32;
                        index.lists.resize(index.lists.len() + count, 0);
                        Members::List { start, end: start }
                    }
                })
                .collect();
            for (entry, profile) in profile_of.iter().enumerate() {
                match members.get_mut(classes[*profile as usize] as usize) {
                    Some(Members::List { end, .. }) => {
                        index.lists[*end as usize] = entry as u32;
                        *end += 1;
                    }
                    Some(Members::Rows { bitmap }) => {
                        set(&mut index.bitmaps[*bitmap as usize], row_of[entry] as usize);
                    }
                    None => {}
                }
            }
            index.members[field] = members;
        }
        index
    }

    pub(crate) fn bytes(&self) -> usize {
        self.members.iter().map(|members| members.capacity() * size_of::<Members>()).sum::<usize>()
            + self.lists.capacity() * size_of::<u32>()
            + self.bitmaps.iter().map(|bitmap| bitmap.capacity() * size_of::<Line>()).sum::<usize>()
    }

    /// What a filter means here; `None` where no entry can pass.
    pub(crate) fn resolve<'a>(
        &'a self,
        profiles: &'a Profiles,
        wanted: &[Option<String>; FIELDS],
    ) -> Option<Selection<'a>> {
        let mut selection = Selection {
            profiles,
            classes: [None; FIELDS],
            fewest: None,
            lists: Vec::new(),
            bitmaps: Vec::new(),
        };
        for (field, value) in wanted.iter().enumerate() {
            let Some(value) = value else { continue };
            let class = profiles.values[field].comparable.find(value)?;
            selection.classes[field] = Some(class);
            match self.members[field][class as usize] {
                Members::List { start, end } => {
                    let list = &self.lists[start as usize..end as usize];
                    if selection.fewest.is_none_or(|fewest| list.len() < fewest.len()) {
                        selection.fewest = Some(list);
                    }
                    selection.lists.push(list);
                }
                Members::Rows { bitmap } => selection.bitmaps.push(&self.bitmaps[bitmap as usize]),
            }
        }
        Some(selection)
    }
}

fn set(bitmap: &mut [Line], row: usize) {
    bitmap[row / CHUNK].0[row % CHUNK / 64] |= 1 << (row % 64);
}

/// A filter as one segment sees it.
pub(crate) struct Selection<'a> {
    profiles: &'a Profiles,
    classes: [Option<u32>; FIELDS],
    /// The shortest list of entries that holds all that can pass.
    fewest: Option<&'a [u32]>,
    lists: Vec<&'a [u32]>,
    bitmaps: Vec<&'a [Line]>,
}

impl Selection<'_> {
    /// Whether every entry passes.
    pub(crate) fn is_all(&self) -> bool {
        self.classes == [None; FIELDS]
    }

    /// Whether an entry with this combination of values passes.
    #[inline]
    pub(crate) fn passes(&self, profile: u32) -> bool {
        self.classes
            .iter()
            .enumerate()
            .all(|(field, class)| class.is_none_or(|class| self.profiles.class(profile, field) == class))
    }

    /// The places of some entries among which are all that pass, if they are few enough to be listed.
    pub(crate) fn fewest(&self) -> Option<&[u32]> {
        self.fewest
    }

    /// Marks a set of rows among which are all that have an entry that passes.
    pub(crate) fn mask(&self, row_of: &[u32], rows: usize, mask: &mut Vec<Line>) {
        let lines = rows.div_ceil(BLOCK) * CHUNKS;
        mask.clear();
        match self.bitmaps.split_first() {
            Some((first, others)) => {
                mask.extend_from_slice(first);
                for other in others {
                    and(mask, other);
                }
            }
            None => mask.resize(lines, Line([u64::MAX; 8])),
        }
        let mut marked = Vec::new();
        for list in &self.lists {
            marked.clear();
            marked.resize(lines, Line::default());
            list.iter().for_each(|entry| set(&mut marked, row_of[*entry as usize] as usize));
            and(mask, &marked);
        }
    }
}

fn and(mask: &mut [Line], other: &[Line]) {
    for (line, other) in mask.iter_mut().zip(other) {
        line.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
    }
}
