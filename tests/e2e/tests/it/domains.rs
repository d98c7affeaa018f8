//! A domain that somebody starts with virsh shows up in a watch that is already open, and goes with its end.

use std::process;

use anyhow::Result;
use c5c3_e2e::libvirt::Libvirt;
use c5c3_e2e::patience::SOON;
use c5c3_e2e::watch::{Event, Watch};
use serde_json::Value;
use std::time::Instant;

use crate::product::on_the_rig;

/// The instance of this name in an event about this host.
pub(crate) fn instance<'a>(event: &'a Event, host: &str, field: &str, value: &str) -> Option<&'a Value> {
    if event.object["metadata"]["name"] != host {
        return None;
    }
    event.object["status"]["instances"].as_array()?.iter().find(|instance| instance[field] == value)
}

#[test]
fn a_domain_started_with_virsh_shows_up_in_the_open_watch_and_goes_with_its_end() -> Result<()> {
    on_the_rig(|product| {
        let host = "node-2";
        let watch = Watch::events(&product.kubectl, &["hypervisors"])?;
        let table = Watch::table(&product.kubectl, &["hv"])?;
        let of_host = |line: &String| line.split_whitespace().next() == Some(host);
        watch.wait(SOON, "the host as it is", |event| event.object["metadata"]["name"] == host)?;
        let before = table.wait(SOON, "the host as it is", of_host)?;

        let libvirt = Libvirt::of(&product.rig, host)?;
        let name = format!("e2e-watched-{}", process::id());
        let asked = Instant::now();
        let domain = libvirt.start(&name)?;
        let started = Instant::now();
        let seen = watch.wait(SOON, "the new domain, running", |event| {
            instance(event, host, "name", &name).is_some_and(|found| found["active"] == true)
        })?;
        // virsh itself takes its time to start and to end: the truth lies between the two.
        println!(
            "measured: virsh create begun to watch event: {} ms, ended to watch event: {} ms",
            seen.at.saturating_duration_since(asked).as_millis(),
            seen.at.saturating_duration_since(started).as_millis(),
        );
        let found = instance(&seen.item, host, "name", &name).map(|found| found["id"].clone());
        assert_eq!(found, Some(Value::from(domain.id.as_str())));
        assert_eq!(seen.item.type_, "MODIFIED");
        table.wait(SOON, "another row", |line| of_host(line) && *line != before.item)?;

        let asked = Instant::now();
        domain.destroy()?;
        let gone = watch.wait(SOON, "the host without the domain", |event| {
            event.object["metadata"]["name"] == host && instance(event, host, "name", &name).is_none()
        })?;
        println!(
            "measured: virsh destroy begun to watch event: {} ms",
            gone.at.saturating_duration_since(asked).as_millis()
        );
        Ok(())
    })
}
