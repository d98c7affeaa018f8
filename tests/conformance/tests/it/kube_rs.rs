//! Programs written with kube-rs: its watcher in both ways of beginning, over the end of the replica that serves it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use c5c3_api::Hypervisor;
use c5c3_conformance::stage::Stage;
use futures::{Stream, StreamExt as _};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::runtime::watcher::{self, Event};
use kube::{Api, Client, Config};

use crate::turns::on_the_stage;

/// A step of the test, on a slow machine.
const STEP: Duration = Duration::from_secs(60);

async fn client(stage: &Stage) -> Result<Client> {
    // There may be another provider in the tree, and rustls refuses to guess. Another test may have chosen already.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let kubeconfig = Kubeconfig::read_from(&stage.rig.kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// What a watcher has told so far: instances by host.
type Seen = BTreeMap<String, BTreeSet<String>>;

/// Takes events until `enough`; an error of the watcher is what it recovers from by itself, so it is counted and passed over.
async fn until(
    events: &mut (impl Stream<Item = watcher::Result<Event<Hypervisor>>> + Unpin),
    seen: &mut Seen,
    what: &str,
    enough: impl Fn(&Seen) -> bool,
) -> Result<()> {
    let mut errors = Vec::new();
    let mut first = BTreeSet::new();
    let all = async {
        loop {
            match events.next().await.context("the watcher ended")? {
                Ok(Event::Init) => first.clear(),
                Ok(Event::InitApply(found)) => {
                    first.insert(name(&found));
                    seen.insert(name(&found), instances(&found));
                    continue;
                }
                Ok(Event::Apply(found)) => {
                    seen.insert(name(&found), instances(&found));
                }
                Ok(Event::InitDone) => {
                    let known: BTreeSet<String> = seen.keys().cloned().collect();
                    ensure!(first == known, "begun anew, the watcher told {first:?} and before {known:?}");
                }
                Ok(Event::Delete(found)) => anyhow::bail!("{} was told to be deleted", name(&found)),
                Err(error) => {
                    errors.push(error.to_string());
                    continue;
                }
            }
            if enough(seen) {
                return Ok(());
            }
        }
    };
    tokio::time::timeout(STEP, all).await.with_context(|| what.to_owned())??;
    println!("{what}; errors on the way: {errors:?}");
    Ok(())
}

fn name(found: &Hypervisor) -> String {
    found.metadata.name.clone().unwrap_or_default()
}

fn instances(found: &Hypervisor) -> BTreeSet<String> {
    let listed = found.status.as_ref().and_then(|status| status.instances.as_ref());
    listed.into_iter().flatten().map(|instance| instance.id.clone()).collect()
}

fn shows(seen: &Seen, host: &str, domain: uuid::Uuid) -> bool {
    seen.get(host).is_some_and(|found| found.contains(&domain.to_string()))
}

fn follows_over_the_end_of_a_replica(config: watcher::Config) -> Result<()> {
    on_the_stage(|stage| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let truth = stage.fleet.truth();
        let hosts: Vec<&String> = truth.hosts.keys().collect();
        let (first, second) = (hosts[0].as_str(), hosts[1].as_str());
        let (seen, begun) = runtime.block_on(async {
            let hypervisors: Api<Hypervisor> = Api::all(client(stage).await?);
            let mut events = Box::pin(watcher::watcher(hypervisors, config));
            let mut seen = Seen::new();
            until(&mut events, &mut seen, "every host is told", |seen| seen.len() == truth.hosts.len())
                .await?;
            let domain = stage.fleet.start_domain(first)?;
            until(&mut events, &mut seen, "a change is told", |seen| shows(seen, first, domain)).await?;
            let slot = stage.serving_replica();
            stage.kill(slot)?;
            let other = stage.fleet.start_domain(second)?;
            until(&mut events, &mut seen, "a change is told by the other replica", |seen| {
                shows(seen, second, other)
            })
            .await?;
            stage.replace(slot)?;
            anyhow::Ok((seen, [(first, domain), (second, other)]))
        })?;
        let now = stage.fleet.truth();
        let known: BTreeSet<&String> = seen.keys().collect();
        assert_eq!(known, now.hosts.keys().collect());
        for (host, domain) in begun {
            stage.fleet.stop_domain(host, domain)?;
        }
        Ok(())
    })
}

/// covers: K1 K2 K4 K5 C4
#[test]
fn a_watcher_that_lists_first() -> Result<()> {
    follows_over_the_end_of_a_replica(watcher::Config::default())
}

/// covers: K2 K3 K4 K5 C1 C2
#[test]
fn a_watcher_that_streams_its_list() -> Result<()> {
    follows_over_the_end_of_a_replica(watcher::Config::default().streaming_lists())
}
