//! Verification: whatever a template or a person could break in the files is found.

use c5c3_renderer::{Plan, Rendered, ResourceSchemas, Templates, render, verify};
use serde_json::json;

use crate::fixture::{edited, planned, sample, second_control_plane};

const OVN: &str = "clusters/management/control-planes/cp-a/ovn/ovn-central.yaml";
const CHASSIS: &str = "clusters/management/attachments/compute-a1/chassis/ovn-chassis.yaml";
const AGENT: &str = "clusters/management/attachments/compute-a1/metadata/agent.yaml";
const FLUX_OVN: &str = "clusters/management/flux/cp-a-ovn.yaml";
const FLUX_BASE: &str = "clusters/management/flux/compute-a1-base.yaml";

fn setup() -> (Plan, Rendered, Templates) {
    let plan = planned(&sample());
    let templates = Templates::built_in().unwrap();
    let rendered = render(&plan, &templates).unwrap();
    (plan, rendered, templates)
}

/// Findings after a text replacement in one file.
fn after(path: &str, from: &str, to: &str) -> Vec<(&'static str, String)> {
    let (plan, mut rendered, templates) = setup();
    let file = rendered.files.get_mut(path).unwrap();
    assert!(file.text.contains(from), "{path} does not hold {from:?}:\n{}", file.text);
    file.text = file.text.replace(from, to);
    match verify(&plan, &rendered, &templates, None) {
        Ok(()) => Vec::new(),
        Err(findings) => findings.0.into_iter().map(|finding| (finding.rule, finding.to_string())).collect(),
    }
}

