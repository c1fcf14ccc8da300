use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};

use diglot_engine::{EntryRef, Memory};
use flate2::write::GzEncoder;

use super::*;

const ONE: &str = r#"{"source":"Save","target":"저장"}"#;

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).unwrap()
}

type Pack = fn(&[u8]) -> Vec<u8>;

const CONTAINERS: [Pack; 3] = [<[u8]>::to_vec, gzip, zstd];

fn read_packed(
    packed: impl Read + Send + 'static,
    bytes_total: Option<u64>,
    control: Control<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Batch> {
    read_all(Input::new(packed)?, bytes_total, control, progress)
}

fn read_bytes(bytes: &[u8]) -> Result<Memory> {
    let mut heard = Vec::new();
    let size = bytes.len() as u64;
    let packed = io::Cursor::new(bytes.to_vec());
    let batch = read_packed(packed, Some(size), Control::NONE, &mut |progress| heard.push(progress))?;
    let last = Progress { bytes_read: size, bytes_total: Some(size), entries: batch.len() };
    assert_eq!(heard.last(), Some(&last), "the last progress is the whole file");
    assert!(heard.is_sorted_by_key(|progress| (progress.bytes_read, progress.entries)));
    let memory = Memory::new();
    memory.publish(batch.prepare(Control::NONE).unwrap()).unwrap();
    Ok(memory)
}

/// What is wrong in a file, and where.
#[derive(Debug, PartialEq, Eq)]
struct FormatError {
    line: u64,
    field: Option<&'static str>,
    message: String,
}

impl From<Error> for FormatError {
    fn from(error: Error) -> FormatError {
        match error {
            Error::Format { line, field, message } => FormatError { line, field, message },
            error => panic!("{error}"),
        }
    }
}

/// The one error that a text gives in all containers.
fn refused(text: impl AsRef<[u8]>) -> FormatError {
    let [plain, gzip, zstd] = CONTAINERS.map(|pack| match read_bytes(&pack(text.as_ref())) {
        Ok(memory) => panic!("{} entries were read", memory.len()),
        Err(error) => FormatError::from(error),
    });
    assert_eq!((&plain, &plain), (&gzip, &zstd));
    plain
}

/// The error of a file whose second line is `line`.
fn refused_line(line: &str) -> (Option<&'static str>, String) {
    let error = refused(format!("{ONE}\n{line}\n{ONE}\n"));
    assert_eq!(error.line, 2, "{}", error.message);
    (error.field, error.message)
}

fn only_entry(memory: &Memory, check: impl FnOnce(EntryRef<'_>)) {
    let snapshot = memory.snapshot();
    let mut entries = snapshot.entries(0);
    check(entries.next().expect("one entry").1);
    assert!(entries.next().is_none(), "one entry only");
}

#[test]
fn every_field_is_read_in_both_spellings() {
    let snake = r#"{"source": "Save \"all\"", "target": "모두 \uc800\uc7a5 \ud83d\ude00", "source_language": "en",
        "target_language": "ko", "domain": "ui", "namespace": "app", "source_id": "a/b", "notes": "n",
        "created_at": "2026-01-02T03:04:05Z", "metadata": {"n": [1.0, 1e3, 12345678901234567890123, true, null]}}"#
        .replace('\n', " ");
    let camel = snake
        .replace("source_language", "sourceLanguage")
        .replace("target_language", "targetLanguage")
        .replace("source_id", "sourceId")
        .replace("created_at", "createdAt");
    assert_ne!(snake, camel);
    for text in [snake, camel] {
        for pack in CONTAINERS {
            only_entry(&read_bytes(&pack(text.as_bytes())).unwrap(), |entry| {
                let expected = EntryRef {
                    source: "Save \"all\"",
                    target: "모두 저장 😀",
                    source_language: Some("en"),
                    target_language: Some("ko"),
                    domain: Some("ui"),
                    namespace: Some("app"),
                    source_id: Some("a/b"),
                    created_at: Some("2026-01-02T03:04:05Z"),
                    notes: Some("n"),
                    metadata: Some(r#"{"n":[1.0,1e3,12345678901234567890123,true,null]}"#),
                };
                assert_eq!(entry, expected);
            });
        }
    }
}

#[test]
fn null_is_the_same_as_nothing() {
    let text = r#"{"source":"a","target":"b","domain":null,"metadata":null,"sourceLanguage":null}"#;
    only_entry(&read_bytes(text.as_bytes()).unwrap(), |entry| {
        assert_eq!(entry, EntryRef { source: "a", target: "b", ..EntryRef::default() });
    });
}

#[test]
fn empty_files_blank_lines_marks_and_line_ends() {
    for (text, entries) in [
        (String::new(), 0),
        ("\n\r\n \t\n".to_owned(), 0),
        ("\u{feff}".to_owned(), 0),
        (ONE.to_owned(), 1),
        (format!("\u{feff}{ONE}\r\n\r\n  {ONE}  \n\n"), 2),
    ] {
        for pack in CONTAINERS {
            assert_eq!(read_bytes(&pack(text.as_bytes())).unwrap().len(), entries, "{text:?}");
        }
    }
    assert_eq!(refused(format!("{ONE}\n\u{feff}{ONE}")).line, 2, "a mark is accepted at the start only");
}

#[test]
fn lines_across_blocks_are_whole() {
    // Lines of many lengths, the longest of several blocks. Notes are not indexed, so their length costs little.
    let long = "가나다 ".repeat(300_000);
    let mut text = String::new();
    let mut all_notes = Vec::new();
    for number in 0..3000 {
        let notes = if number % 1000 == 500 { format!("{number} {long}") } else { "x".repeat(number) };
        text += &format!("{{\"source\":\"s\",\"target\":\"t{number}\",\"notes\":\"{notes}\"}}\n\n");
        all_notes.push(notes);
    }
    for pack in CONTAINERS {
        let memory = read_bytes(&pack(text.as_bytes())).unwrap();
        let snapshot = memory.snapshot();
        let mut found = 0;
        for (number, (_, entry)) in snapshot.entries(0).enumerate() {
            let same = entry.notes == Some(&all_notes[number]) && entry.target == format!("t{number}");
            assert!(same, "entry {number}");
            found += 1;
        }
        assert_eq!(found, all_notes.len());
    }
    text.push_str("{}");
    assert_eq!(refused(text).line, 6001, "blank lines count");
}

#[test]
fn packed_files_may_have_several_members() {
    let text = format!("{ONE}\n");
    let text = text.as_bytes();
    let skippable = [&[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
    for file in [
        [gzip(text), gzip(text)].concat(),
        [zstd(text), zstd(text)].concat(),
        [skippable.clone(), zstd(text), skippable, zstd(text)].concat(),
    ] {
        assert_eq!(read_bytes(&file).unwrap().len(), 2);
    }
}

#[test]
fn faults_are_named_with_their_field() {
    let cases = [
        (r#"{"source":"a"}"#, Some("target"), "target: missing; every entry needs a source and a target"),
        (r#"{}"#, Some("source"), "source: missing; every entry needs a source and a target"),
        (
            r#"{"source":5,"target":"b"}"#,
            Some("source"),
            "source: invalid type: integer `5`, expected a string",
        ),
        (r#"{"source":"a","target":null}"#, Some("target"), "target: invalid type: null, expected a string"),
        (
            r#"{"source":"a","target":"b","createdAt":[1]}"#,
            Some("created_at"),
            "created_at: invalid type: sequence, expected a string or null",
        ),
        (
            r#"{"source":"a","target":"b","metadata":"c"}"#,
            Some("metadata"),
            "metadata: expected a JSON object or null",
        ),
        (
            r#"{"source":"a","target":"b","source_id":"1","sourceId":"1"}"#,
            Some("source_id"),
            "source_id: given twice; source_id and sourceId are one field, and once is allowed",
        ),
        (
            r#"{"source":"a","target":"b","target":"b"}"#,
            Some("target"),
            "target: given twice; once is allowed",
        ),
        (
            r#"{"source":" \u3000\t","target":"b"}"#,
            Some("source"),
            "source is empty; it needs at least one character that is not white space",
        ),
        (
            r#"{"source":"a","target":""}"#,
            Some("target"),
            "target is empty; it needs at least one character that is not white space",
        ),
        (
            r#"["a","b"]"#,
            None,
            "invalid type: sequence, expected a JSON object with an entry's fields, one on each line",
        ),
        (
            r#"{"source":"a","target":"b","language":"en"}"#,
            None,
            "unknown field \"language\"; allowed are source, target, source_language, target_language, domain, \
             namespace, source_id, created_at, notes, metadata (in camelCase, too)",
        ),
        (r#"{"source":"a" "target":"b"}"#, None, "invalid JSON at byte 15 of the line: expected `,` or `}`"),
        (
            r#"{"source":"a","target":"b"} {}"#,
            None,
            "invalid JSON at byte 29 of the line: trailing characters",
        ),
        (
            r#"{"source":"a","target":"b"#,
            Some("target"),
            "invalid JSON at byte 25 of the line: EOF while parsing a string",
        ),
    ];
    for (line, field, message) in cases {
        assert_eq!(refused_line(line), (field, message.to_owned()), "{line}");
    }
}

#[test]
fn long_unknown_names_are_cut() {
    let (_, message) = refused_line(&format!(r#"{{"{}":1}}"#, "é".repeat(1_000_000)));
    assert!(message.contains(&format!("{}…\"", "é".repeat(60))), "{message}");
    assert!(message.len() < 400);
}

#[test]
fn text_that_is_not_utf8_is_refused() {
    let mut text = format!("{ONE}\n{{\"source\":\"").into_bytes();
    text.extend(b"\xff\",\"target\":\"b\"}");
    let error = refused(text);
    assert_eq!((error.line, error.message.as_str()), (2, "not UTF-8 from byte 12 of the line on"));
    let mut utf16: Vec<u8> = ONE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read_bytes(&utf16).unwrap().len(), 1);
    utf16.splice(4..4, [0x00, 0xDC]);
    assert_eq!(refused(utf16).message, "not UTF-8 from byte 3 of the line on");
    for escape in [r"\ud800", r"\udc00", r"\ud800\ud800", r"\ud800x", r"\uDBFF\u0041"] {
        let (field, message) = refused_line(&format!(r#"{{"source":"{escape}","target":"b"}}"#));
        assert_eq!(field, Some("source"), "{escape}");
        assert!(message.starts_with("invalid JSON at byte "), "{message}");
        let (field, message) =
            refused_line(&format!(r#"{{"source":"a","target":"b","metadata":{{"k":["{escape}"]}}}}"#));
        assert_eq!(field, Some("metadata"), "{escape}");
        assert!(message.contains("lone surrogate"), "{message}");
    }
}

fn metadata(json: &str) -> std::result::Result<String, (Option<&'static str>, String)> {
    let line = format!(r#"{{"source":"a","target":"b","metadata":{json}}}"#);
    match read_bytes(line.as_bytes()) {
        Ok(memory) => {
            let mut text = None;
            only_entry(&memory, |entry| text = entry.metadata.map(str::to_owned));
            Ok(text.expect("there is metadata"))
        }
        Err(error) => {
            let error = FormatError::from(error);
            Err((error.field, error.message))
        }
    }
}

#[test]
fn metadata_is_kept_as_written_but_for_white_space() {
    for (json, kept) in [
        ("{ }", "{}"),
        (r#"{ "a b" : [ 1 , -0.50 , 1E+2 ] , "\" \\" : "x y" }"#, r#"{"a b":[1,-0.50,1E+2],"\" \\":"x y"}"#),
        (r#"{"a":1,"a":2}"#, r#"{"a":1,"a":2}"#),
        (r#"{"a":"\ud83d\ude00 \\ud800"}"#, r#"{"a":"\ud83d\ude00 \\ud800"}"#),
    ] {
        assert_eq!(metadata(json).unwrap(), kept);
    }
    let digits = format!(r#"{{"a":-{}}}"#, "9".repeat(4300));
    assert_eq!(metadata(&digits).unwrap(), digits);
    let deep = format!("{}1{}", r#"{"a":"#.repeat(128), "}".repeat(128));
    assert_eq!(metadata(&deep).unwrap(), deep);
}

#[test]
fn metadata_that_cannot_be_given_back_is_refused() {
    let deep = |levels| format!(r#"{{"a":{}1{}}}"#, "[".repeat(levels), "]".repeat(levels));
    for (json, what) in [
        (r#"{"a":1e999}"#.to_owned(), "a number is beyond the range"),
        (r#"{"a":[-1.0E+400]}"#.to_owned(), "a number is beyond the range"),
        (format!(r#"{{"a":{}}}"#, "1".repeat(4301)), "an integer has more than 4300 digits"),
        (deep(128), "nested more than the 128 levels"),
        (deep(1_000_000), "nested more than the 128 levels"),
        (r#"{"a":NaN}"#.to_owned(), "invalid JSON"),
        (r#"{"a":01}"#.to_owned(), "invalid JSON"),
    ] {
        let (field, message) = metadata(&json).unwrap_err();
        assert_eq!(field, Some("metadata"));
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn values_that_nest_deeply_do_not_overflow() {
    let deep = "[".repeat(10_000_000);
    assert_eq!(refused_line(&deep).0, None);
    assert_eq!(refused_line(&format!(r#"{{"source":{deep}"#)).0, Some("source"));
    assert_eq!(refused_line(&format!(r#"{{"x":{deep}"#)).0, None);
}

/// Bytes that never end.
struct Endless(u8);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(self.0);
        Ok(buffer.len())
    }
}

#[test]
fn a_line_without_an_end_is_refused() {
    let text = io::Cursor::new(format!("{ONE}\n{{\"source\":\"")).chain(Endless(b'a'));
    let error = read_packed(text, None, Control::NONE, &mut |_| {}).err().unwrap();
    assert_eq!(error.to_string(), "line 2: the line has more than 67108864 bytes");
}

#[test]
fn a_bomb_takes_no_memory() {
    // 1 GiB from a few KiB; white space in one line, so that there is no other reason to refuse it.
    let mebibyte = vec![b' '; 1 << 20];
    let bomb = [zstd(ONE.as_bytes()), zstd(b"\n"), zstd(&mebibyte).repeat(1024)].concat();
    let error = read_packed(io::Cursor::new(bomb), None, Control::NONE, &mut |_| {}).err().unwrap();
    assert_eq!(error.to_string(), "line 2: the line has more than 67108864 bytes");
}

#[test]
fn cut_and_damaged_files_are_refused() {
    let text = format!("{ONE}\n").repeat(2_000);
    for pack in [gzip, zstd] {
        let packed = pack(text.as_bytes());
        let cuts = [4, 5, 10, packed.len() / 2, packed.len() - 9, packed.len() - 1];
        for cut in cuts {
            match read_bytes(&packed[..cut]) {
                Err(error) => {
                    let error = FormatError::from(error);
                    assert!(error.message.starts_with("the compressed data is damaged"), "{error:?}");
                    assert!((1..=2_001).contains(&error.line), "{error:?}");
                }
                Ok(memory) => panic!("cut at {cut}: {} entries were read", memory.len()),
            }
        }
        // Whatever is damaged, it ends with entries or an error, not with a panic.
        for at in (0..packed.len()).step_by(packed.len() / 50 + 1) {
            let mut damaged = packed.clone();
            damaged[at] ^= 0x55;
            _ = read_bytes(&damaged);
        }
    }
    let mut corrupt = gzip(text.as_bytes());
    let check_sum = corrupt.len() - 8;
    corrupt[check_sum] ^= 1;
    assert!(read_bytes(&corrupt).is_err());
    assert!(read_bytes(&[gzip(text.as_bytes()), b"rubbish".to_vec()].concat()).is_err());
    assert!(read_bytes(&[zstd(text.as_bytes()), b"rubbish".to_vec()].concat()).is_err());
}

#[test]
fn reading_can_be_stopped() {
    let asked = AtomicU64::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) == 3;
    // It never ends by itself, so it is the control that stops it.
    let blank = read_packed(Endless(b'\n'), None, Control::new(&stop), &mut |_| {});
    assert!(matches!(blank, Err(Error::Aborted)));
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}

#[test]
fn what_the_system_refuses_is_its_own_error() {
    let missing = read(Path::new("no such file.jsonl"), Control::NONE, &mut |_| {}).err().unwrap();
    assert!(matches!(&missing, Error::Io(error) if error.kind() == io::ErrorKind::NotFound), "{missing}");

    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::from_raw_os_error(5))
        }
    }
    let failing = read_packed(Failing, None, Control::NONE, &mut |_| {}).err().unwrap();
    assert!(matches!(failing, Error::Io(_)), "{failing}");
}
