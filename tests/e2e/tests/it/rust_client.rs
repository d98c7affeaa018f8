//! Programs written with kube-rs, through kube-apiserver: both ways in which its watcher begins.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use c5c3_api::Hypervisor;
use futures::StreamExt as _;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, Config};

use crate::product::on_the_rig;

async fn client(kubeconfig: &Path) -> Result<Client> {
    // There may be another provider in the tree, and rustls refuses to guess. Another test may have chosen already.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let config =
        Config::from_custom_kubeconfig(Kubeconfig::read_from(kubeconfig)?, &KubeConfigOptions::default())
            .await?;
    Ok(Client::try_from(config)?)
}

/// The names that a watcher has told when it says that it has told all.
async fn first_names(kubeconfig: &Path, config: watcher::Config) -> Result<BTreeSet<String>> {
    let hypervisors: Api<Hypervisor> = Api::all(client(kubeconfig).await?);
    let mut events = std::pin::pin!(watcher::watcher(hypervisors, config));
    let mut names = BTreeSet::new();
    loop {
        match events.next().await.context("the watcher ended")?? {
            Event::Init => {}
            Event::InitApply(found) | Event::Apply(found) => {
                let status = found.status.context("a Hypervisor without a status")?;
                ensure!(status.lib_virt_version.is_some(), "no version of libvirt");
                names.insert(found.metadata.name.unwrap_or_default());
            }
            Event::Delete(found) => {
                names.remove(found.metadata.name.as_deref().unwrap_or_default());
            }
            Event::InitDone => return Ok(names),
        }
    }
}

fn sees_every_host(config: watcher::Config) -> Result<()> {
    on_the_rig(|product| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let seen = runtime.block_on(async {
            let names = first_names(&product.rig.kubeconfig, config);
            tokio::time::timeout(Duration::from_secs(60), names).await.context("the watcher's beginning")?
        })?;
        assert_eq!(seen, product.rig.hosts.keys().cloned().collect::<BTreeSet<_>>());
        Ok(())
    })
}

#[test]
fn a_watcher_that_lists_first_sees_every_host() -> Result<()> {
    sees_every_host(watcher::Config::default())
}

#[test]
fn a_watcher_that_streams_its_list_sees_every_host() -> Result<()> {
    sees_every_host(watcher::Config::default().streaming_lists())
}
