//! Lists and watches that ask for some of the objects, and waits on a condition.

use anyhow::Result;
use c5c3_e2e::kubectl::names;

use crate::product::on_the_rig;

#[test]
fn lists_have_a_version_and_their_items_have_older_ones() -> Result<()> {
    on_the_rig(|product| {
        let list =
            product.kubectl.run(&["get", "--raw", "/apis/hypervisor.c5c3.io/v1/hypervisors"])?.json()?;
        assert_eq!(list["kind"], "HypervisorList");
        let version = |object: &serde_json::Value| {
            object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse::<u64>().ok())
        };
        let of_list = version(&list).unwrap();
        for item in list["items"].as_array().unwrap() {
            assert!(version(item).unwrap() <= of_list, "{of_list} {}", item["metadata"]);
        }
        assert_eq!(names(&list).len(), product.rig.hosts.len());
        Ok(())
    })
}

#[test]
fn labels_select() -> Result<()> {
    on_the_rig(|product| {
        let select = |selector: &str| {
            let list = product.kubectl.json(&["get", "hv", "-l", selector])?;
            anyhow::Ok(names(&list).join(" "))
        };
        assert_eq!(select("topology.kubernetes.io/zone=rig-a")?, "node-1 node-2");
        assert_eq!(select("kubernetes.metal.cloud.sap/bb=bb1")?, "node-1");
        assert_eq!(select("kubernetes.metal.cloud.sap/bb in (bb2,bb3)")?, "node-2");
        assert_eq!(select("kubernetes.metal.cloud.sap/bb notin (bb1)")?, "node-2");
        assert_eq!(select("!kubernetes.metal.cloud.sap/bb")?, "");
        Ok(())
    })
}

#[test]
fn fields_select_and_unknown_ones_are_refused_by_name() -> Result<()> {
    on_the_rig(|product| {
        let select = |kind: &str, selector: &str| {
            let list = product.kubectl.json(&["get", kind, "-A", "--field-selector", selector])?;
            anyhow::Ok(names(&list).join(" "))
        };
        assert_eq!(select("hv", "metadata.name=node-2")?, "node-2");
        assert_eq!(select("hv", "metadata.name!=node-2")?, "node-1");
        let address = product.rig.address("node-1")?;
        assert_eq!(select("hv", &format!("status.internalIp={address}"))?, "node-1");
        assert_eq!(select("ovsnodes", "metadata.namespace=ovn-system,spec.nodeRef.name=node-1")?, "node-1");
        assert_eq!(select("ovsnodes", "metadata.namespace=elsewhere")?, "");
        let complaint = product.kubectl.run(&["get", "hv", "--field-selector", "spec.nope=1"])?.failure()?;
        assert!(complaint.contains("BadRequest") && complaint.contains("\"spec.nope\""), "{complaint}");
        Ok(())
    })
}

#[test]
fn one_namespace_has_the_switches_and_another_has_none() -> Result<()> {
    on_the_rig(|product| {
        let list = product.kubectl.json(&["get", "ovsnodes", "-n", "ovn-system"])?;
        assert_eq!(names(&list), ["node-1", "node-2"]);
        let list = product.kubectl.json(&["get", "ovsnodes", "-n", "kube-system"])?;
        assert!(names(&list).is_empty(), "{list}");
        Ok(())
    })
}

#[test]
fn lists_in_pieces_have_every_host() -> Result<()> {
    on_the_rig(|product| {
        let names = product.kubectl.print(&["get", "hv", "--chunk-size=1", "-o", "name"])?;
        assert_eq!(names.lines().count(), product.rig.hosts.len(), "{names}");
        Ok(())
    })
}

#[test]
fn wait_and_jsonpath_find_the_condition_and_the_field() -> Result<()> {
    on_the_rig(|product| {
        let kubectl = &product.kubectl;
        kubectl.print(&["wait", "--for=condition=LibvirtConnected", "hv/node-1", "--timeout=30s"])?;
        kubectl.print(&[
            "wait",
            "--for=condition=Ready",
            "ovsnode/node-1",
            "-n",
            "ovn-system",
            "--timeout=30s",
        ])?;
        let address = kubectl.print(&["get", "hv", "node-1", "-o", "jsonpath={.status.internalIp}"])?;
        assert_eq!(address, product.rig.address("node-1")?);
        kubectl.print(&[
            "wait",
            &format!("--for=jsonpath={{.status.internalIp}}={address}"),
            "hv/node-1",
            "--timeout=30s",
        ])?;
        let columns = kubectl.print(&[
            "get",
            "hv",
            "--no-headers",
            "-o",
            "custom-columns=N:.metadata.name,Z:.metadata.labels.topology\\.kubernetes\\.io/zone",
            "--sort-by=.metadata.name",
        ])?;
        let rows: Vec<Vec<&str>> = columns.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows, [["node-1", "rig-a"], ["node-2", "rig-a"]]);
        Ok(())
    })
}
