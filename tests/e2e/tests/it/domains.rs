//! A domain that somebody starts with virsh shows up in a watch that is already open, and goes with its end.

use std::process;

use anyhow::{Context as _, Result};
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

/// How long after the one the other came; they are read by two threads, so a little before is possible.
fn milliseconds(from: Instant, to: Instant) -> i128 {
    let after = to.saturating_duration_since(from).as_millis();
    let before = from.saturating_duration_since(to).as_millis();
    i128::try_from(after).unwrap_or_default() - i128::try_from(before).unwrap_or_default()
}

#[test]
fn a_domain_started_with_virsh_shows_up_in_the_open_watch_and_goes_with_its_end() -> Result<()> {
    on_the_rig(|product| {
        let host = "node-2";
        let watch = Watch::events(&product.kubectl, &["hypervisors"])?;
        let table = Watch::table(&product.kubectl, &["hv"])?;
        let libvirt = Libvirt::of(&product.rig, host)?;
        let virsh = libvirt.events()?;
        let of_host = |line: &String| line.split_whitespace().next() == Some(host);
        // The last column but one, AGE being the last.
        let instances =
            |line: &str| line.split_whitespace().rev().nth(1).and_then(|cell| cell.parse::<i64>().ok());
        watch.wait(SOON, "the host as it is", |event| event.object["metadata"]["name"] == host)?;
        let before = instances(&table.wait(SOON, "the host as it is", of_host)?.item);
        let before = before.context("no number in the column INSTANCES")?;

        let name = format!("e2e-watched-{}", process::id());
        let asked = Instant::now();
        let domain = libvirt.start(&name)?;
        let seen = watch.wait(SOON, "the new domain, running", |event| {
            instance(event, host, "name", &name).is_some_and(|found| found["active"] == true)
        })?;
        let found = instance(&seen.item, host, "name", &name).map(|found| found["id"].clone());
        assert_eq!(found, Some(Value::from(domain.id.as_str())));
        assert_eq!(seen.item.type_, "MODIFIED");
        table.wait(SOON, "one instance more", |line| of_host(line) && instances(line) == Some(before + 1))?;
        println!("measured: virsh create begun to kubectl's event: {} ms", milliseconds(asked, seen.at));
        let told =
            virsh.wait(SOON, "libvirt's event", |line| line.contains(&format!("'{name}': Started")))?;
        println!("measured: virsh's event to kubectl's: {} ms", milliseconds(told.at, seen.at));

        domain.destroy()?;
        let gone = watch.wait(SOON, "the host without the domain", |event| {
            event.object["metadata"]["name"] == host && instance(event, host, "name", &name).is_none()
        })?;
        let told =
            virsh.wait(SOON, "libvirt's event", |line| line.contains(&format!("'{name}': Stopped")))?;
        println!("measured: virsh's event of the end to kubectl's: {} ms", milliseconds(told.at, gone.at));
        Ok(())
    })
}
