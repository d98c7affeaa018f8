//! Git: only ours is touched, only what changed is written, and nothing is lost.

use std::path::{Path, PathBuf};
use std::time::Duration;

use c5c3_renderer::git::{Author, EditedFiles};
use c5c3_renderer::{
    CommitOptions, Credentials, GitError, Location, Outcome, Provenance, Rendered, commit, diff,
};
use git2::{Oid, Repository, Signature};
use serde_json::json;

use crate::fixture::{edited, load_value, rendered, sample};

pub(crate) const OVN: &str = "clusters/management/control-planes/cp-a/ovn/ovn-central.yaml";

pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn bare(&self) -> PathBuf {
        self.folder.path().join("topology.git")
    }

    pub(crate) fn repository(&self) -> Repository {
        Repository::open_bare(self.bare()).unwrap()
    }

    fn location(&self) -> Location {
        Location::Directory(self.bare())
    }

    pub(crate) fn commit(&self, rendered: &Rendered) -> Result<Outcome, GitError> {
        self.commit_with(rendered, &CommitOptions::default())
    }

    pub(crate) fn commit_with(
        &self,
        rendered: &Rendered,
        options: &CommitOptions,
    ) -> Result<Outcome, GitError> {
        commit(rendered, &provenance(), &self.location(), &Credentials::default(), options)
    }

    pub(crate) fn tip(&self) -> Oid {
        self.repository().refname_to_id("refs/heads/main").unwrap()
    }

    /// Somebody else's commit: files written (`Some`) or removed (`None`), with modes.
    pub(crate) fn others_commit(&self, files: &[(&str, Option<&str>, i32)]) -> Oid {
        others_commit(&self.repository(), files)
    }

    fn entry(&self, path: &str) -> Option<(Oid, i32)> {
        let repository = self.repository();
        let tree = repository.find_commit(self.tip()).unwrap().tree().unwrap();
        tree.get_path(Path::new(path)).ok().map(|entry| (entry.id(), entry.filemode()))
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        let (id, _) = self.entry(path)?;
        Some(String::from_utf8(self.repository().find_blob(id).unwrap().content().to_vec()).unwrap())
    }

    pub(crate) fn diff(&self, rendered: &Rendered, options: &CommitOptions) -> c5c3_renderer::Diff {
        diff(rendered, &self.location(), &Credentials::default(), options).unwrap()
    }

    /// Takes something away to the end, as if Flux followed at once.
    pub(crate) fn remove(&self, smaller: &Rendered, accepted_removals: usize) {
        let observed = Some(c5c3_renderer::Observed::nothing());
        let mut options = CommitOptions { accepted_removals, observed, ..CommitOptions::default() };
        for _ in 0..10 {
            let outcome = self.commit_with(smaller, &options).unwrap();
            options.accepted_removals = 0;
            let (Outcome::Committed { leaving, .. } | Outcome::Unchanged { leaving, .. }) = outcome;
            if leaving.is_empty() {
                return;
            }
        }
        panic!("something never leaves");
    }

    fn objects(&self) -> usize {
        let mut count = 0;
        self.repository()
            .odb()
            .unwrap()
            .foreach(|_| {
                count += 1;
                true
            })
            .unwrap();
        count
    }
}

/// The sample with its network cluster on the way out.
fn draining() -> Rendered {
    rendered(&edited(&[("/spec/controlPlanes/0/network/0/lifecycle", json!("Draining"))]))
}

pub(crate) fn provenance() -> Provenance {
    Provenance::of(&load_value(&sample()).unwrap().topology)
}

pub(crate) fn others_commit(repository: &Repository, files: &[(&str, Option<&str>, i32)]) -> Oid {
    try_others_commit(repository, files).unwrap()
}

