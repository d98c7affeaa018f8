//! Which tables and columns the picture is made of.

use crate::ovsdb::MonitorTables;

/// Name of the database of a switch.
pub const DATABASE: &str = "Open_vSwitch";

/// Everything the picture can use; what a server lacks is left out before it is asked.
pub(super) fn wanted() -> MonitorTables {
    MonitorTables::default()
        .table(
            "Open_vSwitch",
            &[
                "ovs_version",
                "db_version",
                "system_type",
                "system_version",
                "dpdk_initialized",
                "dpdk_version",
                "datapath_types",
                "iface_types",
                "external_ids",
                "next_cfg",
                "cur_cfg",
            ],
        )
        .table(
            "Bridge",
            &[
                "name",
                "datapath_type",
                "datapath_id",
                "datapath_version",
                "fail_mode",
                "protocols",
                "external_ids",
                "ports",
                "controller",
            ],
        )
        .table(
            "Port",
            &[
                "name",
                "interfaces",
                "tag",
                "trunks",
                "bond_mode",
                "lacp",
                "bond_active_slave",
                "external_ids",
            ],
        )
        .table(
            "Interface",
            &[
                "name",
                "type",
                "ofport",
                "admin_state",
                "link_state",
                "link_speed",
                "duplex",
                "mtu",
                "mac_in_use",
                "ifindex",
                "error",
                "external_ids",
                "options",
                "status",
                "lacp_current",
            ],
        )
        .table("Controller", &["target", "is_connected", "role", "status"])
        .table("Manager", &["target", "is_connected", "status"])
}
