//! A Hypervisor says what its libvirt, Nova, Placement and Node say, each asked by its own command.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use c5c3_e2e::cloud::{Cloud, row};
use c5c3_e2e::kubectl::condition;
use c5c3_e2e::libvirt::Libvirt;
use c5c3_e2e::patience::{SOON, eventually};
use serde_json::Value;

use crate::product::on_the_rig;

/// The texts of a field over a list.
fn texts(list: &Value, field: &str) -> BTreeSet<String> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| item[field].as_str().map(str::to_owned)).collect()
}

/// Bytes of a quantity in kibibytes, mebibytes or gibibytes.
fn kibibytes(quantity: &str) -> Result<u64> {
    let digits = quantity.trim_end_matches(|character: char| !character.is_ascii_digit());
    let number: u64 = digits.parse().with_context(|| quantity.to_owned())?;
    let factor = match quantity.strip_prefix(digits) {
        Some("Ki") => 1,
        Some("Mi") => 1 << 10,
        Some("Gi") => 1 << 20,
        other => anyhow::bail!("unit {other:?} of {quantity}"),
    };
    Ok(number * factor)
}

#[test]
fn versions_and_capacity_are_those_of_libvirt() -> Result<()> {
    on_the_rig(|product| {
        for host in product.rig.hosts.keys() {
            let status = product.kubectl.hypervisor(host)?["status"].take();
            let libvirt = Libvirt::of(&product.rig, host)?;
            let daemon = libvirt.fact(&["version", "--daemon"], "Running against daemon")?;
            let machine = libvirt.fact(&["version"], "Running hypervisor")?;
            assert_eq!(status["libVirtVersion"], daemon.as_str());
            assert_eq!(format!("QEMU {}", status["hypervisorVersion"].as_str().unwrap_or_default()), machine);
            println!("{host}: libvirt {daemon}, {machine}");
            assert_eq!(status["capacity"]["cpu"], libvirt.fact(&["nodeinfo"], "CPU(s)")?.as_str());
            let memory = libvirt.fact(&["nodeinfo"], "Memory size")?;
            let shown = kibibytes(status["capacity"]["memory"].as_str().unwrap_or_default())?;
            assert_eq!(format!("{shown} KiB"), memory);
            let arch = libvirt.fact(&["nodeinfo"], "CPU model")?;
            assert_eq!(status["capabilities"]["cpuArch"], arch.as_str());
        }
        Ok(())
    })
}

