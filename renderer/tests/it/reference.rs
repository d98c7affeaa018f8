//! The reference page is what the types say.

use std::path::Path;

/// `UPDATE_GOLDEN=1 cargo test` writes the page anew.
#[test]
fn the_reference_page_is_generated_from_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/topology.md");
    let page = c5c3_renderer::command::reference_page();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), page, "run with UPDATE_GOLDEN=1");
}
