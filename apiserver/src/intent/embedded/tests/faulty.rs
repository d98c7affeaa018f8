//! A disk in memory that fails at a chosen step, as often as it is told, in the way it is told.

use std::io;
use std::sync::{Arc, Mutex};

use redb::StorageBackend;

#[derive(Debug, Clone, Default)]
pub(crate) struct FaultyDisk(Arc<Mutex<Disk>>);

#[derive(Debug, Default)]
struct Disk {
    bytes: Vec<u8>,
    /// Steps that still succeed; none: all do.
    left: Option<usize>,
    kind: Option<io::ErrorKind>,
}

impl FaultyDisk {
    /// Every step that changes something fails, after so many that do not.
    pub(crate) fn fail_after(&self, steps: usize, kind: io::ErrorKind) {
        let mut disk = self.0.lock().unwrap();
        (disk.left, disk.kind) = (Some(steps), Some(kind));
    }

    pub(crate) fn mend(&self) {
        self.0.lock().unwrap().left = None;
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<u8>) -> T) -> io::Result<T> {
        let mut disk = self.0.lock().unwrap();
        match &mut disk.left {
            Some(0) => return Err(io::Error::from(disk.kind.unwrap_or(io::ErrorKind::Other))),
            Some(left) => *left -= 1,
            None => {}
        }
        Ok(change(&mut disk.bytes))
    }
}

impl StorageBackend for FaultyDisk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).unwrap();
        let disk = self.0.lock().unwrap();
        let found = disk.bytes.get(offset..offset + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(found);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(|bytes| bytes.resize(usize::try_from(len).unwrap(), 0))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.change(|_| ())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).unwrap();
        self.change(|bytes| bytes[offset..offset + data.len()].copy_from_slice(data))
    }
}
