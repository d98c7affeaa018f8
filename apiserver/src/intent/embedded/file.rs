//! The file itself: opening it, its format and how older formats become this one, and one durable transaction.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use redb::{
    Builder, ConcurrencyMode, Database, ReadableDatabase, ReadableTable as _, TableDefinition,
    TableHandle as _, WriteTransaction,
};

use super::super::known::Contents;
use super::super::record::encoded;
use super::super::{IntentError, IntentRecord, IntentSnapshot};
use super::failure::Failure;

pub(super) const RECORDS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("intent");
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");

/// Layout of the records; raised, with a migration, when it changes.
pub(super) const FORMAT: u64 = 2;

/// All of intent is small, and in memory anyhow.
const CACHE_BYTES: usize = 8 << 20;

/// Where the database is.
#[derive(Debug)]
pub(super) enum Place {
    /// In a file.
    File(PathBuf),
    /// In memory.
    Memory,
    /// Somewhere that fails on purpose.
    #[cfg(test)]
    Faulty(super::tests::faulty::FaultyDisk),
}

/// The database, open for writing.
#[derive(Debug)]
pub(super) struct OpenFile(Database);

impl Place {
    pub(super) fn file(file: &Path) -> Self {
        Self::File(file.to_owned())
    }

    pub(super) fn memory() -> Self {
        Self::Memory
    }

    pub(super) fn name(&self) -> String {
        match self {
            Self::File(file) => file.display().to_string(),
            Self::Memory => "memory".to_owned(),
            #[cfg(test)]
            Self::Faulty(_) => "faulty".to_owned(),
        }
    }

    /// Opens the database, makes it if there is none, and brings it to this format.
    pub(super) fn open(&self) -> Result<(OpenFile, Contents), IntentError> {
        let name = self.name();
        if let Self::File(file) = self {
            create(file, &name)?;
        }
        let mut builder = Builder::new();
        builder.set_cache_size(CACHE_BYTES);
        let database = match self {
            // Other processes may read along: a backup does not need the server to stop.
            Self::File(file) => builder.set_concurrency_mode(ConcurrencyMode::SingleWriter).open(file),
            Self::Memory => builder.create_with_backend(redb::backends::InMemoryBackend::new()),
            #[cfg(test)]
            Self::Faulty(disk) => builder.create_with_backend(disk.clone()),
        };
        let database = database.map_err(|error| match error {
            redb::DatabaseError::DatabaseAlreadyOpen => IntentError::InUse { store: name.clone() },
            error => failed_open(&name, error),
        })?;
        prepare(&database, &name)?;
        let contents = contents(&database, &name)?;
        Ok((OpenFile(database), contents))
    }
}

impl OpenFile {
    /// Counts a process, and returns how many there were before.
    pub(super) fn begin_process(&self) -> Result<u64, Failure> {
        let transaction = self.0.begin_write().map_err(|error| Failure::of(error.into()))?;
        let before = {
            let mut numbers = transaction.open_table(NUMBERS).map_err(|error| Failure::of(error.into()))?;
            let before = numbers.get("processes").map_err(|error| Failure::of(error.into()))?;
            let before = before.map_or(0, |guard| guard.value());
            numbers.insert("processes", before + 1).map_err(|error| Failure::of(error.into()))?;
            before
        };
        transaction.commit().map_err(|error| Failure::of(error.into()))?;
        Ok(before)
    }

    /// Stores, or removes, one record and the number of this write. Durable when it returns; a transaction that was not
    /// committed leaves no trace.
    pub(super) fn write(&self, key: &str, bytes: Option<&[u8]>, revision: u64) -> Result<(), Failure> {
        let transaction = self.0.begin_write().map_err(|error| Failure::of(error.into()))?;
        {
            let mut records = transaction.open_table(RECORDS).map_err(|error| Failure::of(error.into()))?;
            match bytes {
                Some(bytes) => records.insert(key, bytes).map(|_| ()),
                None => records.remove(key).map(|_| ()),
            }
            .map_err(|error| Failure::of(error.into()))?;
            let mut numbers = transaction.open_table(NUMBERS).map_err(|error| Failure::of(error.into()))?;
            numbers.insert("version", revision).map_err(|error| Failure::of(error.into()))?;
        }
        transaction.commit().map_err(|error| Failure::of(error.into()))
    }
}

