//! What a memory stores, seen from outside.

use crate::batch;
use crate::fields;

/// An entry's number in its memory: given in order of insertion, never reused.
pub type EntryId = u64;

/// The highest id: those above it, and one more for the next, do not fit into 63 bits.
pub const MOST_ID: EntryId = i64::MAX as EntryId - 1;

/// One source/target pair with everything known about it, borrowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryRef<'a> {
    /// The text that lookups compare with. Never empty.
    pub source: &'a str,
    /// Its translation. Never empty.
    pub target: &'a str,
    /// Language tag of the source, as given.
    pub source_language: Option<&'a str>,
    /// Language tag of the target, as given.
    pub target_language: Option<&'a str>,
    /// Subject field.
    pub domain: Option<&'a str>,
    /// Tenant, project or collection the entry belongs to.
    pub namespace: Option<&'a str>,
    /// Where the pair came from.
    pub source_id: Option<&'a str>,
    /// Creation time (ISO 8601), as given.
    pub created_at: Option<&'a str>,
    /// A remark for people.
    pub notes: Option<&'a str>,
    /// A JSON object, kept verbatim.
    pub metadata: Option<&'a str>,
}

impl<'a> EntryRef<'a> {
    /// The names of the fields, in the order in which they are listed wherever they are listed. Only the first two are
    /// in every entry.
    pub const FIELDS: [&'static str; 10] = [
        "source",
        "target",
        "source_language",
        "target_language",
        "domain",
        "namespace",
        "source_id",
        "created_at",
        "notes",
        "metadata",
    ];

    /// The texts of the fields, in the order of [`EntryRef::FIELDS`].
    pub fn texts(&self) -> [Option<&'a str>; EntryRef::FIELDS.len()] {
        [
            Some(self.source),
            Some(self.target),
            self.source_language,
            self.target_language,
            self.domain,
            self.namespace,
            self.source_id,
            self.created_at,
            self.notes,
            self.metadata,
        ]
    }

    /// The entry with these texts, in the order of [`EntryRef::FIELDS`]. A source or target that is not there is empty.
    pub fn of_texts(texts: [Option<&'a str>; EntryRef::FIELDS.len()]) -> EntryRef<'a> {
        let [
            source,
            target,
            source_language,
            target_language,
            domain,
            namespace,
            source_id,
            created_at,
            notes,
            metadata,
        ] = texts;
        EntryRef {
            source: source.unwrap_or_default(),
            target: target.unwrap_or_default(),
            source_language,
            target_language,
            domain,
            namespace,
            source_id,
            created_at,
            notes,
            metadata,
        }
    }

    /// Refuses an entry that no memory takes.
    ///
    /// # Errors
    /// [`Error::EmptyText`](crate::Error::EmptyText) and [`Error::TooLong`](crate::Error::TooLong).
    pub fn check(&self) -> crate::Result<()> {
        batch::checked(self).map(drop)
    }
}

/// Which entries may be hits. A field that is `None` filters nothing; an entry
/// without the field does not match a filter on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    /// Language tag of the source, compared without regard to case.
    pub source_language: Option<String>,
    /// Language tag of the target, compared without regard to case.
    pub target_language: Option<String>,
    /// Subject field, compared exactly.
    pub domain: Option<String>,
    /// Tenant, compared exactly.
    pub namespace: Option<String>,
}

impl Filter {
    /// Whether every entry matches.
    pub fn is_empty(&self) -> bool {
        self.source_language.is_none()
            && self.target_language.is_none()
            && self.domain.is_none()
            && self.namespace.is_none()
    }

    /// Whether an entry matches.
    pub fn matches(&self, entry: &EntryRef<'_>) -> bool {
        fields::pass(&fields::wanted(self), &fields::values(entry))
    }
}