/// Fails when somebody else is faster.
fn try_others_commit(
    repository: &Repository,
    files: &[(&str, Option<&str>, i32)],
) -> Result<Oid, git2::Error> {
    let tip = repository.refname_to_id("refs/heads/main").ok();
    let parent = tip.map(|tip| repository.find_commit(tip).unwrap());
    let mut update = git2::build::TreeUpdateBuilder::new();
    for (path, text, mode) in files {
        match text {
            Some(commit) if *mode == 0o160_000 => {
                update.upsert(*path, Oid::from_str(commit).unwrap(), git2::FileMode::Commit);
            }
            Some(text) => {
                let mode = match mode {
                    0o100_755 => git2::FileMode::BlobExecutable,
                    0o120_000 => git2::FileMode::Link,
                    _ => git2::FileMode::Blob,
                };
                update.upsert(*path, repository.blob(text.as_bytes()).unwrap(), mode);
            }
            None => {
                update.remove(*path);
            }
        }
    }
    let base = match &parent {
        Some(parent) => parent.tree().unwrap(),
        None => {
            let empty = repository.treebuilder(None).unwrap().write().unwrap();
            repository.find_tree(empty).unwrap()
        }
    };
    let tree = repository.find_tree(update.create_updated(repository, &base).unwrap()).unwrap();
    let who = Signature::now("somebody", "somebody@example.org").unwrap();
    let parents: Vec<_> = parent.iter().collect();
    repository.commit(Some("refs/heads/main"), &who, &who, "Somebody was here", &tree, &parents)
}

#[test]
fn an_empty_repository_is_made_and_filled() {
    let bench = Bench::new();
    let files = rendered(&sample());
    let Outcome::Committed { added, changed, removed, lost_races, .. } = bench.commit(&files).unwrap() else {
        panic!("nothing was committed");
    };
    assert_eq!((added, changed, removed, lost_races), (files.files.len(), 0, 0, 0));
    let repository = bench.repository();
    let commit = repository.find_commit(bench.tip()).unwrap();
    assert_eq!(commit.parent_count(), 0);
    assert!(commit.message().unwrap().contains(&format!("Topology-Digest: {}\n", provenance().digest)));
    assert!(commit.message().unwrap().contains("Rendered-By: c5c3-renderer 0."));
    for (path, file) in &files.files {
        assert_eq!(bench.text(path).as_ref(), Some(&file.text), "{path}");
    }
}

#[test]
fn an_unchanged_topology_makes_no_commit_and_no_object() {
    let bench = Bench::new();
    bench.commit(&rendered(&sample())).unwrap();
    let (tip, objects) = (bench.tip(), bench.objects());
    for _ in 0..50 {
        assert_eq!(
            bench.commit(&rendered(&sample())).unwrap(),
            Outcome::Unchanged { commit: tip.to_string(), leaving: Default::default() }
        );
    }
    assert_eq!((bench.tip(), bench.objects()), (tip, objects));
}

#[test]
fn one_changed_file_writes_one_blob_and_the_folders_above_it() {
    let bench = Bench::new();
    bench.commit(&rendered(&sample())).unwrap();
    let objects = bench.objects();
    let change = edited(&[("/spec/controlPlanes/0/physicalNetworkMtu", json!(9000))]);
    bench.commit(&rendered(&change)).unwrap();
    // The file and six folders, the manifest and its folder, the root, the commit.
    assert_eq!(bench.objects() - objects, 1 + 5 + 1 + 1 + 1 + 1);
}

#[test]
fn what_is_not_ours_keeps_its_bytes_and_its_mode() {
    let bench = Bench::new();
    Repository::init_bare(bench.bare()).unwrap();
    let submodule = "0123456789012345678901234567890123456789";
    let others = [
        ("README.md", "Hello\r\n", 0o100_644),
        (".gitlab-ci.yml", "ours: no", 0o100_644),
        ("clusters/management/HUMAN.yaml", "a: b", 0o100_644),
        ("clusters/management/flux/human.sh", "#!/bin/sh", 0o100_755),
        ("clusters/link", "management", 0o120_000),
        ("clusters/module", submodule, 0o160_000),
    ];
    bench.others_commit(&others.map(|(path, text, mode)| (path, Some(text), mode)));
    let before: Vec<_> = others.iter().map(|(path, _, _)| bench.entry(path).unwrap()).collect();
    bench.commit(&draining()).unwrap();
    bench.remove(&rendered(&edited(&[("/spec/controlPlanes/0/network", json!(null))])), 4);
    let after: Vec<_> = others.iter().map(|(path, _, _)| bench.entry(path).unwrap()).collect();
    assert_eq!(before, after);
    assert!(bench.entry("clusters/management/attachments/network-a1").is_none());
}

