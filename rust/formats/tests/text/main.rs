//! PO, MO, tables, JSON Lines and pairs of text files, through the interface that all formats share.

mod hostile;
mod mo;
mod pairs;
mod po;
mod round_trip;
mod table;

use std::io::Write;
use std::path::Path;

use diglot_engine::{Control, EntryRef};
use diglot_formats::{Error, Fault, Format, Options, Problem, Sink, create, open};
use tempfile::TempDir;

/// The fields of an entry, owned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    source: String,
    target: String,
    source_language: Option<String>,
    target_language: Option<String>,
    domain: Option<String>,
    namespace: Option<String>,
    source_id: Option<String>,
    created_at: Option<String>,
    notes: Option<String>,
    metadata: Option<String>,
}

impl Entry {
    fn new(source: &str, target: &str) -> Entry {
        Entry { source: source.to_owned(), target: target.to_owned(), ..Entry::default() }
    }

    fn of(entry: EntryRef<'_>) -> Entry {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Entry {
            source: entry.source.to_owned(),
            target: entry.target.to_owned(),
            source_language: owned(entry.source_language),
            target_language: owned(entry.target_language),
            domain: owned(entry.domain),
            namespace: owned(entry.namespace),
            source_id: owned(entry.source_id),
            created_at: owned(entry.created_at),
            notes: owned(entry.notes),
            metadata: owned(entry.metadata),
        }
    }

    fn as_ref(&self) -> EntryRef<'_> {
        EntryRef {
            source: &self.source,
            target: &self.target,
            source_language: self.source_language.as_deref(),
            target_language: self.target_language.as_deref(),
            domain: self.domain.as_deref(),
            namespace: self.namespace.as_deref(),
            source_id: self.source_id.as_deref(),
            created_at: self.created_at.as_deref(),
            notes: self.notes.as_deref(),
            metadata: self.metadata.as_deref(),
        }
    }
}

/// What was read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Read {
    entries: Vec<Entry>,
    problems: Vec<Problem>,
    units: u64,
}

impl Read {
    /// Sources and targets.
    fn pairs(&self) -> Vec<(&str, &str)> {
        self.entries.iter().map(|entry| (&entry.source[..], &entry.target[..])).collect()
    }

    /// The line and the code of each problem.
    fn skipped(&self) -> Vec<(u64, &str)> {
        self.problems.iter().map(|problem| (problem.line, problem.code)).collect()
    }
}

impl Sink for Read {
    fn entry(&mut self, entry: EntryRef<'_>) -> Result<(), Fault> {
        entry.check().map_err(|refusal| diglot_formats::refused(&refusal))?;
        self.entries.push(Entry::of(entry));
        Ok(())
    }

    fn skip(&mut self, problem: Problem) {
        assert!(!problem.message.is_empty());
        self.problems.push(problem);
    }
}

fn read_path(path: &Path, format: Format, options: &Options) -> Result<Read, Error> {
    let (opened, mut reader) = open(path, Some(format), options)?;
    assert_eq!(opened, format);
    let mut read = Read::default();
    while reader.read(&mut read, Control::NONE)? {}
    read.units = reader.units_read();
    assert_eq!(reader.bytes_read(), std::fs::metadata(path).expect("it was just read").len());
    Ok(read)
}

fn read_with(bytes: impl AsRef<[u8]>, format: Format, options: &Options) -> Result<Read, Error> {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(bytes.as_ref()).expect("room for it");
    read_path(file.path(), format, options)
}

fn read(bytes: impl AsRef<[u8]>, format: Format) -> Read {
    read_with(bytes, format, &Options::default()).expect("it can be read")
}

/// The line and the message of a file that cannot be read.
fn refused(bytes: impl AsRef<[u8]>, format: Format, options: &Options) -> (u64, String) {
    match read_with(bytes, format, options) {
        Err(Error::Format { line, message, .. }) => (line, message),
        Err(Error::Option { option, message }) => (0, format!("{option} {message}")),
        other => panic!("{other:?}"),
    }
}

/// What is written, and what is not.
fn written(entries: &[Entry], format: Format, options: &Options) -> Result<(Vec<u8>, Vec<Problem>), Error> {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("file");
    let (_, mut writer) = create(&path, Some(format), options)?;
    let mut problems = Vec::new();
    for entry in entries {
        match writer.write(entry.as_ref()) {
            Ok(()) => {}
            Err(Error::Unwritable(problem)) => problems.push(problem),
            Err(error) => return Err(error),
        }
    }
    assert!(!path.exists(), "nothing is there before it is finished");
    writer.finish()?;
    Ok((std::fs::read(&path).expect("it was written"), problems))
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).expect("room for it");
    encoder.finish().expect("room for it")
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::encode_all(text, 1).expect("room for it")
}
