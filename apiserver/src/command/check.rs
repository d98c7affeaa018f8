//! `check`: every source of every configured host, tried once. For the person who has just written a configuration.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Failure, Output};
use crate::configuration::{self, Configuration};
use crate::sources::observation::Observation;
use crate::sources::report::{HostObserved, Report};
use crate::sources::{HostTasks, Settings, cloud};
use c5c3_api::SourceState;
use c5c3_api::source::name;

/// What one source said.
#[derive(Debug, Serialize)]
struct Row {
    host: String,
    source: &'static str,
    state: &'static str,
    message: String,
}

/// Tries everything and prints it. Exit code 1 when something that is configured does not answer.
pub(super) async fn check(file: &Path, output: Output) -> Result<ExitCode, Failure> {
    let configuration = configuration::load(file)?;
    let rows = try_all(&configuration).await;
    let healthy = rows.iter().all(|row| row.state == "Connected" || row.state == "Disabled");
    match output {
        Output::Json => {
            println!("{}", serde_json::to_string_pretty(&rows).map_err(|error| Failure::other(&error))?);
        }
        Output::Table => print_table(&rows),
    }
    if configuration.kubernetes.is_some() && configuration.hosts.known.is_empty() {
        eprintln!("hosts of Nodes are found while serving; none is listed in {}", file.display());
    }
    Ok(if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn try_all(configuration: &Configuration) -> Vec<Row> {
    let (sender, mut receiver) = mpsc::channel(1024);
    let (tasks, end) = (TaskTracker::new(), CancellationToken::new());
    let settings = Settings::new(configuration.refresh.clone());
    let mut expected: BTreeMap<(String, &'static str), Option<Row>> = BTreeMap::new();
    let mut started = Vec::new();
    for host in configuration.hosts.known.keys() {
        let reach = configuration.hosts.reach(host, None);
        let read = [
            (name::LIBVIRT, reach.libvirt.is_some()),
            (name::OVSDB, reach.ovsdb.is_some()),
            (name::OPENFLOW, reach.openvswitch_run.is_some()),
            (name::OVS_VSWITCHD, reach.openvswitch_run.is_some()),
        ];
        for (source, read) in read {
            let unread = (!read).then(|| said(host.clone(), source, &Observation::<()>::disabled()));
            expected.insert((host.clone(), source), unread);
        }
        started.push(HostTasks::start(host, reach, &settings, &sender, &tasks, &end));
    }
    if let Some(openstack) = &configuration.openstack {
        for source in [name::NOVA, name::PLACEMENT] {
            expected.insert((String::new(), source), None);
        }
        tasks.spawn(
            cloud::Source::new(
                openstack.clone(),
                settings,
                sender.clone(),
                crate::sources::servers::comparisons().1,
            )
            .run(end.child_token()),
        );
    }
    // Twice the deadline of a call: a source may need more than one before it has said anything.
    let limit = tokio::time::Instant::now() + configuration.refresh.deadline.duration() * 2;
    while expected.values().any(Option::is_none) {
        match tokio::time::timeout_at(limit, receiver.recv()).await {
            Ok(Some(report)) => {
                if let Some(row) = row(report) {
                    expected.insert((row.host.clone(), row.source), Some(row));
                }
            }
            Ok(None) | Err(_) => break,
        }
    }
    end.cancel();
    drop(started);
    let silent = |(host, source): (String, &'static str)| Row {
        host,
        source,
        state: SourceState::Stale.as_str(),
        message: "no answer within twice the deadline".to_owned(),
    };
    expected.into_iter().map(|(key, row)| row.unwrap_or_else(|| silent(key))).collect()
}

fn row(report: Report) -> Option<Row> {
    match report {
        Report::Compute(observation) => Some(said(String::new(), name::NOVA, &observation)),
        Report::Membership(observation) => Some(said(String::new(), name::PLACEMENT, &observation)),
        Report::Asked { .. } => None,
        Report::Host { host, observed } => match observed {
            HostObserved::Libvirt(observation) => Some(said(host, name::LIBVIRT, &observation)),
            HostObserved::Switch(observation) => Some(said(host, name::OVSDB, &observation)),
            HostObserved::Flows(observation) => Some(said(host, name::OPENFLOW, &observation)),
            HostObserved::Daemons(observation) => Some(said(host, name::OVS_VSWITCHD, &observation)),
            HostObserved::Node(_) | HostObserved::Servers(_) => None,
        },
    }
}

fn said<T>(host: String, source: &'static str, observation: &Observation<T>) -> Row {
    let message = observation.message().unwrap_or_default().to_owned();
    Row { host, source, state: observation.state().as_str(), message }
}

fn print_table(rows: &[Row]) {
    let width = |cell: fn(&Row) -> &str, heading: &str| {
        rows.iter().map(|row| cell(row).len()).max().unwrap_or_default().max(heading.len())
    };
    let (host, source, state) =
        (width(|row| &row.host, "HOST"), width(|row| row.source, "SOURCE"), width(|row| row.state, "STATE"));
    println!("{:host$}  {:source$}  {:state$}  MESSAGE", "HOST", "SOURCE", "STATE");
    for row in rows {
        println!("{:host$}  {:source$}  {:state$}  {}", row.host, row.source, row.state, row.message);
    }
}
