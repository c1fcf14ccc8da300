//! Writing a file so that its name always has a whole one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;

/// Bytes that are written at a time.
const BLOCK: usize = 1 << 18;

/// Zstandard's own default.
const ZSTANDARD_LEVEL: i32 = 3;

/// A file that is being written. It is compressed with gzip or Zstandard if its name ends in `.gz` or `.zst`.
///
/// What is written stands beside the file until [`Output::finish`] puts it in its place; dropped before, it is removed.
/// Pipes and devices are written directly.
pub(crate) struct Output(Packer<BufWriter<Target>>);

enum Packer<W: Write> {
    Plain(W),
    Gzip(GzEncoder<W>),
    Zstandard(zstd::Encoder<'static, W>),
}

enum Target {
    Beside { file: NamedTempFile, path: PathBuf },
    Direct(File),
}

impl Output {
    /// Begins a file.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn create(path: &Path) -> io::Result<Output> {
        // A link stays one: what it points to is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let target = match fs::metadata(&path) {
            Ok(there) if !there.is_file() => Target::Direct(OpenOptions::new().write(true).open(&path)?),
            there => {
                Target::Beside { file: beside(&path, there.ok().map(|there| there.permissions()))?, path }
            }
        };
        let extension = target.path().and_then(Path::extension).unwrap_or_default().to_ascii_lowercase();
        let file = BufWriter::with_capacity(BLOCK, target);
        Ok(Output(match extension.as_encoded_bytes() {
            b"gz" => Packer::Gzip(GzEncoder::new(file, Compression::default())),
            b"zst" => Packer::Zstandard(zstd::Encoder::new(file, ZSTANDARD_LEVEL)?),
            _ => Packer::Plain(file),
        }))
    }

    /// Makes what was written durable and puts it in its place.
    ///
    /// # Errors
    /// The operating system's; the file that was there is as it was.
    pub(crate) fn finish(self) -> io::Result<()> {
        let file = match self.0 {
            Packer::Plain(file) => file,
            Packer::Gzip(encoder) => encoder.finish()?,
            Packer::Zstandard(encoder) => encoder.finish()?,
        };
        match file.into_inner().map_err(io::IntoInnerError::into_error)? {
            // A pipe has nothing to make durable.
            Target::Direct(_) => Ok(()),
            Target::Beside { file, path } => {
                file.as_file().sync_all()?;
                file.persist(&path).map_err(|error| error.error)?;
                sync_folder(&path)
            }
        }
    }
}

/// A new file in the folder of `path`, with the permissions of what is there, or of any new file.
fn beside(path: &Path, permissions: Option<fs::Permissions>) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // An error of `NamedTempFile` itself would name the file beside.
    let create = |path: &Path| File::create_new(path);
    let file = tempfile::Builder::new().prefix(".").suffix(".part").make_in(folder, create)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    Ok(file)
}

/// Makes a file's new name durable.
fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

impl Target {
    fn path(&self) -> Option<&Path> {
        match self {
            Target::Beside { path, .. } => Some(path),
            Target::Direct(_) => None,
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::Beside { file, .. } => file.as_file_mut().write(bytes),
            Target::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::Beside { file, .. } => file.as_file_mut().flush(),
            Target::Direct(file) => file.flush(),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Packer::Plain(file) => file.write(bytes),
            Packer::Gzip(encoder) => encoder.write(bytes),
            Packer::Zstandard(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Packer::Plain(file) => file.flush(),
            Packer::Gzip(encoder) => encoder.flush(),
            Packer::Zstandard(encoder) => encoder.flush(),
        }
    }
}
