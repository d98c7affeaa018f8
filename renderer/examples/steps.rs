//! Each step alone: load, validate, plan, render, verify. What every step gives can be looked at, changed, or thrown away.
//!
//! `cargo run -p c5c3-renderer --example steps`

use c5c3_renderer::{FIRST_LIGHT, Source, Templates, load, plan, render, validate, verify};

/// Runs the example.
///
/// # Errors
/// Whatever a step finds.
pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let loaded = load(&[Source::new("topology.yaml", FIRST_LIGHT)])?;
    println!("loaded {}", loaded.topology.metadata.name);

    let resolved = validate(&loaded)?;
    for plane in &resolved.control_planes {
        println!("{} publishes Keystone at {}", plane.name, plane.hosts.keystone);
    }

    let plan = plan(&resolved);
    for (index, wave) in plan.waves().iter().enumerate() {
        let names: Vec<&str> = wave.iter().map(|layer| layer.name.as_str()).collect();
        println!("wave {}: {}", index + 1, names.join(", "));
    }

    let templates = Templates::built_in()?;
    let rendered = render(&plan, &templates)?;
    println!("{} files", rendered.files.len());

    // Schemas of custom resources would come from a folder: `ResourceSchemas::read`.
    verify(&plan, &rendered, &templates, None)?;
    println!("verified");
    Ok(())
}
