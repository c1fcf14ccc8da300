//! CSV and TSV: which column is which, and rows that cannot be used.

use diglot_formats::{Column, Format, Options};

use super::{Entry, Read, read, read_with, refused, written};

fn csv(text: &str) -> Read {
    read(text, Format::Csv)
}

fn languages(source: &str, targets: &[&str]) -> Options {
    Options {
        source_language: Some(source.to_owned()),
        target_languages: targets.iter().map(|tag| (*tag).to_owned()).collect(),
        ..Options::default()
    }
}

fn columns(columns: &[(&str, Column)]) -> Options {
    let columns = columns.iter().map(|(field, column)| ((*field).to_owned(), column.clone())).collect();
    Options { columns, ..Options::default() }
}

fn name(name: &str) -> Column {
    Column::Name(name.to_owned())
}

#[test]
fn every_field_has_a_column() {
    let read = csv(
        "source,target,source_language,targetLanguage,Domain,namespace,Source ID,created-at,notes,metadata,x\n\
         Save,저장,en,ko,ui,app,7,2026-01-02,n,\"{ \"\"a\"\" : [1.0] }\",ignored\n",
    );
    let text = |text: &str| Some(text.to_owned());
    let expected = Entry {
        source: "Save".to_owned(),
        target: "저장".to_owned(),
        source_language: text("en"),
        target_language: text("ko"),
        domain: text("ui"),
        namespace: text("app"),
        source_id: text("7"),
        created_at: text("2026-01-02"),
        notes: text("n"),
        metadata: text(r#"{"a":[1.0]}"#),
    };
    assert_eq!(read.entries, [expected]);
}

#[test]
fn cells_have_what_stands_in_them() {
    let read = csv("\u{FEFF}source,target\r\n\
         \"a, b\",\"c \"\"d\"\" e\"\r\n\
         \"two\r\nlines\", space \r\n\
         5\" disk,=1+1\r\n\
         \r\n\
         \n\
         last,\"row\"");
    assert_eq!(
        read.pairs(),
        [("a, b", "c \"d\" e"), ("two\r\nlines", " space "), ("5\" disk", "=1+1"), ("last", "row")]
    );
    assert_eq!(read.skipped(), []);
    assert_eq!(read.units, 4);
}

#[test]
fn rows_that_cannot_be_used_are_named_with_their_lines() {
    let read = csv("source,target,metadata\n\
         a,b,\n\
         \"two\nlines\",c\n\
         d,e,f,g\n\
         h,,\n\
         i,j,[]\n\
         k,l,{\n\
         \"m\" n,o,\n\
         p,q,\n\
         \"r,s,\n\
         t,u,\n");
    assert_eq!(read.pairs(), [("a", "b"), ("p", "q")]);
    assert_eq!(
        read.skipped(),
        [
            (3, "ragged_row"),
            (5, "ragged_row"),
            (6, "empty_text"),
            (7, "invalid_value"),
            (8, "invalid_value"),
            (9, "quotation_marks"),
            (11, "quotation_marks"),
        ]
    );
    assert_eq!(
        read.problems[0].message,
        "cells: 2; the first row has 3. It goes on to line 4: are quotation marks not closed?"
    );
    assert_eq!(read.problems[1].message, "cells: 4; the first row has 3");
    assert!(read.problems[6].message.starts_with("the quotation marks that are opened here are not closed"));
}

#[test]
fn columns_named_for_languages_are_texts() {
    let text = "id,en-US,ko,ja_JP\n1,Save,저장,保存\n2,Open,열기,\n";
    let all = csv(text);
    let found: Vec<_> = all
        .entries
        .iter()
        .map(|entry| (&entry.source[..], &entry.target[..], entry.target_language.as_deref().unwrap()))
        .collect();
    assert_eq!(found, [("Save", "저장", "ko"), ("Save", "保存", "ja-JP"), ("Open", "열기", "ko")]);
    assert!(all.entries.iter().all(|entry| entry.source_language.as_deref() == Some("en-US")));
    assert_eq!(all.entries[2].source_id.as_deref(), Some("2"));
    assert_eq!(all.skipped(), [(3, "untranslated")]);
    let some = read_with(text, Format::Csv, &languages("ko", &["ja"])).unwrap();
    assert_eq!(some.pairs(), [("저장", "保存")]);
    // One column named for a language is not enough, and what is asked for need not be one of two letters.
    assert!(refused("en,notes\na,b\n", Format::Csv, &Options::default()).1.contains("no columns are called"));
    let read = read_with("fil,id\na,b\n", Format::Csv, &languages("fil", &["id"])).unwrap();
    assert_eq!(read.pairs(), [("a", "b")]);
}

#[test]
fn columns_can_be_given_by_name_and_number() {
    let text = "Term,Übersetzung,Source\na,b,c\n";
    let by_name =
        columns(&[("source", name("term")), ("target", name("übersetzung")), ("notes", name("Source"))]);
    let read = read_with(text, Format::Csv, &by_name).unwrap();
    assert_eq!(read.entries, [Entry { notes: Some("c".to_owned()), ..Entry::new("a", "b") }]);
    let by_number = columns(&[("source", Column::Number(2)), ("target", Column::Number(3))]);
    assert_eq!(
        read_with(text, Format::Csv, &by_number).unwrap().pairs(),
        [("Übersetzung", "Source"), ("b", "c")]
    );
    let with_header = Options { header: Some(true), ..by_number.clone() };
    assert_eq!(read_with(text, Format::Csv, &with_header).unwrap().pairs(), [("b", "c")]);
    for (options, message) in [
        (
            columns(&[("source", name("word")), ("target", name("Term"))]),
            r#"columns has the name "word"; the columns are called "Term", "Übersetzung", "Source""#,
        ),
        (
            columns(&[("source", Column::Number(0)), ("target", Column::Number(1))]),
            "columns has the number 0; the first row has the columns from 1 to 3",
        ),
        (columns(&[("source", name("Term"))]), "columns must say which columns are source and target"),
        (
            columns(&[("text", name("Term"))]),
            "columns has \"text\", which is no field; allowed are source, target, source_language, target_language, \
             domain, namespace, source_id, created_at, notes, metadata",
        ),
        (
            Options { header: Some(false), ..columns(&[("source", name("Term"))]) },
            "columns has the name \"Term\", but the table has no header",
        ),
        (
            Options { header: Some(false), ..Options::default() },
            "columns must give the numbers of source and target, because the table has no header",
        ),
        (
            Options { delimiter: Some('é'), ..Options::default() },
            "delimiter is 'é'; one ASCII character other than a quotation mark or the end of a line is allowed",
        ),
        (
            Options { encoding: Some("klingon".to_owned()), ..Options::default() },
            "encoding is \"klingon\", which is not known; names of the WHATWG Encoding Standard are allowed",
        ),
        (Options { fuzzy: true, ..Options::default() }, "fuzzy is given, and csv files have no use for it"),
    ] {
        assert_eq!(refused(text, Format::Csv, &options), (0, message.to_owned()));
    }
}

#[test]
fn of_two_columns_with_one_name_none_is_left_out_in_silence() {
    let text = "Source,source ,target\na,b,c\n";
    let message = "the columns 1 and 2 are both called \"source \"; say which one it is, by its number";
    assert_eq!(refused(text, Format::Csv, &Options::default()), (1, message.to_owned()));
    let by_number = columns(&[("source", Column::Number(2)), ("target", name("target"))]);
    assert_eq!(read_with(text, Format::Csv, &by_number).unwrap().pairs(), [("b", "c")]);
    let text = "English,Korean,English\na,b,c\n";
    let by_name = columns(&[("source", name("English")), ("target", name("Korean"))]);
    let message = "columns has the name \"English\", as the columns 1 and 3 are called; give a number";
    assert_eq!(refused(text, Format::Csv, &by_name), (0, message.to_owned()));
    // Two names of one field are no mistake: the first is taken.
    assert_eq!(
        read("source,target,notes,comment\na,b,c,d\n", Format::Csv).entries[0].notes.as_deref(),
        Some("c")
    );
}

#[test]
fn what_is_no_table_is_called_what_it_is() {
    for (bytes, line, message) in [
        (&b""[..], 1, "this is an empty file"),
        (b"<html>\n", 1, "this is no table: this is an HTML page"),
        (
            b"PK\x03\x04\0\0",
            1,
            "this is no table: this is a ZIP archive, as packages of CAT tools and office documents are",
        ),
        (
            b"source;target\na;b\n",
            1,
            "no columns are called source and target, or by the codes of two languages; the first row has \
             \"source;target\". Say which columns they are, by their names, or by their numbers if the first row \
             is no header. It looks as if the delimiter were ';'",
        ),
    ] {
        assert_eq!(refused(bytes, Format::Csv, &Options::default()), (line, message.to_owned()));
    }
}

#[test]
fn delimiters_quotation_marks_and_escapes_can_be_others() {
    assert_eq!(read("source\ttarget\na\t\"b\tc\"\n", Format::Tsv).pairs(), [("a", "b\tc")]);
    let semicolon = Options { delimiter: Some(';'), ..Options::default() };
    assert_eq!(read_with("source;target\na,b;c\n", Format::Csv, &semicolon).unwrap().pairs(), [("a,b", "c")]);
    let unquoted = Options { quoting: Some(false), ..Options::default() };
    let text = "source\ttarget\n\"Go,\" he said.\t\"Geh\"\n\"open\tx\n";
    assert_eq!(
        read_with(text, Format::Tsv, &unquoted).unwrap().pairs(),
        [("\"Go,\" he said.", "\"Geh\""), ("\"open", "x")]
    );
    let escape = Options { escape: Some('\\'), ..Options::default() };
    let text = "source,target\n\"a \\\"b\\\" \\\\ \"\"c\"\"\",\"d\"\n";
    assert_eq!(read_with(text, Format::Csv, &escape).unwrap().pairs(), [("a \"b\" \\ \"c\"", "d")]);
}

#[test]
fn other_encodings_can_be_given() {
    let (bytes, ..) = encoding_rs::EUC_KR.encode("source,target\nSave,저장\n");
    let korean = Options { encoding: Some("euc-kr".to_owned()), ..Options::default() };
    assert_eq!(read_with(&bytes, Format::Csv, &korean).unwrap().pairs(), [("Save", "저장")]);
    let read = read([&bytes[..], b"a,b\n"].concat(), Format::Csv);
    assert_eq!((read.pairs(), read.skipped()), (vec![("a", "b")], vec![(2, "invalid_encoding")]));
    // As Excel saves "Unicode text".
    let utf16: Vec<u8> =
        "\u{FEFF}source\ttarget\r\nSave\t저장\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(super::read(utf16, Format::Tsv).pairs(), [("Save", "저장")]);
}

#[test]
fn a_long_row_across_many_blocks_is_whole() {
    let long = "x\"\"\n".repeat(1 << 18);
    let read = csv(&format!("source,target\na,\"{long}\"\nb,c\n"));
    assert_eq!(read.entries[0].target, "x\"\n".repeat(1 << 18));
    assert_eq!(read.pairs()[1], ("b", "c"));
}

#[test]
fn columns_of_a_written_file_can_be_chosen() {
    let mut entry = Entry::new("=SUM(A1)", "a \"b\",\nc");
    entry.notes = Some("note".to_owned());
    let options = columns(&[("notes", name("Remark")), ("source", name("en")), ("target", name("ko"))]);
    let (bytes, problems) = written(&[entry.clone()], Format::Csv, &options).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), "Remark,en,ko\nnote,=SUM(A1),\"a \"\"b\"\",\nc\"\n");
    assert!(problems.is_empty());
    let (bytes, _) = written(&[entry], Format::Tsv, &Options::default()).unwrap();
    assert!(bytes.starts_with(b"source\ttarget\tsource_language\t"));
    let numbers = columns(&[("source", Column::Number(1)), ("target", Column::Number(2))]);
    assert!(written(&[], Format::Csv, &numbers).is_err());
}
