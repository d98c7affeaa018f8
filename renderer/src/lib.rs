//! c5c3-renderer: renders a declared topology into Flux manifests and commits them to Git.