#[test]
fn domain_capabilities_are_those_of_libvirt() -> Result<()> {
    on_the_rig(|product| {
        for host in product.rig.hosts.keys() {
            let shown = product.kubectl.hypervisor(host)?["status"]["domainCapabilities"].take();
            let told = Libvirt::of(&product.rig, host)?.virsh(&["domcapabilities"])?;
            let text = |element: &str| {
                let (_, rest) = told.split_once(&format!("<{element}>")).context(element.to_owned())?;
                let (value, _) = rest.split_once('<').context(element.to_owned())?;
                anyhow::Ok(value.to_owned())
            };
            assert_eq!(shown["hypervisorType"], text("domain")?.as_str());
            assert_eq!(shown["arch"], text("arch")?.as_str());
            let devices: BTreeSet<&str> = shown["supportedDevices"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            assert!(devices.contains("disk/virtio") && told.contains("<value>virtio</value>"), "{devices:?}");
        }
        Ok(())
    })
}

#[test]
fn instances_are_the_domains_of_libvirt() -> Result<()> {
    on_the_rig(|product| {
        for host in product.rig.hosts.keys() {
            let libvirt = Libvirt::of(&product.rig, host)?;
            // Others may start and stop domains on this rig meanwhile.
            eventually(SOON, "the same domains", || {
                let told = libvirt.domains()?;
                let status = product.kubectl.hypervisor(host)?["status"].take();
                let shown = texts(&status["instances"], "id");
                ensure!(shown == told, "{host}: shown {shown:?}, virsh says {told:?}");
                ensure!(status["numInstances"] == told.len(), "{host}: {}", status["numInstances"]);
                Ok(())
            })?;
        }
        Ok(())
    })
}

#[test]
fn ids_service_and_aggregates_are_those_of_nova() -> Result<()> {
    on_the_rig(|product| {
        let cloud = Cloud::of(&product.rig);
        let services = cloud.json(&["compute", "service", "list", "--service", "nova-compute"])?;
        let hypervisors = cloud.json(&["hypervisor", "list"])?;
        for host in product.rig.hosts.keys() {
            let status = product.kubectl.hypervisor(host)?["status"].take();
            let service = row(&services, "Host", host)?;
            let hypervisor = row(&hypervisors, "Hypervisor Hostname", host)?;
            assert_eq!(status["serviceId"], service["ID"]);
            assert_eq!(status["hypervisorId"], hypervisor["ID"]);
            assert_eq!(status["internalIp"], hypervisor["Host IP"]);
            assert_eq!(status["computeService"]["host"], host.as_str());
            assert_eq!(status["computeService"]["state"], service["State"]);
            assert_eq!(status["computeService"]["status"], service["Status"]);
            assert_eq!(condition(&serde_json::json!({"status": status}), "NovaReachable")?.0, "True");
        }
        let aggregates = cloud.json(&["aggregate", "list", "--long"])?;
        for host in product.rig.hosts.keys() {
            let mine = aggregates.as_array().into_iter().flatten().filter(|aggregate| {
                aggregate["Hosts"]
                    .as_array()
                    .is_some_and(|hosts| hosts.iter().any(|member| member == host.as_str()))
            });
            let told: BTreeSet<String> =
                mine.filter_map(|aggregate| aggregate["Name"].as_str().map(str::to_owned)).collect();
            assert!(told.contains("rig-a"), "the rig's seed is missing: {aggregates}");
            let shown = product.kubectl.hypervisor(host)?["status"]["aggregates"].take();
            assert_eq!(texts(&shown, "name"), told);
        }
        Ok(())
    })
}

#[test]
fn traits_are_those_of_placement() -> Result<()> {
    on_the_rig(|product| {
        let cloud = Cloud::of(&product.rig);
        for host in product.rig.hosts.keys() {
            let status = product.kubectl.hypervisor(host)?["status"].take();
            let provider = status["hypervisorId"].as_str().context("no hypervisorId")?;
            let told: BTreeSet<String> = cloud.traits(provider)?.into_iter().collect();
            let shown = status["traits"].as_array().into_iter().flatten();
            let shown: BTreeSet<String> = shown.filter_map(|name| name.as_str().map(str::to_owned)).collect();
            assert!(told.contains("CUSTOM_RIG_GOLD"), "the rig's seed is missing: {told:?}");
            assert_eq!(shown, told, "{host}");
        }
        Ok(())
    })
}

#[test]
fn identity_and_labels_are_those_of_the_node() -> Result<()> {
    on_the_rig(|product| {
        for host in product.rig.hosts.keys() {
            let hypervisor = product.kubectl.hypervisor(host)?;
            let node = product.kubectl.json(&["get", "node", host])?;
            let owner = &hypervisor["metadata"]["ownerReferences"][0];
            assert_eq!(owner["uid"], node["metadata"]["uid"]);
            assert_eq!(hypervisor["metadata"]["creationTimestamp"], node["metadata"]["creationTimestamp"]);
            for label in ["topology.kubernetes.io/zone", "kubernetes.metal.cloud.sap/bb"] {
                assert!(node["metadata"]["labels"][label].is_string(), "the rig's Node lost {label}");
                assert_eq!(hypervisor["metadata"]["labels"][label], node["metadata"]["labels"][label]);
            }
            assert_eq!(hypervisor["spec"]["customTraits"][0], "CUSTOM_RIG_GOLD");
        }
        Ok(())
    })
}
