//! A file that is appended to by name.
//!
//! Programs that rotate logs move the file away. Whether the name still means the open file is looked up before each
//! write, so nobody has to send a signal.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::PathBuf;

/// An open file and its name.
#[derive(Debug)]
pub(super) struct ReopenedFile {
    path: PathBuf,
    file: File,
}

impl ReopenedFile {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        let file = append(&path)?;
        Ok(Self { path, file })
    }

    fn is_current(&self) -> io::Result<bool> {
        let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        match std::fs::metadata(&self.path) {
            Ok(named) => Ok(identity(named) == identity(self.file.metadata()?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Not readable for everybody: it says who did what.
fn append(path: &PathBuf) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o640).open(path)
}

impl Write for ReopenedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_current()? {
            self.file = append(&self.path)?;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
