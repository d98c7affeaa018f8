//! Numbers of the calls and messages of the remote program, and of the keepalive program.
//!
//! One table for both ends. Numbers are fixed for ever by libvirt's promise of wire compatibility.

use crate::raw_enum::raw_enum;

raw_enum! {
    /// A procedure of the remote program (0x20008086).
    #[expect(missing_docs, reason = "the text of each variant is its name in remote_protocol.x")]
    Procedure {
        ConnectOpen = 1 "connect_open",
        ConnectClose = 2 "connect_close",
        ConnectGetType = 3 "connect_get_type",
        ConnectGetVersion = 4 "connect_get_version",
        NodeGetInfo = 6 "node_get_info",
        ConnectGetCapabilities = 7 "connect_get_capabilities",
        DomainCreateXml = 10 "domain_create_xml",
        DomainDestroy = 12 "domain_destroy",
        DomainGetXmlDesc = 14 "domain_get_xml_desc",
        DomainGetInfo = 16 "domain_get_info",
        DomainLookupById = 22 "domain_lookup_by_id",
        DomainLookupByName = 23 "domain_lookup_by_name",
        DomainLookupByUuid = 24 "domain_lookup_by_uuid",
        DomainResume = 28 "domain_resume",
        DomainSuspend = 34 "domain_suspend",
        ConnectGetHostname = 59 "connect_get_hostname",
        ConnectSupportsFeature = 60 "connect_supports_feature",
        DomainBlockStats = 64 "domain_block_stats",
        DomainInterfaceStats = 65 "domain_interface_stats",
        AuthList = 66 "auth_list",
        AuthSaslInit = 67 "auth_sasl_init",
        AuthSaslStart = 68 "auth_sasl_start",
        AuthSaslStep = 69 "auth_sasl_step",
        AuthPolkit = 70 "auth_polkit",
        NodeGetCellsFreeMemory = 101 "node_get_cells_free_memory",
        NodeGetFreeMemory = 102 "node_get_free_memory",
        ConnectGetUri = 110 "connect_get_uri",
        ConnectIsSecure = 149 "connect_is_secure",
        ConnectGetLibVersion = 157 "connect_get_lib_version",
        DomainGetJobInfo = 163 "domain_get_job_info",
        DomainAbortJob = 164 "domain_abort_job",
        DomainMigrateSetMaxDowntime = 166 "domain_migrate_set_max_downtime",
        DomainGetBlockInfo = 194 "domain_get_block_info",
        ConnectGetSysinfo = 203 "connect_get_sysinfo",
        DomainMigrateSetMaxSpeed = 207 "domain_migrate_set_max_speed",
        DomainGetState = 212 "domain_get_state",
        NodeGetCpuStats = 227 "node_get_cpu_stats",
        NodeGetMemoryStats = 228 "node_get_memory_stats",
        DomainMigrateGetMaxSpeed = 242 "domain_migrate_get_max_speed",
        DomainGetDiskErrors = 263 "domain_get_disk_errors",
        ConnectListAllDomains = 273 "connect_list_all_domains",
        DomainGetJobStats = 298 "domain_get_job_stats",
        DomainMigratePerform3Params = 305 "domain_migrate_perform3_params",
        ConnectDomainEventCallbackRegisterAny = 316 "connect_domain_event_callback_register_any",
        ConnectDomainEventCallbackDeregisterAny = 317 "connect_domain_event_callback_deregister_any",
        EventLifecycle = 318 "domain_event_callback_lifecycle",
        EventReboot = 319 "domain_event_callback_reboot",
        EventWatchdog = 321 "domain_event_callback_watchdog",
        EventIoError = 322 "domain_event_callback_io_error",
        EventIoErrorReason = 324 "domain_event_callback_io_error_reason",
        EventControlError = 325 "domain_event_callback_control_error",
        EventDeviceRemoved = 333 "domain_event_callback_device_removed",
        NodeGetFreePages = 340 "node_get_free_pages",
        ConnectGetDomainCapabilities = 342 "connect_get_domain_capabilities",
        ConnectGetAllDomainStats = 344 "connect_get_all_domain_stats",
        EventAgentLifecycle = 348 "domain_event_callback_agent_lifecycle",
        DomainInterfaceAddresses = 353 "domain_interface_addresses",
        EventMigrationIteration = 359 "domain_event_callback_migration_iteration",
        ConnectRegisterCloseCallback = 360 "connect_register_close_callback",
        ConnectUnregisterCloseCallback = 361 "connect_unregister_close_callback",
        EventConnectionClosed = 362 "connect_event_connection_closed",
        EventJobCompleted = 363 "domain_event_callback_job_completed",
        DomainMigrateStartPostCopy = 364 "domain_migrate_start_post_copy",
        DomainMigrateGetMaxDowntime = 387 "domain_migrate_get_max_downtime",
        DomainAbortJobFlags = 442 "domain_abort_job_flags",
    }
}

raw_enum! {
    /// A procedure of the keepalive program.
    KeepaliveProcedure {
        /// Are you there?
        Ping = 1 "ping",
        /// I am.
        Pong = 2 "pong",
    }
}
