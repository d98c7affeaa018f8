//! The command: exit codes, messages, JSON.

use std::path::Path;

use assert_cmd::Command;
use c5c3_renderer::FIRST_LIGHT;
use serde_json::Value;

pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new(topology: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("topology.yaml"), topology).unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::cargo_bin("c5c3-renderer").unwrap();
        let output = command.current_dir(self.path()).args(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    }
}

#[test]
fn validate_says_valid_and_exits_0() {
    let bench = Bench::new(FIRST_LIGHT);
    assert_eq!(
        bench.run(&["validate", "topology.yaml"]),
        (0, "first-light is valid\n".to_owned(), String::new())
    );
}

#[test]
fn bad_input_exits_2_and_names_file_line_and_field() {
    let bench = Bench::new(&FIRST_LIGHT.replace("cpuMode:", "cpuModus:"));
    let (code, out, err) = bench.run(&["validate", "topology.yaml"]);
    assert_eq!((code, out.as_str()), (2, ""));
    let place =
        "topology.yaml:16:15: error[field-unknown]: spec.controlPlanes[0].compute[0].pools[0].cpuModus";
    assert!(err.contains(place) && err.contains("did you mean `cpuMod"), "{err}");

    let (code, out, _) = bench.run(&["--output", "json", "validate", "topology.yaml"]);
    let failure: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 2);
    assert_eq!(failure["findings"][0]["rule"], "field-unknown");
    assert_eq!(failure["findings"][0]["position"]["line"], 16);
}

#[test]
fn usage_errors_and_missing_files_exit_2() {
    let bench = Bench::new(FIRST_LIGHT);
    assert_eq!(bench.run(&["validate"]).0, 2);
    assert_eq!(bench.run(&["frobnicate"]).0, 2);
    let (code, _, err) = bench.run(&["validate", "nowhere.yaml"]);
    assert!(code == 2 && err.contains("nowhere.yaml"), "{err}");
    let (code, _, err) = bench.run(&["commit", "topology.yaml", "--repository", "x.git", "--branch", "a..b"]);
    assert!(code == 2 && err.contains("cannot be a branch"), "{err}");
    let (code, _, err) = bench.run(&["render", "topology.yaml", "--schemas", "nowhere"]);
    assert!(code == 2 && err.contains("nowhere"), "{err}");
}

#[test]
fn render_prints_or_writes_the_same_files() {
    let bench = Bench::new(FIRST_LIGHT);
    let (code, out, _) = bench.run(&["render", "topology.yaml"]);
    assert_eq!(code, 0);
    assert!(out.contains("# File: clusters/management/kustomization.yaml\n"));
    let (code, out, _) = bench.run(&["render", "topology.yaml", "--folder", "out"]);
    assert!(code == 0 && out.ends_with("files written to out\n"), "{out}");
    let (code, out, _) = bench.run(&["render", "topology.yaml", "--output", "json"]);
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 0);
    for (path, text) in document["files"].as_object().unwrap() {
        assert_eq!(
            std::fs::read_to_string(bench.path().join("out").join(path)).unwrap(),
            text.as_str().unwrap()
        );
    }
}

#[test]
fn diff_commit_and_nothing_to_commit() {
    let bench = Bench::new(FIRST_LIGHT);
    let repository = ["topology.yaml", "--repository", "topology.git"];
    let (code, out, _) = bench.run(&[&["diff"][..], &repository].concat());
    assert!(code == 0 && out.contains("+ clusters/management/flux/cp-a-ovn.yaml"), "{out}");
    let (code, out, _) = bench.run(&[&["commit"][..], &repository].concat());
    assert!(code == 0 && out.starts_with("committed ") && out.contains(" 0 changed, 0 removed"), "{out}");
    let (code, out, _) = bench.run(&[&["commit"][..], &repository].concat());
    assert!(code == 0 && out.starts_with("nothing to commit"), "{out}");
    let (code, out, _) = bench.run(&[&["diff"][..], &repository].concat());
    assert_eq!((code, out.as_str()), (0, "no difference\n"));
    let (code, out, _) = bench.run(&[&["commit", "--output", "json"][..], &repository].concat());
    let outcome: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, outcome["outcome"].as_str()), (0, Some("unchanged")));
}

