//! What a person at a terminal gets: tables, YAML, descriptions and explanations.

use anyhow::{Context as _, Result};
use c5c3_e2e::kubectl::condition;

use crate::product::{APISERVICES, on_the_rig};

/// Cells of a table's row, by column name. Columns are as wide as kubectl printed their headings.
fn row<'a>(table: &'a str, name: &str) -> Result<Vec<(&'a str, &'a str)>> {
    let mut lines = table.lines();
    let heading = lines.next().context("an empty table")?;
    let line = lines.find(|line| line.split_whitespace().any(|word| word == name));
    let line = line.with_context(|| format!("no row {name} in\n{table}"))?;
    // Three spaces part two columns; a heading may itself hold one.
    let titles: Vec<&str> = heading.split("   ").map(str::trim).filter(|title| !title.is_empty()).collect();
    let mut cells = Vec::new();
    let mut from = 0;
    for (index, title) in titles.iter().enumerate() {
        let start = heading.get(from..).and_then(|rest| rest.find(title)).context("a lost heading")? + from;
        let next = titles.get(index + 1).and_then(|next| {
            let after = start + title.len();
            heading.get(after..).and_then(|rest| rest.find(next)).map(|found| found + after)
        });
        let end = next.unwrap_or(line.len()).min(line.len());
        cells.push((*title, line.get(start.min(end)..end).unwrap_or_default().trim()));
        from = start + title.len();
    }
    Ok(cells)
}

fn cell<'a>(cells: &[(&str, &'a str)], title: &str) -> Result<&'a str> {
    let found = cells.iter().find(|(name, _)| *name == title).map(|(_, cell)| *cell);
    found.with_context(|| format!("no column {title} in {cells:?}"))
}

#[test]
fn every_api_service_is_available() -> Result<()> {
    on_the_rig(|product| {
        for name in APISERVICES {
            let found = product.kubectl.json(&["get", "apiservice", name])?;
            let (status, reason, message) = condition(&found, "Available")?;
            assert_eq!(status, "True", "{name}: {reason}: {message}");
        }
        let resources = product.kubectl.print(&["api-resources", "--verbs=get,list,watch", "-o", "name"])?;
        for name in ["hypervisors", "evictions", "migrations"] {
            assert!(
                resources.lines().any(|line| line == format!("{name}.hypervisor.c5c3.io")),
                "{resources}"
            );
        }
        assert!(resources.lines().any(|line| line == "ovsnodes.ovs.c5c3.io"), "{resources}");
        Ok(())
    })
}

#[test]
fn get_prints_the_hosts_as_a_table() -> Result<()> {
    on_the_rig(|product| {
        let kubectl = &product.kubectl;
        let plain = kubectl.print(&["get", "hypervisors"])?;
        for (host, address) in &product.rig.hosts {
            let cells = row(&plain, host)?;
            assert_eq!(cell(&cells, "IP")?, address, "{plain}");
            assert!(cell(&cells, "INSTANCES")?.parse::<u32>().is_ok(), "{plain}");
            assert!(!cell(&cells, "AGE")?.is_empty(), "{plain}");
        }
        let wide = kubectl.print(&["get", "hypervisors", "-o", "wide"])?;
        for host in product.rig.hosts.keys() {
            let cells = row(&wide, host)?;
            let object = kubectl.hypervisor(host)?;
            assert_eq!(cell(&cells, "ZONE")?, "rig-a", "{wide}");
            assert_eq!(Some(cell(&cells, "SERVICE ID")?), object["status"]["serviceId"].as_str(), "{wide}");
            assert_eq!(
                Some(cell(&cells, "HYPERVISOR ID")?),
                object["status"]["hypervisorId"].as_str(),
                "{wide}"
            );
        }
        let switches = kubectl.print(&["get", "ovsnodes", "-A"])?;
        for host in product.rig.hosts.keys() {
            assert_eq!(cell(&row(&switches, host)?, "NAMESPACE")?, "ovn-system", "{switches}");
        }
        Ok(())
    })
}

