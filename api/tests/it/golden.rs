//! What is generated from the kinds is committed, and this says when it no longer fits.

use std::path::{Path, PathBuf};

use c5c3_api::schema::{custom_resource_definition, schema};

const HINT: &str = "run `UPDATE_REFERENCE=1 cargo test -p c5c3-api` and commit what changes";

fn check(path: &Path, generated: &str) {
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, generated).unwrap();
        return;
    }
    let committed =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}: {HINT}", path.display()));
    let differs = committed.lines().zip(generated.lines()).position(|(one, other)| one != other);
    let line = differs.unwrap_or_else(|| committed.lines().count().min(generated.lines().count())) + 1;
    assert!(committed == generated, "{} is out of date from line {line} on: {HINT}", path.display());
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    for kind in c5c3_api::kinds() {
        let folder = repository().join("api/schema");
        let pretty = |value| serde_json::to_string_pretty(&value).unwrap() + "\n";
        check(&folder.join(format!("{}.openapi.json", kind.singular)), &pretty(schema(kind)));
        check(&folder.join(format!("{}.crd.json", kind.singular)), &pretty(custom_resource_definition(kind)));
    }
}

#[test]
fn the_committed_reference_pages_are_those_of_the_kinds() {
    for kind in c5c3_api::kinds() {
        let file = repository().join(format!("docs/reference/{}.md", kind.singular));
        check(&file, &c5c3_api::reference::page(kind));
    }
}
