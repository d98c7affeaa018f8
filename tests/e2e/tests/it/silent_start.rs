//! A server that starts while sources are silent is ready, has every host, and claims nothing that it does not know.

use anyhow::{Context as _, Result, ensure};
use c5c3_e2e::kubectl::{condition, names};
use c5c3_e2e::patience::{LATER, eventually};
use c5c3_e2e::room::Room;

use crate::product::on_the_rig;

#[test]
fn a_server_that_starts_while_sources_are_silent_serves_every_host_and_invents_nothing() -> Result<()> {
    on_the_rig(|product| {
        let libvirt = Room::of(&product.rig, "node-2")?.freeze("^libvirtd ")?;
        let nova = Room::of(&product.rig, "cloud")?.freeze("http-socket 0.0.0.0:8774 ")?;
        product.server().terminate()?;
        product.server().ended()?;
        // Ready means that every host that exists can be seen, not that every daemon answers.
        product.server().start_again(&product.rig)?;
        let direct = product.server().direct(&product.rig, "admin");
        let list = direct.json(&["get", "hypervisors"])?;
        assert_eq!(names(&list), ["node-1", "node-2"]);

        let silent = eventually(LATER, "the silence is told", || {
            let object = direct.hypervisor("node-2")?;
            for type_ in ["LibvirtConnected", "NovaReachable", "Ready"] {
                let (status, reason, message) = condition(&object, type_)?;
                let told = status != "True" && reason != "Connecting" && !message.is_empty();
                ensure!(told, "{type_}: {status} {reason}: {message}");
            }
            Ok(object)
        })?;
        let status = silent["status"].as_object().context("no status")?;
        for absent in
            ["numInstances", "instances", "capacity", "allocation", "serviceId", "hypervisorId", "traits"]
        {
            assert!(!status.contains_key(absent), "{absent}: {}", status[absent]);
        }
        // The polling operators write this word, and dashboards look for it.
        assert_eq!(status["libVirtVersion"], "unknown");
        assert_eq!(status["hypervisorVersion"], "unknown");
        let other = direct.hypervisor("node-1")?;
        assert_eq!(condition(&other, "LibvirtConnected")?.0, "True");
        assert!(other["status"]["numInstances"].is_i64(), "{}", other["status"]);

        libvirt.thaw()?;
        nova.thaw()?;
        product.until_available()?;
        product.until_hosts_are_read()
    })
}
