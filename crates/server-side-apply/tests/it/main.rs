//! Replays of a real kube-apiserver, laws, and hostile input, all through the public functions.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may stop where it finds a fault")]

mod hostile;
mod laws;
mod migration;
mod oracle;
mod replay;
