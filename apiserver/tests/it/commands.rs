//! The commands as somebody at a terminal meets them.

use std::path::{Path, PathBuf};
use std::process::Output;

use c5c3_apiserver::simulation::write_configuration;
use fleet_simulator::model::Fault;
use tokio::process::Command;

use crate::fixture::Ground;

/// Runs the binary.
pub(crate) async fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_c5c3-apiserver"));
    command.args(arguments).kill_on_drop(true);
    let output = tokio::time::timeout(std::time::Duration::from_secs(120), command.output()).await;
    output.expect("the command did not end").unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn write(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("configuration.yaml");
    std::fs::write(&file, text).unwrap();
    file
}

#[tokio::test]
async fn a_bad_configuration_is_refused_with_file_line_and_field() {
    let folder = tempfile::tempdir().unwrap();
    let serving = "serving: {certificate: tls.crt, key: tls.key}\n";
    let cases = [
        ("kubernetes: {}\nrefresh:\n  countres: 5s\n", "countres", "line 4"),
        ("kubernetes: {}\nrefresh:\n  counters: soon\n", "counters", "line 4"),
        ("kubernetes: {}\nlisten: [\n", "", "line"),
        ("kubernetes: {}\nstandalone: {clientCa: ca.crt}\n", "standalone: give either", ""),
    ];
    for (rest, field, line) in cases {
        let file = write(folder.path(), &format!("{serving}{rest}"));
        for command in ["serve", "check"] {
            let output = run(&[command, "--config", file.to_str().unwrap()]).await;
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{message}");
            assert!(message.contains(file.to_str().unwrap()), "{message}");
            assert!(message.contains(field) && message.contains(line), "{rest}: {message}");
        }
    }
    let output = run(&["serve", "--config", "/none/such.yaml"]).await;
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("cannot read configuration /none/such.yaml"));
}

#[tokio::test(flavor = "multi_thread")]
async fn check_prints_what_every_source_says_and_fails_when_one_is_away() {
    let ground = Ground::new(2).await;
    let file = ground.path().join("configuration.yaml");
    write_configuration(file.clone(), &ground.configuration()).unwrap();
    let check =
        async |output: &str| run(&["check", "--config", file.to_str().unwrap(), "--output", output]).await;
    let output = check("table").await;
    let table = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{table}{}", text(&output.stderr));
    assert!(table.starts_with("HOST"), "{table}");
    assert_eq!(table.matches("Connected").count(), 2 * 4 + 2, "{table}");

    ground.fleet.host(1).unwrap().set_faults(|faults| faults.libvirt = Fault::Refuse);
    let output = check("json").await;
    assert_eq!(output.status.code(), Some(1));
    let rows: Vec<serde_json::Value> = serde_json::from_slice(&output.stdout).unwrap();
    let away: Vec<_> = rows.iter().filter(|row| row["state"] != "Connected").collect();
    assert_eq!(away.len(), 1, "{away:?}");
    assert_eq!((away[0]["host"].as_str(), away[0]["source"].as_str()), (Some("host-2"), Some("libvirt")));
    assert!(!away[0]["message"].as_str().unwrap().is_empty());
}

#[tokio::test]
async fn schema_prints_every_kind_in_both_forms() {
    for (form, kinds) in [("openapi", "/Hypervisor"), ("crd", "/items/0/spec/names/kind")] {
        let output = run(&["schema", "--form", form]).await;
        assert_eq!(output.status.code(), Some(0));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(document.pointer(kinds).is_some(), "{form}");
    }
}
