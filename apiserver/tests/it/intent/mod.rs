//! The intent stores: one suite for both, what is each one's own, and death at any moment.

mod backup;
mod crash;
mod embedded;
mod kubernetes;
mod slots;
mod suite;
