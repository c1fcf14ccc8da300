//! Putting a new file in the place of another in one step.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use super::Result;

/// What the names of files end with that are being written.
const SUFFIX: &str = ".new";

/// Writes a file beside `path` and, when it is on the disk as a whole, gives it that name. After an error there is no
/// such file. It gets the permissions of the file `like`.
///
/// A file that is being written is locked: what has such a name and no lock was left behind by a crash and is removed.
pub(super) fn replace(
    path: &Path,
    like: Option<&Path>,
    write: impl FnOnce(&mut File) -> Result<()>,
) -> Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    remove_left_behind(directory, name)?;
    let mut new = create(directory, name, like)?;
    write(new.as_file_mut())?;
    new.as_file().sync_all()?;
    new.persist(path).map_err(|failure| failure.error)?;
    sync_directory(directory)?;
    Ok(())
}

/// A file that is locked, and removed when dropped.
fn create(directory: &Path, name: &OsStr, like: Option<&Path>) -> io::Result<NamedTempFile> {
    let mut prefix = name.to_owned();
    prefix.push(".");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    if like.is_none() {
        // What the process allows to new files.
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    loop {
        let new = builder.tempfile_in(directory)?;
        // Some file systems have no locks; there nobody takes the lack of one for a sign. Elsewhere, another process may
        // have taken the file for one left behind before it was locked.
        if new.as_file().lock().is_ok() && !new.path().exists() {
            continue;
        }
        #[cfg(unix)]
        if let Some(like) = like {
            new.as_file().set_permissions(fs::metadata(like)?.permissions())?;
        }
        return Ok(new);
    }
}

/// Removes the files of earlier calls for the same name that were not seen through.
fn remove_left_behind(directory: &Path, name: &OsStr) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let other = entry.file_name();
        let rest = other.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        let middle = rest.and_then(|rest| rest.strip_prefix(b".")?.strip_suffix(SUFFIX.as_bytes()));
        if middle.is_some_and(|middle| middle.iter().all(u8::is_ascii_alphanumeric))
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

/// Makes a new name last.
fn sync_directory(directory: &Path) -> io::Result<()> {
    // Windows has no way to do this, and needs none.
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}
