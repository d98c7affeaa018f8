//! JSON values as Kubernetes compares and prints them.
//!
//! Numbers are one type (3 equals 3.0), and error texts are those of Go, because clients match and people search them.

pub(crate) mod go_text;
pub(crate) mod ordering;
