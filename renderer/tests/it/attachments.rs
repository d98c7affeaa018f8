//! Kinds of attachment: the list, the folders, the documentation, the samples and the checklist say the same.

use std::path::Path;

use c5c3_renderer::attachment_kinds;

use crate::sample::SAMPLES;

fn project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(project().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn every_kind_has_a_folder_and_every_folder_is_a_kind() {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(project().join("renderer/src/attachments")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            folders.push(entry.file_name().into_string().unwrap());
        }
    }
    folders.sort();
    let mut fields: Vec<&str> = attachment_kinds().iter().map(|kind| kind.field).collect();
    fields.sort_unstable();
    assert_eq!(folders, fields);
    for folder in folders {
        for file in ["mod.rs", "conventions.rs", "rules.rs"] {
            let path = format!("renderer/src/attachments/{folder}/{file}");
            assert!(read(&path).starts_with("//! "), "{path} says what it is for");
        }
    }
}

#[test]
fn every_kind_is_in_the_document_in_a_sample_and_in_the_documentation() {
    let reference = read("docs/reference/topology.md");
    let (_, sample) = SAMPLES[2];
    for kind in attachment_kinds() {
        assert!(
            reference.contains(&format!("## `spec.controlPlanes.{}`", kind.field)),
            "reference of {}",
            kind.field
        );
        assert!(sample.contains(&format!("\n      {}:", kind.field)), "sample of {}", kind.field);
        let guide = read(&format!("docs/how-to/{}", kind.guide));
        assert!(guide.contains("$ c5c3-renderer"), "{} shows what was run", kind.guide);
        let golden = project().join("renderer/samples/five-clusters/rendered");
        assert!(
            tree_contains(&golden, &format!("kind: \"{}\"", kind.resource)),
            "{} renders no {}",
            kind.field,
            kind.resource
        );
    }
}

/// The checklist names each place that a new kind touches; these are the places that the other tests here look at.
#[test]
fn the_checklist_names_every_place() {
    let page = read("docs/how-to/add-an-attachment.md");
    let places = [
        "api/src/topology/",
        "renderer/src/attachments/",
        "conventions.rs",
        "rules.rs",
        "mod.rs",
        "attachment_kinds",
        "renderer/samples/five-clusters",
        "UPDATE_GOLDEN=1",
        "renderer/tests/it/rules.rs",
        "docs/how-to/attach-a-",
        "clusters()",
    ];
    for place in places {
        assert!(page.contains(place), "the checklist does not name {place}");
    }
    for kind in attachment_kinds() {
        assert!(page.contains(&format!("`{}`", kind.field)), "the checklist does not list {}", kind.field);
    }
}

fn tree_contains(folder: &Path, needle: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tree_contains(&path, needle)
        } else {
            std::fs::read_to_string(&path).unwrap().contains(needle)
        }
    })
}
