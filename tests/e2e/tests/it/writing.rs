//! People write with the real kubectl through the real kube-apiserver, and its garbage collector cleans up behind them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use c5c3_e2e::kubectl::Kubectl;
use c5c3_e2e::patience::{LATER, eventually};
use serde_json::Value;
use tempfile::TempDir;

use crate::product::{Product, on_the_cluster};

/// By their whole names: other groups of a cluster may have kinds of the same name.
const HYPERVISORS: &str = "hypervisors.hypervisor.c5c3.io";
const EVICTIONS: &str = "evictions.hypervisor.c5c3.io";

/// A desk with manifests on it, cleared at the end.
struct Desk<'a> {
    kubectl: &'a Kubectl,
    folder: TempDir,
}

impl<'a> Desk<'a> {
    fn new(product: &'a Product) -> Result<Self> {
        let desk = Self { kubectl: &product.kubectl, folder: TempDir::new()? };
        desk.clear()?;
        Ok(desk)
    }

    /// Nothing that an earlier test has written is left.
    fn clear(&self) -> Result<()> {
        self.kubectl.print(&["delete", EVICTIONS, "--all"])?;
        self.kubectl.print(&["delete", HYPERVISORS, "--all"])?;
        Ok(())
    }

    fn manifest(&self, name: &str, text: &str) -> Result<String> {
        let path = self.folder.path().join(name);
        fs::write(&path, text)?;
        Ok(path.display().to_string())
    }

