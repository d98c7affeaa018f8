//! A real kube-apiserver judges the schemas: it accepts each as a CRD, and refuses what we refuse, in our words.
//!
//! The CRDs are installed under a group of their own, so that they do not meet the APIServices of the same rig.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use c5c3_api::hypervisor::{HypervisorSpec, validate, validate_update};
use c5c3_api::{FieldError, Kind, kinds, schema};
use serde_json::{Value, json};

/// kubectl, pointed at the rig.
struct Cluster {
    kubectl: PathBuf,
    kubeconfig: PathBuf,
}

impl Cluster {
    fn of_the_rig() -> Option<Self> {
        let path = |name| std::env::var_os(name).map(PathBuf::from);
        let cluster = path("C5C3_RIG_KUBECTL").zip(path("C5C3_RIG_KUBECONFIG"));
        if cluster.is_none() {
            println!("skipped: C5C3_RIG_KUBECONFIG is not set; run tests/rig/up");
        }
        cluster.map(|(kubectl, kubeconfig)| Self { kubectl, kubeconfig })
    }

    fn run(&self, arguments: &[&str], input: &Value) -> Output {
        let mut command = Command::new(&self.kubectl);
        command.arg("--kubeconfig").arg(&self.kubeconfig).args(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }

    /// Runs kubectl and wants it to succeed without a warning.
    fn must(&self, arguments: &[&str], input: &Value) {
        let output = self.run(arguments, input);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "kubectl {arguments:?}: {said}");
    }

    /// Runs kubectl and wants it to fail with exactly these errors.
    fn must_refuse(&self, arguments: &[&str], input: &Value, errors: &[FieldError]) {
        let output = self.run(arguments, input);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "kubectl {arguments:?} accepted {input}");
        assert!(!errors.is_empty(), "we accept {input}: {said}");
        for error in errors {
            assert!(
                said.contains(&error.to_string()),
                "kubectl {arguments:?} does not say {error}, but {said}"
            );
        }
        assert_eq!(said.matches("Invalid value").count(), errors.len(), "{said}");
    }
}

/// The CRD of a kind under a group that only this process uses.
struct Installed<'a> {
    cluster: &'a Cluster,
    group: String,
    definition: Value,
}

impl<'a> Installed<'a> {
    fn new(cluster: &'a Cluster, kind: &Kind) -> Self {
        let group = format!("proof-{}.c5c3.io", std::process::id());
        let mut definition = schema::custom_resource_definition(kind);
        definition["metadata"]["name"] = format!("{}.{group}", kind.plural).into();
        definition["spec"]["group"] = group.clone().into();
        let names = definition["spec"]["names"].as_object_mut().unwrap();
        names.remove("shortNames");
        names.remove("categories");
        cluster.must(&["create", "-f", "-"], &definition);
        let name = definition["metadata"]["name"].as_str().unwrap().to_owned();
        cluster.must(&["wait", "--for=condition=Established", "--timeout=30s", "crd", &name], &Value::Null);
        Self { cluster, group, definition }
    }

    fn object(&self, kind: &Kind, spec: &Value) -> Value {
        json!({
            "apiVersion": format!("{}/{}", self.group, kind.version),
            "kind": kind.kind,
            "metadata": {"name": "node-1"},
            "spec": spec,
        })
    }
}

impl Drop for Installed<'_> {
    fn drop(&mut self) {
        self.cluster.run(&["delete", "--wait=false", "-f", "-"], &self.definition);
    }
}

#[test]
fn every_schema_is_accepted_without_a_warning() {
    let Some(cluster) = Cluster::of_the_rig() else { return };
    for kind in kinds() {
        let mut definition = schema::custom_resource_definition(kind);
        definition["metadata"]["name"] = format!("{}.dry-run.c5c3.io", kind.plural).into();
        definition["spec"]["group"] = "dry-run.c5c3.io".into();
        cluster.must(&["create", "--dry-run=server", "-f", "-"], &definition);
    }
}

#[test]
fn a_hypervisor_is_refused_in_the_words_of_kube_apiserver() {
    let Some(cluster) = Cluster::of_the_rig() else { return };
    let kind = &c5c3_api::hypervisor::KIND;
    let installed = Installed::new(&cluster, kind);
    let create = ["create", "--dry-run=server", "-f", "-"];
    for spec in [
        json!({"maintenance": "manual"}),
        json!({"maintenance": "manual", "maintenanceReason": ""}),
        json!({"overcommit": {"cpu": 0.5}}),
        json!({"groups": [{}]}),
        json!({"groups": [{"trait": {"name": "CUSTOM_A"}}, {"trait": {"name": ""}}]}),
        json!({"groups": [{"aggregate": {"name": "a", "uuid": "7d3a2f0e"}}]}),
        json!({"maintenance": "manual", "overcommit": {"memory": 0.1}}),
    ] {
        let typed: HypervisorSpec = serde_json::from_value(spec.clone()).unwrap();
        cluster.must_refuse(&create, &installed.object(kind, &spec), &validate(&typed));
    }
    let good = json!({"maintenance": "termination", "overcommit": {"cpu": 4}, "customTraits": ["CUSTOM_A"]});
    cluster.must(&["create", "-f", "-"], &installed.object(kind, &good));
    let old: HypervisorSpec = serde_json::from_value(good.clone()).unwrap();
    let replace = ["replace", "--dry-run=server", "-f", "-"];
    let changed = |maintenance: &str| {
        let mut changed = good.clone();
        changed["maintenance"] = maintenance.into();
        changed["reboot"] = true.into();
        changed
    };
    for maintenance in ["termination", "auto", ""] {
        let new: HypervisorSpec = serde_json::from_value(changed(maintenance)).unwrap();
        let errors = validate_update(&old, &new);
        cluster.must_refuse(&replace, &installed.object(kind, &changed(maintenance)), &errors);
    }
    cluster.must(&replace, &installed.object(kind, &changed("ha")));
}

#[test]
fn an_eviction_is_refused_in_the_words_of_kube_apiserver() {
    let Some(cluster) = Cluster::of_the_rig() else { return };
    let kind = &c5c3_api::eviction::KIND;
    let installed = Installed::new(&cluster, kind);
    let spec = |hypervisor: &str, reason: &str| json!({"hypervisor": hypervisor, "reason": reason});
    let typed = |spec: &Value| serde_json::from_value(spec.clone()).unwrap();
    for wrong in [spec("", "fan"), spec("node-1", ""), spec("", "")] {
        let errors = c5c3_api::eviction::validate(&typed(&wrong));
        cluster.must_refuse(
            &["create", "--dry-run=server", "-f", "-"],
            &installed.object(kind, &wrong),
            &errors,
        );
    }
    let old = spec("node-1", "fan");
    cluster.must(&["create", "-f", "-"], &installed.object(kind, &old));
    let replace = ["replace", "--dry-run=server", "-f", "-"];
    cluster.must(&replace, &installed.object(kind, &spec("node-1", "disk")));
    let moved = spec("node-2", "fan");
    let errors = c5c3_api::eviction::validate_update(&typed(&old), &typed(&moved));
    cluster.must_refuse(&replace, &installed.object(kind, &moved), &errors);
}
