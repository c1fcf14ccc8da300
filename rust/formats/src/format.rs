//! The formats, and which of them a file is in.

use std::path::Path;

use crate::error::{Error, Result};
use crate::input::{Input, describe};
use crate::options::Options;
use crate::output::Output;
use crate::{Reader, Writer};
use crate::{delimited, jsonl, po, text, tmx, xliff};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Translation Memory eXchange 1.4b, and what there was before it.
    Tmx,
    /// XLIFF 1.2, and what there was before it.
    Xliff12,
    /// XLIFF 2.0 to 2.2.
    Xliff2,
    /// Gettext's portable object.
    Po,
    /// Gettext's machine object, for reading only.
    Mo,
    /// Comma-separated values, or with another delimiter.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// One JSON object a line.
    JsonLines,
    /// A text file for the sources and one for the targets.
    Text,
}

/// Each format with its name and the endings of its files' names, the usual one first.
///
/// The two versions of XLIFF have the same endings; which of them a file is, it says itself.
const FORMATS: &[(Format, &str, &[&str])] = &[
    (Format::Tmx, "tmx", &["tmx"]),
    (Format::Xliff12, "xliff", &["xlf", "xliff", "mqxliff", "mxliff", "sdlxliff"]),
    (Format::Xliff2, "xliff2", &[]),
    (Format::Po, "po", &["po", "pot"]),
    (Format::Mo, "mo", &["mo", "gmo"]),
    (Format::Csv, "csv", &["csv"]),
    (Format::Tsv, "tsv", &["tsv", "tab"]),
    (Format::JsonLines, "jsonl", &["jsonl", "ndjson"]),
    (Format::Text, "text", &["txt", "text"]),
];

/// Endings of compressed files, which stand behind that of the format.
const PACKED: [&str; 3] = ["gz", "zst", "zstd"];

impl Format {
    /// All formats.
    pub fn all() -> impl Iterator<Item = Format> {
        FORMATS.iter().map(|(format, ..)| *format)
    }

    /// The format's name.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The endings of names of files in this format, in lower case, the usual one first.
    pub fn extensions(self) -> &'static [&'static str] {
        self.row().2
    }

    fn row(self) -> &'static (Format, &'static str, &'static [&'static str]) {
        FORMATS.iter().find(|row| row.0 == self).expect("every format has a row")
    }

    /// The format with this name.
    ///
    /// # Errors
    /// [`Error::Option`].
    pub fn from_name(name: &str) -> Result<Format> {
        FORMATS.iter().find(|row| row.1 == name).map(|row| row.0).ok_or_else(|| Error::Option {
            option: "format",
            message: format!("is {name:?}; allowed are {}", names()),
        })
    }

    /// The format that a file's name ends in, behind which there may be the ending of a compressed file.
    pub fn from_path(path: &Path) -> Option<Format> {
        let mut path = path.to_owned();
        let ending =
            |path: &Path| path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        if PACKED.contains(&ending(&path)?.as_str()) {
            path.set_extension("");
        }
        let ending = ending(&path)?;
        FORMATS.iter().find(|row| row.2.contains(&ending.as_str())).map(|row| row.0)
    }

    /// The options that reading a file has use for, besides the languages.
    fn read_with(self) -> &'static [&'static str] {
        match self {
            Format::Po => &["fuzzy", "obsolete"],
            Format::Csv | Format::Tsv => &["columns", "header", "delimiter", "quoting", "escape", "encoding"],
            Format::Text => &["target_path", "encoding"],
            Format::Tmx | Format::Xliff12 | Format::Xliff2 | Format::Mo | Format::JsonLines => &[],
        }
    }

    /// The options that writing a file has use for, besides the languages.
    fn written_with(self) -> &'static [&'static str] {
        match self {
            Format::Csv | Format::Tsv => &["columns", "delimiter"],
            Format::Text => &["target_path"],
            _ => &[],
        }
    }

    /// The format that the options are for.
    fn from_options(options: &Options) -> Option<Format> {
        options.target_path.is_some().then_some(Format::Text)
    }

    /// The format of a file that begins with these bytes, if they tell.
    fn from_head(head: &[u8]) -> Option<Format> {
        match head {
            _ if tmx::is_likely(head) => Some(Format::Tmx),
            _ if xliff::is_likely(head) => Some(Format::Xliff12),
            [0xDE, 0x12, 0x04, 0x95, ..] | [0x95, 0x04, 0x12, 0xDE, ..] => Some(Format::Mo),
            [b'{', ..] => Some(Format::JsonLines),
            _ if po::is_likely(head) => Some(Format::Po),
            _ => None,
        }
    }
}

