//! An async client for Open vSwitch: OVSDB monitors, OpenFlow statistics and unixctl.
