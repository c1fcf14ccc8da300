//! What is written is read again, with everything that the format can hold.

use diglot_formats::{Format, Options, create};
use proptest::prelude::*;
use tempfile::TempDir;

use super::{Entry, read_path, read_with, written};

fn text() -> impl Strategy<Value = String> {
    let any = any::<String>();
    let nasty = "[a\"\\\\#,;\t\r\n \u{0}\u{b}\u{7f}\u{85}\u{2028}가é😀\u{FEFF}~|=:.'`{}-]{1,12}";
    let words = "[a-z]{1,5}( [a-z]{1,5}){0,3}";
    prop_oneof![any, nasty, words]
        .prop_filter("a text has something in it", |text| Entry::new(text, text).as_ref().check().is_ok())
}

fn optional() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(text())
}

fn metadata() -> impl Strategy<Value = Option<String>> {
    proptest::option::of(
        (text(), text()).prop_map(|(key, value)| serde_json::json!({ key: [value] }).to_string()),
    )
}

fn entry() -> impl Strategy<Value = Entry> {
    let fields = (optional(), optional(), optional(), optional(), optional(), optional(), optional());
    (text(), text(), fields, metadata()).prop_map(|(source, target, fields, metadata)| {
        let (source_language, target_language, domain, namespace, source_id, created_at, notes) = fields;
        Entry {
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
        }
    })
}

/// Details of a message in the shape in which they are read.
fn details() -> impl Strategy<Value = serde_json::Map<String, serde_json::Value>> {
    let flags = proptest::collection::vec("[a-z-]{1,9}", 0..3);
    let references = proptest::collection::vec("[a-z/.]{1,30}:[0-9]{1,4}", 0..5);
    let lines =
        proptest::option::of("[ -~가\n]{1,20}".prop_filter("not blank", |text| !text.trim().is_empty()));
    let previous = proptest::option::of("[ -~\n]{0,9}");
    (flags, references, lines, previous, any::<bool>()).prop_map(
        |(flags, references, extracted, previous, obsolete)| {
            let mut po = serde_json::Map::new();
            let mut put = |key: &str, value| _ = po.insert(key.to_owned(), value);
            if !flags.is_empty() {
                put("flags", serde_json::json!(flags));
            }
            if !references.is_empty() {
                put("references", serde_json::json!(references));
            }
            if let Some(extracted) = extracted {
                put("extracted", serde_json::json!(extracted));
            }
            if let Some(previous) = previous {
                put("previous", serde_json::json!({ "msgid": previous }));
            }
            if obsolete {
                put("obsolete", serde_json::json!(true));
            }
            po
        },
    )
}

fn message() -> impl Strategy<Value = Entry> {
    let note =
        optional().prop_map(|note| note.filter(|note| !note.trim().is_empty() && !note.contains('\r')));
    (text(), text(), optional(), note, details()).prop_map(|(source, target, source_id, notes, po)| Entry {
        source,
        target,
        source_language: Some("en".to_owned()),
        target_language: Some("zh-Hant-TW".to_owned()),
        source_id,
        notes,
        metadata: (!po.is_empty()).then(|| serde_json::json!({ "po": po }).to_string()),
        ..Entry::default()
    })
}

/// The entries of a message with plural forms, as a file has them.
fn plural() -> impl Strategy<Value = Vec<Entry>> {
    const RULE: &str = "nplurals=3; plural=n==1 ? 1 : n==2 ? 2 : 0;";
    let text = || text().prop_filter("gettext can hold it", |text| !text.contains('\0'));
    (text(), text(), [text(), text(), text()], message()).prop_filter_map(
        "two different texts",
        |(singular, plural, forms, message)| {
            let metadata = |number: usize| {
                let form = serde_json::json!({
                    "msgid": singular, "msgid_plural": plural, "form": number, "plural_forms": RULE,
                });
                serde_json::json!({ "po": form }).to_string()
            };
            let entries = forms.into_iter().enumerate().map(|(number, target)| Entry {
                source: if number == 1 { singular.clone() } else { plural.clone() },
                target,
                metadata: Some(metadata(number)),
                source_id: message.source_id.clone().filter(|text| !text.contains('\0')),
                notes: None,
                ..message.clone()
            });
            (singular != plural).then(|| entries.collect())
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn json_lines_hold_everything(entries in proptest::collection::vec(entry(), 0..6)) {
        let (bytes, problems) = written(&entries, Format::JsonLines, &Options::default()).unwrap();
        prop_assert!(problems.is_empty());
        let read = read_with(bytes, Format::JsonLines, &Options::default()).unwrap();
        prop_assert_eq!((read.entries, read.problems), (entries, vec![]));
    }

    #[test]
    fn tables_hold_everything(entries in proptest::collection::vec(entry(), 0..6), tabs in any::<bool>()) {
        let format = if tabs { Format::Tsv } else { Format::Csv };
        let (bytes, problems) = written(&entries, format, &Options::default()).unwrap();
        prop_assert!(problems.is_empty());
        let read = read_with(bytes, format, &Options::default()).unwrap();
        prop_assert_eq!((read.entries, read.problems), (entries, vec![]));
    }

    #[test]
    fn catalogs_hold_what_gettext_knows(
        groups in proptest::collection::vec(prop_oneof![plural(), message().prop_map(|entry| vec![entry])], 1..6),
    ) {
        let options = Options { fuzzy: true, obsolete: true, ..Options::default() };
        let entries = groups.concat();
        let (bytes, problems) = written(&entries, Format::Po, &Options::default()).unwrap();
        let read = read_with(&bytes, Format::Po, &options).unwrap();
        prop_assert_eq!(&read.problems, &vec![]);
        let left_out: Vec<usize> = problems.iter().map(|problem| problem.line as usize - 1).collect();
        let kept = entries.iter().enumerate().filter(|(number, _)| !left_out.contains(number));
        let kept: Vec<&Entry> = kept.map(|(_, entry)| entry).collect();
        prop_assert_eq!(kept, read.entries.iter().collect::<Vec<_>>());
        for (number, problem) in left_out.iter().zip(&problems) {
            let entry = &entries[*number];
            let fields = [Some(&entry.source), Some(&entry.target), entry.source_id.as_ref(), entry.notes.as_ref()];
            let has_nul = fields.into_iter().flatten().any(|text| text.contains('\0'));
            prop_assert_eq!(has_nul, problem.code == "unwritable_character", "{:?}", problem);
            prop_assert!(has_nul || problem.code == "duplicate_message");
        }
    }

    #[test]
    fn text_files_hold_lines(entries in proptest::collection::vec((text(), text()), 0..9)) {
        let folder = TempDir::new().unwrap();
        let [sources, targets] = ["sources", "targets"].map(|name| folder.path().join(name));
        let options = Options { target_path: Some(targets), ..Options::default() };
        let (_, mut writer) = create(&sources, Some(Format::Text), &options).unwrap();
        let fits = |text: &str| !text.contains(['\r', '\n', '\0']) && !text.starts_with('\u{FEFF}');
        let mut kept = Vec::new();
        for (source, target) in &entries {
            let outcome = writer.write(Entry::new(source, target).as_ref());
            prop_assert_eq!(outcome.is_ok(), fits(source) && fits(target));
            if outcome.is_ok() {
                kept.push((&source[..], &target[..]));
            }
        }
        writer.finish().unwrap();
        let read = read_path(&sources, Format::Text, &options).unwrap();
        prop_assert_eq!(read.pairs(), kept);
    }
}
