//! The crate from outside: goldens of schemas and reference pages, laws of serialization and validation.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on says so by failing"
)]

mod examples;
mod golden;
mod kinds;
mod objects;
mod real_apiserver;
