//! PO files: what becomes an entry, what is left out, and what is written.

use diglot_formats::{Error, Format, Options};

use super::{Entry, Read, read, read_with, refused, written};

const HEADER: &str =
    "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Language: ko\\n\"\n";

fn po(messages: &str) -> Read {
    read(format!("{HEADER}\n{messages}"), Format::Po)
}

fn metadata(read: &Read) -> Vec<&str> {
    read.entries.iter().map(|entry| entry.metadata.as_deref().unwrap_or_default()).collect()
}

#[test]
fn a_message_with_everything() {
    let text = r#"# 첫 줄
#
#  and a third
#. From the menu
#. of the editor
#: src/a.c:12 src/b.c:7
#: "<name with spaces.c>:3"
#, c-format, no-wrap
#| msgctxt "old menu"
#| msgid ""
#| "Save "
#| "file"
msgctxt "menu"
msgid ""
"Save \"%s\"\n"
"now"
msgstr "\"%s\" 저장\n지금"
"#;
    // Gettext isolates names with spaces by characters that editors do not show.
    let read = po(&text.replace('<', "\u{2068}").replace('>', "\u{2069}"));
    assert_eq!(read.skipped(), []);
    let entry = &read.entries[0];
    assert_eq!((&entry.source[..], &entry.target[..]), ("Save \"%s\"\nnow", "\"%s\" 저장\n지금"));
    assert_eq!(entry.target_language.as_deref(), Some("ko"));
    assert_eq!(entry.source_language, None);
    assert_eq!(entry.source_id.as_deref(), Some("menu"));
    assert_eq!(entry.notes.as_deref(), Some("첫 줄\n\n and a third"));
    assert_eq!(
        metadata(&read),
        [concat!(
            r#"{"po":{"extracted":"From the menu\nof the editor","flags":["c-format","no-wrap"],"#,
            r#""previous":{"msgctxt":"old menu","msgid":"Save file"},"#,
            "\"references\":[\"src/a.c:12\",\"src/b.c:7\",\"\\\"\u{2068}name with spaces.c\u{2069}:3\\\"\"]}}"
        )]
    );
    assert_eq!((read.entries.len(), read.units), (1, 1));
}

#[test]
fn what_nobody_has_translated_or_looked_at_is_left_out() {
    let text = r#"
#, fuzzy
msgid "a"
msgstr "가"

#, fuzzy
msgid "b"
msgstr ""

msgid "c"
msgstr ""

#~ msgid "d"
#~ msgstr "라"

#~ msgid "e"
#~ msgstr ""

#, fuzzy
#~| msgid "old f"
#~ msgid "f"
#~ msgstr "바"

msgid "g"
msgstr "사"
"#;
    let text = format!("{HEADER}{text}");
    let read_as = |fuzzy, obsolete| {
        read_with(&text, Format::Po, &Options { fuzzy, obsolete, ..Options::default() }).unwrap()
    };
    let plain = read_as(false, false);
    assert_eq!(plain.pairs(), [("g", "사")]);
    assert_eq!(
        plain.skipped(),
        [
            (7, "fuzzy"),
            (11, "untranslated"),
            (14, "untranslated"),
            (17, "obsolete"),
            (20, "obsolete"),
            (25, "obsolete")
        ]
    );
    assert_eq!(plain.problems[0].unit.as_deref(), Some("a"));
    assert_eq!(plain.units, 7);
    assert_eq!(read_as(true, false).pairs(), [("a", "가"), ("g", "사")]);
    assert_eq!(read_as(false, true).pairs(), [("d", "라"), ("g", "사")]);
    let all = read_as(true, true);
    assert_eq!(all.pairs(), [("a", "가"), ("d", "라"), ("f", "바"), ("g", "사")]);
    assert_eq!(
        metadata(&all),
        [
            r#"{"po":{"flags":["fuzzy"]}}"#,
            r#"{"po":{"obsolete":true}}"#,
            r#"{"po":{"flags":["fuzzy"],"obsolete":true,"previous":{"msgid":"old f"}}}"#,
            ""
        ]
    );
}

