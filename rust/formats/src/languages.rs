//! Which languages are wanted, for formats where each unit has a source and a target.

use diglot_engine::EntryRef;

use crate::language;
use crate::options::Options;

#[derive(Clone, Debug)]
pub(crate) struct Languages {
    source: Option<String>,
    targets: Vec<String>,
}

impl Languages {
    pub(crate) fn new(options: &Options) -> Languages {
        Languages { source: options.source_language.clone(), targets: options.target_languages.clone() }
    }

    /// Whether an entry is in the languages that are wanted. One that does not say which it is in is in the wanted ones,
    /// and gets them.
    pub(crate) fn admit<'a>(&'a self, entry: &mut EntryRef<'a>) -> bool {
        entry.source_language = entry.source_language.or(self.source.as_deref());
        if let [only] = &self.targets[..] {
            entry.target_language = entry.target_language.or(Some(only));
        }
        let is_in = |tag: Option<&str>, range: &str| tag.is_some_and(|tag| language::is_in(tag, range));
        self.source.as_deref().is_none_or(|range| is_in(entry.source_language, range))
            && (self.targets.is_empty()
                || self.targets.iter().any(|range| is_in(entry.target_language, range)))
    }
}
