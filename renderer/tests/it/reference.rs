//! The reference pages are what the types and the rules say, and nothing that a finding can name is without a page and a test.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use c5c3_renderer::{Stage, catalog, rule_index, rule_page};

fn reference() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference")
}

/// `UPDATE_GOLDEN=1 cargo test` writes the page anew.
#[test]
fn the_reference_page_is_generated_from_the_types() {
    let path = reference().join("topology.md");
    let page = c5c3_renderer::command::reference_page();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), page, "run with UPDATE_GOLDEN=1");
}

/// The same for the page of each rule; a page of a rule that is gone is an error too.
#[test]
fn every_rule_has_a_page_that_is_as_the_program_says() {
    let folder = reference().join("rules");
    let mut pages = BTreeMap::from([("README.md".to_owned(), rule_index())]);
    for entry in catalog() {
        let text = rule_page(&entry);
        assert!(
            !text.contains("**Why:** \n") && !text.contains("**Mend:** \n"),
            "{} has no reason or cure",
            entry.id
        );
        assert!(pages.insert(format!("{}.md", entry.id), text).is_none(), "{} is there twice", entry.id);
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let _absent_at_first = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in &pages {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        found.insert(
            path.file_name().unwrap().to_str().unwrap().to_owned(),
            std::fs::read_to_string(&path).unwrap(),
        );
    }
    assert_eq!(pages, found, "run with UPDATE_GOLDEN=1");
}

/// Rules of `validate` have tables of cases; those of the other steps are named by the tests that break them.
#[test]
fn every_identifier_is_broken_by_some_test() {
    let sources = [
        include_str!("load.rs"),
        include_str!("verify.rs"),
        include_str!("history.rs"),
        include_str!("command.rs"),
        include_str!("templates.rs"),
    ]
    .concat();
    let others = catalog().into_iter().filter(|entry| entry.stage != Stage::Validate);
    let untested: BTreeSet<&str> = others.map(|entry| entry.id).filter(|id| !sources.contains(id)).collect();
    assert!(untested.is_empty(), "no test breaks {untested:?}");
}