    /// An editor that runs a line of sed.
    fn editor(&self, sed: &str) -> Result<PathBuf> {
        let path = self.folder.path().join("editor");
        fs::write(&path, format!("#!/bin/sh\nexec sed -i '{sed}' \"$1\"\n"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(path)
    }

    /// What kubectl says when it fails.
    fn refused(&self, arguments: &[&str]) -> Result<String> {
        let said = self.kubectl.run(arguments)?;
        ensure!(!said.status.success(), "kubectl {arguments:?} was not refused: {}", said.output);
        Ok(said.complaint)
    }
}

fn hypervisor(name: &str, spec: &str) -> String {
    format!("apiVersion: hypervisor.c5c3.io/v1\nkind: Hypervisor\nmetadata: {{name: {name}}}\nspec: {spec}\n")
}

fn eviction(name: &str, host: &str, reason: &str) -> String {
    format!(
        "apiVersion: hypervisor.c5c3.io/v1\nkind: Eviction\nmetadata: {{name: {name}}}\nspec: {{hypervisor: {host}, reason: {reason}}}\n"
    )
}

fn uid(object: &Value) -> Result<String> {
    object["metadata"]["uid"].as_str().map(str::to_owned).context("no uid")
}

#[test]
fn kubectl_knows_what_can_be_written() -> Result<()> {
    on_the_cluster(|product| {
        let kubectl = &product.kubectl;
        let list = kubectl.print(&[
            "api-resources",
            "--api-group=hypervisor.c5c3.io",
            "-o",
            "wide",
            "--no-headers",
        ])?;
        let verbs =
            |name: &str| list.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
        let all = "create,delete,deletecollection,get,list,patch,update,watch";
        ensure!(verbs("hypervisors").contains(all) && verbs("evictions").contains(all), "{list}");
        ensure!(verbs("migrations").contains("get,list,watch"), "{list}");
        let text = kubectl.print(&[
            "explain",
            "hypervisors.spec.maintenance",
            "--api-version=hypervisor.c5c3.io/v1",
        ])?;
        ensure!(text.contains("ENUM") && text.contains("termination"), "{text}");
        Ok(())
    })
}

// covers: C20 Q2
#[test]
fn evictions_are_created_tried_changed_and_deleted() -> Result<()> {
    on_the_cluster(|product| {
        let desk = Desk::new(product)?;
        let file = desk.manifest("eviction.yaml", &eviction("e", "node-1", "fan"))?;
        let said = desk.kubectl.print(&["create", "-f", &file, "--dry-run=server"])?;
        ensure!(said.contains("created (server dry run)"), "{said}");
        ensure!(desk.kubectl.json(&["get", EVICTIONS])?["items"] == Value::Array(Vec::new()));
        desk.kubectl.print(&["create", "-f", &file])?;
        ensure!(desk.refused(&["create", "-f", &file])?.contains("already exists"));
        let owner = desk.kubectl.json(&["get", EVICTIONS, "e"])?;
        ensure!(owner["metadata"]["ownerReferences"][0]["kind"] == "Hypervisor", "{owner}");
        desk.kubectl.print(&[
            "patch",
            EVICTIONS,
            "e",
            "--type=merge",
            "-p",
            r#"{"spec":{"reason":"disk"}}"#,
        ])?;
        let moved =
            desk.refused(&["patch", EVICTIONS, "e", "--type=merge", "-p", r#"{"spec":{"hypervisor":"x"}}"#])?;
        ensure!(moved.contains("spec.hypervisor: Invalid value: \"x\": Value is immutable"), "{moved}");
        let said = desk.kubectl.print(&["delete", EVICTIONS, "e", "--dry-run=server"])?;
        ensure!(said.contains("deleted (server dry run)"), "{said}");
        desk.kubectl.print(&["get", EVICTIONS, "e"])?;
        desk.kubectl.print(&["delete", EVICTIONS, "e", "--wait=true", "--timeout=30s"])?;
        ensure!(desk.refused(&["get", EVICTIONS, "e"])?.contains("NotFound"));
        Ok(())
    })
}

// covers: H1 Q2
#[test]
fn apply_on_the_client_knows_what_has_changed() -> Result<()> {
    on_the_cluster(|product| {
        let desk = Desk::new(product)?;
        let file =
            desk.manifest("host.yaml", &hypervisor("node-1", "{skipTests: true, customTraits: [CUSTOM_A]}"))?;
        let first = desk.kubectl.print(&["apply", "-f", &file])?;
        ensure!(first.contains("configured"), "{first}");
        ensure!(desk.kubectl.print(&["apply", "-f", &file])?.contains("unchanged"));
        ensure!(desk.kubectl.run(&["diff", "-f", &file])?.status.success(), "no difference");
        let other = desk.manifest("host.yaml", &hypervisor("node-1", "{customTraits: [CUSTOM_B]}"))?;
        let diff = desk.kubectl.run(&["diff", "-f", &other])?;
        ensure!(
            diff.status.code() == Some(1) && diff.output.contains("+  - CUSTOM_B"),
            "{} {}",
            diff.output,
            diff.complaint
        );
        desk.kubectl.print(&["apply", "-f", &other])?;
        let spec = desk.kubectl.hypervisor("node-1")?["spec"].clone();
        ensure!(spec["customTraits"][0] == "CUSTOM_B" && spec["skipTests"] == false, "{spec}");
        let unknown = desk.manifest("bad.yaml", &hypervisor("node-1", "{skipTest: true}"))?;
        let said = desk.refused(&["apply", "-f", &unknown])?;
        ensure!(said.contains("unknown field \"spec.skipTest\""), "{said}");
        let warned = desk.kubectl.run(&["apply", "--validate=warn", "-f", &unknown])?;
        ensure!(
            warned.status.success() && warned.complaint.contains("Warning: unknown field \"spec.skipTest\""),
            "{}",
            warned.complaint
        );
        Ok(())
    })
}

// covers: C21 F4
#[test]
fn apply_on_the_server_tells_who_owns_what() -> Result<()> {
    on_the_cluster(|product| {
        let desk = Desk::new(product)?;
        let apply = |file: &str, more: &[&str]| {
            desk.kubectl.run(&[&["apply", "--server-side", "-f", file], more].concat())
        };
        let later = desk.manifest("later.yaml", &hypervisor("later", "{skipTests: true}"))?;
        let said = apply(&later, &[])?.success()?;
        ensure!(said.contains("serverside-applied"), "{said}");
        let uid_before = uid(&desk.kubectl.hypervisor("later")?)?;
        let version = |object: Value| object["metadata"]["managedFields"].clone();
        let before = version(desk.kubectl.json(&["get", HYPERVISORS, "later", "--show-managed-fields"])?);
        apply(&later, &[])?.success()?;
        ensure!(
            before == version(desk.kubectl.json(&["get", HYPERVISORS, "later", "--show-managed-fields"])?)
        );
        let other = desk.manifest("other.yaml", &hypervisor("later", "{skipTests: false}"))?;
        let conflict = apply(&other, &["--field-manager=somebody"])?;
        ensure!(
            conflict.complaint.contains("conflict with \"kubectl\": .spec.skipTests"),
            "{}",
            conflict.complaint
        );
        apply(&other, &["--field-manager=somebody", "--force-conflicts"])?.success()?;
        let host = desk.kubectl.hypervisor("later")?;
        ensure!(host["spec"]["skipTests"] == false && uid(&host)? == uid_before, "{host}");
        let of_node = desk.manifest("node.yaml", &hypervisor("node-1", "{lifecycleEnabled: true}"))?;
        let conflict = apply(&of_node, &[])?;
        ensure!(
            conflict.complaint.contains("conflict with \"c5c3-node\""),
            "the Node says otherwise: {}",
            conflict.complaint
        );
        apply(&of_node, &["--force-conflicts"])?.success()?;
        ensure!(desk.kubectl.hypervisor("node-1")?["spec"]["lifecycleEnabled"] == true);
        let nothing = desk.manifest("node.yaml", &hypervisor("node-1", "{}"))?;
        apply(&nothing, &[])?.success()?;
        ensure!(
            desk.kubectl.hypervisor("node-1")?["spec"]["lifecycleEnabled"] == false,
            "it follows the Node again"
        );
        let reserved = apply(&nothing, &["--field-manager=c5c3-node"])?;
        ensure!(reserved.complaint.contains("is reserved"), "{}", reserved.complaint);
        Ok(())
    })
}

#[test]
fn apply_moves_from_the_client_to_the_server() -> Result<()> {
    on_the_cluster(|product| {
        let desk = Desk::new(product)?;
        let file = desk.manifest("host.yaml", &hypervisor("node-1", "{customTraits: [CUSTOM_A]}"))?;
        desk.kubectl.print(&["apply", "-f", &file])?;
        let other = desk.manifest("host.yaml", &hypervisor("node-1", "{customTraits: [CUSTOM_B]}"))?;
        desk.kubectl.print(&["apply", "--server-side", "-f", &other])?;
        let host = desk.kubectl.json(&["get", HYPERVISORS, "node-1", "--show-managed-fields"])?;
        ensure!(host["spec"]["customTraits"][0] == "CUSTOM_B", "{host}");
        let managers = host["metadata"]["managedFields"].to_string();
        ensure!(!managers.contains("kubectl-client-side-apply"), "{managers}");
        Ok(())
    })
}

#[test]
fn objects_are_edited_replaced_labelled_and_patched() -> Result<()> {
    on_the_cluster(|product| {
        let desk = Desk::new(product)?;
        let editor = desk.editor("s/skipTests: false/skipTests: true/")?;
        let mut edit = desk.kubectl.command(&["edit", HYPERVISORS, "node-1"]);
        let said = edit.env("KUBE_EDITOR", &editor).output()?;
        ensure!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        ensure!(desk.kubectl.hypervisor("node-1")?["spec"]["skipTests"] == true);
        let nothing = desk.editor("")?;
        let said =
            desk.kubectl.command(&["edit", HYPERVISORS, "node-1"]).env("KUBE_EDITOR", &nothing).output()?;
        ensure!(
            String::from_utf8_lossy(&said.stderr).contains("no changes made")
                || String::from_utf8_lossy(&said.stdout).contains("no changes made")
        );
        let whole = desk.kubectl.print(&["get", HYPERVISORS, "node-1", "-o", "yaml"])?;
        let file = desk.manifest("whole.yaml", &whole.replace("skipTests: true", "skipTests: false"))?;
        ensure!(desk.kubectl.print(&["replace", "-f", &file])?.contains("replaced"));
        ensure!(desk.refused(&["replace", "-f", &file])?.contains("the object has been modified"));
        desk.kubectl.print(&["label", HYPERVISORS, "node-1", "team=blue"])?;
        desk.kubectl.print(&["annotate", HYPERVISORS, "node-1", "note=hello"])?;
        let patch = r#"[{"op":"add","path":"/spec/customTraits/-","value":"CUSTOM_X"}]"#;
        desk.kubectl.print(&["patch", HYPERVISORS, "node-1", "--type=json", "-p", patch])?;
        let host = desk.kubectl.hypervisor("node-1")?;
        ensure!(
            host["metadata"]["labels"]["team"] == "blue"
                && host["spec"]["customTraits"].to_string().contains("CUSTOM_X"),
            "{host}"
        );
        ensure!(host["metadata"]["annotations"]["note"] == "hello");
        let found = desk.kubectl.json(&["get", HYPERVISORS, "-l", "team=blue"])?;
        ensure!(found["items"].as_array().map(Vec::len) == Some(1));
        let strategic = desk.refused(&["patch", HYPERVISORS, "node-1", "--type=strategic", "-p", "{}"])?;
        ensure!(strategic.contains("unknown format") || strategic.contains("not supported"), "{strategic}");
        desk.kubectl.print(&[
            "wait",
            &format!("{HYPERVISORS}/node-1"),
            "--for=jsonpath={.metadata.labels.team}=blue",
            "--timeout=20s",
        ])?;
        Ok(())
    })
}

#[test]
fn maintenance_follows_its_rules() -> Result<()> {
    on_the_cluster(|product| {
        let desk = Desk::new(product)?;
        let patch = |spec: &str| {
            desk.kubectl.run(&[
                "patch",
                HYPERVISORS,
                "node-1",
                "--type=merge",
                "-p",
                &format!("{{\"spec\":{spec}}}"),
            ])
        };
        let refused = |spec: &str| Ok::<_, anyhow::Error>(patch(spec)?.complaint);
        ensure!(
            refused(r#"{"maintenance":"manual"}"#)?
                .contains("maintenanceReason must be non-empty when maintenance is 'manual'")
        );
        let said = refused(r#"{"maintenance":"sometimes"}"#)?;
        ensure!(
            said.contains("spec.maintenance: Unsupported value: \"sometimes\": supported values: "),
            "{said}"
        );
        ensure!(refused(r#"{"overcommit":{"cpu":0.5}}"#)?.contains("overcommit ratios must be >= 1.0"));
        ensure!(refused(r#"{"groups":[{}]}"#)?.contains("exactly one group type must be set"));
        patch(r#"{"maintenance":"termination"}"#)?.success()?;
        let frozen =
            "spec is immutable when maintenance is 'termination'; can only change maintenance to 'ha'";
        ensure!(refused(r#"{"skipTests":true}"#)?.contains(frozen));
        patch(r#"{"maintenance":"ha"}"#)?.success()?;
        patch(r#"{"maintenance":""}"#)?.success()?;
        let host = desk.kubectl.hypervisor("node-1")?;
        ensure!(host["metadata"]["generation"] == 4, "{host}");
        Ok(())
    })
}

#[test]
fn who_may_only_look_writes_nothing() -> Result<()> {
    on_the_cluster(|product| {
        let desk = Desk::new(product)?;
        let file = desk.manifest("eviction.yaml", &eviction("e", "node-1", "fan"))?;
        let viewer = product.server().direct(&product.rig, "viewer");
        let said = viewer.run(&["create", "--validate=false", "-f", &file])?;
        ensure!(
            said.complaint.contains("forbidden")
                && said.complaint.contains("cannot create resource \"evictions\""),
            "{}",
            said.complaint
        );
        let said = viewer.run(&["apply", "--server-side", "--validate=false", "-f", &file])?;
        ensure!(said.complaint.contains("forbidden"), "{}", said.complaint);
        Ok(())
    })
}

// covers: G1 G2 G3 G4
#[test]
fn the_garbage_collector_deletes_what_goes_with_its_owner() -> Result<()> {
    on_the_cluster(|product| {
        let desk = Desk::new(product)?;
        let host = desk.manifest("host.yaml", &hypervisor("declared", "{}"))?;
        desk.kubectl.print(&["create", "-f", &host])?;
        let file = desk.manifest("eviction.yaml", &eviction("of-declared", "declared", "fan"))?;
        desk.kubectl.print(&["create", "-f", &file])?;
        desk.kubectl.print(&["delete", HYPERVISORS, "declared", "--cascade=foreground", "--timeout=60s"])?;
        eventually(LATER, "the eviction of a host that is gone is gone", || {
            ensure!(desk.refused(&["get", EVICTIONS, "of-declared"])?.contains("NotFound"));
            Ok(())
        })?;
        // As a cluster's autoscaler would: a Node comes, somebody wants something of its host, and the Node goes.
        let node = "apiVersion: v1\nkind: Node\nmetadata:\n  name: brief\n  labels: {nova.openstack.cloud.sap/virt-driver: kvm}\n";
        let node = desk.manifest("node.yaml", node)?;
        desk.kubectl.print(&["apply", "-f", &node])?;
        eventually(LATER, "the host of the Node is there", || desk.kubectl.hypervisor("brief").map(drop))?;
        desk.kubectl.print(&[
            "patch",
            HYPERVISORS,
            "brief",
            "--type=merge",
            "-p",
            r#"{"spec":{"skipTests":true}}"#,
        ])?;
        desk.kubectl.print(&["delete", "node", "brief"])?;
        eventually(LATER, "the host goes with its Node, and what was wanted of it too", || {
            ensure!(desk.refused(&["get", HYPERVISORS, "brief"])?.contains("NotFound"));
            Ok(())
        })
    })
}
