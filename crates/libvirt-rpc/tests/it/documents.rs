//! The readers of XML documents: on documents as daemons send them, and on anything.

use libvirt_rpc::xml::{Capabilities, DOCUMENT_MAX, DomainCapabilities, DomainXml, SysInfo, XmlError};
use proptest::prelude::*;

#[test]
fn a_host_of_two_cells_is_summed() {
    let cell = |id| {
        format!(
            "<cell id='{id}'><memory unit='KiB'>65799108</memory><pages unit='KiB' size='4'>16449777</pages>\
             <distances><sibling id='0' value='10'/></distances><cpus num='2'><cpu id='0' socket_id='0'/></cpus></cell>"
        )
    };
    let text = format!(
        "<capabilities>\n  <host>\n    <uuid>4c4c4544-0042</uuid><cpu><arch>x86_64</arch><model>Cascadelake-Server</model>\
         <vendor>Intel</vendor></cpu><topology><cells num='2'>{}{}</cells></topology></host></capabilities>",
        cell(0),
        cell(1)
    );
    let capabilities = Capabilities::parse(&text).unwrap();
    assert_eq!(capabilities.memory_kib(), Some(131_598_216));
    assert_eq!(capabilities.cpus(), Some(4));
    assert_eq!(capabilities.cpu_vendor.as_deref(), Some("Intel"));
}

#[test]
fn a_cell_that_does_not_tell_makes_the_sum_absent() {
    let text = "<capabilities><host><topology><cells><cell id='0'><memory>5</memory></cell>\
                <cell id='1'><memory unit='ell'>5</memory></cell></cells></topology></host></capabilities>";
    let capabilities = Capabilities::parse(text).unwrap();
    assert_eq!(capabilities.cells.len(), 2);
    assert_eq!((capabilities.memory_kib(), capabilities.cpus()), (None, None));
    assert_eq!(Capabilities::parse("<capabilities/>").unwrap().memory_kib(), None);
}

#[test]
fn what_is_not_supported_is_not_listed() {
    let text = "<domainCapabilities><domain>kvm</domain><arch>x86_64</arch><vcpu max='255'/>\
        <cpu><mode name='host-passthrough' supported='yes'><enum name='hostPassthroughMigratable'><value>on</value>\
        <value>off</value></enum></mode><mode name='maximum' supported='no'><enum name='x'><value>on</value></enum></mode>\
        <mode name='custom' supported='yes'><model usable='yes'>qemu64</model></mode></cpu>\
        <devices><disk supported='yes'><enum name='bus'><value>virtio</value></enum><enum name='model'>\
        <value>virtio</value></enum></disk><rng supported='yes'/><tpm supported='no'/></devices>\
        <features><gic supported='no'/><genid supported='yes'/></features></domainCapabilities>";
    let capabilities = DomainCapabilities::parse(text).unwrap();
    assert_eq!(
        capabilities.cpu_modes,
        ["mode/host-passthrough", "mode/host-passthrough/on", "mode/host-passthrough/off", "mode/custom"]
    );
    assert_eq!(capabilities.devices, ["disk", "disk/virtio", "rng"]);
    assert_eq!(capabilities.features, ["genid"]);
    assert_eq!(capabilities.max_vcpus, Some(255));
}

#[test]
fn blanks_of_the_firmware_are_absent() {
    let text = "<sysinfo type='smbios'><bios><entry name='vendor'>Dell Inc.</entry><entry name='version'>  </entry></bios>\
        <system><entry name='manufacturer'>Dell</entry><entry name='serial'>&#x41;BC</entry></system></sysinfo>";
    let info = SysInfo::parse(text).unwrap();
    assert_eq!(info.bios_vendor.as_deref(), Some("Dell Inc."));
    assert_eq!(info.bios_version, None);
    assert_eq!(info.system_serial.as_deref(), Some("ABC"));
}

#[test]
fn too_long_and_hostile_documents_are_refused() {
    let long = format!("<domain>{}</domain>", " ".repeat(DOCUMENT_MAX));
    assert!(matches!(DomainXml::parse(&long), Err(XmlError::TooLong(_))));
    let entities =
        "<!DOCTYPE d [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]><domain><name>&b;</name></domain>";
    assert!(matches!(DomainXml::parse(entities), Err(XmlError::Malformed(_))));
    let deep = "<a>".repeat(100_000);
    assert!(matches!(DomainXml::parse(&deep), Err(XmlError::TooComplex(_))));
}

proptest! {
    #[test]
    fn any_text_is_a_document_or_an_error(text in "(<[a-z/ ='0-9]{0,12}>|[a-z&;0-9-]{0,6}){0,12}") {
        let _ = Capabilities::parse(&text);
        let _ = DomainCapabilities::parse(&text);
        let _ = SysInfo::parse(&text);
        let _ = DomainXml::parse(&text);
    }

    #[test]
    fn any_numbers_in_the_right_places_are_read_or_absent(
        memory in "[0-9-]{0,22}", unit in "(KiB|b|EiB|G|x)", id in "[0-9]{0,3}", nodes in "[0-9^,-]{0,12}",
    ) {
        let host = format!("<capabilities><host><topology><cells><cell id='{id}'><memory unit='{unit}'>{memory}</memory>\
            <cpus num='{memory}'/></cell></cells></topology></host></capabilities>");
        let _ = Capabilities::parse(&host).unwrap().memory_kib();
        let domain = format!("<domain><memory unit='{unit}'>{memory}</memory><vcpu current='{id}'>{memory}</vcpu>\
            <numatune><memory nodeset='{nodes}'/></numatune><cpu><numa><cell id='{id}' memory='{memory}'/></numa></cpu></domain>");
        let domain = DomainXml::parse(&domain).unwrap();
        prop_assert!(domain.host_cells.len() <= 4096);
    }
}