#[test]
fn short_names_and_the_category_lead_to_the_same_objects() -> Result<()> {
    on_the_rig(|product| {
        let kubectl = &product.kubectl;
        let names = kubectl.print(&["get", "hypervisors", "-o", "name"])?;
        assert_eq!(names, kubectl.print(&["get", "hv", "-o", "name"])?);
        assert_eq!(names.lines().count(), product.rig.hosts.len());
        // There is no eviction yet; the kind is known all the same.
        assert_eq!(kubectl.print(&["get", "evi", "-o", "name"])?, "");
        let category = kubectl.print(&["get", "c5c3", "-A", "-o", "name"])?;
        for host in product.rig.hosts.keys() {
            for kind in ["hypervisor.hypervisor.c5c3.io", "ovsnode.ovs.c5c3.io"] {
                assert!(category.lines().any(|line| line == format!("{kind}/{host}")), "{category}");
            }
        }
        Ok(())
    })
}

#[test]
fn yaml_and_describe_show_the_whole_object() -> Result<()> {
    on_the_rig(|product| {
        let kubectl = &product.kubectl;
        for host in product.rig.hosts.keys() {
            let yaml = kubectl.print(&["get", "hypervisor", host, "-o", "yaml"])?;
            for line in ["apiVersion: hypervisor.c5c3.io/v1", "kind: Hypervisor", "  name: libvirt"] {
                assert!(
                    yaml.lines().any(|found| found.trim_start_matches("- ") == line.trim_start()
                        || found.trim_start_matches("  - ") == line.trim_start()),
                    "no `{line}` in\n{yaml}"
                );
            }
            let version =
                kubectl.hypervisor(host)?["status"]["libVirtVersion"].as_str().unwrap_or_default().to_owned();
            let description = kubectl.print(&["describe", "hypervisor", host])?;
            for piece in [host.as_str(), "Kind:         Hypervisor", "LibvirtConnected", version.as_str()] {
                assert!(description.contains(piece), "no `{piece}` in\n{description}");
            }
            let description = kubectl.print(&["describe", "ovsnode", "-n", "ovn-system", host])?;
            assert!(description.contains("bond0"), "{description}");
        }
        Ok(())
    })
}

#[test]
fn explain_tells_what_a_field_means_and_where_it_comes_from() -> Result<()> {
    on_the_rig(|product| {
        let status = product.kubectl.print(&["explain", "hypervisor.status"])?;
        for piece in ["libVirtVersion\t<string>", "instances\t<[]Object>", "Source: libvirt"] {
            assert!(status.contains(piece), "no `{piece}` in\n{status}");
        }
        let interfaces = product.kubectl.print(&["explain", "ovsnode.status.interfaces", "--recursive"])?;
        for piece in ["bonds\t<[]Object>", "activeMembers\t<integer>", "tunnels\t<[]Object>"] {
            assert!(interfaces.contains(piece), "no `{piece}` in\n{interfaces}");
        }
        let enumeration = product.kubectl.print(&["explain", "hypervisor.spec.maintenance"])?;
        assert!(enumeration.contains("termination"), "{enumeration}");
        Ok(())
    })
}

#[test]
fn what_does_not_exist_is_not_found() -> Result<()> {
    on_the_rig(|product| {
        let complaint = product.kubectl.run(&["get", "hypervisor", "node-99"])?.failure()?;
        let expected = "Error from server (NotFound): hypervisors.hypervisor.c5c3.io \"node-99\" not found";
        assert_eq!(complaint.trim(), expected);
        Ok(())
    })
}

#[test]
fn the_server_answers_kubectl_without_kube_apiserver_too() -> Result<()> {
    on_the_rig(|product| {
        let direct = product.server().direct(&product.rig, "admin");
        let names = direct.print(&["get", "hypervisors", "-o", "name"])?;
        assert_eq!(names.lines().count(), product.rig.hosts.len(), "{names}");
        assert!(direct.print(&["get", "--raw", "/version"])?.contains("gitVersion"));
        assert!(direct.print(&["get", "--raw", "/metrics"])?.contains("aggregated_apiserver_watches"));
        for path in ["/livez", "/readyz", "/healthz"] {
            assert_eq!(direct.print(&["get", "--raw", path])?, "ok", "{path}");
        }
        Ok(())
    })
}
