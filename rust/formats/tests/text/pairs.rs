//! Pairs of text files.

use std::path::PathBuf;

use diglot_formats::{Error, Format, Options, create, open};
use tempfile::TempDir;

use super::{Entry, Read, gzip, read_path};

struct Files {
    _folder: TempDir,
    sources: PathBuf,
    options: Options,
}

fn files(sources: &[u8], targets: &[u8]) -> Files {
    let folder = TempDir::new().unwrap();
    let [sources_path, targets_path] = ["corpus.en", "corpus.ko"].map(|name| folder.path().join(name));
    std::fs::write(&sources_path, sources).unwrap();
    std::fs::write(&targets_path, targets).unwrap();
    let options = Options { target_path: Some(targets_path), ..Options::default() };
    Files { _folder: folder, sources: sources_path, options }
}

fn read(sources: &[u8], targets: &[u8]) -> Result<Read, Error> {
    let files = files(sources, targets);
    read_path(&files.sources, Format::Text, &files.options)
}

#[test]
fn lines_with_the_same_number_are_a_pair() {
    let read = read(b"Save\r\n\n Open \nx\n", "저장\n\n열기\n\n".as_bytes()).unwrap();
    assert_eq!(read.pairs(), [("Save", "저장"), (" Open ", "열기")]);
    assert_eq!(read.skipped(), [(4, "empty_text")]);
    assert_eq!(read.units, 4);
}

#[test]
fn the_last_line_need_not_end_and_either_file_may_be_packed() {
    for (sources, targets) in [(&b"a\nb"[..], &b"c\nd\n"[..]), (b"a\nb\n", b"c\nd")] {
        assert_eq!(read(sources, targets).unwrap().pairs(), [("a", "c"), ("b", "d")]);
    }
    assert_eq!(read(&gzip(b"a\nb\n"), b"c\nd\n").unwrap().pairs(), [("a", "c"), ("b", "d")]);
    assert_eq!(read(b"", b"").unwrap(), Read::default());
}

#[test]
fn blocks_need_not_end_at_the_same_lines() {
    let sources = "a".repeat(100) + "\n";
    let count = 50_000;
    let read = read(sources.repeat(count).as_bytes(), "b\n".repeat(count).as_bytes()).unwrap();
    assert_eq!(read.entries.len(), count);
    assert_eq!((read.pairs()[count - 1].1, read.units), ("b", count as u64));
}

#[test]
fn a_line_without_its_translation_is_an_error() {
    let many = "a\n".repeat(300_000);
    for (sources, targets, line, message) in [
        (
            &b"a\nb\n"[..],
            &b"c\n"[..],
            2,
            "there are 2 lines in the file of the sources and 1 in that of the targets; a pair needs a line in each",
        ),
        (
            b"a\n",
            b"c\nd\n\n",
            2,
            "there are 1 lines in the file of the sources and 3 in that of the targets; a pair needs a line in each",
        ),
        (
            many.as_bytes(),
            b"b\n",
            2,
            "there are 300000 lines in the file of the sources and 1 in that of the targets; a pair needs a line in each",
        ),
    ] {
        match read(sources, targets) {
            Err(Error::Format { line: at, message: what, .. }) => {
                assert_eq!((at, &what[..]), (line, message))
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn lines_that_are_no_text_are_named() {
    let read = read(b"a\n\xFF\nb\n", b"c\nd\n\xC0\n").unwrap();
    assert_eq!(read.pairs(), [("a", "c")]);
    assert_eq!(read.skipped(), [(2, "invalid_encoding"), (3, "invalid_encoding")]);
    let korean = |text| encoding_rs::EUC_KR.encode(text).0.into_owned();
    let mut files = files(&korean("가\n"), &korean("나\n"));
    files.options.encoding = Some("euc-kr".to_owned());
    assert_eq!(read_path(&files.sources, Format::Text, &files.options).unwrap().pairs(), [("가", "나")]);
}

#[test]
fn the_second_file_has_to_be_there() {
    let mut files = files(b"a\n", b"b\n");
    let error = |options: &Options| match open(&files.sources, Some(Format::Text), options) {
        Err(Error::Option { option, message }) => format!("{option} {message}"),
        _ => panic!("it was read"),
    };
    assert_eq!(
        error(&Options::default()),
        "target_path is missing: the file with the translation of each line"
    );
    let gone = files.options.target_path.clone().unwrap();
    std::fs::remove_file(&gone).unwrap();
    let message = error(&files.options);
    assert!(message.starts_with(&format!("target_path is {}: ", gone.display())), "{message}");
    files.options.target_languages = vec!["ko".to_owned(), "ja".to_owned()];
    assert!(open(&files.sources, Some(Format::Text), &files.options).is_err());
}

#[test]
fn what_has_no_line_of_its_own_is_not_written() {
    let files = files(b"before\n", b"before\n");
    let (_, mut writer) = create(&files.sources, Some(Format::Text), &files.options).unwrap();
    for (source, target, is_written) in [
        ("a", "b", true),
        ("a\nb", "c", false),
        ("a", "b\r", false),
        ("\u{FEFF}a", "b", false),
        (" c ", "d\u{2028}", true),
    ] {
        let outcome = writer.write(Entry::new(source, target).as_ref());
        assert_eq!(outcome.is_ok(), is_written, "{source:?}");
        if let Err(error) = outcome {
            assert!(matches!(error, Error::Unwritable(problem) if problem.code == "unwritable_character"));
        }
    }
    assert_eq!(std::fs::read(&files.sources).unwrap(), b"before\n");
    writer.finish().unwrap();
    let read = read_path(&files.sources, Format::Text, &files.options).unwrap();
    assert_eq!(read.pairs(), [("a", "b"), (" c ", "d\u{2028}")]);
}
