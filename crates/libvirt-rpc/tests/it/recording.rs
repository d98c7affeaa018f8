//! Records frames and documents from the rig's daemons: `cargo test -p libvirt-rpc --test it -- --ignored record_from_the_rig`.
//!
//! Starts domains on the first host, asks about them, migrates one slowly to the second, and keeps the answers and events for
//! [`recorded`](crate::recorded).

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use libvirt_rpc::wire::{
    HEADER_BYTES, Header, KEEPALIVE_PROGRAM, LENGTH_BYTES, List, MessageKind, Procedure, Xdr, decode, encode,
    encode_frame, parse_frame,
};
use libvirt_rpc::{
    Connection, DomainRef, Endpoint, Event, EventKind, JobKind, JobStats, LifecycleEvent, MigrateFlags,
    MigrateParams, OpenOptions,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::target::{rig_hosts, unique};

/// A connection that keeps what it sees.
pub(crate) struct Wire {
    stream: TcpStream,
    serial: u32,
    messages: Vec<Vec<u8>>,
}

pub(crate) type Named = Vec<(&'static str, Vec<u8>)>;

impl Wire {
    pub(crate) async fn connect(host: &str, port: u16) -> Self {
        let stream = TcpStream::connect((host, port)).await.unwrap();
        Self { stream, serial: 0, messages: Vec::new() }
    }

    async fn read(&mut self) -> Vec<u8> {
        let length = self.stream.read_u32().await.unwrap();
        let mut frame = length.to_be_bytes().to_vec();
        frame.resize(length as usize, 0);
        self.stream.read_exact(&mut frame[LENGTH_BYTES..]).await.unwrap();
        frame
    }

    /// The reply to a call; what comes before it goes to the messages.
    async fn call(&mut self, procedure: Procedure, arguments: &impl Xdr) -> Vec<u8> {
        self.serial += 1;
        let header = Header::remote(MessageKind::Call, procedure.raw(), self.serial);
        self.stream.write_all(&encode_frame(&header, &encode(arguments)).unwrap()).await.unwrap();
        loop {
            let frame = self.read().await;
            if parse_frame(&frame).unwrap().unwrap().0.kind == MessageKind::Reply {
                return frame;
            }
            self.messages.push(frame);
        }
    }

    async fn open(&mut self, flags: u32) {
        self.call(Procedure::ConnectOpen, &(Some("qemu:///system".to_owned()), flags)).await;
    }

    /// Does on a fresh connection what a daemon refuses, opening it read-only on the way.
    pub(crate) async fn refuse_everything(&mut self, to: &mut Named) {
        to.push(("error_not_open", self.call(Procedure::ConnectGetHostname, &()).await));
        self.open(1).await;
        let nobody = DomainRef::from(uuid::Uuid::from_u128(1));
        to.push(("error_no_domain", self.call(Procedure::DomainGetState, &(nobody.clone(), 0_u32)).await));
        to.push(("error_no_domain_of_uuid", self.call(Procedure::DomainLookupByUuid, &nobody.uuid).await));
        to.push((
            "error_no_domain_of_name",
            self.call(Procedure::DomainLookupByName, &"nobody".to_owned()).await,
        ));
        to.push(("error_unknown_procedure", self.call(Procedure::Other(9_999), &()).await));
        to.push(("error_malformed_arguments", self.call(Procedure::DomainGetState, &1_u32).await));
        let everywhere = None::<DomainRef>;
        let register = Procedure::ConnectDomainEventCallbackRegisterAny;
        to.push(("error_unknown_event", self.call(register, &(1_000, everywhere)).await));
        let deregister = Procedure::ConnectDomainEventCallbackDeregisterAny;
        to.push(("error_unknown_callback", self.call(deregister, &77).await));
        to.push((
            "error_read_only",
            self.call(Procedure::DomainCreateXml, &("<domain/>".to_owned(), 0_u32)).await,
        ));
        to.push(("error_already_open", self.call(Procedure::ConnectOpen, &(None::<String>, 0_u32)).await));
    }
}

#[tokio::test]
#[ignore = "writes tests/it/data; needs the rig"]
async fn record_from_the_rig() {
    let hosts = rig_hosts();
    let [(_, from), (_, to), ..] = &hosts[..] else { return };
    let mut frames = Named::new();
    Wire::connect(from, 16_509).await.refuse_everything(&mut frames).await;
    let mut test_driver = Wire::connect(from, 16_509).await;
    test_driver.call(Procedure::ConnectOpen, &(Some("test:///default".to_owned()), 0_u32)).await;
    let test = DomainRef::from(uuid::Uuid::from_u128(0x6695_eb01_f6a4_8304_79aa_97f2_502e_193f));
    frames.push(("error_unsupported", test_driver.call(Procedure::DomainGetJobStats, &(test, 0_u32)).await));
    record_host(from, &mut frames).await;
    record_domain(from, to, &mut frames).await;
    record_devices(from, &mut frames).await;
    record_authentication(&mut frames).await;

    let mut text = "# Frames of libvirtd 9.0.0 with QEMU 7.2 (Debian 12), recorded from the rig by `record_from_the_rig`.\n".to_owned();
    for (name, frame) in frames {
        let digits: String = frame.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(text, "{name} {digits}").unwrap();
    }
    std::fs::write(data().join("libvirtd-9.0.0.frames"), text).unwrap();
}

fn data() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/data")
}

fn write_document(name: &str, frame: &[u8]) {
    let text: String = decode(&frame[LENGTH_BYTES + HEADER_BYTES..]).unwrap();
    std::fs::write(data().join(name), text).unwrap();
}

async fn record_host(host: &str, frames: &mut Named) {
    let mut wire = Wire::connect(host, 16_509).await;
    frames.push(("auth_list", wire.call(Procedure::AuthList, &()).await));
    wire.call(Procedure::ConnectSupportsFeature, &10).await;
    wire.open(0).await;
    frames.push(("type", wire.call(Procedure::ConnectGetType, &()).await));
    frames.push(("lib_version", wire.call(Procedure::ConnectGetLibVersion, &()).await));
    frames.push(("version", wire.call(Procedure::ConnectGetVersion, &()).await));
    frames.push(("node_info", wire.call(Procedure::NodeGetInfo, &()).await));
    frames.push(("free_memory", wire.call(Procedure::NodeGetFreeMemory, &()).await));
    frames.push(("cells_free_memory", wire.call(Procedure::NodeGetCellsFreeMemory, &(0, 16)).await));
    let pages = (List::<u32, 1024>(vec![4]), 0_i32, 1_u32, 0_u32);
    frames.push(("free_pages", wire.call(Procedure::NodeGetFreePages, &pages).await));
    frames.push(("cpu_stats", wire.call(Procedure::NodeGetCpuStats, &(-1, 4, 0_u32)).await));
    frames.push(("memory_stats", wire.call(Procedure::NodeGetMemoryStats, &(4, -1, 0_u32)).await));
    write_document("capabilities-9.0.0.xml", &wire.call(Procedure::ConnectGetCapabilities, &()).await);
    let any = (None::<String>, None::<String>, None::<String>, None::<String>, 0_u32);
    write_document(
        "domain-capabilities-9.0.0.xml",
        &wire.call(Procedure::ConnectGetDomainCapabilities, &any).await,
    );
    let ping = wire.read().await;
    assert_eq!(parse_frame(&ping).unwrap().unwrap().0.program, KEEPALIVE_PROGRAM);
    frames.push(("ping", ping));
}

async fn record_domain(from: &str, to: &str, frames: &mut Named) {
    let mut wire = Wire::connect(from, 16_509).await;
    wire.open(0).await;
    for kind in [0, 20, 21] {
        wire.call(Procedure::ConnectDomainEventCallbackRegisterAny, &(kind, None::<DomainRef>)).await;
    }
    let name = unique("recorded");
    let xml = format!(
        "<domain type='qemu'><name>{name}</name><memory unit='MiB'>128</memory><vcpu>1</vcpu>\
         <os><type arch='x86_64'>hvm</type></os></domain>"
    );
    let created = wire.call(Procedure::DomainCreateXml, &(xml, 0_u32)).await;
    let domain: DomainRef = decode(&created[LENGTH_BYTES + HEADER_BYTES..]).unwrap();
    frames.push(("create_xml", created));
    frames.push(("list_all_domains", wire.call(Procedure::ConnectListAllDomains, &(1, 0_u32)).await));
    frames.push(("get_state", wire.call(Procedure::DomainGetState, &(domain.clone(), 0_u32)).await));
    frames.push(("get_info", wire.call(Procedure::DomainGetInfo, &domain).await));
    let one = (List::<_, 16_384>(vec![domain.clone()]), 0_u32, 0x2000_0000_u32);
    frames.push(("all_domain_stats", wire.call(Procedure::ConnectGetAllDomainStats, &one).await));
    write_document(
        "domain-9.0.0.xml",
        &wire.call(Procedure::DomainGetXmlDesc, &(domain.clone(), 0_u32)).await,
    );
    frames.push(("job_stats_none", wire.call(Procedure::DomainGetJobStats, &(domain.clone(), 0_u32)).await));

    let endpoint = Endpoint::Tcp { host: from.to_owned(), port: 16_509 };
    let (connection, _events) = Connection::open(&endpoint, OpenOptions::default()).await.unwrap();
    let patient = connection.with_call_timeout(Duration::from_secs(60));
    let (moved, destination) = (domain.clone(), format!("qemu+tcp://{to}/system"));
    let migration = tokio::spawn(async move {
        let params = MigrateParams::default().bandwidth(1);
        patient.migrate_peer_to_peer(&moved, &destination, &params, MigrateFlags::LIVE).await
    });
    loop {
        let stats = wire.call(Procedure::DomainGetJobStats, &(domain.clone(), 0_u32)).await;
        let running = decode::<JobStats>(&stats[LENGTH_BYTES + HEADER_BYTES..]).unwrap();
        if running.kind == JobKind::Unbounded && running.memory_iteration() >= Some(1) {
            frames.push(("job_stats_migrating", stats));
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let reference = || (domain.clone(), 0_u32);
    frames.push(("get_job_info", wire.call(Procedure::DomainGetJobInfo, &domain).await));
    frames.push(("get_max_downtime", wire.call(Procedure::DomainMigrateGetMaxDowntime, &reference()).await));
    frames.push(("get_max_speed", wire.call(Procedure::DomainMigrateGetMaxSpeed, &reference()).await));
    frames.push(("error_no_post_copy", wire.call(Procedure::DomainMigrateStartPostCopy, &reference()).await));
    frames.push((
        "set_max_speed",
        wire.call(Procedure::DomainMigrateSetMaxSpeed, &(domain.clone(), 8_u64, 0_u32)).await,
    ));
    migration.await.unwrap().unwrap();
    wire.call(Procedure::ConnectGetLibVersion, &()).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    wire.call(Procedure::ConnectGetLibVersion, &()).await;
    for message in std::mem::take(&mut wire.messages) {
        let (header, _) = parse_frame(&message).unwrap().unwrap();
        let event = Event::parse(header.procedure, &message[LENGTH_BYTES + HEADER_BYTES..]).unwrap();
        println!("{event:?}");
        let name = match event {
            Some(Event::Lifecycle { event: LifecycleEvent::Suspended(_), .. }) => "event_suspended",
            Some(Event::Lifecycle { event: LifecycleEvent::Stopped(_), .. }) => "event_stopped",
            Some(Event::MigrationIteration { .. }) => "event_migration_iteration",
            Some(Event::JobCompleted { .. }) => "event_job_completed",
            _ => continue,
        };
        frames.retain(|(known, _)| *known != name);
        frames.push((name, message));
    }
    let mut target = Wire::connect(to, 16_509).await;
    target.open(0).await;
    target.call(Procedure::DomainDestroy, &domain).await;
}

/// A domain with a disk of no size that grows and an interface of its own.
async fn record_devices(host: &str, frames: &mut Named) {
    let mut wire = Wire::connect(host, 16_509).await;
    wire.open(0).await;
    let folder = std::env::var("C5C3_RIG_NODE_DIR").unwrap();
    let (name, _) = &rig_hosts()[0];
    let images = ["recorded.img", "spare.img"].map(|image| format!("{folder}/{name}/lib-libvirt/{image}"));
    for image in &images {
        std::fs::write(image, vec![0; 1 << 20]).unwrap();
    }
    for kind in [EventKind::Reboot, EventKind::DeviceRemoved] {
        let everywhere = None::<DomainRef>;
        wire.call(Procedure::ConnectDomainEventCallbackRegisterAny, &(kind.raw(), everywhere)).await;
    }
    let xml = format!(
        "<domain type='qemu'><name>{}</name><memory unit='MiB'>64</memory><vcpu>1</vcpu>\
         <os><type arch='x86_64'>hvm</type></os><devices>\
         <disk type='file' device='disk'><driver name='qemu' type='raw'/>\
         <source file='/var/lib/libvirt/recorded.img'/><target dev='vda' bus='virtio'/></disk>\
         <controller type='scsi' model='virtio-scsi'/>\
         <disk type='file' device='cdrom'><target dev='sda' bus='scsi'/></disk>\
         <disk type='file' device='disk'><driver name='qemu' type='raw'/><source file='/var/lib/libvirt/spare.img'/>\
         <target dev='sdb' bus='scsi'/></disk>\
         <interface type='ethernet'><target dev='recorded0'/><model type='virtio'/></interface>\
         </devices></domain>",
        unique("devices")
    );
    let created = wire.call(Procedure::DomainCreateXml, &(xml, 0_u32)).await;
    let domain: DomainRef = decode(&created[LENGTH_BYTES + HEADER_BYTES..]).unwrap();
    let named = |name: &str| (domain.clone(), name.to_owned());
    frames.push((
        "get_block_info",
        wire.call(Procedure::DomainGetBlockInfo, &(domain.clone(), "vda".to_owned(), 0_u32)).await,
    ));
    frames.push(("block_stats", wire.call(Procedure::DomainBlockStats, &named("vda")).await));
    frames.push(("interface_stats", wire.call(Procedure::DomainInterfaceStats, &named("recorded0")).await));
    frames.push(("error_no_disk", wire.call(Procedure::DomainBlockStats, &named("nothing")).await));
    frames.push((
        "get_disk_errors",
        wire.call(Procedure::DomainGetDiskErrors, &(domain.clone(), 16_u32, 0_u32)).await,
    ));
    let one = (List::<_, 16_384>(vec![domain.clone()]), 16_u32 | 32, 0x2000_0000_u32);
    frames.push(("device_stats", wire.call(Procedure::ConnectGetAllDomainStats, &one).await));
    virsh(host, &["reset", &domain.name]).await;
    // A disk on such a controller goes without its guest being asked.
    virsh(host, &["detach-disk", &domain.name, "sdb"]).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    wire.call(Procedure::ConnectGetLibVersion, &()).await;
    for message in std::mem::take(&mut wire.messages) {
        let (header, _) = parse_frame(&message).unwrap().unwrap();
        let name = match Event::parse(header.procedure, &message[LENGTH_BYTES + HEADER_BYTES..]).unwrap() {
            Some(Event::Reboot { .. }) => "event_reboot",
            Some(Event::DeviceRemoved { .. }) => "event_device_removed",
            _ => continue,
        };
        frames.retain(|(known, _)| *known != name);
        frames.push((name, message));
    }
    wire.call(Procedure::DomainDestroy, &domain).await;
    for image in images {
        std::fs::remove_file(image).unwrap();
    }
}

async fn virsh(host: &str, arguments: &[&str]) {
    let mut command = tokio::process::Command::new("virsh");
    let ended =
        command.args(["-q", "-c", &format!("qemu+tcp://{host}/system")]).args(arguments).status().await;
    assert!(ended.unwrap().success(), "{arguments:?}");
}

/// What a daemon with SASL says before and after a wrong password.
async fn record_authentication(frames: &mut Named) {
    let address = std::env::var("C5C3_RIG_SASL").unwrap();
    let mut wire = Wire::connect(&address, 16_509).await;
    frames.push(("auth_list_sasl", wire.call(Procedure::AuthList, &()).await));
    frames
        .push(("error_not_authenticated", wire.call(Procedure::ConnectOpen, &(None::<String>, 0_u32)).await));
}