/// Makes the file if there is none: under another name first, so that a process that dies meanwhile leaves nothing half
/// made in its place.
fn create(file: &Path, name: &str) -> Result<(), IntentError> {
    let failed = |error: io::Error| failed_open(name, redb::StorageError::Io(error));
    match fs::metadata(file) {
        // An empty one holds nothing.
        Ok(found) if found.len() == 0 => fs::remove_file(file).map_err(failed)?,
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let mut half_made = file.as_os_str().to_owned();
    half_made.push(".new");
    match fs::remove_file(&half_made) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let database = Builder::new().create(&half_made).map_err(|error| failed_open(name, error))?;
    prepare(&database, name)?;
    drop(database);
    // Not `rename`: should another process have made the file meanwhile, it stays.
    match fs::hard_link(&half_made, file) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    fs::remove_file(&half_made).map_err(failed)?;
    // The name as well has to be durable before the first write is acknowledged.
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)
}

/// All that is in the file, also while a server has it open.
///
/// # Errors
/// When the file cannot be opened, or has another format: then a server has to open it once.
pub fn read_only(file: &Path) -> Result<IntentSnapshot, IntentError> {
    let name = file.display().to_string();
    let database = Builder::new()
        .set_concurrency_mode(ConcurrencyMode::SingleWriter)
        .open_read_only(file)
        .map_err(|error| failed_open(&name, error))?;
    let found = format(&database, &name)?;
    if found != FORMAT {
        return Err(IntentError::Format { found, supported: FORMAT });
    }
    let contents = contents(&database, &name)?;
    Ok(IntentSnapshot { records: contents.records.into_values().collect(), through: contents.revision })
}

fn format(database: &impl ReadableDatabase, name: &str) -> Result<u64, IntentError> {
    let transaction = database.begin_read().map_err(|error| failed_open(name, error))?;
    let numbers = transaction.open_table(NUMBERS).map_err(|error| failed_open(name, error))?;
    let found = numbers.get("format").map_err(|error| failed_open(name, error))?;
    Ok(found.map_or(0, |guard| guard.value()))
}

/// Makes the tables, or brings them to this format, in one transaction.
fn prepare(database: &Database, name: &str) -> Result<(), IntentError> {
    let is_new = {
        let transaction = database.begin_read().map_err(|error| failed_open(name, error))?;
        let mut tables = transaction.list_tables().map_err(|error| failed_open(name, error))?;
        !tables.any(|table| table.name() == NUMBERS.name())
    };
    let found = if is_new { 0 } else { format(database, name)? };
    match found {
        FORMAT => return Ok(()),
        found if found > FORMAT => return Err(IntentError::Format { found, supported: FORMAT }),
        _ => {}
    }
    let transaction = database.begin_write().map_err(|error| failed_open(name, error))?;
    if found == 1 {
        migrate(&transaction, name)?;
        tracing::info!(store = name, from = found, to = FORMAT, "intent store brought to a new format");
    }
    {
        let mut numbers = transaction.open_table(NUMBERS).map_err(|error| failed_open(name, error))?;
        numbers.insert("format", FORMAT).map_err(|error| failed_open(name, error))?;
        transaction.open_table(RECORDS).map_err(|error| failed_open(name, error))?;
    }
    transaction.commit().map_err(|error| failed_open(name, error))
}

fn migrate(transaction: &WriteTransaction, name: &str) -> Result<(), IntentError> {
    let mut records = transaction.open_table(RECORDS).map_err(|error| failed_open(name, error))?;
    let mut old = BTreeMap::new();
    for entry in records.iter().map_err(|error| failed_open(name, error))? {
        let (key, bytes) = entry.map_err(|error| failed_open(name, error))?;
        old.insert(key.value().to_owned(), bytes.value().to_vec());
    }
    for (key, record) in super::format_1::migrated(&old)? {
        let bytes = encoded(&record)?;
        records.insert(key.as_str(), bytes.as_slice()).map_err(|error| failed_open(name, error))?;
    }
    Ok(())
}

fn contents(database: &impl ReadableDatabase, name: &str) -> Result<Contents, IntentError> {
    let transaction = database.begin_read().map_err(|error| failed_open(name, error))?;
    let records = transaction.open_table(RECORDS).map_err(|error| failed_open(name, error))?;
    let numbers = transaction.open_table(NUMBERS).map_err(|error| failed_open(name, error))?;
    let revision = numbers.get("version").map_err(|error| failed_open(name, error))?;
    let mut contents =
        Contents { revision: revision.map_or(0, |guard| guard.value()), ..Contents::default() };
    for entry in records.iter().map_err(|error| failed_open(name, error))? {
        let (key, bytes) = entry.map_err(|error| failed_open(name, error))?;
        let record: IntentRecord = serde_json::from_slice(bytes.value())
            .map_err(|source| IntentError::Record { key: key.value().to_owned(), source })?;
        contents.records.insert(record.key.clone(), record);
    }
    Ok(contents)
}

fn failed_open(store: &str, error: impl Into<redb::Error>) -> IntentError {
    IntentError::Open { store: store.to_owned(), source: Box::new(error.into()) }
}
