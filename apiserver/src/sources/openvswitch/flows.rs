//! Flows per table of each bridge, from the bridges' OpenFlow management sockets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use c5c3_api::SourceState;
use ovs_client::Endpoint;
use ovs_client::openflow::{Connection, Error, Options};
use tokio_util::sync::CancellationToken;

use super::polled::poll;
use crate::sources::Settings;
use crate::sources::observation::chain;
use crate::sources::picture::FlowPicture;
use crate::sources::report::{HostObserved, RefreshRequests, Reports};
use crate::sources::task::{Trouble, Voice};

/// The OpenFlow source of one host.
#[derive(Debug)]
pub struct Source {
    voice: Voice<FlowPicture>,
    folder: PathBuf,
    settings: Settings,
}

impl Source {
    /// A source that is not running yet; `folder` has a socket `<bridge>.mgmt` for each bridge.
    pub fn new(host: &str, folder: &str, settings: Settings, reports: Reports) -> Self {
        let voice =
            Voice::new(c5c3_api::source::name::OPENFLOW, host, &settings, reports, HostObserved::Flows);
        Self { voice, folder: folder.into(), settings }
    }

    /// Asks again and again, until told to end.
    pub async fn run(self, requests: RefreshRequests, end: CancellationToken) {
        let Self { voice, folder, settings } = self;
        let deadline = settings.refresh.deadline.duration();
        poll(voice, &settings, requests, end, || read(&folder, deadline)).await;
    }
}

/// All bridges, or the trouble of the first that does not answer: half an answer would look like flows gone.
async fn read(folder: &Path, deadline: Duration) -> Result<FlowPicture, Trouble> {
    let sockets = management_sockets(folder).await.map_err(|source| Trouble {
        state: SourceState::Unreachable,
        message: format!("cannot list the sockets in {}: {source}", folder.display()),
    })?;
    if sockets.is_empty() {
        let message = format!("there is no OpenFlow management socket in {}", folder.display());
        return Err(Trouble { state: SourceState::Unreachable, message });
    }
    let mut bridges = BTreeMap::new();
    for (bridge, socket) in sockets {
        let tables = flows(socket, deadline).await.map_err(|error| trouble(&bridge, &error))?;
        bridges.insert(bridge, tables);
    }
    Ok(FlowPicture { bridges })
}

async fn management_sockets(folder: &Path) -> std::io::Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    let mut entries = tokio::fs::read_dir(folder).await?;
    while let Some(entry) = entries.next_entry().await? {
        let name = entry.file_name();
        if let Some(bridge) = name.to_str().and_then(|name| name.strip_suffix(".mgmt")) {
            found.insert(bridge.to_owned(), entry.path());
        }
    }
    Ok(found)
}

async fn flows(socket: PathBuf, deadline: Duration) -> Result<BTreeMap<u8, u64>, Error> {
    let options = Options { connect_deadline: deadline, request_deadline: deadline, ..Options::default() };
    let mut connection = Connection::open(&Endpoint::Unix(socket), &options).await?;
    let tables = connection.tables().await?;
    Ok(tables
        .into_iter()
        .filter(|table| table.active > 0)
        .map(|table| (table.table, u64::from(table.active)))
        .collect())
}

fn trouble(bridge: &str, error: &Error) -> Trouble {
    let state = match error {
        Error::Deadline { .. } => SourceState::Stale,
        _ => SourceState::Unreachable,
    };
    Trouble { state, message: format!("bridge {bridge}: {}", chain(error)) }
}
