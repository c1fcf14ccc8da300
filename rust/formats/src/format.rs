//! The formats, and which of them a file is in.

use std::path::Path;

use crate::error::{Error, Result};
use crate::input::Input;
use crate::options::Options;
use crate::output::Output;
use crate::{Reader, Writer};
use crate::{tmx, xliff};

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Translation Memory eXchange 1.4b, and what there was before it.
    Tmx,
    /// XLIFF 1.2, and what there was before it.
    Xliff12,
    /// XLIFF 2.0 to 2.2.
    Xliff2,
}

/// Each format with its name and the endings of its files' names, the usual one first.
///
/// The two versions of XLIFF have the same endings; which of them a file is, it says itself.
const FORMATS: &[(Format, &str, &[&str])] = &[
    (Format::Tmx, "tmx", &["tmx"]),
    (Format::Xliff12, "xliff", &["xlf", "xliff", "mqxliff", "mxliff", "sdlxliff"]),
    (Format::Xliff2, "xliff2", &[]),
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

    /// The format of a file that begins with these bytes, if they tell.
    fn from_head(head: &[u8]) -> Option<Format> {
        if tmx::is_likely(head) {
            Some(Format::Tmx)
        } else if xliff::is_likely(head) {
            Some(Format::Xliff12)
        } else {
            None
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
        .or_else(|| Format::from_path(path))
        .or_else(|| Format::from_head(input.head()))
        .ok_or_else(|| unknown(path))?;
    Ok(match format {
        Format::Tmx => (format, Box::new(tmx::TmxReader::new(input, options)?)),
        Format::Xliff12 | Format::Xliff2 => {
            let reader = xliff::XliffReader::new(input, options)?;
            (if reader.is_second() { Format::Xliff2 } else { Format::Xliff12 }, Box::new(reader))
        }
    })
}

/// Begins a file. Its format, if it is not given, is the one that its name ends in.
///
/// # Errors
/// [`Error::Io`] and [`Error::Option`].
pub fn create(path: &Path, format: Option<Format>, options: &Options) -> Result<(Format, Box<dyn Writer>)> {
    let format = format.or_else(|| Format::from_path(path)).ok_or_else(|| unknown(path))?;
    let writer: Box<dyn Writer> = match format {
        Format::Tmx => Box::new(tmx::TmxWriter::new(Output::create(path)?, options)?),
        Format::Xliff12 => Box::new(xliff::Xliff1Writer::new(Output::create(path)?, options)?),
        Format::Xliff2 => Box::new(xliff::Xliff2Writer::new(Output::create(path)?, options)?),
    };
    Ok((format, writer))
}

fn unknown(path: &Path) -> Error {
    Error::Option {
        option: "format",
        message: format!(
            "is not given, and {} does not tell by its name; allowed are {}",
            path.display(),
            names()
        ),
    }
}
