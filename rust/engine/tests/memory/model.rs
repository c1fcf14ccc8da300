//! What a memory must answer, found by looking at everything.

use std::collections::{BTreeMap, HashMap};

use diglot_engine::{
    Batch, Control, EntryId, EntryRef, Filter, Found, Memory, Prepared, SearchOptions, Snapshot, text,
};

/// An entry with texts of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    pub(crate) source: String,
    pub(crate) target: String,
    pub(crate) source_language: Option<String>,
    pub(crate) target_language: Option<String>,
    pub(crate) domain: Option<String>,
    pub(crate) namespace: Option<String>,
    pub(crate) source_id: Option<String>,
    pub(crate) created_at: Option<String>,
    pub(crate) notes: Option<String>,
    pub(crate) metadata: Option<String>,
}

impl Entry {
    /// An entry without any optional field.
    pub(crate) fn new(source: impl Into<String>, target: impl Into<String>) -> Entry {
        Entry { source: source.into(), target: target.into(), ..Entry::default() }
    }

    pub(crate) fn borrowed(&self) -> EntryRef<'_> {
        EntryRef {
            source: &self.source,
            target: &self.target,
            source_language: self.source_language.as_deref(),
            target_language: self.target_language.as_deref(),
            domain: self.domain.as_deref(),
            namespace: self.namespace.as_deref(),
            source_id: self.source_id.as_deref(),
            created_at: self.created_at.as_deref(),
            notes: self.notes.as_deref(),
            metadata: self.metadata.as_deref(),
        }
    }

    fn passes(&self, filter: &Filter) -> bool {
        let language = |own: &Option<String>, wanted: &Option<String>| {
            wanted.as_ref().is_none_or(|wanted| {
                own.as_ref().is_some_and(|own| own.to_lowercase() == wanted.to_lowercase())
            })
        };
        let exact = |own: &Option<String>, wanted: &Option<String>| wanted.is_none() || own == wanted;
        language(&self.source_language, &filter.source_language)
            && language(&self.target_language, &filter.target_language)
            && exact(&self.domain, &filter.domain)
            && exact(&self.namespace, &filter.namespace)
    }
}

/// A normalized text with its multisets, each sorted, as numbers.
struct Analysis {
    normalized: String,
    tokens: Vec<u32>,
    trigrams: Vec<u32>,
}

/// Numbers for tokens and trigrams.
#[derive(Default)]
struct Numbers(HashMap<String, u32>);

impl Numbers {
    fn sorted<'a>(&mut self, elements: impl Iterator<Item = &'a str>) -> Vec<u32> {
        let mut numbers: Vec<u32> = elements
            .map(|element| match self.0.get(element) {
                Some(number) => *number,
                None => {
                    let number = self.0.len() as u32;
                    self.0.insert(element.to_owned(), number);
                    number
                }
            })
            .collect();
        numbers.sort_unstable();
        numbers
    }

    fn analyse(&mut self, text: &str) -> Analysis {
        let normalized = text::normalize(text);
        let tokens = self.sorted(text::tokens(&normalized));
        let trigrams = self.sorted(text::trigrams(&normalized));
        Analysis { normalized, tokens, trigrams }
    }
}

fn dice(a: &[u32], b: &[u32]) -> f64 {
    let (mut at_a, mut at_b, mut shared) = (0, 0, 0usize);
    while at_a < a.len() && at_b < b.len() {
        match a[at_a].cmp(&b[at_b]) {
            std::cmp::Ordering::Less => at_a += 1,
            std::cmp::Ordering::Greater => at_b += 1,
            std::cmp::Ordering::Equal => (at_a, at_b, shared) = (at_a + 1, at_b + 1, shared + 1),
        }
    }
    if shared == 0 { 0.0 } else { 2.0 * shared as f64 / (a.len() + b.len()) as f64 }
}

/// All entries by id, and their distinct normalized sources, analysed.
#[derive(Default)]
pub(crate) struct Model {
    entries: BTreeMap<EntryId, (Entry, usize)>,
    next_id: EntryId,
    numbers: Numbers,
    texts: Vec<Analysis>,
    text_numbers: HashMap<String, usize>,
}

/// How alike a query is to each text of a model.
pub(crate) struct Scores {
    query: String,
    scores: Vec<f64>,
}

impl Model {
    fn text_number(&mut self, text: &str) -> usize {
        let analysis = self.numbers.analyse(text);
        *self.text_numbers.entry(analysis.normalized.clone()).or_insert_with(|| {
            self.texts.push(analysis);
            self.texts.len() - 1
        })
    }

    pub(crate) fn add(&mut self, entry: Entry) -> EntryId {
        let id = self.next_id;
        self.insert(id, entry);
        id
    }

    /// Adds an entry under an id above all others.
    pub(crate) fn insert(&mut self, id: EntryId, entry: Entry) {
        assert!(id >= self.next_id);
        self.next_id = id + 1;
        let text = self.text_number(&entry.source);
        self.entries.insert(id, (entry, text));
    }

    /// Replaces the entry with this id, or adds one under an id above all others.
    pub(crate) fn put(&mut self, id: EntryId, entry: Entry) {
        if self.entries.contains_key(&id) { self.replace(id, entry) } else { self.insert(id, entry) }
    }

    pub(crate) fn remove(&mut self, id: EntryId) {
        self.entries.remove(&id).expect("the test removes what is there");
    }

