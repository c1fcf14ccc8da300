//! Which languages are wanted, and the reasons of units that have no text in them.

use diglot_engine::EntryRef;

use crate::error::Fault;
use crate::options::Options;
use crate::{language, shorten};

/// The most languages that a reason names.
const MOST_NAMED: usize = 20;

#[derive(Clone, Debug)]
pub(crate) struct Languages {
    pub(crate) source: Option<String>,
    pub(crate) targets: Vec<String>,
}

impl Languages {
    pub(crate) fn new(options: &Options) -> Languages {
        Languages { source: options.source_language.clone(), targets: options.target_languages.clone() }
    }

    /// For formats where each unit has a source and a target: whether an entry is in the languages that are wanted. One
    /// that does not say which it is in is in the wanted ones, and gets them.
    pub(crate) fn admit<'a>(&'a self, entry: &mut EntryRef<'a>) -> bool {
        entry.source_language = entry.source_language.or(self.source.as_deref());
        if let [only] = &self.targets[..] {
            entry.target_language = entry.target_language.or(Some(only));
        }
        self.wants_source(entry.source_language) && self.wants_target(entry.target_language)
    }

    fn wants_source(&self, tag: Option<&str>) -> bool {
        self.source.as_deref().is_none_or(|range| tag.is_some_and(|tag| language::is_in(tag, range)))
    }

    pub(crate) fn wants_target(&self, tag: Option<&str>) -> bool {
        self.targets.is_empty()
            || self.targets.iter().any(|range| tag.is_some_and(|tag| language::is_in(tag, range)))
    }

    /// Why no entry of a unit was admitted, which is in these languages.
    pub(crate) fn refusal<'a>(
        &self,
        source: Option<&'a str>,
        targets: impl IntoIterator<Item = Option<&'a str>>,
    ) -> Fault {
        let there = std::iter::once(source).chain(targets);
        match &self.source {
            Some(wanted) if !self.wants_source(source) => missing_source(wanted, there),
            _ => self.missing_target(there),
        }
    }

    /// The reason of a unit without a text in a target language that is wanted. It has texts in those of `there`.
    pub(crate) fn missing_target<'a>(&self, there: impl IntoIterator<Item = Option<&'a str>>) -> Fault {
        let wanted = match &self.targets[..] {
            [] => "another language than the source".to_owned(),
            wanted => shorten(&wanted.join(" or ")),
        };
        ("missing_target", format!("no text is in {wanted}; {}", listed(there)))
    }
}

/// The reason of a unit without a text in the source language. It has texts in those of `there`.
pub(crate) fn missing_source<'a>(wanted: &str, there: impl IntoIterator<Item = Option<&'a str>>) -> Fault {
    let wanted = shorten(&wanted);
    let message = format!("no text is in {wanted}, the source language; {}", listed(there));
    ("missing_source", message)
}

/// The languages that texts are in, for people.
fn listed<'a>(languages: impl IntoIterator<Item = Option<&'a str>>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in languages.into_iter().take(MOST_NAMED).map(|tag| tag.unwrap_or("a language without a name")) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        "there are none".to_owned()
    } else {
        format!("there are texts in {}", shorten(&names.join(", ")))
    }
}
