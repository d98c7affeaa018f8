//! Frames and documents recorded from real daemons, read without them.
//!
//! `data/*.frames` holds one frame per line, name and hexadecimal bytes, as [`recording`](crate::recording) writes them.

use std::collections::BTreeMap;

use libvirt_rpc::wire::{
    HEADER_BYTES, Header, LENGTH_BYTES, List, MessageKind, MessageStatus, WireError, Xdr, decode, parse_frame,
};
use libvirt_rpc::xml::{Capabilities, DomainCapabilities, DomainXml};
use libvirt_rpc::{
    BlockInfo, BlockStats, DiskError, DomainInfo, DomainRef, DomainState, DomainStats, Endpoint, ErrorCode,
    Event, InterfaceStats, JobKind, JobOperation, JobStats, LifecycleEvent, NodeInfo, RemoteError,
    RunningReason, StoppedDetail, SuspendedDetail, TypedParams, TypedValue, Version,
};

use crate::recording::Wire;
use crate::target::simulator_tcp;

const FRAMES: &str = include_str!("data/libvirtd-9.0.0.frames");
const CAPABILITIES: &str = include_str!("data/capabilities-9.0.0.xml");
const DOMAIN_CAPABILITIES: &str = include_str!("data/domain-capabilities-9.0.0.xml");
const DOMAIN: &str = include_str!("data/domain-9.0.0.xml");

fn frames() -> BTreeMap<&'static str, Vec<u8>> {
    let lines = FRAMES.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' ')).map(|(name, digits)| (name, bytes(digits))).collect()
}

