//! The intent stores: one suite for both, what is each one's own, and death at any moment.

mod backup;
mod cluster;
mod crash;
mod disk;
mod embedded;
mod killed_server;
mod suite;