#[test]
fn somebody_elses_file_where_ours_must_go_is_an_error_that_names_it() {
    for (path, mode) in [(OVN, 0o100_644), ("clusters/management", 0o120_000), (OVN, 0o100_755)] {
        let bench = Bench::new();
        Repository::init_bare(bench.bare()).unwrap();
        let tip = bench.others_commit(&[(path, Some("x"), mode)]);
        let error = bench.commit(&rendered(&sample())).unwrap_err();
        assert!(
            matches!(&error, GitError::Foreign { paths } if paths.contains(&OVN.to_owned())),
            "{path}: {error}"
        );
        assert_eq!(bench.tip(), tip);
    }
}

#[test]
fn a_file_that_already_holds_what_we_render_is_adopted() {
    let bench = Bench::new();
    Repository::init_bare(bench.bare()).unwrap();
    let files = rendered(&sample());
    bench.others_commit(&[(OVN, Some(&files.files[OVN].text), 0o100_644)]);
    bench.commit(&files).unwrap();
    assert!(bench.text(".c5c3-renderer/first-light.json").unwrap().contains(OVN));
}

#[test]
fn an_edited_file_stops_the_commit_unless_it_may_be_overwritten() {
    let bench = Bench::new();
    bench.commit(&rendered(&sample())).unwrap();
    let tip = bench.others_commit(&[(OVN, Some("edited: true\n"), 0o100_644)]);
    let error = bench.commit(&rendered(&sample())).unwrap_err();
    assert!(matches!(&error, GitError::Edited { paths } if paths == &[OVN.to_owned()]), "{error}");
    assert_eq!(bench.tip(), tip);
    let options = CommitOptions { edited: EditedFiles::Overwrite, ..CommitOptions::default() };
    bench.commit_with(&rendered(&sample()), &options).unwrap();
    assert_eq!(bench.text(OVN).unwrap(), rendered(&sample()).files[OVN].text);
}

#[test]
fn an_edited_file_that_would_be_removed_stops_the_commit_too() {
    let bench = Bench::new();
    bench.commit(&draining()).unwrap();
    bench.others_commit(&[(
        "clusters/management/flux/network-a1-chassis.yaml",
        Some("edited: true\n"),
        0o100_644,
    )]);
    let smaller = edited(&[("/spec/controlPlanes/0/network", json!(null))]);
    let observed = Some(c5c3_renderer::Observed::nothing());
    let options = CommitOptions { accepted_removals: 4, observed, ..CommitOptions::default() };
    assert!(matches!(bench.commit_with(&rendered(&smaller), &options), Err(GitError::Edited { .. })));
}

#[test]
fn a_file_of_ours_that_somebody_deleted_comes_back() {
    let bench = Bench::new();
    bench.commit(&rendered(&sample())).unwrap();
    bench.others_commit(&[(OVN, None, 0), ("humans/notes.yaml", Some("note"), 0o100_644)]);
    let outcome = bench.commit(&rendered(&sample())).unwrap();
    assert!(matches!(outcome, Outcome::Committed { added: 1, changed: 0, removed: 0, .. }), "{outcome:?}");
    assert_eq!(bench.text("humans/notes.yaml").unwrap(), "note");
}

#[test]
fn a_garbled_manifest_stops_everything_and_a_lost_one_deletes_nothing() {
    let manifest = ".c5c3-renderer/first-light.json";
    let bench = Bench::new();
    bench.commit(&rendered(&sample())).unwrap();
    let good = bench.text(manifest).unwrap();
    bench.others_commit(&[(manifest, Some("{"), 0o100_644)]);
    assert!(matches!(bench.commit(&rendered(&sample())), Err(GitError::Manifest { .. })));
    bench.others_commit(&[(manifest, None, 0)]);
    let smaller = edited(&[("/spec/controlPlanes/0/network", json!(null))]);
    // Without the manifest every file that differs is somebody else's.
    assert!(matches!(bench.commit(&rendered(&smaller)), Err(GitError::Foreign { .. })));
    assert!(matches!(
        bench.commit(&rendered(&sample())),
        Ok(Outcome::Committed { added: 0, changed: 0, removed: 0, .. })
    ));
    assert_eq!(bench.text(manifest).unwrap(), good);
}

#[test]
fn layers_leave_only_in_the_number_that_was_accepted() {
    let bench = Bench::new();
    bench.commit(&draining()).unwrap();
    let smaller = rendered(&edited(&[("/spec/controlPlanes/0/network", json!(null))]));
    for accepted in [0, 3, 5] {
        let options = CommitOptions { accepted_removals: accepted, ..CommitOptions::default() };
        let error = bench.commit_with(&smaller, &options).unwrap_err();
        assert!(matches!(&error, GitError::Removals { layers, .. } if layers.len() == 4), "{error}");
    }
}