#[test]
fn a_removal_is_declared_accepted_and_then_staged() {
    let bench = Bench::new(FIRST_LIGHT);
    let commit = ["commit", "topology.yaml", "--repository", "topology.git"];
    assert_eq!(bench.run(&commit).0, 0);
    let without_network: String = FIRST_LIGHT
        .lines()
        .take_while(|line| !line.contains("network:"))
        .map(|line| format!("{line}\n"))
        .collect();
    let write = |text: &str| std::fs::write(bench.path().join("topology.yaml"), text).unwrap();
    write(&without_network);
    let (code, _, err) = bench.run(&commit);
    assert!(code == 2 && err.contains("error[drain-first]") && err.contains("lifecycle: Draining"), "{err}");

    write(&FIRST_LIGHT.replace("- name: network-a1", "- name: network-a1\n          lifecycle: Draining"));
    assert_eq!(bench.run(&commit).0, 0);
    write(&without_network);
    let (code, _, err) = bench.run(&commit);
    assert!(code == 1 && err.contains("network-a1-chassis") && err.contains("--accept-removals"), "{err}");
    let (code, out, _) = bench.run(&["diff", "topology.yaml", "--repository", "topology.git"]);
    assert!(code == 0 && out.contains("commit with --accept-removals 4"), "{out}");
    let (code, out, err) = bench.run(&[&commit[..], &["--accept-removals", "4"]].concat());
    assert!(code == 0 && out.contains("still to leave: network-a1-access"), "{out}{err}");

    std::fs::write(bench.path().join("flux.json"), r#"{"kind": "List", "items": []}"#).unwrap();
    for last in [false, false, false, true] {
        let (code, out, err) = bench.run(&[&commit[..], &["--observed", "flux.json"]].concat());
        assert!(code == 0 && out.contains("still to leave") != last, "{out}{err}");
    }
    std::fs::write(bench.path().join("flux.json"), r#"{"kind": "List", "ite"#).unwrap();
    let (code, _, err) = bench.run(&[&commit[..], &["--observed", "flux.json"]].concat());
    assert!(code == 2 && err.contains("kubectl get kustomizations"), "{err}");
}

#[test]
fn completion_and_manual_know_every_command() {
    let bench = Bench::new(FIRST_LIGHT);
    for command in [["completion", "bash"], ["completion", "zsh"], ["man", "--output=text"]] {
        let (code, out, err) = bench.run(&command);
        assert_eq!(code, 0, "{err}");
        for name in ["validate", "render", "diff", "commit", "graph", "explain", "schema", "accept"] {
            assert!(out.contains(name), "{command:?} lacks {name}");
        }
    }
}

#[test]
fn explain_says_what_stands_there_and_where_it_came_from() {
    let bench = Bench::new(FIRST_LIGHT);
    let (code, out, _) = bench.run(&["explain", "spec.controlPlanes[0].domain", "topology.yaml"]);
    assert!(code == 0 && out.contains("here: \"a.example.org\", written at topology.yaml:11:15"), "{out}");
    let (code, out, _) = bench.run(&["explain", "spec.controlPlanes[0].region", "topology.yaml"]);
    assert!(
        code == 0
            && out.contains("Default: `RegionOne`")
            && out.contains("here: not written below topology.yaml:9:7"),
        "{out}"
    );
    let (code, out, _) = bench.run(&["explain", "drain-first"]);
    assert!(code == 0 && out.contains("Why: ") && out.contains("Mend: "), "{out}");
}

#[test]
fn an_address_without_its_protocol_or_server_fails_without_showing_a_password() {
    let bench = Bench::new(FIRST_LIGHT);
    if cfg!(not(feature = "https")) {
        let (code, _, err) =
            bench.run(&["commit", "topology.yaml", "--repository", "https://u:hunter2@127.0.0.1:1/x.git"]);
        assert!(code == 2 && err.contains("`https`") && !err.contains("hunter2"), "{err}");
    }
    let (code, _, err) = bench.run(&[
        "commit",
        "topology.yaml",
        "--cache",
        "cache",
        "--repository",
        "http://u:hunter2@127.0.0.1:1/x.git",
    ]);
    assert!(code == 1 && err.contains("http://127.0.0.1:1/x.git") && !err.contains("hunter2"), "{err}");
}

#[test]
fn schema_rules_and_explain_answer() {
    let bench = Bench::new(FIRST_LIGHT);
    let (code, out, _) = bench.run(&["schema"]);
    let schema: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, schema["type"].as_str()), (0, Some("object")));
    assert!(bench.run(&["rules"]).1.contains("node-port-overlap"));
    let (code, out, _) = bench.run(&["explain", "spec.controlPlanes.compute.pools.updateStrategy"]);
    assert!(code == 0 && out.contains("Default: `OnDelete`"), "{out}");
    let (code, out, _) = bench.run(&["explain", "pool-overlap"]);
    assert!(code == 0 && out.contains("No node is in two pools."), "{out}");
    assert_eq!(bench.run(&["explain", "spec.nowhere"]).0, 2);
}
