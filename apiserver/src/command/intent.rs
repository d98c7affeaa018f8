//! `intent list | backup | restore`: what people want, as lines of JSON, out of any store and into any store.
//!
//! A backup reads while the server runs. The first line says what follows, the last one that nothing is missing; a file
//! without its last line is refused before anything is changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::{Failure, Output};
use crate::configuration;
use crate::intent::{
    self, EmbeddedStore, IntentError, IntentKey, IntentRecord, IntentSnapshot, IntentStore, KubernetesStore,
    StoreDefinition,
};
use crate::wiring;

/// Format of a backup.
const FORMAT: u64 = 1;

/// Which store.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Place {
    /// The store that this configuration file names.
    #[arg(long)]
    config: Option<PathBuf>,
    /// The embedded store in this file.
    #[arg(long)]
    file: Option<PathBuf>,
}

/// What to do with it.
#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Print what is stored.
    List {
        #[command(flatten)]
        place: Place,
        /// How to print.
        #[arg(long, value_enum, default_value_t = Output::Table)]
        output: Output,
    },
    /// Write all of it, one JSON document a line. The server may run meanwhile.
    Backup {
        #[command(flatten)]
        place: Place,
        /// File to write to; it must not exist. Without: standard output.
        #[arg(long)]
        to: Option<PathBuf>,
    },
    /// Store what a backup holds. A server with an embedded store has to be stopped before.
    Restore {
        #[command(flatten)]
        place: Place,
        /// File of the backup.
        #[arg(long)]
        from: PathBuf,
        /// Make a store that holds something equal to the backup: overwrite what differs, remove what is not in it.
        #[arg(long)]
        replace: bool,
    },
}

/// First and last line of a backup.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Mark {
    /// What follows.
    C5c3Intent { format: u64, at: Timestamp, through: u64 },
    /// How many lines there were.
    End { records: usize },
}

