//! One message of a catalog, and the entries that it becomes.

use diglot_engine::EntryRef;
use serde_json::{Map, Value, json};

use super::header::Header;
use crate::Sink;
use crate::error::{Problem, start_of};
use crate::options::Options;

/// A message as it stands in a file.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// The line of its first keyword.
    pub(super) line: u64,
    pub(super) context: Option<String>,
    pub(super) id: String,
    pub(super) plural: Option<String>,
    /// The translations: one, or one for each form.
    pub(super) strings: Vec<String>,
    /// The translator's comments.
    pub(super) notes: Option<String>,
    pub(super) details: Details,
}

/// What a message has that an entry has no field for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Details {
    /// The comments that were taken out of the program.
    pub(super) extracted: Option<String>,
    /// Where in the program the message is.
    pub(super) references: Vec<String>,
    pub(super) flags: Vec<String>,
    /// What was translated before the message became what it is now.
    pub(super) previous_context: Option<String>,
    pub(super) previous_id: Option<String>,
    pub(super) previous_plural: Option<String>,
    pub(super) obsolete: bool,
    /// What makes the entries of one message with plural forms one message again.
    pub(super) form: Option<Form>,
}

/// One form of a message with plural forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) id: String,
    pub(super) plural: String,
    pub(super) number: usize,
    /// The `Plural-Forms` of its catalog.
    pub(super) rule: Option<String>,
}

const FUZZY: &str = "fuzzy";

impl Message {
    /// Hands its entries to `sink`, or says why there are none.
    pub(super) fn offer(mut self, header: &Header, options: &Options, sink: &mut dyn Sink) {
        let name = start_of(&self.id);
        let skip = |sink: &mut dyn Sink, code, message: &str| {
            sink.skip(Problem {
                line: self.line,
                unit: Some(name.clone()),
                code,
                message: message.to_owned(),
            });
        };
        if self.details.obsolete && !options.obsolete {
            return skip(sink, "obsolete", "the message is obsolete: the program has it no more");
        }
        if self.strings.iter().all(String::is_empty) {
            return skip(sink, "untranslated", "the message has no translation");
        }
        if self.details.flags.iter().any(|flag| flag == FUZZY) && !options.fuzzy {
            return skip(sink, "fuzzy", "the translation is marked as fuzzy: nobody has looked at it yet");
        }
        let Some(plural) = self.plural.take() else {
            let metadata = self.details.to_json();
            return self.offer_entry(&self.id, &self.strings[0], metadata.as_deref(), header, &name, sink);
        };
        let forms = header.forms.as_ref();
        let one = forms.map_or(0, |forms| forms.one);
        let only = forms.map_or(self.strings.len(), |forms| forms.count) == 1;
        for (number, string) in self.strings.iter().enumerate() {
            if string.is_empty() {
                skip(sink, "untranslated", &format!("form {number} of the message has no translation"));
                continue;
            }
            let rule = forms.map(|forms| forms.text.clone());
            self.details.form = Some(Form { id: self.id.clone(), plural: plural.clone(), number, rule });
            let metadata = self.details.to_json();
            if only || number == one {
                self.offer_entry(&self.id, string, metadata.as_deref(), header, &name, sink);
            }
            if only || number != one {
                self.offer_entry(&plural, string, metadata.as_deref(), header, &name, sink);
            }
        }
    }

    fn offer_entry(
        &self,
        source: &str,
        target: &str,
        metadata: Option<&str>,
        header: &Header,
        name: &str,
        sink: &mut dyn Sink,
    ) {
        let entry = EntryRef {
            source,
            target,
            source_language: header.source_language.as_deref(),
            target_language: header.target_language.as_deref(),
            source_id: self.context.as_deref(),
            notes: self.notes.as_deref(),
            metadata,
            ..EntryRef::default()
        };
        sink.offer(entry, self.line, Some(name));
    }
}

impl Details {
    /// The metadata of an entry, or `None` if there is nothing to say.
    fn to_json(&self) -> Option<String> {
        let mut po = Map::new();
        let mut put = |key: &str, value: Value| _ = po.insert(key.to_owned(), value);
        if let Some(extracted) = &self.extracted {
            put("extracted", json!(extracted));
        }
        if !self.references.is_empty() {
            put("references", json!(self.references));
        }
        if !self.flags.is_empty() {
            put("flags", json!(self.flags));
        }
        if self.obsolete {
            put("obsolete", json!(true));
        }
        let previous = [
            ("msgctxt", &self.previous_context),
            ("msgid", &self.previous_id),
            ("msgid_plural", &self.previous_plural),
        ];
        let previous: Map<String, Value> = previous
            .into_iter()
            .filter_map(|(key, text)| text.as_ref().map(|text| (key.to_owned(), json!(text))))
            .collect();
        if !previous.is_empty() {
            put("previous", Value::Object(previous));
        }
        if let Some(Form { id, plural, number, rule }) = &self.form {
            put("msgid", json!(id));
            put("msgid_plural", json!(plural));
            put("form", json!(number));
            if let Some(rule) = rule {
                put("plural_forms", json!(rule));
            }
        }
        (!po.is_empty()).then(|| json!({ "po": po }).to_string())
    }

    /// What the metadata of an entry says. What has another shape than [`Details::to_json`] gives it says nothing.
    pub(super) fn from_json(metadata: Option<&str>) -> Details {
        let metadata = metadata.filter(|text| memchr::memmem::find(text.as_bytes(), b"\"po\"").is_some());
        let value = metadata.and_then(|text| serde_json::from_str(text).ok()).unwrap_or(Value::Null);
        let po = &value["po"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let list = |value: &Value| value.as_array().into_iter().flatten().filter_map(text).collect();
        let form = match (text(&po["msgid"]), text(&po["msgid_plural"]), po["form"].as_u64()) {
            (Some(id), Some(plural), Some(number)) if number < super::MOST_FORMS as u64 => {
                Some(Form { id, plural, number: number as usize, rule: text(&po["plural_forms"]) })
            }
            _ => None,
        };
        Details {
            extracted: text(&po["extracted"]),
            references: list(&po["references"]),
            flags: list(&po["flags"]),
            previous_context: text(&po["previous"]["msgctxt"]),
            previous_id: text(&po["previous"]["msgid"]),
            previous_plural: text(&po["previous"]["msgid_plural"]),
            obsolete: po["obsolete"] == true,
            form,
        }
    }
}
