//! The sample: its rendered tree is kept beside it, file for file, and every object fits upstream's schemas.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use c5c3_renderer::{FIRST_LIGHT, ResourceSchemas, Source, Templates, render_topology};

fn rendered() -> BTreeMap<String, String> {
    let templates = Templates::built_in().unwrap();
    let source = Source::new("topology.yaml", FIRST_LIGHT);
    let (_, rendered) = render_topology(&[source], &templates, None).unwrap_or_else(|error| {
        panic!("{error}: {:?}", std::error::Error::source(&error).map(ToString::to_string))
    });
    rendered.files.into_iter().map(|(path, file)| (path, file.text)).collect()
}

fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/first-light/rendered")
}

fn read_folder(folder: &Path, prefix: &str, files: &mut BTreeMap<String, String>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            read_folder(&entry.path(), &format!("{name}/"), files);
        } else {
            files.insert(name, std::fs::read_to_string(entry.path()).unwrap());
        }
    }
}

/// `UPDATE_GOLDEN=1 cargo test` writes the tree anew.
#[test]
fn the_rendered_tree_of_the_sample_is_the_one_beside_it() {
    let rendered = rendered();
    let folder = golden_folder();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let _absent_at_first = std::fs::remove_dir_all(&folder);
        for (path, text) in &rendered {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }
    let mut golden = BTreeMap::new();
    read_folder(&folder, "", &mut golden);
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&rendered), names(&golden));
    for (path, text) in &rendered {
        assert_eq!(text, &golden[path], "{path}");
    }
}

#[test]
fn rendering_again_gives_the_same_bytes() {
    assert_eq!(rendered(), rendered());
}

/// Upstream's schemas, when the facts about them are there.
pub(crate) fn upstream_schemas() -> Option<ResourceSchemas> {
    let shared = std::env::var_os("C5C3_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let folder = shared.join("facts/upstream/crds");
    if !folder.is_dir() {
        println!("skipped: there is no folder {}", folder.display());
        return None;
    }
    Some(ResourceSchemas::read(&folder).unwrap())
}

#[test]
fn every_object_of_the_sample_fits_the_schema_of_its_kind() {
    let Some(schemas) = upstream_schemas() else {
        return;
    };
    let mut checked = 0;
    for (path, text) in rendered() {
        let object: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        let version = object["apiVersion"].as_str().unwrap();
        match schemas.check(&object) {
            Some(violations) => {
                assert!(violations.is_empty(), "{path}: {violations:#?}");
                checked += 1;
            }
            // Namespaces and kustomize's own files have no custom resource definition.
            None => assert!(
                version == "v1" || version.starts_with("kustomize.config.k8s.io/"),
                "{path}: no schema"
            ),
        }
    }
    assert!(checked > 30, "only {checked} objects were checked");
}
