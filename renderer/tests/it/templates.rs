//! Templates: a user's own replace built-in ones, and none can do more than arrange.

use std::path::Path;

use c5c3_renderer::{RenderError, Templates, render, verify};

use crate::fixture::{edited, planned, sample};

fn folder(name: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), text).unwrap();
    folder
}

fn render_with(folder: &Path) -> Result<c5c3_renderer::Rendered, RenderError> {
    render(&planned(&sample()), &Templates::with_folder(folder)?)
}

const CHASSIS: &str = include_str!("../../templates/ovn-chassis.yaml.j2");

#[test]
fn a_users_template_may_add_a_field() {
    let folder = folder("ovn-chassis.yaml.j2", &format!("{CHASSIS}  remoteProbeIntervalMs: 30000\n"));
    let templates = Templates::with_folder(folder.path()).unwrap();
    let plan = planned(&sample());
    let rendered = render(&plan, &templates).unwrap();
    verify(&plan, &rendered, &templates, None).unwrap();
    let path = "clusters/management/attachments/network-a1/chassis/ovn-chassis.yaml";
    assert!(rendered.files[path].text.contains("remoteProbeIntervalMs: 30000"));
}

#[test]
fn a_users_template_may_not_drop_or_change_one() {
    for (from, to) in
        [("  encapType: {{ object.spec.encapType }}\n", ""), ("{{ object.spec.encapType }}", "vxlan")]
    {
        let folder = folder("ovn-chassis.yaml.j2", &CHASSIS.replace(from, to));
        let templates = Templates::with_folder(folder.path()).unwrap();
        let plan = planned(&sample());
        let rendered = render(&plan, &templates).unwrap();
        let findings = verify(&plan, &rendered, &templates, None).unwrap_err();
        assert!(findings.to_string().contains("spec.encapType is not what was planned"), "{findings}");
    }
}

#[test]
fn what_is_missing_is_an_error_with_the_line_of_the_template() {
    let cases = [
        "{{ object.spec.nowhere }}",
        "{{ object.spec.nowhere.deeper }}",
        "{{ object.spec.encapType if false }}",
        "{{ none }}",
        "{{ object.spec }}",
        "{{ object.spec.nowhere | block(2) }}",
        "{{ object.spec.encapType | safe }}",
        "{{ object.spec.encapType | blok(2) }}",
        "{% for x in range(100000) %}{{ x }}{% endfor %}",
    ];
    for case in cases {
        let folder = folder("ovn-chassis.yaml.j2", &format!("# first\n{case}\n"));
        let error = render_with(folder.path()).unwrap_err();
        assert!(
            error.to_string().starts_with("topology.yaml:")
                && error.to_string().contains("ovn-chassis.yaml.j2:2: the template failed on OVNChassis"),
            "{case}: {error}"
        );
    }
}

#[test]
fn a_template_that_cannot_be_parsed_names_file_and_line() {
    let folder = folder("ovn-chassis.yaml.j2", "# first\n{% if %}\n");
    let error = render_with(folder.path()).unwrap_err();
    assert!(error.to_string().contains("ovn-chassis.yaml.j2:2: the template cannot be parsed"), "{error}");
}

#[test]
fn a_kind_may_get_a_template_of_its_own_and_parts_may_be_included() {
    let folder = folder("_note.j2", "# Ask the network team.\n");
    let text = format!("{{% include \"_note\" %}}\n{}", include_str!("../../templates/object.yaml.j2"));
    std::fs::write(folder.path().join("validating-admission-policy.yaml.j2"), text).unwrap();
    let templates = Templates::with_folder(folder.path()).unwrap();
    let plan = planned(&sample());
    let rendered = render(&plan, &templates).unwrap();
    verify(&plan, &rendered, &templates, None).unwrap();
    let path = "clusters/compute-a1/base/certificate-guard.yaml";
    assert!(
        rendered.files[path].text.starts_with("# Ask the network team."),
        "{}",
        rendered.files[path].text
    );
    let binding = "clusters/compute-a1/base/certificate-guard-binding.yaml";
    assert!(!rendered.files[binding].text.contains("Ask"), "another kind");
}

#[test]
fn a_file_that_replaces_nothing_is_refused() {
    let folder = folder("ovn-chasis.yaml.j2", CHASSIS);
    let error = render_with(folder.path()).unwrap_err();
    assert!(matches!(error, RenderError::UnknownTemplate { .. }), "{error}");
}

#[test]
fn a_value_is_never_a_template_and_never_leaves_its_scalar() {
    let values = [
        "{{ 7*7 }}",
        "x\nspec:\n  prune: true",
        "a: b # c",
        "---\nkind: ClusterRoleBinding",
        "on",
        "1e3",
        "${HOME}",
        "\u{2028}",
    ];
    let benign =
        crate::fixture::rendered(&edited(&[("/spec/controlPlanes/0/region", serde_json::json!("benign"))]));
    for value in values {
        let document = edited(&[("/spec/controlPlanes/0/region", serde_json::json!(value))]);
        let plan = planned(&document);
        let templates = Templates::built_in().unwrap();
        let rendered = render(&plan, &templates).unwrap();
        verify(&plan, &rendered, &templates, None).unwrap();
        assert_eq!(rendered.files.keys().collect::<Vec<_>>(), benign.files.keys().collect::<Vec<_>>());
        let path = "clusters/management/control-planes/cp-a/control-plane/control-plane.yaml";
        let object: serde_json::Value = serde_saphyr::from_str(&rendered.files[path].text).unwrap();
        assert_eq!(object["spec"]["region"], value);
        let annotation = &object["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/substitute"];
        assert_eq!(annotation.as_str(), value.contains("${").then_some("disabled"));
    }
}