#[test]
fn a_diff_says_what_flux_deletes_and_what_it_leaves() {
    let bench = Bench::new();
    let lifecycle = ("/spec/controlPlanes/0/compute/0/lifecycle", json!("Draining"));
    bench
        .commit(&rendered(&edited(&[
            ("/spec/controlPlanes/0/network/0/lifecycle", json!("Draining")),
            lifecycle.clone(),
        ])))
        .unwrap();
    let smaller = rendered(&edited(&[
        ("/spec/controlPlanes/0/network", json!(null)),
        ("/spec/controlPlanes/0/compute/0/pools/0/name", json!("pool9")),
        ("/spec/controlPlanes/0/namespace", json!("cp-a")),
        lifecycle,
    ]));
    let observed = Some(c5c3_renderer::Observed::nothing());
    let found = bench.diff(&smaller, &CommitOptions { observed, ..CommitOptions::default() });
    assert_eq!(found.removed_layers, ["network-a1-chassis"], "{found}");
    assert_eq!(found.leaving.len(), 3, "{found}");
    let names = |objects: &[c5c3_renderer::git::ObjectReference]| {
        objects.iter().map(|object| object.name.clone()).collect::<Vec<_>>()
    };
    for name in ["compute-a1-pool1", "network-a1-chassis"] {
        assert!(names(&found.pruned).contains(&name.to_owned()), "{found}");
    }
    assert_eq!(names(&found.left_behind), [] as [&str; 0], "{found}");
    let management = &found.clusters["management"];
    assert!(management.added.iter().any(|path| path.ends_with("pools/pool9.yaml")), "{found}");
    assert!(management.removed.iter().any(|path| path.ends_with("pools/pool1.yaml")), "{found}");
}

#[test]
fn author_and_time_are_as_told() {
    let bench = Bench::new();
    let author = Author { name: "Ops".to_owned(), email: "ops@example.org".to_owned() };
    let provenance = Provenance { time: Some(1_700_000_000), ..provenance() };
    let options = CommitOptions { author, branch: "live".to_owned(), ..CommitOptions::default() };
    let files = rendered(&sample());
    commit(&files, &provenance, &bench.location(), &Credentials::default(), &options).unwrap();
    let repository = bench.repository();
    let commit = repository.find_commit(repository.refname_to_id("refs/heads/live").unwrap()).unwrap();
    assert_eq!(commit.author().name().ok(), Some("Ops"));
    assert_eq!(commit.committer().when().seconds(), 1_700_000_000);
}

#[test]
fn two_writers_at_once_both_get_in() {
    let bench = Bench::new();
    bench.commit(&rendered(&sample())).unwrap();
    let path = bench.bare();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let other = {
        let stop = std::sync::Arc::clone(&stop);
        std::thread::spawn(move || {
            let repository = Repository::open_bare(path).unwrap();
            let mut mine = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) && mine < 200 {
                let name = format!("humans/{mine}.txt");
                let files = [(name.as_str(), Some("x"), 0o100_644)];
                // Losing to the renderer is this writer's own business.
                if try_others_commit(&repository, &files).is_ok() {
                    mine += 1;
                }
            }
            mine
        })
    };
    for size in 2..10 {
        let change = edited(&[("/spec/controlPlanes/0/physicalNetworkMtu", json!(size * 1000))]);
        let options =
            CommitOptions { attempts: 100, deadline: Duration::from_secs(60), ..CommitOptions::default() };
        assert!(matches!(
            bench.commit_with(&rendered(&change), &options).unwrap(),
            Outcome::Committed { .. }
        ));
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let theirs = other.join().unwrap();
    let repository = bench.repository();
    let mut walk = repository.revwalk().unwrap();
    walk.push(bench.tip()).unwrap();
    assert_eq!(walk.count(), 1 + 8 + theirs, "the history is one line that holds every commit");
    let path = "clusters/management/control-planes/cp-a/control-plane/control-plane.yaml";
    assert!(bench.text(path).unwrap().contains("\"9000\""));
    assert!((0..theirs).all(|index| bench.entry(&format!("humans/{index}.txt")).is_some()));
}
