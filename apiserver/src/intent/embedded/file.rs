//! The file itself: opening it, its format and how older formats become this one, and one durable transaction.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use redb::{
    Builder, ConcurrencyMode, Database, ReadableDatabase, ReadableTable as _, TableDefinition,
    TableHandle as _, WriteTransaction,
};

use super::super::{IntentError, IntentKey, IntentRecord, IntentSnapshot};
use super::failure::Failure;

pub(super) const RECORDS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("intent");
const NUMBERS: TableDefinition<'_, &str, u64> = TableDefinition::new("numbers");

/// Layout of the records; raised, with a migration, when it changes.
pub(super) const FORMAT: u64 = 2;

/// All of intent is small, and in memory anyhow.
const CACHE_BYTES: usize = 8 << 20;

/// All that is stored.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) records: BTreeMap<IntentKey, IntentRecord>,
    pub(super) revision: u64,
}

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

    fn name(&self) -> String {
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
        let mut builder = Builder::new();
        builder.set_cache_size(CACHE_BYTES);
        let database = match self {
            // Other processes may read along: a backup does not need the server to stop.
            Self::File(file) => builder.set_concurrency_mode(ConcurrencyMode::SingleWriter).create(file),
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
        let bytes = super::encoded(&record)?;
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
