//! What only the daemons know: their versions, bond members, and whether ovn-controller reaches its database.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use c5c3_api::SourceState;
use ovs_client::unixctl::{ConnectionStatus, Error, Options, Program, Target, parse_bonds};
use tokio_util::sync::CancellationToken;

use super::polled::poll;
use crate::sources::Settings;
use crate::sources::observation::chain;
use crate::sources::picture::{BondPicture, DaemonPicture};
use crate::sources::report::{HostObserved, RefreshRequests, Reports};
use crate::sources::task::{Trouble, Voice};

/// The unixctl source of one host.
#[derive(Debug)]
pub struct Source {
    voice: Voice<DaemonPicture>,
    openvswitch: PathBuf,
    ovn: Option<PathBuf>,
    settings: Settings,
}

impl Source {
    /// A source that is not running yet; the folders are the run directories of Open vSwitch and OVN.
    pub fn new(
        host: &str,
        openvswitch: &str,
        ovn: Option<&str>,
        settings: Settings,
        reports: Reports,
    ) -> Self {
        let voice =
            Voice::new(c5c3_api::source::name::OVS_VSWITCHD, host, &settings, reports, HostObserved::Daemons);
        Self { voice, openvswitch: openvswitch.into(), ovn: ovn.map(PathBuf::from), settings }
    }

    /// Asks again and again, until told to end.
    pub async fn run(self, requests: RefreshRequests, end: CancellationToken) {
        let Self { voice, openvswitch, ovn, settings } = self;
        let deadline = settings.refresh.deadline.duration();
        let options =
            Options { connect_deadline: deadline, request_deadline: deadline, ..Options::default() };
        poll(voice, &settings, requests, end, || read(&openvswitch, ovn.as_deref(), &options)).await;
    }
}

/// ovs-vswitchd has to answer; of the others, what they say.
async fn read(openvswitch: &Path, ovn: Option<&Path>, options: &Options) -> Result<DaemonPicture, Trouble> {
    let (vswitchd, ovsdb, controller) = tokio::join!(
        vswitchd(openvswitch, options),
        Target::find(openvswitch, Program::OvsdbServer, options),
        controller(ovn, options),
    );
    let (version, bonds) = vswitchd.map_err(|error| trouble(&error))?;
    let mut picture = DaemonPicture {
        vswitchd_version: Some(version),
        ovsdb_version: ovsdb.ok().map(|target| target.version.version),
        bonds,
        ..DaemonPicture::default()
    };
    match controller {
        Ok(Some((version, connected))) => {
            picture.ovn_version = Some(version);
            picture.ovn_connected = connected;
        }
        Ok(None) => picture.ovn_error = Some("the run directory of OVN is not configured".to_owned()),
        Err(error) => picture.ovn_error = Some(chain(&error)),
    }
    Ok(picture)
}

async fn vswitchd(
    folder: &Path,
    options: &Options,
) -> Result<(String, BTreeMap<String, BondPicture>), Error> {
    let target = Target::find(folder, Program::OvsVswitchd, options).await?;
    let text = target.call("bond/show", &[], options).await?;
    let bonds = parse_bonds(text.as_bytes()).into_iter().map(|bond| {
        let named = |enabled: bool| {
            let members = bond.members.iter().filter(|member| member.enabled == Some(enabled));
            members.map(|member| member.name.clone()).collect()
        };
        (bond.name.clone(), BondPicture { enabled: named(true), disabled: named(false) })
    });
    Ok((target.version.version.clone(), bonds.collect()))
}

async fn controller(
    folder: Option<&Path>,
    options: &Options,
) -> Result<Option<(String, Option<bool>)>, Error> {
    let Some(folder) = folder else { return Ok(None) };
    let target = Target::find(folder, Program::OvnController, options).await?;
    let text = target.call("connection-status", &[], options).await?;
    let connected = ConnectionStatus::parse(text.as_bytes()).is_connected();
    Ok(Some((target.version.version.clone(), connected)))
}

fn trouble(error: &Error) -> Trouble {
    let state = match error {
        Error::Deadline { .. } => SourceState::Stale,
        _ => SourceState::Unreachable,
    };
    Trouble { state, message: chain(error) }
}