fn names() -> String {
    FORMATS.iter().map(|row| row.1).collect::<Vec<_>>().join(", ")
}

/// Opens a file for reading. Its format, if it is not given, is the one that its name ends in, or else the one that it
/// begins like.
///
/// # Errors
/// [`Error::Io`], [`Error::Option`], and [`Error::Format`] if nothing of it can be read.
pub fn open(path: &Path, format: Option<Format>, options: &Options) -> Result<(Format, Box<dyn Reader>)> {
    let input = Input::open(path)?;
    let format = format
        .or_else(|| Format::from_options(options))
        .or_else(|| Format::from_path(path))
        .or_else(|| Format::from_head(input.head()))
        .ok_or_else(|| unknown(path, describe(input.head())))?;
    options.check(format.name(), format.read_with())?;
    let reader: Box<dyn Reader> = match format {
        Format::Xliff12 | Format::Xliff2 => {
            let reader = xliff::XliffReader::new(input, options)?;
            let format = if reader.is_second() { Format::Xliff2 } else { Format::Xliff12 };
            return Ok((format, Box::new(reader)));
        }
        Format::Tmx => Box::new(tmx::TmxReader::new(input, options)?),
        Format::Po => Box::new(po::PoReader::new(input, options)?),
        Format::Mo => Box::new(po::MoReader::new(input, options)?),
        Format::Csv => Box::new(delimited::TableReader::new(input, b',', options)?),
        Format::Tsv => Box::new(delimited::TableReader::new(input, b'\t', options)?),
        Format::JsonLines => Box::new(jsonl::JsonLinesReader::new(input, options)?),
        Format::Text => Box::new(text::TextReader::new(input, options)?),
    };
    Ok((format, reader))
}

/// Begins a file. Its format, if it is not given, is the one that its name ends in.
///
/// # Errors
/// [`Error::Io`] and [`Error::Option`].
pub fn create(path: &Path, format: Option<Format>, options: &Options) -> Result<(Format, Box<dyn Writer>)> {
    let format = format
        .or_else(|| Format::from_options(options))
        .or_else(|| Format::from_path(path))
        .ok_or_else(|| unknown(path, None))?;
    options.check(format.name(), format.written_with())?;
    let writer: Box<dyn Writer> = match format {
        Format::Tmx => Box::new(tmx::TmxWriter::new(Output::create(path)?, options)?),
        Format::Xliff12 => Box::new(xliff::Xliff1Writer::new(Output::create(path)?, options)?),
        Format::Xliff2 => Box::new(xliff::Xliff2Writer::new(Output::create(path)?, options)?),
        Format::Po => Box::new(po::PoWriter::new(Output::create(path)?, options)?),
        Format::Mo => {
            return Err(Error::Option {
                option: "format",
                message: "is mo, which is read only; PO files can be compiled to it with msgfmt".to_owned(),
            });
        }
        Format::Csv => Box::new(delimited::TableWriter::new(Output::create(path)?, b',', options)?),
        Format::Tsv => Box::new(delimited::TableWriter::new(Output::create(path)?, b'\t', options)?),
        Format::JsonLines => Box::new(jsonl::JsonLinesWriter::new(Output::create(path)?)),
        Format::Text => Box::new(text::TextWriter::new(Output::create(path)?, options)?),
    };
    Ok((format, writer))
}

fn unknown(path: &Path, what: Option<&str>) -> Error {
    Error::Option {
        option: "format",
        message: format!(
            "is not given, and {} does not tell by its name{}; allowed are {}",
            path.display(),
            what.map(|what| format!(" ({what})")).unwrap_or_default(),
            names()
        ),
    }
}
