//! The renderer from the outside: its library steps and its command.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests may fail loudly"
)]

mod attachments;
mod command;
mod examples;
mod fixture;
mod git;
mod git_http;
mod graph;
mod history;
mod load;
mod reference;
mod rules;
mod sample;
mod templates;
mod verify;
