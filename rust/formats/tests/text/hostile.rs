//! Files that are made to do harm, or were harmed.

use diglot_formats::{Error, Fault, Format, Options, Problem, Sink, open};
use proptest::prelude::*;

use super::{gzip, read, read_with, refused, zstd};
use diglot_engine::{Control, EntryRef};

const FORMATS: [Format; 5] = [Format::Po, Format::Mo, Format::Csv, Format::Tsv, Format::JsonLines];

const PO: &str = r#"# note
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=n != 1;\n"

#. e
#: a.c:1
#, c-format
#| msgid "old"
msgctxt "c"
msgid "a\t\"\303\251\""
msgid_plural "b"
msgstr[0] "c"
msgstr[1] "저장"

#~ msgid "x"
#~ msgstr "y"
"#;

const CSV: &str = "source,target,notes,metadata\n\"a\nb\",\"c \"\"d\"\"\",저장,\"{\"\"k\"\":1}\"\ne,f,,\n";

const JSON: &str = "{\"source\":\"a\",\"target\":\"\\ud83d\\ude00\",\"metadata\":{\"k\":[1]}}\n{\"source\":\"b\",\"target\":\"저장\"}\n";

fn samples() -> [(Format, &'static str); 3] {
    [(Format::Po, PO), (Format::Csv, CSV), (Format::JsonLines, JSON)]
}

#[test]
fn a_file_cut_anywhere_gives_what_is_before_or_an_error() {
    for (format, text) in samples() {
        let whole = read(text, format);
        for end in 0..text.len() {
            if let Ok(read) = read_with(&text.as_bytes()[..end], format, &Options::default()) {
                let texts = |entry: &super::Entry| (entry.source.clone(), entry.target.clone());
                // The last one may be what is left of it.
                let last = read.entries.len().saturating_sub(1);
                for (entry, expected) in read.entries[..last].iter().zip(&whole.entries) {
                    assert_eq!(texts(entry), texts(expected));
                }
                assert!(read.entries.len() <= whole.entries.len());
            }
        }
    }
}

#[test]
fn cut_and_damaged_compressed_files_are_errors() {
    for (format, text) in samples() {
        let text = text.repeat(50);
        for packed in [gzip(text.as_bytes()), zstd(text.as_bytes())] {
            for end in [5, packed.len() / 2, packed.len() - 1] {
                let (_, message) = refused(&packed[..end], format, &Options::default());
                assert!(message.contains("the compressed data is damaged or ends too early"), "{message}");
            }
        }
    }
}

#[test]
fn a_line_of_gigabytes_takes_no_memory() {
    // 1 GiB from a few KiB.
    let mebibyte = zstd(&vec![b'a'; 1 << 20]);
    for (format, start, message) in [
        (
            Format::Po,
            "msgid \"\"\nmsgstr \"\"\n\nmsgid \"",
            "the message has more than the 67108864 bytes that are allowed",
        ),
        (
            Format::Csv,
            "source,target\n\"",
            "the row has more than the 67108864 bytes that are allowed; are quotation marks not closed?",
        ),
        (
            Format::JsonLines,
            "{\"source\":\"a\",\"target\":\"b\"}\n{\"source\":\"",
            "the line has more than 67108864 bytes",
        ),
    ] {
        let bomb = [zstd(start.as_bytes()), mebibyte.repeat(1024)].concat();
        assert_eq!(refused(&bomb, format, &Options::default()).1, message);
    }
    // Many lines are no better than one.
    let lines = zstd(&b"\"aaaaaaaaaaaaaaa\"\n".repeat(1 << 16));
    let bomb = [zstd(b"msgid \"\"\nmsgstr \"\"\n\nmsgid \"\"\n"), lines.repeat(1024)].concat();
    let (_, message) = refused(&bomb, Format::Po, &Options::default());
    assert_eq!(message, "the message has more than the 67108864 bytes that are allowed");
    let bomb = [gzip(b"\xDE\x12\x04\x95"), zstd(b"")].concat();
    assert!(read_with(bomb, Format::Mo, &Options::default()).is_err());
    let bomb = [zstd(b"\xDE\x12\x04\x95"), mebibyte.repeat(1024)].concat();
    let (_, message) = refused(&bomb, Format::Mo, &Options::default());
    assert_eq!(message, "the MO file has more than the 268435456 bytes that are allowed");
}

#[test]
fn zeros_and_surrogates_cost_no_more_than_their_unit() {
    let read_po = read("msgid \"a\0b\"\nmsgstr \"c\"\n\nmsgid \"d\"\nmsgstr \"\\000\"\n", Format::Po);
    assert_eq!(read_po.pairs(), [("a\0b", "c"), ("d", "\0")]);
    assert_eq!(read("source,target\na\0,b\n", Format::Csv).pairs(), [("a\0", "b")]);
    // A lone surrogate in UTF-8, which has none.
    for (format, text) in [
        (Format::Po, &b"msgid \"a\"\nmsgstr \"\xED\xA0\x80\"\n\nmsgid \"b\"\nmsgstr \"c\"\n"[..]),
        (Format::Csv, b"source,target\na,\xED\xA0\x80\nb,c\n"),
        (
            Format::JsonLines,
            b"{\"source\":\"a\",\"target\":\"\xED\xA0\x80\"}\n{\"source\":\"b\",\"target\":\"c\"}\n",
        ),
        (
            Format::JsonLines,
            br#"{"source":"a","target":"\ud800"}
{"source":"b","target":"c"}"#,
        ),
    ] {
        let read = read(text, format);
        assert_eq!(read.pairs(), [("b", "c")]);
        assert_eq!(read.problems.len(), 1);
    }
}

#[test]
fn the_first_line_tells_what_is_no_json_lines_file() {
    let refused = |bytes: &[u8]| refused(bytes, Format::JsonLines, &Options::default()).1;
    assert_eq!(refused(b"<html>"), "this is no JSON Lines file: this is an HTML page");
    assert!(refused(b"{\n  \"source\": \"a\"\n}\n").starts_with("this is no JSON Lines file: "));
    assert!(refused(b"[{\"source\": \"a\"}]\n").starts_with("this is no JSON Lines file: "));
    assert!(refused(b"source,target\n").starts_with("this is no JSON Lines file: "));
    let later =
        read("{\"source\":\"a\",\"target\":\"b\"}\nsource,target\n[]\n{\"source\":1}\n", Format::JsonLines);
    assert_eq!(later.pairs(), [("a", "b")]);
    assert_eq!(later.skipped(), [(2, "syntax"), (3, "invalid_value"), (4, "invalid_value")]);
}

#[test]
fn reading_can_be_stopped() {
    struct Nothing;
    impl Sink for Nothing {
        fn entry(&mut self, _: EntryRef<'_>) -> Result<(), Fault> {
            Ok(())
        }
        fn skip(&mut self, _: Problem) {}
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, PO.as_bytes()).unwrap();
    let (_, mut reader) = open(file.path(), Some(Format::Po), &Options::default()).unwrap();
    assert!(matches!(reader.read(&mut Nothing, Control::new(&|| true)), Err(Error::Aborted)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), fuzzy in any::<bool>()) {
        for format in FORMATS {
            _ = read_with(&bytes, format, &Options { fuzzy: fuzzy && format == Format::Po, ..Options::default() });
        }
    }

    #[test]
    fn no_change_makes_a_reader_panic(
        sample in 0..3usize,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let (format, text) = samples()[sample];
        let mut bytes = text.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            match byte % 4 {
                0 => drop(bytes.drain(at..(at + 3).min(bytes.len()))),
                1 => bytes.insert(at, b"\"\\#m\n,["[usize::from(byte / 4) % 7]),
                _ => bytes[at] = byte,
            }
            if bytes.is_empty() {
                break;
            }
        }
        _ = read_with(&bytes, format, &Options::default());
    }
}
