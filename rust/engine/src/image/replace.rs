//! Putting a new file in the place of another in one step.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    let mut new = New::create(directory, name, like.is_some())?;
    #[cfg(unix)]
    if let Some(like) = like {
        new.file.set_permissions(fs::metadata(like)?.permissions())?;
    }
    write(&mut new.file)?;
    new.file.sync_all()?;
    fs::rename(&new.path, path)?;
    new.named = true;
    sync_directory(directory)?;
    Ok(())
}

/// A file that is removed when dropped, unless it was given its name.
struct New {
    file: File,
    path: PathBuf,
    named: bool,
}

impl New {
    /// A file that is `private` can be opened by its owner alone.
    fn create(directory: &Path, name: &OsStr, private: bool) -> io::Result<New> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if private {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        loop {
            let mut own = OsString::from(name);
            own.push(format!(".{}-{}{SUFFIX}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
            let path = directory.join(own);
            match options.open(&path) {
                Ok(file) => {
                    // Some file systems have no locks; then nobody takes the lack of one for a sign.
                    let locked = file.lock();
                    // Before it was locked, another process may have taken it for one left behind.
                    if locked.is_err() || path.exists() {
                        return Ok(New { file, path, named: false });
                    }
                }
                // Left behind by a process that had the same number.
                Err(failure) if failure.kind() == io::ErrorKind::AlreadyExists => {}
                Err(failure) => return Err(failure),
            }
        }
    }
}

impl Drop for New {
    fn drop(&mut self) {
        if !self.named {
            _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes the files of earlier calls for the same name that were not seen through.
fn remove_left_behind(directory: &Path, name: &OsStr) -> io::Result<()> {
    let start = name.as_encoded_bytes();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let other = entry.file_name();
        let middle = other.as_encoded_bytes().strip_prefix(start);
        let middle = middle.and_then(|rest| rest.strip_prefix(b".")?.strip_suffix(SUFFIX.as_bytes()));
        let ours = middle.is_some_and(|middle| {
            !middle.is_empty() && middle.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-')
        });
        if ours
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
