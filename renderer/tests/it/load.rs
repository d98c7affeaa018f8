//! Loading: positions, strictness, several files, and no panic whatever comes.

use c5c3_renderer::{FIRST_LIGHT, Findings, Loaded, Source, load, validate};
use proptest::prelude::*;

fn one(text: &str) -> Result<Loaded, Findings> {
    load(&[Source::new("t.yaml", text)])
}

fn lines(text: &str) -> Vec<String> {
    one(text)
        .unwrap_err()
        .0
        .iter()
        .map(|finding| finding.to_string().lines().next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_sample_loads_and_is_valid() {
    let loaded = one(FIRST_LIGHT).unwrap();
    validate(&loaded).unwrap();
    let position = loaded.position("spec.controlPlanes[0].compute[0].pools[0].cpuMode").unwrap();
    assert_eq!(position.to_string(), "t.yaml:16:24");
    // A field that is not written is shown where the block is that it would be in.
    let position = loaded.position("spec.controlPlanes[0].ovn.northbound.storage").unwrap();
    assert_eq!(position.to_string(), "t.yaml:9:7");
}

#[test]
fn every_mistake_of_shape_is_found_at_once_with_its_place() {
    let text = "\
apiVersion: topology.c5c3.io/v1alpha1
kind: Topology
metadata:
  name: lab
spec:
  controlPlanes:
    - name: cp-a
      release: 2025.2
      domian: a.example.org
      sizing: Huge
      messaging: {tls: yes}
      compute:
        - name: c1
";
    assert_eq!(
        lines(text),
        [
            "t.yaml:7:7: error[field-missing]: spec.controlPlanes[0]: `domain` is required",
            "t.yaml:8:16: error[field-type]: spec.controlPlanes[0].release: must be a string, not number",
            "t.yaml:9:7: error[field-unknown]: spec.controlPlanes[0].domian: there is no such field",
            "t.yaml:10:15: error[field-enum]: spec.controlPlanes[0].sizing: must be one of `Minimal`, `Standard`",
            "t.yaml:11:24: error[field-type]: spec.controlPlanes[0].messaging.tls: must be a boolean, not string",
            "t.yaml:13:11: error[field-missing]: spec.controlPlanes[0].compute[0]: `pools` is required",
        ]
    );
    let hints: Vec<_> = one(text).unwrap_err().0.into_iter().filter_map(|finding| finding.hint).collect();
    assert!(hints.contains(&"did you mean `domain`?".to_owned()), "{hints:?}");
    assert!(hints.contains(&"put the value in double quotes".to_owned()), "{hints:?}");
}

#[test]
fn broken_yaml_names_the_place() {
    let found = lines("apiVersion: a\nkind: [b\nmetadata: {}\n");
    assert!(found[0].starts_with("t.yaml:") && found[0].contains("error[yaml-syntax]"), "{found:?}");
}

#[test]
fn a_key_that_is_written_twice_is_refused() {
    let found = lines("apiVersion: a\napiVersion: b\n");
    assert!(found[0].starts_with("t.yaml:2:"), "{found:?}");
}

#[test]
fn nothing_is_no_topology() {
    assert_eq!(
        lines("# nothing\n"),
        ["t.yaml:1:1: error[document-present]: (document): there is no topology document"]
    );
}

#[test]
fn two_files_are_one_topology() {
    let other = "\
apiVersion: topology.c5c3.io/v1alpha1
kind: Topology
metadata: {name: first-light}
spec:
  management: {name: hub}
  controlPlanes:
    - {name: cp-b, release: '2025.2', domain: UPPER}
";
    let loaded = load(&[Source::new("a.yaml", FIRST_LIGHT), Source::new("b.yaml", other)]).unwrap();
    assert_eq!(loaded.topology.spec.control_planes.len(), 2);
    let findings = validate(&loaded).unwrap_err();
    assert!(
        findings.to_string().starts_with("b.yaml:7:47: error[host-format]: spec.controlPlanes[1].domain"),
        "{findings}"
    );

    let contradiction = other.replace("first-light", "second-light");
    let findings =
        load(&[Source::new("a.yaml", FIRST_LIGHT), Source::new("b.yaml", contradiction)]).unwrap_err();
    assert!(
        findings.to_string().starts_with("b.yaml:3:18: error[document-merge]: metadata.name"),
        "{findings}"
    );
}

#[test]
fn an_anchor_is_allowed_and_a_bomb_is_not() {
    let anchored = FIRST_LIGHT.replace("physnet1", "&network physnet1").replace("br-ex", "*network");
    assert!(one(&anchored).is_ok());
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..9 {
        bomb.push_str(&format!(
            "a{level}: &a{level} [{}]\n",
            vec![format!("*a{}", level - 1); 10].join(", ")
        ));
    }
    assert!(one(&bomb).is_err());
}

#[test]
fn deep_nesting_is_an_error_and_not_a_crash() {
    let text = "[".repeat(100_000);
    assert!(one(&text).is_err());
    let text = format!("spec: {}{}", "{a: ".repeat(20_000), "}".repeat(20_000));
    assert!(one(&text).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_loader_panic(text in "\\PC{0,200}") {
        let _outcome = one(&text).and_then(|loaded| validate(&loaded));
    }

    #[test]
    fn no_change_of_the_sample_makes_it_panic(at in 0_usize..600, length in 0_usize..12, insert in "[\\PC\n]{0,12}") {
        let start = FIRST_LIGHT.char_indices().map(|(index, _)| index).nth(at % FIRST_LIGHT.len()).unwrap_or(0);
        let rest: String = FIRST_LIGHT[start..].chars().skip(length).collect();
        let text = format!("{}{insert}{rest}", &FIRST_LIGHT[..start]);
        let _outcome = one(&text).and_then(|loaded| validate(&loaded));
    }

    /// Whatever is accepted is rendered, and what is rendered passes verification: no value gets out of its scalar.
    #[test]
    fn whatever_is_accepted_is_rendered_and_verified(value in "[\\PC\n\t]{0,24}", field in 0_usize..5) {
        let pointer = [
            "/spec/controlPlanes/0/region", "/spec/controlPlanes/0/images/bucket", "/spec/controlPlanes/0/images/region",
            "/spec/controlPlanes/0/gateway/sectionName", "/spec/controlPlanes/0/compute/0/access/chartVersion",
        ][field];
        let document = crate::fixture::edited(&[(pointer, serde_json::json!(value))]);
        if crate::fixture::findings(&document).is_empty() {
            let plan = crate::fixture::planned(&document);
            let templates = c5c3_renderer::Templates::built_in().unwrap();
            let rendered = c5c3_renderer::render(&plan, &templates).unwrap();
            if let Err(findings) = c5c3_renderer::verify(&plan, &rendered, &templates, None) {
                prop_assert!(findings.0.iter().all(|finding| finding.rule == "secret-in-git"), "{}", findings);
            }
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let findings = Source::read(std::path::Path::new("nowhere/topology.yaml")).unwrap_err();
    assert!(findings.to_string().contains("error[file-readable]: nowhere/topology.yaml"), "{findings}");
}

#[test]
fn a_number_out_of_bounds_is_found() {
    let document = crate::fixture::edited(&[(
        "/spec/controlPlanes/0/ovn",
        serde_json::json!({ "relay": { "replicas": -1 } }),
    )]);
    let all = crate::fixture::findings(&document);
    assert!(all.iter().any(|finding| finding.rule == "field-bound"), "{all:?}");
}
