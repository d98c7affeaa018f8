//! The XML documents of a host and its domains, in the form that libvirtd gives them.

use std::fmt::Write;

use crate::model::{Domain, Hardware, Host};

/// Answers `connect_get_capabilities`.
pub(super) fn capabilities(host: &Host) -> String {
    let hardware = host.read(|state| state.hardware.clone());
    let mut cells = String::new();
    for cell in cells_of(&hardware) {
        let mut cpus = String::new();
        for id in cell.first_cpu..cell.first_cpu + cell.cpus {
            let _ = write!(cpus, "<cpu id='{id}' socket_id='{}' core_id='{id}' siblings='{id}'/>", cell.id);
        }
        let _ = write!(
            cells,
            "<cell id='{}'><memory unit='KiB'>{}</memory><cpus num='{}'>{cpus}</cpus></cell>",
            cell.id, cell.memory_kib, cell.cpus
        );
    }
    let arch = escape(&hardware.arch);
    format!(
        "<capabilities><host><uuid>{}</uuid><cpu><arch>{arch}</arch><model>Simulated</model><vendor>{}</vendor>\
         </cpu><migration_features><live/></migration_features><topology><cells num='{}'>{cells}</cells></topology>\
         </host><guest><os_type>hvm</os_type><arch name='{arch}'><domain type='kvm'/></arch></guest></capabilities>\n",
        host.uuid,
        escape(&hardware.vendor),
        hardware.numa_cells.max(1),
    )
}

/// Answers `connect_get_domain_capabilities`.
pub(super) fn domain_capabilities(host: &Host) -> String {
    let arch = host.read(|state| state.hardware.arch.clone());
    let (machine, arch) = if arch == "aarch64" { ("virt", arch) } else { ("pc-q35-8.2", arch) };
    let arch = escape(&arch);
    let enumeration = |name: &str, values: &[&str]| {
        let values: String = values.iter().map(|value| format!("<value>{value}</value>")).collect();
        format!("<enum name='{name}'>{values}</enum>")
    };
    let disk = enumeration("diskDevice", &["disk", "cdrom", "lun"])
        + &enumeration("bus", &["scsi", "virtio", "usb"]);
    let video = enumeration("modelType", &["vga", "virtio", "none"]);
    let hostdev = enumeration("mode", &["subsystem"]) + &enumeration("subsysType", &["usb", "pci", "scsi"]);
    let passthrough = enumeration("hostPassthroughMigratable", &["on", "off"]);
    format!(
        "<domainCapabilities><path>/usr/bin/qemu-system-{arch}</path><domain>kvm</domain>\
         <machine>{machine}</machine><arch>{arch}</arch><vcpu max='4096'/>\
         <cpu><mode name='host-passthrough' supported='yes'>{passthrough}</mode>\
         <mode name='maximum' supported='yes'/><mode name='host-model' supported='yes'/>\
         <mode name='custom' supported='no'/></cpu>\
         <devices><disk supported='yes'>{disk}</disk><video supported='yes'>{video}</video>\
         <hostdev supported='yes'>{hostdev}</hostdev><tpm supported='no'/></devices>\
         <features><gic supported='no'/><vmcoreinfo supported='yes'/><genid supported='yes'/>\
         <sev supported='no'/></features></domainCapabilities>\n"
    )
}

/// Answers `connect_get_sysinfo`.
pub(super) fn sysinfo(host: &Host) -> String {
    let hardware = host.read(|state| state.hardware.clone());
    let entry = |name: &str, value: &str| format!("<entry name='{name}'>{}</entry>", escape(value));
    let vendor = entry("vendor", &hardware.vendor) + &entry("version", "1.0") + &entry("date", "01/15/2026");
    let system = entry("manufacturer", &hardware.vendor)
        + &entry("product", &hardware.product)
        + &entry("serial", &hardware.serial)
        + &entry("uuid", &host.uuid.to_string());
    format!("<sysinfo type='smbios'><bios>{vendor}</bios><system>{system}</system></sysinfo>\n")
}

/// Answers `domain_get_xml_desc`. Each domain lives on one NUMA cell, pinned, as Nova makes it with dedicated CPUs.
pub(super) fn domain(domain: &Domain, hardware: &Hardware) -> String {
    let cells = cells_of(hardware);
    let choice = domain.uuid.as_u128() % cells.len().max(1) as u128;
    let cell = usize::try_from(choice).ok().and_then(|choice| cells.get(choice).copied()).unwrap_or_default();
    let last_cpu = cell.first_cpu + cell.cpus.saturating_sub(1);
    let pins: String = (0..domain.vcpus)
        .map(|vcpu| format!("<vcpupin vcpu='{vcpu}' cpuset='{}-{last_cpu}'/>", cell.first_cpu))
        .collect();
    let id = domain.id.map(|id| format!(" id='{id}'")).unwrap_or_default();
    let arch = escape(&hardware.arch);
    let nova = domain.server_name.as_ref().map(|server| {
        format!(
            "<metadata><nova:instance xmlns:nova='http://openstack.org/xmlns/libvirt/nova/1.1'><nova:name>{}\
             </nova:name></nova:instance></metadata>",
            escape(server)
        )
    });
    format!(
        "<domain type='kvm'{id}><name>{}</name><uuid>{}</uuid>{}<memory unit='KiB'>{}</memory>\
         <currentMemory unit='KiB'>{}</currentMemory><vcpu placement='static'>{}</vcpu><cputune>{pins}</cputune>\
         <numatune><memory mode='strict' nodeset='{cell}'/><memnode cellid='0' mode='strict' nodeset='{cell}'/></numatune>\
         <os><type arch='{arch}'>hvm</type></os><cpu mode='host-model'><numa><cell id='0' cpus='0-{}' memory='{}' \
         unit='KiB'/></numa></cpu><devices/></domain>\n",
        escape(&domain.name),
        domain.uuid,
        nova.unwrap_or_default(),
        domain.max_memory_kib,
        domain.memory_kib,
        domain.vcpus,
        domain.vcpus.saturating_sub(1),
        domain.max_memory_kib,
        cell = cell.id,
    )
}

#[derive(Clone, Copy, Default)]
struct Cell {
    id: u32,
    first_cpu: u32,
    cpus: u32,
    memory_kib: u64,
}

/// CPUs and memory spread evenly, what is left over on the first cells.
fn cells_of(hardware: &Hardware) -> Vec<Cell> {
    let count = hardware.numa_cells.max(1);
    let mut first_cpu = 0;
    (0..count)
        .map(|id| {
            let cpus = hardware.cpus / count + u32::from(id < hardware.cpus % count);
            let spread = u64::from(count);
            let memory_kib =
                hardware.memory_kib / spread + u64::from(u64::from(id) < hardware.memory_kib % spread);
            let cell = Cell { id, first_cpu, cpus, memory_kib };
            first_cpu += cpus;
            cell
        })
        .collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\'', "&apos;")
        .replace('"', "&quot;")
}
