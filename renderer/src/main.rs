//! Placeholder until the commands are there.
fn main() {}
