//! The demo, from its first line to its last.

use std::process::Command;

use crate::commands::{run, text};

#[tokio::test]
async fn the_demo_shows_its_tables_leaves_a_repository_and_nothing_that_runs() {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join("demo");
    let name = directory.to_str().unwrap();
    let output = run(&["demo", "--directory", name, "--run-for", "3s"]).await;
    let (said, log) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}{log}");
    for host in ["host-1", "host-2", "host-3"] {
        assert!(said.contains(host), "{said}");
    }
    assert!(said.contains("hypervisors") && said.contains("commit "), "{said}");
    assert!(!log.contains("Request completed"), "the log is for people: {log}");
    assert!(!log.contains("simulated\""), "no password: {log}");
    assert!(directory.join("kubeconfig").is_file());
    let repository = directory.join("topology.git");
    let git = Command::new("git").arg("-C").arg(&repository).args(["rev-list", "--count", "--all"]).output();
    assert_eq!(text(&git.unwrap().stdout).trim(), "1");
    let left = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        text(&command).contains(name)
    });
    assert_eq!(left.count(), 0, "a process is left");
}