#[test]
fn the_singular_goes_with_the_form_for_one() {
    let arabic = r#"msgid ""
msgstr ""
"Language: ar\n"
"Plural-Forms: nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5;\n"

msgid "%d file"
msgid_plural "%d files"
msgstr[0] "zero"
msgstr[1] "one"
msgstr[2] "two"
msgstr[3] ""
msgstr[4] "many"
msgstr[5] "other"
"#;
    let read = read(arabic, Format::Po);
    assert_eq!(
        read.pairs(),
        [
            ("%d files", "zero"),
            ("%d file", "one"),
            ("%d files", "two"),
            ("%d files", "many"),
            ("%d files", "other")
        ]
    );
    assert_eq!(read.skipped(), [(6, "untranslated")]);
    assert_eq!(read.units, 1);
    assert!(
        metadata(&read)[1].starts_with(r#"{"po":{"form":1,"msgid":"%d file","msgid_plural":"%d files","#)
    );
}

#[test]
fn a_language_with_one_form_uses_it_for_both() {
    for rule in ["\"Plural-Forms: nplurals=1; plural=0;\\n\"\n", ""] {
        let text = format!(
            "{HEADER}{rule}\nmsgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"파일 %d개\"\n"
        );
        assert_eq!(read(text, Format::Po).pairs(), [("%d file", "파일 %d개"), ("%d files", "파일 %d개")]);
    }
}

#[test]
fn without_a_rule_the_first_form_is_for_one() {
    let read = po("msgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"a\"\nmsgstr[1] \"b\"\n");
    assert_eq!(read.pairs(), [("%d file", "a"), ("%d files", "b")]);
}

#[test]
fn bad_messages_are_named_and_the_others_read() {
    let read = po(r#"msgid "good 1"
msgstr "1"

msgid "bad 1
msgstr "unclosed"

msgid "bad 2"
msgstr "a\q"

msgid "good 2"
msgstr "2"
msgstr "3"
some words

msgid "bad 4"

msgid "good 3"
msgstr "3"
msgid "good 4"
msgstr "4"
# a comment
msgctxt "c"
msgctxt "d"
msgid "good 5"
msgstr "5"

# Another comment.
msgstr "bad 6"

msgid "bad 7"
msgid_plural "bad 7s"
msgstr[0] "a"
msgstr[2] "b"

"bad 8"
msgid "good 6"
msgstr "6"
"#);
    assert_eq!(
        read.pairs(),
        [("good 1", "1"), ("good 3", "3"), ("good 4", "4"), ("good 5", "5"), ("good 6", "6")]
    );
    let messages: Vec<(u64, &str)> =
        read.problems.iter().map(|problem| (problem.line, &problem.message[..])).collect();
    assert_eq!(
        messages,
        [
            (9, "the line ends before the string does"),
            (13, r"\q is no escape that PO files have"),
            (17, r#""msgstr \"3\"" is given twice"#),
            (20, "the message has no msgstr"),
            (27, "the message has no msgid"),
            (33, "the message has no msgid"),
            (38, "msgstr[2] stands where msgstr[1] is expected"),
            (40, "a string stands before any keyword"),
        ]
    );
    assert!(read.problems.iter().all(|problem| problem.code == "syntax"));
}

#[test]
fn lines_that_end_as_on_windows_are_the_same() {
    let text = format!("{HEADER}\n# a note\nmsgid \"a\"\nmsgstr \"\"\n\"가\"\n");
    assert_eq!(read(text.replace('\n', "\r\n"), Format::Po), read(text, Format::Po));
}

#[test]
fn the_header_says_the_encoding() {
    let text = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=Shift_JIS\\nLanguage: ja\\n\"\n\nmsgid \"table\"\nmsgstr \"表\"\n";
    let (bytes, ..) = encoding_rs::SHIFT_JIS.encode(text);
    // The second byte of the character is that of a backslash.
    assert!(bytes.windows(2).any(|pair| pair == [0x95, b'\\']));
    assert_eq!(read(&bytes, Format::Po).pairs(), [("table", "表")]);
    // What is declared is not what it is.
    let bytes = text.replace("Shift_JIS", "UTF-8").into_bytes();
    let bad: Vec<u8> = bytes.iter().map(|byte| if *byte >= 0x80 { 0xC0 } else { *byte }).collect();
    let read = read([&bad[..], b"\nmsgid \"a\"\nmsgstr \"b\"\n"].concat(), Format::Po);
    assert_eq!((read.pairs(), read.skipped()), (vec![("a", "b")], vec![(5, "invalid_encoding")]));
    let (line, message) = refused(text.replace("Shift_JIS", "klingon"), Format::Po, &Options::default());
    assert_eq!((line, &message[..]), (1, "the header names an encoding that is not known: klingon"));
}

#[test]
fn other_languages_than_the_headers_are_refused() {
    let options = |source: &str, targets: &[&str]| Options {
        source_language: (!source.is_empty()).then(|| source.to_owned()),
        target_languages: targets.iter().map(|tag| (*tag).to_owned()).collect(),
        ..Options::default()
    };
    let text = format!("{HEADER}\"X-Source-Language: en_US\\n\"\n\nmsgid \"a\"\nmsgstr \"b\"\n");
    let languages = |options| {
        let read = read_with(&text, Format::Po, &options).unwrap();
        let entry = &read.entries[0];
        (entry.source_language.clone().unwrap(), entry.target_language.clone().unwrap())
    };
    assert_eq!(languages(options("en", &["KO"])), ("en-US".to_owned(), "ko".to_owned()));
    assert_eq!(
        refused(&text, Format::Po, &options("en", &["ja"])).1,
        "target_languages asks for ja, but the catalog is in ko"
    );
    assert_eq!(
        refused(&text, Format::Po, &options("de", &[])).1,
        "source_language asks for de, but the catalog is in en-US"
    );
    assert!(refused(&text, Format::Po, &options("", &["ja", "ko"])).1.contains("a catalog has one"));
    // A catalog that does not say its languages is in those that are asked for.
    let silent = read_with("msgid \"a\"\nmsgstr \"b\"\n", Format::Po, &options("en", &["ko"])).unwrap();
    let expected = Entry {
        source_language: Some("en".to_owned()),
        target_language: Some("ko".to_owned()),
        ..Entry::new("a", "b")
    };
    assert_eq!(silent.entries, [expected]);
}

#[test]
fn other_files_are_called_what_they_are() {
    for (bytes, message) in [
        (&b""[..], "this is an empty file"),
        (b"<!DOCTYPE html>\n<html>", "this is no PO file: this is an HTML page"),
        (
            b"PK\x03\x04....",
            "this is no PO file: this is a ZIP archive, as packages of CAT tools and office documents are",
        ),
        (
            b"source,target\n",
            "this is no PO file: \"source,target\" stands where a comment, msgctxt or msgid is expected",
        ),
    ] {
        assert_eq!(refused(bytes, Format::Po, &Options::default()), (1, message.to_owned()));
    }
    assert_eq!(read("# Only a comment.\n", Format::Po), Read::default());
}

#[test]
fn a_written_file_is_what_gettext_writes() {
    let mut save = Entry::new("Save %s", "%s 저장");
    save.source_language = Some("en".to_owned());
    save.target_language = Some("pt-BR".to_owned());
    save.source_id = Some("menu".to_owned());
    save.notes = Some("short\n\n x".to_owned());
    save.metadata = Some(
        r#"{"po":{"extracted":"e","flags":["c-format"],"references":["a.c:1"],"previous":{"msgid":"Sav"}},"x":1}"#.to_owned(),
    );
    let languages = Entry { source: String::new(), target: String::new(), ..save.clone() };
    let form = |source: &str, target: &str, number: usize| Entry {
        source: source.to_owned(),
        target: target.to_owned(),
        source_id: None,
        notes: None,
        metadata: Some(format!(
            r#"{{"po":{{"form":{number},"msgid":"a file","msgid_plural":"files","plural_forms":"nplurals=2; plural=n>1;"}}}}"#
        )),
        ..languages.clone()
    };
    let lines = Entry {
        source_id: None,
        notes: None,
        metadata: Some(r#"{"po":{"obsolete":true,"flags":["a\nb"],"references":["x\ny"]}}"#.to_owned()),
        ..Entry { source: "\ttab\nline\n".to_owned(), target: "\u{1}".to_owned(), ..languages.clone() }
    };
    let entries = [save.clone(), form("a file", "um", 0), form("files", "uns", 1), lines, save];
    let (bytes, problems) = written(&entries, Format::Po, &Options::default()).unwrap();
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        r#"msgid ""
msgstr ""
"MIME-Version: 1.0\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Content-Transfer-Encoding: 8bit\n"
"Language: pt_BR\n"
"Plural-Forms: nplurals=2; plural=n>1;\n"
"X-Source-Language: en\n"

# short
#
#  x
#. e
#: a.c:1
#, c-format
#| msgid "Sav"
msgctxt "menu"
msgid "Save %s"
msgstr "%s 저장"

msgid "a file"
msgid_plural "files"
msgstr[0] "um"
msgstr[1] "uns"

#~ msgid ""
#~ "\ttab\n"
#~ "line\n"
#~ msgstr "\001"
"#
    );
    assert_eq!(problems.len(), 1);
    assert_eq!((problems[0].line, problems[0].code), (5, "duplicate_message"));
}

#[test]
fn a_file_has_one_language() {
    let entry = |tag: Option<&str>| Entry { target_language: tag.map(str::to_owned), ..Entry::new("a", "b") };
    let entries = [entry(Some("ko")), entry(Some("KO")), entry(Some("ja"))];
    let Err(Error::Option { option, message }) = written(&entries, Format::Po, &Options::default()) else {
        panic!("two languages were written");
    };
    assert_eq!(option, "target_languages");
    assert_eq!(message, "must be given: there are entries in ko and in ja, and a PO file has one language");
    let korean = Options { target_languages: vec!["ko".to_owned()], ..Options::default() };
    let (bytes, problems) = written(&entries, Format::Po, &korean).unwrap();
    assert!(String::from_utf8(bytes).unwrap().contains("Language: ko\\n"));
    let codes: Vec<&str> = problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, ["duplicate_message", "other_language"]);
    let entries = [entry(None), entry(Some("ja"))];
    assert!(matches!(written(&entries, Format::Po, &Options::default()), Err(Error::Option { .. })));
}
