//! The crate from outside: goldens of schemas and reference pages, laws of serialization and validation.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by failing")]

mod examples;
mod golden;
mod kinds;
mod objects;
