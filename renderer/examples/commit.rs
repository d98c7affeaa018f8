//! From a document in memory to a commit, twice: the second time there is nothing to do.
//!
//! `cargo run -p c5c3-renderer --example commit`

use c5c3_renderer::{CommitOptions, Credentials, FIRST_LIGHT, Location, Outcome, Source, publish};

/// Runs the example.
///
/// # Errors
/// Whatever a step finds.
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("c5c3-example-{}", std::process::id()));
    let location = Location::Directory(folder.join("topology.git"));
    let source = Source::new("topology.yaml", FIRST_LIGHT);
    for _ in 0..2 {
        let options = CommitOptions::default();
        match publish(std::slice::from_ref(&source), &location, &Credentials::default(), &options)? {
            Outcome::Committed { commit, added, .. } => println!("committed {commit}: {added} files"),
            Outcome::Unchanged { commit, .. } => println!("nothing to do, {commit} holds it all"),
        }
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
