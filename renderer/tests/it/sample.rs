//! The sample: its rendered tree is kept beside it, file for file, and every object fits upstream's schemas.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use c5c3_renderer::{FIRST_LIGHT, ResourceSchemas, Source, Templates, render_topology};

/// Every sample: the smallest that is useful, a lab on one cluster, and the whole picture twice.
pub(crate) const SAMPLES: [(&str, &str); 3] = [
    ("first-light", FIRST_LIGHT),
    ("single-cluster-lab", include_str!("../../samples/single-cluster-lab/topology.yaml")),
    ("five-clusters", include_str!("../../samples/five-clusters/topology.yaml")),
];

fn rendered(text: &str) -> BTreeMap<String, String> {
    let templates = Templates::built_in().unwrap();
    let source = Source::new("topology.yaml", text);
    let (_, rendered) = render_topology(&[source], &templates, None).unwrap_or_else(|error| {
        panic!("{error}: {:?}", std::error::Error::source(&error).map(ToString::to_string))
    });
    rendered.files.into_iter().map(|(path, file)| (path, file.text)).collect()
}

fn golden_folder(sample: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples").join(sample).join("rendered")
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

/// `UPDATE_GOLDEN=1 cargo test` writes the trees anew.
#[test]
fn the_rendered_tree_of_each_sample_is_the_one_beside_it() {
    for (sample, text) in SAMPLES {
        let rendered = rendered(text);
        let folder = golden_folder(sample);
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
        assert_eq!(names(&rendered), names(&golden), "{sample}");
        for (path, text) in &rendered {
            assert_eq!(text, &golden[path], "{sample}: {path}");
        }
    }
}

#[test]
fn rendering_again_gives_the_same_bytes_also_when_the_document_is_in_several_files_or_another_order() {
    for (sample, text) in SAMPLES {
        assert_eq!(rendered(text), rendered(text), "{sample}");
        // JSON with sorted keys is the same document in another order.
        let document: serde_json::Value = serde_saphyr::from_str(text).unwrap();
        assert_eq!(rendered(&document.to_string()), rendered(text), "{sample}");
    }
}

#[test]
fn a_folder_per_cluster_has_a_readme_without_values() {
    let files = rendered(SAMPLES[2].1);
    for cluster in ["management", "compute-a1", "storage-a1", "network-b1"] {
        let page = &files[&format!("clusters/{cluster}/README.md")];
        assert!(page.contains("## Order") && page.contains("## Objects"), "{page}");
    }
    let page = &files["clusters/compute-b1/README.md"];
    assert!(
        page.contains("| 50000-50063/tcp |")
            && page.contains("| `hypervisor-system/nova-hypervisor-agents-ca` | `tls.key` |"),
        "{page}"
    );
    assert!(files["clusters/network-b1/README.md"].contains("30641-30643/tcp"), "where OVN lives");
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
fn every_object_of_the_samples_fits_the_schema_of_its_kind() {
    let Some(schemas) = upstream_schemas() else {
        return;
    };
    let mut checked = 0;
    let files = SAMPLES.into_iter().flat_map(|(_, text)| rendered(text));
    for (path, text) in files.filter(|(path, _)| path.ends_with(".yaml")) {
        let object: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        let version = object["apiVersion"].as_str().unwrap();
        match schemas.check(&object) {
            Some(violations) => {
                assert!(violations.is_empty(), "{path}: {violations:#?}");
                checked += 1;
            }
            // Kubernetes' own kinds, kustomize's files, and what the facts hold no definition of.
            None => assert!(
                [
                    "v1",
                    "apps/v1",
                    "admissionregistration.k8s.io/v1",
                    "kustomize.config.k8s.io/v1beta1",
                    "monitoring.coreos.com/v1",
                    "notification.toolkit.fluxcd.io/v1beta3",
                ]
                .contains(&version),
                "{path}: no schema"
            ),
        }
    }
    assert!(checked > 150, "only {checked} objects were checked");
}
