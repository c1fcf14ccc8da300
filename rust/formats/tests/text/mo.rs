//! MO files of both byte orders, and damaged ones.

use diglot_formats::{Format, Options};

use super::{gzip, read, read_with, refused};

/// An MO file with these messages.
fn mo(messages: &[(&str, &str)], to_bytes: fn(u32) -> [u8; 4]) -> Vec<u8> {
    let count = messages.len() as u32;
    let (originals, translations) = (28, 28 + 8 * count);
    let mut file: Vec<u8> =
        [0x9504_12DE, 0, count, originals, translations, 0, 0].into_iter().flat_map(to_bytes).collect();
    let mut tables = [Vec::new(), Vec::new()];
    let mut texts = Vec::new();
    let start = translations + 8 * count;
    for (table, text) in [0, 1].into_iter().flat_map(|table| {
        messages.iter().map(move |(id, string)| (table, if table == 0 { *id } else { *string }))
    }) {
        tables[table].extend(to_bytes(text.len() as u32));
        tables[table].extend(to_bytes(start + texts.len() as u32));
        texts.extend(text.bytes());
        texts.push(0);
    }
    file.extend(tables.concat());
    file.extend(texts);
    file
}

const MESSAGES: [(&str, &str); 5] = [
    ("", "Content-Type: text/plain; charset=UTF-8\nLanguage: ko\nPlural-Forms: nplurals=1; plural=0;\n"),
    ("%d file\0%d files", "파일 %d개"),
    ("Save", "저장"),
    ("menu\x04Save", "저장하기"),
    ("untranslated", ""),
];

#[test]
fn both_byte_orders_are_read() {
    for to_bytes in [u32::to_le_bytes, u32::to_be_bytes] {
        let file = mo(&MESSAGES, to_bytes);
        for bytes in [gzip(&file), file] {
            let read = read(bytes, Format::Mo);
            assert_eq!(
                read.pairs(),
                [("%d file", "파일 %d개"), ("%d files", "파일 %d개"), ("Save", "저장"), ("Save", "저장하기")]
            );
            assert_eq!(read.entries[3].source_id.as_deref(), Some("menu"));
            assert!(read.entries.iter().all(|entry| entry.target_language.as_deref() == Some("ko")));
            assert_eq!(read.skipped(), [(5, "untranslated")]);
            assert_eq!(read.units, 4);
        }
    }
}

#[test]
fn a_cut_file_is_an_error_or_shorter_and_never_a_panic() {
    let file = mo(&MESSAGES, u32::to_le_bytes);
    for end in 0..file.len() - 1 {
        let (line, message) = refused(&file[..end], Format::Mo, &Options::default());
        assert!(line <= 5 && !message.is_empty());
    }
}

#[test]
fn numbers_that_lead_astray_are_errors() {
    let file = mo(&MESSAGES, u32::to_le_bytes);
    let header_end = 28 + 16 * MESSAGES.len();
    for at in (4..header_end).step_by(4) {
        for value in [0, 1, 5, 27, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFF0, u32::MAX] {
            let mut damaged = file.clone();
            damaged[at..at + 4].copy_from_slice(&value.to_le_bytes());
            // An error, or other texts of the file; no panic and no more than the file has.
            if let Ok(read) = read_with(&damaged, Format::Mo, &Options::default()) {
                let bytes: usize =
                    read.entries.iter().map(|entry| entry.source.len() + entry.target.len()).sum();
                assert!(bytes <= 2 * damaged.len());
            }
        }
    }
}

#[test]
fn texts_that_lie_upon_each_other_do_not_grow_without_bounds() {
    // A hundred thousand messages, all of them the same mebibyte.
    let count: u32 = 100_000;
    let start = 28 + 16 * count;
    let mut file: Vec<u8> =
        [0x9504_12DE, 0, count, 28, 28 + 8 * count, 0, 0].into_iter().flat_map(u32::to_le_bytes).collect();
    for _ in 0..2 * count {
        file.extend([1 << 20, start].into_iter().flat_map(u32::to_le_bytes));
    }
    file.extend(vec![b'a'; 1 << 20]);
    let (_, message) = refused(file, Format::Mo, &Options::default());
    assert_eq!(message, "the texts of the MO file are longer than all of it");
}

#[test]
fn other_files_are_called_what_they_are() {
    let refused = |bytes: &[u8]| refused(bytes, Format::Mo, &Options::default()).1;
    assert_eq!(refused(b"msgid \"a\"\n"), "this is no MO file: this looks like a gettext PO file");
    assert_eq!(refused(b""), "this is no MO file: this is an empty file");
    let mut newer = mo(&MESSAGES, u32::to_le_bytes);
    newer[6] = 2;
    assert_eq!(refused(&newer), "the MO file has the version 2; 0 and 1 are known");
}