fn assert_found(found: &[(&'static str, String)], rule: &str, text: &str) {
    let hit = found.iter().any(|(id, message)| *id == rule && message.contains(text));
    assert!(hit, "no {rule} with {text:?} in {found:#?}");
}

#[test]
fn what_was_rendered_passes() {
    let (plan, rendered, templates) = setup();
    verify(&plan, &rendered, &templates, None).unwrap();
}

#[test]
fn a_bigger_topology_passes_with_relay_placement_operators_and_two_control_planes() {
    let document = edited(&[
        ("/spec/controlPlanes/1", second_control_plane()),
        ("/spec/controlPlanes/0/ovn", json!({ "cluster": "network-a1", "relay": { "replicas": 2 } })),
        ("/spec/controlPlanes/0/physicalNetworkMtu", json!(9000)),
        ("/spec/controlPlanes/0/compute/0/pools/1", json!({ "name": "pool2" })),
        (
            "/spec/controlPlanes/0/compute/0/operators",
            json!({ "hypervisorOperator": { "tag": "1.0.0" }, "nodeAgent": { "tag": "1.0.0", "digest": format!("sha256:{}", "0".repeat(64)) } }),
        ),
    ]);
    let plan = planned(&document);
    let templates = Templates::built_in().unwrap();
    let rendered = render(&plan, &templates).unwrap();
    verify(&plan, &rendered, &templates, None).unwrap();
    assert!(rendered.files.contains_key("clusters/network-a1/ovn-authority/issuer.yaml"));
    if let Some(schemas) = crate::sample::upstream_schemas() {
        verify(&plan, &rendered, &templates, Some(&schemas)).unwrap();
    }
}

#[test]
fn a_document_that_is_not_the_planned_one_is_found() {
    assert_found(&after(OVN, "\"1Gi\"", "\"2Gi\""), "file-planned", ".spec.northbound.storage.size");
    assert_found(
        &after(OVN, "kind: \"OVNCentral\"", "kind: \"OVNCentral\"\n---\nkind: x"),
        "file-document",
        "2 documents",
    );
    assert_found(&after(OVN, "spec:", "spec: ["), "file-document", "is not YAML");
    assert_found(&after(OVN, "\n", "\r\n"), "file-document", "line ends");
    let (plan, mut rendered, templates) = setup();
    let file = rendered.files.remove(OVN).unwrap();
    rendered.files.insert("clusters/management/elsewhere.yaml".to_owned(), file);
    let findings = verify(&plan, &rendered, &templates, None).unwrap_err().to_string();
    assert!(
        findings.contains("was planned and not rendered") && findings.contains("without being planned"),
        "{findings}"
    );
    assert!(
        findings.contains("error[file-listed]") && findings.contains("listed in no kustomization.yaml"),
        "{findings}"
    );
    assert!(findings.contains("lists ovn-central.yaml, which does not exist"), "{findings}");
}

#[test]
fn one_object_in_two_files_is_found() {
    assert_found(
        &after(CHASSIS, "\"compute-a1-chassis\"", "\"network-a1-chassis\""),
        "object-unique",
        "is also in",
    );
}

#[test]
fn text_that_flux_would_replace_is_found() {
    assert_found(&after(OVN, "\"1Gi\"", "\"${SIZE}\""), "flux-substitution", "substitute");
}

#[test]
fn what_belongs_to_a_running_cluster_is_found() {
    assert_found(&after(OVN, "spec:", "status: {}\nspec:"), "runtime-field", "/status");
    assert_found(
        &after(OVN, "metadata:", "metadata:\n  resourceVersion: \"1\""),
        "runtime-field",
        "resourceVersion",
    );
}

#[test]
fn circles_and_dependencies_that_never_come_are_found() {
    let depends = "dependsOn:\n    - name: \"cp-a-namespace\"";
    let found = after(FLUX_OVN, depends, "dependsOn:\n    - name: \"cp-a-control-plane\"");
    assert_found(&found, "depends-on", "cp-a-control-plane -> cp-a-ovn -> cp-a-control-plane");
    assert_eq!(
        found.iter().filter(|(_, message)| message.contains("waits for itself")).count(),
        1,
        "{found:#?}"
    );
    assert_found(
        &after(FLUX_OVN, depends, "dependsOn:\n    - name: \"cp-a-ovn\""),
        "depends-on",
        "cp-a-ovn -> cp-a-ovn",
    );
    assert_found(
        &after(FLUX_OVN, depends, "dependsOn:\n    - name: \"nowhere\""),
        "depends-on",
        "waits for nowhere",
    );
}

#[test]
fn health_checks_of_other_folders_and_wrong_places_are_found() {
    assert_found(
        &after(FLUX_OVN, "kind: \"OVNCentral\"\n      name", "kind: \"OVNChassis\"\n      name"),
        "health-check",
        "OVNChassis",
    );
    assert_found(
        &after(FLUX_OVN, "control-planes/cp-a/ovn", "control-planes/cp-a/secrets"),
        "flux-path",
        "already applied by",
    );
    assert_found(
        &after(FLUX_OVN, "control-planes/cp-a/ovn", "control-planes/cp-a/none"),
        "flux-path",
        "there is no",
    );
    let kubeconfig =
        "  kubeConfig:\n    secretRef:\n      key: \"value\"\n      name: \"compute-a1-flux-kubeconfig\"\n";
    assert_found(&after(FLUX_BASE, kubeconfig, ""), "flux-path", "kubeConfig says otherwise");
}

#[test]
fn references_to_what_is_not_there_are_found() {
    assert_found(&after(CHASSIS, "\"cp-a-ovn\"", "\"cp-b-ovn\""), "reference", "cp-b-ovn");
    assert_found(
        &after(CHASSIS, "namespace: \"cp-a\"", "namespace: \"cp-b\""),
        "reference",
        "not in namespace cp-b",
    );
    assert_found(
        &after(CHASSIS, "namespace: \"cp-a\"", "namespace: \"cp-b\""),
        "registration",
        "may not enter namespace cp-b",
    );
    assert_found(
        &after(AGENT, "name: \"compute-a1\"\n", "name: \"network-a1\"\n"),
        "reference",
        "another cluster",
    );
    assert_found(
        &after(AGENT, "name: \"compute-a1\"\n", "name: \"compute-a9\"\n"),
        "registration",
        "not registered",
    );
}

#[test]
fn an_object_that_does_not_wait_for_what_it_names_is_found() {
    let (mut plan, _, templates) = setup();
    for layer in &mut plan.layers {
        if layer.name == "compute-a1-chassis" {
            layer.depends_on.clear();
        }
    }
    let rendered = render(&plan, &templates).unwrap();
    let findings = verify(&plan, &rendered, &templates, None).unwrap_err();
    assert!(findings.to_string().contains("error[reference-order]"), "{findings}");
}

#[test]
fn secrets_are_found_and_not_repeated() {
    let bus = "clusters/management/control-planes/cp-a/secrets/bus.yaml";
    let as_secret = after(
        bus,
        "apiVersion: \"external-secrets.io/v1\"\nkind: \"ExternalSecret\"",
        "apiVersion: v1\nkind: Secret\nstringData: {a: b}",
    );
    assert_found(&as_secret, "secret-in-git", "is a Secret with values");
    for value in [
        "rabbit://nova:hunter2@bus.example.org/",
        "-----BEGIN EC PRIVATE KEY----- hunter2",
        "hvs.hunter2hunter2hunter2hunter2",
    ] {
        let found = after(OVN, "\"1Gi\"", &format!("\"{value}\""));
        assert_found(&found, "secret-in-git", "looks like");
        assert!(found.iter().all(|(_, message)| !message.contains("hunter2")), "{found:?}");
    }
    assert_found(
        &after(bus, "\"cp-a-bus\"", "\"cp-a-nova-compute-config\""),
        "secret-reserved",
        "delivered by an operator",
    );
}

#[test]
fn a_secret_that_nobody_makes_is_found() {
    let control_plane = "clusters/management/control-planes/cp-a/control-plane/control-plane.yaml";
    assert_found(&after(control_plane, "\"cp-a-bus\"", "\"cp-a-buss\""), "secret-source", "cp-a-buss");
    assert_found(&after(AGENT, "\"nova-metadata-ca\"", "\"nova-meta-ca\""), "secret-source", "of compute-a1");
    assert_found(&after(FLUX_BASE, "\"compute-a1-flux-kubeconfig\"", "\"none\""), "secret-source", "none");
}

#[test]
fn names_that_are_too_long_for_flux_are_found() {
    let name = "x".repeat(64);
    assert_found(
        &after(FLUX_OVN, "name: \"cp-a-ovn\"\n  namespace", &format!("name: \"{name}\"\n  namespace")),
        "flux-name-length",
        "63",
    );
    let access = "clusters/management/attachments/compute-a1/access/release.yaml";
    assert_found(
        &after(
            access,
            "releaseName: \"target-cluster-access\"",
            &format!("releaseName: \"{}\"", "r".repeat(54)),
        ),
        "flux-name-length",
        "53",
    );
}

#[test]
fn unsafe_paths_are_found() {
    for path in [
        "../x.yaml",
        ".git/config",
        "a//b.yaml",
        "a\\b.yaml",
        "con.yaml",
        "a./b.yaml",
        "/etc/x.yaml",
        "clusters/Management/kustomization.yaml",
    ] {
        let (plan, mut rendered, templates) = setup();
        let file = rendered.files.values().next().unwrap().clone();
        rendered.files.insert(path.to_owned(), file);
        let findings = verify(&plan, &rendered, &templates, None).unwrap_err().to_string();
        assert!(findings.contains("error[file-path]"), "{path}: {findings}");
    }
}

#[test]
fn a_field_that_the_schema_does_not_know_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "spec": {
            "group": "ovn.openstack.c5c3.io", "names": { "kind": "OVNCentral" },
            "versions": [{ "name": "v1alpha1", "schema": { "openAPIV3Schema": {
                "type": "object",
                "properties": {
                    "apiVersion": { "type": "string" }, "kind": { "type": "string" }, "metadata": { "type": "object" },
                    "spec": { "type": "object", "properties": { "tls": { "type": "object", "x-kubernetes-preserve-unknown-fields": true }, "northbond": { "type": "object" } } },
                },
            } } }],
        },
    });
    // As `kubectl get crds` prints it.
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": [definition] });
    std::fs::write(folder.path().join("ovn.yaml"), list.to_string()).unwrap();
    let schemas = ResourceSchemas::read(folder.path()).unwrap();
    let (plan, rendered, templates) = setup();
    let findings = verify(&plan, &rendered, &templates, Some(&schemas)).unwrap_err().to_string();
    assert!(
        findings.contains("error[resource-schema]")
            && findings.contains("spec.northbound: there is no such field; did you mean `northbond`?"),
        "{findings}"
    );
}
