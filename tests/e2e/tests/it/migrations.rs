//! A domain that moves between two hosts is a Migration while it does, and is never shown as running twice.

use std::process;

use anyhow::{Context as _, Result, ensure};
use c5c3_e2e::libvirt::Libvirt;
use c5c3_e2e::patience::{SOON, eventually};
use c5c3_e2e::watch::Watch;

use crate::domains::instance;
use crate::product::on_the_rig;

#[test]
fn a_live_migration_is_an_object_with_both_ends_and_moves_the_instance() -> Result<()> {
    on_the_rig(|product| {
        let (from, to) = ("node-2", "node-1");
        let libvirt = Libvirt::of(&product.rig, from)?;
        let mut domain = libvirt.start(&format!("e2e-moved-{}", process::id()))?;
        let migrations = Watch::events(&product.kubectl, &["migrations", "-A"])?;
        let hosts = Watch::events(&product.kubectl, &["hypervisors"])?;
        hosts.wait(SOON, "the domain where it starts", |event| {
            instance(event, from, "id", &domain.id).is_some()
        })?;

        domain.migrate(&Libvirt::of(&product.rig, to)?)?;
        let done = migrations.wait(SOON, "a completed migration", |event| {
            event.object["metadata"]["name"] == domain.id.as_str()
                && event.object["status"]["type"] == "completed"
                && event.object["status"]["destination"].is_string()
        })?;
        assert_eq!(done.item.object["status"]["origin"], from);
        assert_eq!(done.item.object["status"]["destination"], to);

        let mut twice = Vec::new();
        hosts.wait(SOON, "the domain where it has arrived", |event| {
            let findings = event.object["status"]["findings"].as_array().cloned().unwrap_or_default();
            twice.extend(findings.into_iter().filter(|finding| finding["subject"] == domain.id.as_str()));
            instance(event, to, "id", &domain.id).is_some_and(|found| found["active"] == true)
        })?;
        eventually(SOON, "the domain is gone from where it started", || {
            let origin = product.kubectl.hypervisor(from)?;
            let instances = origin["status"]["instances"].as_array().context("no instances")?;
            ensure!(!instances.iter().any(|found| found["id"] == domain.id.as_str()), "{instances:?}");
            Ok(())
        })?;
        assert!(twice.is_empty(), "a migration is no fault: {twice:?}");
        let table = product.kubectl.print(&["get", "migrations", "-A"])?;
        let row = table.lines().find(|line| line.contains(&domain.id));
        let row = row.with_context(|| format!("no row of the migration in\n{table}"))?;
        assert!(row.contains(from) && row.contains(to), "{table}");
        Ok(())
    })
}
