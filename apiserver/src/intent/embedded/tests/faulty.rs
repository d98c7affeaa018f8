//! A disk in memory that fails at a chosen step, in the way it is told, and that can lose power: then of all that was
//! written since it was last synced, any part may be there, whole or torn.

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
    /// As it was when it was last synced.
    durable: Vec<u8>,
    /// What was done since.
    pending: Vec<Step>,
}

#[derive(Debug, Clone)]
enum Step {
    Length(usize),
    Write(usize, Vec<u8>),
}

impl Step {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Length(length) => bytes.resize(*length, 0),
            Self::Write(offset, data) => {
                // A length that was lost takes what lies beyond it along.
                let end = (offset + data.len()).min(bytes.len());
                if let Some(place) = bytes.get_mut(*offset..end) {
                    place.copy_from_slice(&data[..place.len()]);
                }
            }
        }
    }
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

    /// Power goes and comes back. `fate` says of each unsynced step whether it is there, torn, or lost.
    pub(crate) fn lose_power(&self, mut fate: impl FnMut() -> u32) {
        let mut disk = self.0.lock().unwrap();
        disk.left = None;
        let mut bytes = disk.durable.clone();
        for step in std::mem::take(&mut disk.pending) {
            match (fate() % 3, &step) {
                (0, _) => step.apply(&mut bytes),
                // Disks write sectors.
                (1, Step::Write(offset, data)) => {
                    let torn = (fate() as usize % (data.len() / 512 + 1)) * 512;
                    Step::Write(*offset, data[..torn].to_vec()).apply(&mut bytes);
                }
                _ => {}
            }
        }
        disk.durable.clone_from(&bytes);
        disk.bytes = bytes;
    }

    fn change(&self, step: Option<Step>) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        match &mut disk.left {
            Some(0) => return Err(io::Error::from(disk.kind.unwrap_or(io::ErrorKind::Other))),
            Some(left) => *left -= 1,
            None => {}
        }
        match step {
            Some(step) => {
                step.apply(&mut disk.bytes);
                disk.pending.push(step);
            }
            None => {
                disk.durable = disk.bytes.clone();
                disk.pending.clear();
            }
        }
        Ok(())
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
        self.change(Some(Step::Length(usize::try_from(len).unwrap())))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.change(None)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change(Some(Step::Write(usize::try_from(offset).unwrap(), data.to_vec())))
    }
}
