//! An OVSNode says what its Open vSwitch says, also while a bond loses a member.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use c5c3_e2e::kubectl::condition;
use c5c3_e2e::patience::SOON;
use c5c3_e2e::room::Room;
use c5c3_e2e::switch::Switch;
use c5c3_e2e::watch::{Event, Watch};
use serde_json::Value;
use std::time::Instant;

use crate::product::on_the_rig;

fn names(list: &Value) -> BTreeSet<String> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(|item| item["name"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn bridges_tunnels_and_bonds_are_those_of_open_vswitch() -> Result<()> {
    on_the_rig(|product| {
        for host in product.rig.hosts.keys() {
            let switch = Switch::of(&product.rig, host)?;
            let status = product.kubectl.ovs_node(host)?["status"].take();
            assert_eq!(status["ovsVersion"], switch.root("ovs_version")?.as_str());
            assert_eq!(status["ovnController"]["chassisId"], switch.root("external_ids:system-id")?.as_str());
            assert_eq!(
                status["ovnController"]["sbConnection"],
                switch.root("external_ids:ovn-remote")?.as_str()
            );
            assert_eq!(status["ovnController"]["connected"], true);
            assert_eq!(names(&status["bridges"]), switch.names("Bridge", &[])?);

            let interfaces = &status["interfaces"];
            let tunnels = switch.names("Interface", &["type=geneve"])?;
            assert!(!tunnels.is_empty(), "OVN has made no tunnel on {host}");
            assert_eq!(names(&interfaces["tunnels"]), tunnels);
            for tunnel in interfaces["tunnels"].as_array().into_iter().flatten() {
                let name = tunnel["name"].as_str().unwrap_or_default();
                let remote = switch.vsctl(&["get", "Interface", name, "options:remote_ip"])?;
                assert_eq!(tunnel["remoteIp"], remote.trim().trim_matches('"'));
            }

            let ports = switch.vsctl(&["--bare", "--columns=interfaces", "list", "Port", "bond0"])?;
            let bond = interfaces["bonds"].get(0).context("no bond")?;
            assert_eq!(bond["name"], "bond0");
            assert_eq!(bond["members"], ports.split_whitespace().count());
            assert_eq!(bond["mode"], switch.vsctl(&["get", "Port", "bond0", "bond_mode"])?.trim());
            assert_eq!(names(&interfaces["physical"]), BTreeSet::from(["uplink0".into(), "uplink1".into()]));
            assert!(status["flowStats"]["totalFlows"].as_i64().is_some_and(|flows| flows > 0), "{status}");
        }
        Ok(())
    })
}

/// The bond of the host in an event about it.
fn bond_of<'a>(event: &'a Event, host: &str) -> Option<&'a Value> {
    let object = &event.object;
    if object["metadata"]["name"] != host {
        return None;
    }
    object["status"]["interfaces"]["bonds"].as_array()?.iter().find(|bond| bond["name"] == "bond0")
}

/// Gives the carrier back, whatever the test came to.
struct Carrier(Room);

impl Carrier {
    fn set(&self, state: &str) -> Result<Instant> {
        self.0.run(&["ip", "link", "set", "uplink0-far", state])?;
        Ok(Instant::now())
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        if let Err(error) = self.set("up") {
            eprintln!("uplink0 of node-1 has no carrier: {error:#}");
        }
    }
}

#[test]
fn a_bond_member_without_carrier_shows_up_in_the_open_watch() -> Result<()> {
    on_the_rig(|product| {
        let host = "node-1";
        let watch = Watch::events(&product.kubectl, &["ovsnodes", "-A"])?;
        let table = Watch::table(&product.kubectl, &["ovsnodes", "-A"])?;
        watch.wait(SOON, "the host as it is", |event| bond_of(event, host).is_some())?;
        let of_host = |line: &String| line.split_whitespace().nth(1) == Some(host);
        table.wait(SOON, "the host as it is", of_host)?;

        let carrier = Carrier(Room::of(&product.rig, host)?);
        let lost = carrier.set("down")?;
        let seen = watch.wait(SOON, "a degraded bond", |event| {
            bond_of(event, host)
                .is_some_and(|bond| bond["status"] == "Degraded" && bond["activeMembers"] == 1)
        })?;
        println!("measured: carrier lost to watch event: {} ms", seen.at.duration_since(lost).as_millis());
        table.wait(SOON, "a bond that is not whole", |line| of_host(line) && line.contains(" 0/1 "))?;
        let object = product.kubectl.ovs_node(host)?;
        assert_eq!(condition(&object, "AllBondsHealthy")?.1, "BondDegraded");
        // One member carries on: the switch works.
        assert_eq!(condition(&object, "Ready")?.0, "True");
        let physical = object["status"]["interfaces"]["physical"].as_array().context("no interfaces")?;
        let uplink =
            physical.iter().find(|interface| interface["name"] == "uplink0").context("no uplink0")?;
        assert_eq!(uplink["status"], "Down");

        let back = carrier.set("up")?;
        let seen = watch.wait(SOON, "a whole bond", |event| {
            bond_of(event, host).is_some_and(|bond| bond["status"] == "Active" && bond["activeMembers"] == 2)
        })?;
        println!("measured: carrier back to watch event: {} ms", seen.at.duration_since(back).as_millis());
        Ok(())
    })
}