/// Does it.
pub(super) async fn run(action: Action) -> Result<ExitCode, Failure> {
    match action {
        Action::List { place, output } => list(&place.snapshot().await?, output)?,
        Action::Backup { place, to } => backup(&place.snapshot().await?, to.as_deref())?,
        Action::Restore { place, from, replace } => restore(&place, &from, replace).await?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Place {
    /// The embedded store's file, if it is that.
    fn embedded(&self) -> Result<Option<PathBuf>, Failure> {
        let Some(config) = &self.config else { return Ok(self.file.clone()) };
        let configuration = configuration::load(config)?;
        if configuration.intent.kubernetes.is_none() && configuration.intent.file.is_none() {
            return Err(Failure::Other(format!(
                "{}: intent is in memory, nobody else can read it",
                config.display()
            )));
        }
        Ok(configuration.intent.file)
    }

    async fn cluster(&self) -> Result<(Arc<dyn IntentStore>, DropGuard), Failure> {
        let config = self.config.as_deref().unwrap_or(Path::new(""));
        let kubernetes = configuration::load(config)?.kubernetes.unwrap_or_default();
        let client = wiring::client(&kubernetes).await.map_err(|error| Failure::other(&error))?;
        let end = CancellationToken::new();
        let store = KubernetesStore::open(&client, &TaskTracker::new(), end.clone()).await;
        let store = store.map_err(|error| Failure::other(&error))?;
        Ok((Arc::new(store), end.drop_guard()))
    }

    async fn snapshot(&self) -> Result<IntentSnapshot, Failure> {
        match self.embedded()? {
            Some(file) => {
                let found = tokio::task::spawn_blocking(move || intent::read_only(&file)).await;
                found.map_err(|error| Failure::other(&error))?.map_err(|error| Failure::other(&error))
            }
            None => {
                let (store, _end) = self.cluster().await?;
                store.snapshot().await.map_err(|error| Failure::other(&error))
            }
        }
    }
}

fn list(snapshot: &IntentSnapshot, output: Output) -> Result<(), Failure> {
    if output == Output::Json {
        let text = serde_json::to_string_pretty(&snapshot.records).map_err(|error| Failure::other(&error))?;
        println!("{text}");
        return Ok(());
    }
    println!("{:<12} {:<40} {:>10} {:<20}  WANTS", "KIND", "NAME", "GENERATION", "CREATED");
    for record in &snapshot.records {
        let wants = match record.spec() {
            serde_json::Value::Null => "-".to_owned(),
            spec => spec.to_string(),
        };
        let name = match record.key.namespace.as_str() {
            "" => record.key.name.clone(),
            namespace => format!("{namespace}/{}", record.key.name),
        };
        let created = record.created().map(|at| at.to_string()).unwrap_or_default();
        let generation = record.generation().unwrap_or_default();
        println!("{:<12} {name:<40} {generation:>10} {created:<20}  {wants}", record.key.kind);
    }
    Ok(())
}

fn backup(snapshot: &IntentSnapshot, to: Option<&Path>) -> Result<(), Failure> {
    let Some(file) = to else {
        let mut output = std::io::stdout().lock();
        return write(snapshot, &mut output).map_err(|error| Failure::other(&error));
    };
    let failed = |error: std::io::Error| Failure::Other(format!("cannot write {}: {error}", file.display()));
    let mut output = File::create_new(file).map_err(failed)?;
    write(snapshot, &mut output).and_then(|()| output.sync_all()).map_err(failed)?;
    eprintln!("{} records written to {}", snapshot.records.len(), file.display());
    Ok(())
}

fn write(snapshot: &IntentSnapshot, output: &mut impl Write) -> std::io::Result<()> {
    let begin = Mark::C5c3Intent { format: FORMAT, at: Timestamp::now(), through: snapshot.through };
    writeln!(output, "{}", serde_json::to_string(&begin)?)?;
    for record in &snapshot.records {
        writeln!(output, "{}", serde_json::to_string(record)?)?;
    }
    writeln!(output, "{}", serde_json::to_string(&Mark::End { records: snapshot.records.len() })?)?;
    output.flush()
}

/// All records of a backup, if it is whole.
fn read(file: &Path) -> Result<Vec<IntentRecord>, Failure> {
    let refused = |number: usize, why: &dyn std::fmt::Display| {
        Failure::Other(format!("{}, line {number}: {why}", file.display()))
    };
    let opened = File::open(file)
        .map_err(|error| Failure::Other(format!("cannot read {}: {error}", file.display())))?;
    let mut records = Vec::new();
    let mut ended = None;
    for (number, line) in (1..).zip(BufReader::new(opened).lines()) {
        let line = line.map_err(|error| refused(number, &error))?;
        if ended.is_some() {
            return Err(refused(number, &"there is more after the end"));
        }
        if number == 1 {
            match serde_json::from_str(&line).map_err(|error| refused(number, &error))? {
                Mark::C5c3Intent { format: FORMAT, .. } => continue,
                Mark::C5c3Intent { format, .. } => {
                    return Err(refused(number, &format!("format {format}; this version reads {FORMAT}")));
                }
                Mark::End { .. } => return Err(refused(number, &"this is the end, not the beginning")),
            }
        }
        match serde_json::from_str::<Mark>(&line) {
            Ok(Mark::End { records: count }) => ended = Some((number, count)),
            Ok(Mark::C5c3Intent { .. }) => return Err(refused(number, &"a second beginning")),
            Err(_) => records.push(serde_json::from_str(&line).map_err(|error| refused(number, &error))?),
        }
    }
    match ended {
        Some((_, count)) if count == records.len() => Ok(records),
        Some((number, count)) => {
            Err(refused(number, &format!("{count} records were written, {} are here", records.len())))
        }
        None => {
            Err(Failure::Other(format!("{}: the end is missing: the backup is not whole", file.display())))
        }
    }
}

async fn restore(place: &Place, from: &Path, replace: bool) -> Result<(), Failure> {
    let records = read(from)?;
    let (store, _end): (Arc<dyn IntentStore>, Option<DropGuard>) = match place.embedded()? {
        Some(file) => {
            let opened = tokio::task::spawn_blocking(move || EmbeddedStore::open(&file)).await;
            let opened = opened.map_err(|error| Failure::other(&error))?;
            (Arc::new(opened.map_err(|error| Failure::other(&error))?), None)
        }
        None => {
            let (store, end) = prepared_cluster(place).await?;
            (store, Some(end))
        }
    };
    match store_all(&*store, records, replace).await.map_err(|error| Failure::other(&error))? {
        Restored::Refused { held } => Err(Failure::Other(format!(
            "the store holds {held} records already; --replace makes it equal to the backup, and removes what is not in it"
        ))),
        Restored::Done { written, removed } => {
            eprintln!("{written} records stored, {removed} removed");
            Ok(())
        }
    }
}

/// What came of a restore.
enum Restored {
    /// The store is not empty, and nobody said that it may be replaced.
    Refused { held: usize },
    /// It is equal to the backup.
    Done { written: usize, removed: usize },
}

/// The store in the cluster, with its kind installed: a restore may come before any server.
async fn prepared_cluster(place: &Place) -> Result<(Arc<dyn IntentStore>, DropGuard), Failure> {
    if let Some(config) = &place.config {
        let configuration = configuration::load(config)?;
        if configuration.intent.kubernetes.is_some_and(|intent| intent.install) {
            let kubernetes = configuration.kubernetes.unwrap_or_default();
            let client = wiring::client(&kubernetes).await.map_err(|error| Failure::other(&error))?;
            StoreDefinition::install(&client).await.map_err(|error| Failure::other(&error))?;
        }
    }
    place.cluster().await
}

/// Makes the store hold those records and no others.
async fn store_all(
    store: &dyn IntentStore,
    records: Vec<IntentRecord>,
    replace: bool,
) -> Result<Restored, IntentError> {
    let held: BTreeMap<IntentKey, IntentRecord> =
        store.snapshot().await?.records.into_iter().map(|record| (record.key.clone(), record)).collect();
    if !held.is_empty() && !replace {
        return Ok(Restored::Refused { held: held.len() });
    }
    let wanted: BTreeSet<IntentKey> = records.iter().map(|record| record.key.clone()).collect();
    let (mut written, mut removed) = (0, 0);
    for record in records {
        let there = held.get(&record.key);
        if there.is_some_and(|there| there.object == record.object) {
            continue;
        }
        store.put(&record.key, there.map(|there| &there.version), record.object).await?;
        written += 1;
    }
    for (key, record) in held.iter().filter(|(key, _)| !wanted.contains(key)) {
        store.remove(key, &record.version).await?;
        removed += 1;
    }
    Ok(Restored::Done { written, removed })
}
