//! SIGTERM, and what everybody else sees of it.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use c5c3_e2e::kubectl::condition;
use c5c3_e2e::patience::{SOON, eventually};
use c5c3_e2e::watch::Watch;

use crate::product::{APISERVICES, on_the_rig};

/// Delay and grace of the configuration, and a slow machine.
const GRACE: Duration = Duration::from_secs(10);

#[test]
fn after_sigterm_the_server_ends_in_time_and_comes_back_as_the_same() -> Result<()> {
    on_the_rig(|product| {
        let kubectl = &product.kubectl;
        let before = kubectl.hypervisor("node-1")?;
        // A watch without end must not hold the server up.
        let watch = Watch::events(kubectl, &["hypervisors"])?;
        watch.wait(SOON, "the host as it is", |event| event.object["metadata"]["name"] == "node-1")?;

        let asked = Instant::now();
        product.server().terminate()?;
        let status = product.server().ended()?;
        let took = asked.elapsed();
        println!("measured: SIGTERM to the end: {} ms", took.as_millis());
        assert_eq!(status.code(), Some(0), "{}", product.server().last_words());
        assert!(took < GRACE, "took {took:?}");

        let gone = without_the_server(kubectl);
        // Whatever was found, the other tests need the server.
        product.server().start_again(&product.rig)?;
        product.until_available()?;
        product.until_hosts_are_read()?;
        gone?;
        let after = kubectl.hypervisor("node-1")?;
        assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
        assert_eq!(after["metadata"]["creationTimestamp"], before["metadata"]["creationTimestamp"]);
        let version = |object: &serde_json::Value| -> Result<u64> {
            Ok(object["metadata"]["resourceVersion"].as_str().context("no version")?.parse()?)
        };
        assert!(version(&after)? > version(&before)?, "versions go back over a restart");
        Ok(())
    })
}

fn without_the_server(kubectl: &c5c3_e2e::kubectl::Kubectl) -> Result<()> {
    eventually(SOON, "every APIService says that its server is away", || {
        for name in APISERVICES {
            let found = kubectl.json(&["get", "apiservice", name])?;
            let (status, reason, _) = condition(&found, "Available")?;
            ensure!(status == "False", "{name}: {status} {reason}");
        }
        Ok(())
    })?;
    let said = kubectl.run(&["get", "namespaces", "-o", "name"])?;
    let took = said.took;
    said.success()?;
    println!("measured: kubectl get namespaces without the server: {} ms", took.as_millis());
    ensure!(took < GRACE, "kubectl get namespaces took {took:?} while our server was away");
    let complaint = kubectl.run(&["get", "hv"])?.failure()?;
    ensure!(complaint.contains("Error"), "{complaint}");
    Ok(())
}
