//! A cloud to test against, known by its `clouds.yaml` with the clouds `rig` (password) and `rig-appcred` (application
//! credential). The simulator writes itself the same file that the rig writes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fleet_simulator::model::{Cloud as Model, CloudApi, Fleet, FleetOptions};
use nova_client::{Cloud, CloudOptions, Limits};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A cloud to test against.
pub(crate) struct Peer {
    pub(crate) clouds_yaml: PathBuf,
    _folder: TempDir,
}

/// A simulated cloud.
pub(crate) struct Simulated {
    pub(crate) peer: Peer,
    pub(crate) fleet: Fleet,
    pub(crate) address: String,
    server: JoinHandle<std::io::Result<()>>,
}

impl Drop for Simulated {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Peer {
    fn with(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clouds_yaml = folder.path().join("clouds.yaml");
        std::fs::write(&clouds_yaml, text).unwrap();
        Self { clouds_yaml, _folder: folder }
    }

    /// The real cloud, where the rig has one.
    pub(crate) fn real() -> Option<Self> {
        match std::env::var_os("C5C3_RIG_CLOUDS_YAML") {
            Some(path) => Some(Self::with(&std::fs::read_to_string(path).unwrap())),
            None => {
                println!("skipped: C5C3_RIG_CLOUDS_YAML is not set; run tests/rig/up");
                None
            }
        }
    }

    pub(crate) fn options(&self, cloud: &str) -> CloudOptions {
        CloudOptions::from_clouds_yaml(&self.clouds_yaml, cloud).unwrap()
    }

    pub(crate) async fn connect(&self, cloud: &str) -> Cloud {
        Cloud::connect(self.options(cloud)).await.unwrap()
    }

    /// The same clouds with something changed in the file.
    pub(crate) fn altered(&self, alter: impl Fn(&str) -> String) -> Self {
        let text = std::fs::read_to_string(&self.clouds_yaml).unwrap();
        let changed = alter(&text);
        assert_ne!(changed, text, "nothing was altered");
        Self::with(&changed)
    }
}

impl Simulated {
    pub(crate) async fn new(hosts: usize, instances: usize) -> Self {
        let options = FleetOptions { hosts, instances, ..FleetOptions::default() };
        let fleet = Fleet::new(&options);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let server = tokio::spawn(fleet_simulator::openstack::serve(fleet.clone(), listener));
        let text = clouds_yaml(&address, &fleet.cloud);
        Self { peer: Peer::with(&text), fleet, address, server }
    }

    /// Changes age and habits of the APIs.
    pub(crate) fn api(&self, alter: impl FnOnce(&mut CloudApi)) {
        self.fleet.cloud.change(|cloud| alter(&mut cloud.api));
    }

    /// The file with the credentials as they are now.
    pub(crate) fn rewrite(&self) {
        std::fs::write(&self.peer.clouds_yaml, clouds_yaml(&self.address, &self.fleet.cloud)).unwrap();
    }

    /// Connected with limits that fit a test.
    pub(crate) async fn connect(&self) -> Cloud {
        self.connect_with(quick()).await
    }

    pub(crate) async fn connect_with(&self, limits: Limits) -> Cloud {
        Cloud::connect(self.peer.options("rig").with_limits(limits)).await.unwrap()
    }
}

/// Limits that fail soon, and yet leave a busy machine the time to answer.
pub(crate) fn quick() -> Limits {
    Limits {
        connect: Duration::from_secs(2),
        attempt: Duration::from_secs(5),
        operation: Duration::from_secs(10),
        ..Limits::default()
    }
}

fn clouds_yaml(address: &str, cloud: &Arc<Model>) -> String {
    let who = cloud.read(|cloud| cloud.credentials.clone());
    format!(
        "clouds:
  rig:
    auth_type: password
    auth:
      auth_url: http://{address}/identity/v3
      username: {}
      password: {}
      project_name: {}
      user_domain_name: Default
      project_domain_name: Default
    region_name: RegionOne
    identity_api_version: \"3\"
    interface: public
  rig-appcred:
    auth_type: v3applicationcredential
    auth:
      auth_url: http://{address}/identity
      application_credential_id: {}
      application_credential_secret: {}
    region_name: RegionOne
    interface: public
",
        who.username,
        who.password,
        who.project,
        who.application_credential_id,
        who.application_credential_secret
    )
}