    pub(crate) fn replace(&mut self, id: EntryId, entry: Entry) {
        let text = self.text_number(&entry.source);
        let place = self.entries.get_mut(&id).expect("the test replaces what is there");
        *place = (entry, text);
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn ids(&self) -> Vec<EntryId> {
        self.entries.keys().copied().collect()
    }

    /// The id at a place of the order, if there is any entry.
    pub(crate) fn id_at(&self, place: usize) -> Option<EntryId> {
        self.entries.keys().nth(place % self.len().max(1)).copied()
    }

    /// The entries that pass a filter, in order.
    pub(crate) fn passing<'a>(&'a self, filter: &'a Filter) -> impl Iterator<Item = (EntryId, &'a Entry)> {
        self.entries.iter().map(|(id, (entry, _))| (*id, entry)).filter(|(_, entry)| entry.passes(filter))
    }

    pub(crate) fn source(&self, id: EntryId) -> &str {
        &self.entries[&id].0.source
    }

    pub(crate) fn scores(&mut self, query: &str) -> Scores {
        let analysed = self.numbers.analyse(query);
        let scores: Vec<f64> = self
            .texts
            .iter()
            .map(|text| {
                if text.normalized == analysed.normalized {
                    1.0
                } else {
                    dice(&analysed.tokens, &text.tokens).max(dice(&analysed.trigrams, &text.trigrams))
                }
            })
            .collect();
        // The numbers are the model's own short cut; the public rule must agree with it.
        let sample = analysed.trigrams.len() % self.texts.len().max(1);
        if let Some(text) = self.texts.get(sample) {
            let plain = text::similarity(&analysed.normalized, &text.normalized);
            assert_eq!(plain.to_bits(), scores[sample].to_bits());
        }
        Scores { query: query.to_owned(), scores }
    }

    pub(crate) fn best(&self, scores: &Scores, options: &SearchOptions) -> Vec<(EntryId, f64)> {
        let mut hits: Vec<(EntryId, f64)> = self
            .entries
            .iter()
            .filter(|(_, (entry, text))| {
                scores.scores[*text] >= options.min_score && entry.passes(&options.filter)
            })
            .map(|(id, (_, text))| (*id, scores.scores[*text]))
            .collect();
        // Stable: equal scores stay in the order of ids.
        hits.sort_by(|a, b| b.1.total_cmp(&a.1));
        hits.truncate(options.max_hits);
        hits
    }

    /// Fails unless a search of the memory finds what there is to find.
    pub(crate) fn check(&self, memory: &Memory, scores: &Scores, options: &SearchOptions) {
        let found = memory.search(&scores.query, options, Control::NONE).unwrap();
        self.check_found(&found, scores, options);
    }

    pub(crate) fn check_found(&self, found: &Found, scores: &Scores, options: &SearchOptions) {
        let expected = self.best(scores, options);
        let got: Vec<(EntryId, f64)> = found.hits().map(|hit| (hit.id, hit.score)).collect();
        let query: String = scores.query.chars().take(200).collect();
        for (place, (got, expected)) in got.iter().zip(&expected).enumerate() {
            assert_eq!(
                (got.0, got.1.to_bits()),
                (expected.0, expected.1.to_bits()),
                "hit {place} of {query:?} with {options:?} is {got:?}, not {expected:?} {:?}",
                self.entries.get(&expected.0),
            );
        }
        assert_eq!(got.len(), expected.len(), "hits of {query:?} with {options:?}");
        for (hit, entry) in found.entries().take(100) {
            assert_eq!(entry, self.entries[&hit.id].0.borrowed(), "entry {}", hit.id);
        }
    }

    /// Fails unless a snapshot has exactly the model's entries.
    pub(crate) fn check_entries(&self, snapshot: &Snapshot) {
        assert_eq!(snapshot.len(), self.len());
        assert_eq!(snapshot.is_empty(), self.len() == 0);
        assert_eq!(snapshot.next_id(), self.next_id);
        let expected = self.entries.iter().map(|(id, (entry, _))| (*id, entry.borrowed()));
        assert!(snapshot.entries(0).eq(expected), "the entries in order");
        let ids = self.ids();
        let steps = ids.len() / 16 + 1;
        for from in ids.iter().step_by(steps).flat_map(|id| [*id, *id + 1]).chain([self.next_id, u64::MAX]) {
            let rest = self.entries.range(from..).map(|(id, (entry, _))| (*id, entry.borrowed()));
            assert!(snapshot.entries(from).take(10).eq(rest.take(10)), "the entries from {from}");
        }
        for id in (0..self.next_id).step_by(self.next_id as usize / 200 + 1).chain([self.next_id, u64::MAX]) {
            let expected = self.entries.get(&id).map(|(entry, _)| entry.borrowed());
            assert_eq!(snapshot.get(id), expected, "entry {id}");
            if let Some(entry) = expected {
                let normalized = text::normalize(entry.source);
                let equal =
                    self.entries.iter().filter(|(_, (_, text))| self.texts[*text].normalized == normalized);
                let equal: Vec<_> = equal.map(|(id, (entry, _))| (*id, entry.borrowed())).collect();
                assert_eq!(snapshot.equal(&normalized), equal, "the entries with the source of {id}");
            }
        }
    }

    /// Fails unless everything about the memory is as it must be.
    pub(crate) fn check_all(&self, memory: &Memory) {
        self.check_entries(&memory.snapshot());
        assert_eq!(memory.len(), self.len());
        let stats = memory.stats();
        assert_eq!(stats.entries, self.len());
        assert!(stats.live <= stats.entries);
        if stats.removed == 0 {
            assert!(stats.rows <= stats.entries, "a row has an entry");
        }
        memory.internal_validate();
    }
}

/// Publishes entries as one batch.
pub(crate) fn prepared<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Prepared {
    let mut batch = Batch::new();
    for entry in entries {
        batch.push(entry.borrowed()).unwrap();
    }
    batch.prepare(Control::NONE).unwrap()
}

pub(crate) fn options(max_hits: usize, min_score: f64, filter: Filter) -> SearchOptions {
    SearchOptions { filter, max_hits, min_score }
}
