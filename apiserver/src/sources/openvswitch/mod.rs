//! Open vSwitch and OVN of one host, heard in three ways: the database by monitor, flows by OpenFlow statistics, and
//! what only the daemons know by unixctl.

pub mod daemons;
pub mod database;
pub mod flows;
mod polled;