fn bytes(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn frame(name: &str) -> (Header, Vec<u8>) {
    let frame = frames().remove(name).unwrap_or_else(|| panic!("no frame {name}"));
    let (header, length) = parse_frame(&frame).unwrap().expect("a whole frame");
    assert_eq!(length, frame.len());
    (header, frame[LENGTH_BYTES + HEADER_BYTES..].to_vec())
}

fn reply<T: Xdr>(name: &str) -> T {
    let (header, payload) = frame(name);
    assert_eq!((header.kind, header.status), (MessageKind::Reply, MessageStatus::Ok));
    decode(&payload).unwrap()
}

fn refusal(name: &str) -> RemoteError {
    let (header, payload) = frame(name);
    assert_eq!((header.kind, header.status), (MessageKind::Reply, MessageStatus::Error));
    decode::<WireError>(&payload).unwrap().into()
}

fn event(name: &str) -> Event {
    let (header, payload) = frame(name);
    assert_eq!(header.kind, MessageKind::Message);
    Event::parse(header.procedure, &payload).unwrap().expect("a known event")
}

#[test]
fn answers_about_the_host_are_read() {
    assert_eq!(reply::<List<i32, 20>>("auth_list"), List(vec![0]));
    assert_eq!(Version::from_raw(reply("lib_version")).to_string(), "9.0.0");
    assert_eq!(Version::from_raw(reply("version")).to_string(), "7.2.22");
    assert_eq!(reply::<String>("type"), "QEMU");
    let node: NodeInfo = reply("node_info");
    assert_eq!(node.model, "x86_64");
    assert!(node.cpus > 0 && node.memory_kib > 0);
}

#[test]
fn answers_about_a_domain_are_read() {
    let domain: DomainRef = reply("create_xml");
    let (List(domains), count): (List<DomainRef, 16_384>, u32) = reply("list_all_domains");
    assert!(domains.contains(&domain), "{domains:?}");
    assert_eq!(domains.len(), count as usize);
    let (state, reason) = reply("get_state");
    assert_eq!(DomainState::from_raw(state, reason), DomainState::Running(RunningReason::Booted));
    let info: DomainInfo = reply("get_info");
    assert_eq!((info.state, info.vcpus, info.max_memory_kib), (1, 1, 128 * 1024));
    assert_eq!(reply::<JobStats>("job_stats_none").kind, JobKind::None);
    let records: List<(DomainRef, List<(String, TypedValue), 4096>), 16_384> = reply("all_domain_stats");
    let (_, List(params)) = records.0.iter().find(|(about, _)| *about == domain).unwrap();
    assert!(
        params.iter().any(|(name, value)| name == "state.state" && value.as_u64() == Some(1)),
        "{params:?}"
    );
}

#[test]
fn a_running_migration_is_read() {
    let job: JobStats = reply("job_stats_migrating");
    assert_eq!((job.kind, job.operation), (JobKind::Unbounded, Some(JobOperation::MigrationOut)));
    assert!(job.time_elapsed_ms().is_some() && job.memory_total().is_some(), "{job:?}");
    assert!(job.memory_remaining() <= job.memory_total());
    let Event::MigrationIteration { iteration, .. } = event("event_migration_iteration") else {
        panic!("another event")
    };
    assert!(iteration >= 1);
    let Event::JobCompleted { job, .. } = event("event_job_completed") else { panic!("another event") };
    assert_eq!((job.kind, job.operation), (JobKind::Completed, Some(JobOperation::MigrationOut)));
    assert!(job.downtime_ms().is_some(), "{job:?}");
}

#[test]
fn the_life_cycle_of_a_migration_is_read() {
    let lifecycle = |name| match event(name) {
        Event::Lifecycle { event, .. } => event,
        other => panic!("{other:?}"),
    };
    assert_eq!(lifecycle("event_suspended"), LifecycleEvent::Suspended(SuspendedDetail::Migrated));
    assert_eq!(lifecycle("event_stopped"), LifecycleEvent::Stopped(StoppedDetail::Migrated));
}

#[test]
fn answers_about_memory_and_work_are_read() {
    assert!(reply::<u64>("free_memory") > 0);
    let List(cells): List<u64, 1024> = reply("cells_free_memory");
    assert_eq!(cells.len(), 1);
    let List(pages): List<u64, 1024> = reply("free_pages");
    assert!(pages.len() == 1 && pages[0] > 0);
    for (name, kind) in [("cpu_stats", "user"), ("memory_stats", "total")] {
        // The count is told only to who asks for none.
        let (List(stats), count): (List<(String, u64), 16>, i32) = reply(name);
        assert_eq!((stats.len(), count), (4, 0));
        assert!(stats.iter().any(|(field, value)| field == kind && *value > 0), "{stats:?}");
    }
}

#[test]
fn answers_about_devices_are_read() {
    let info: BlockInfo = reply("get_block_info");
    assert_eq!((info.capacity, info.physical), (1 << 20, 1 << 20));
    let disk: BlockStats = reply("block_stats");
    assert!(disk.read_requests.is_some() && disk.write_bytes.is_some(), "{disk:?}");
    assert_eq!(disk.errors, None, "QEMU does not count them");
    let interface: InterfaceStats = reply("interface_stats");
    assert!(interface.received_bytes.is_some() && interface.sent_dropped.is_some(), "{interface:?}");
    let (List(errors), count): (List<DiskError, 256>, i32) = reply("get_disk_errors");
    assert_eq!((errors.len(), count), (0, 0));
    let records: List<(DomainRef, List<(String, TypedValue), 4096>), 16_384> = reply("device_stats");
    let (domain, List(params)) = records.0.into_iter().next().unwrap();
    let stats = DomainStats::new(domain, TypedParams(params));
    let (blocks, interfaces) = (stats.blocks(), stats.interfaces());
    assert_eq!((blocks[0].0, interfaces[0].0), ("vda", "recorded0"));
    assert!(blocks[0].1.read_bytes.is_some() && interfaces[0].1.sent_bytes.is_some());
    assert_eq!(refusal("error_no_disk").code, ErrorCode::InvalidArgument);
}

#[test]
fn events_about_a_guest_and_its_devices_are_read() {
    let Event::Reboot { domain } = event("event_reboot") else { panic!("another event") };
    let Event::DeviceRemoved { domain: same, device } = event("event_device_removed") else {
        panic!("another event")
    };
    assert_eq!((domain.uuid, device.as_str()), (same.uuid, "scsi0-0-0-1"));
}

#[test]
fn answers_about_the_limits_of_a_migration_are_read() {
    assert_eq!(reply::<u64>("get_max_downtime"), 300);
    assert_eq!(reply::<u64>("get_max_speed"), 1, "in MiB per second, as it was started");
    reply::<()>("set_max_speed");
    assert!(refusal("error_no_post_copy").is_operation_invalid());
}

#[test]
fn a_daemon_with_sasl_wants_to_know_who_asks() {
    assert_eq!(reply::<List<i32, 20>>("auth_list_sasl"), List(vec![1]));
    let refused = refusal("error_not_authenticated");
    assert_eq!(refused.code, ErrorCode::Rpc);
    assert!(!refused.is_unsupported(), "{refused:?}");
}

#[test]
fn keepalive_of_a_real_daemon_is_a_ping() {
    let (header, payload) = frame("ping");
    assert_eq!(header, Header::keepalive(libvirt_rpc::wire::KeepaliveProcedure::Ping));
    assert!(payload.is_empty());
}

#[test]
fn refusals_of_a_real_daemon_are_told_apart() {
    assert!(refusal("error_no_domain").is_no_domain());
    assert!(refusal("error_unknown_procedure").is_unsupported());
    assert!(refusal("error_unsupported").is_unsupported());
    assert!(refusal("error_read_only").is_denied());
    assert_eq!(refusal("error_unknown_event").code, ErrorCode::Internal);
    assert_eq!(refusal("error_not_open").code, ErrorCode::Internal);
}

#[test]
fn documents_of_a_real_daemon_are_read() {
    let capabilities = Capabilities::parse(CAPABILITIES).unwrap();
    assert_eq!(capabilities.arch.as_deref(), Some("x86_64"));
    assert_eq!((capabilities.cells.len(), capabilities.cpus()), (1, Some(2)));
    assert!(capabilities.memory_kib().unwrap() > 1024 * 1024);
    let domain_capabilities = DomainCapabilities::parse(DOMAIN_CAPABILITIES).unwrap();
    assert_eq!(domain_capabilities.domain_type.as_deref(), Some("kvm"));
    assert!(domain_capabilities.devices.iter().any(|word| word == "disk/virtio"));
    assert!(domain_capabilities.cpu_modes.iter().any(|word| word == "mode/host-model"));
    assert!(domain_capabilities.features.iter().any(|word| word == "vmcoreinfo"));
    let domain = DomainXml::parse(DOMAIN).unwrap();
    assert_eq!((domain.vcpus, domain.memory_kib), (Some(1), Some(128 * 1024)));
}

/// A client judged by the simulator's errors must be judged by the right ones.
#[tokio::test]
async fn the_simulator_refuses_with_the_codes_of_a_real_daemon() {
    let target = simulator_tcp().await.pop().unwrap();
    let Endpoint::Tcp { host, port } = &target.endpoint else { panic!("TCP") };
    let mut simulated = Wire::connect(host, *port).await;
    let mut refusals = Vec::new();
    simulated.refuse_everything(&mut refusals).await;
    assert!(!refusals.is_empty());
    let mut differences = Vec::new();
    for (name, frame) in refusals {
        let (_, real) = self::frame(name);
        let real: WireError = decode(&real).unwrap();
        let simulated: WireError = decode(&frame[LENGTH_BYTES + HEADER_BYTES..]).unwrap();
        if (simulated.code, simulated.domain) != (real.code, real.domain) {
            differences.push((name, simulated, real));
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
}
