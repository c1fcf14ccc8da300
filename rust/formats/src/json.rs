//! Writing JSON objects member by member, and taking them apart.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The members of an object, each as it is written.
pub(crate) type Members<'a> = BTreeMap<Cow<'a, str>, &'a RawValue>;

/// The members of an object; `None` if it is none.
pub(crate) fn members(object: &str) -> Option<Members<'_>> {
    serde_json::from_str(object).ok()
}

/// The text that a member is.
pub(crate) fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// Adds a string.
pub(crate) fn push_string(out: &mut String, text: &str) {
    // A string is never refused.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// An object that is being written.
#[derive(Default)]
pub(crate) struct Object(String);

impl Object {
    /// Adds a member that is a string.
    pub(crate) fn string(&mut self, key: &str, text: &str) {
        push_string(self.key(key), text);
    }

    /// Adds a member that is JSON already.
    pub(crate) fn raw(&mut self, key: &str, value: &str) {
        self.key(key).push_str(value);
    }

    /// Adds an object if it has members.
    pub(crate) fn object(&mut self, key: &str, object: Object) {
        if let Some(object) = object.finish() {
            self.raw(key, &object);
        }
    }

    /// Adds the key of a member, whose value has to be pushed.
    pub(crate) fn key(&mut self, key: &str) -> &mut String {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        push_string(&mut self.0, key);
        self.0.push(':');
        &mut self.0
    }

    /// The object; `None` if it has no members.
    pub(crate) fn finish(mut self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        self.0.push('}');
        Some(self.0)
    }
}
