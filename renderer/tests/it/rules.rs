//! Every rule has a topology that breaks it and one that nearly does.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::fixture::{edited, findings, second_control_plane};

struct Case {
    rule: &'static str,
    fails: Vec<(&'static str, Value)>,
    passes: Vec<(&'static str, Value)>,
}

const PLANE: &str = "/spec/controlPlanes/0";

fn case(rule: &'static str, fails: &[(&'static str, Value)], passes: &[(&'static str, Value)]) -> Case {
    Case { rule, fails: fails.to_vec(), passes: passes.to_vec() }
}

/// A pointer below the control plane of the sample.
fn at(pointer: &'static str) -> &'static str {
    Box::leak(format!("{PLANE}{pointer}").into_boxed_str())
}

fn second(edits: &[(&str, Value)]) -> (&'static str, Value) {
    let mut plane = second_control_plane();
    for (pointer, value) in edits {
        crate::fixture::set(&mut plane, pointer, value.clone());
    }
    ("/spec/controlPlanes/1", plane)
}

fn name_cases() -> Vec<Case> {
    vec![
        case("name-dns-label", &[(at("/name"), json!("../../x"))], &[(at("/name"), json!("x-1"))]),
        case(
            "name-dns-label",
            &[(at("/compute/0/name"), json!("Rack1"))],
            &[(at("/compute/0/name"), json!("rack1"))],
        ),
        case("name-dns-label", &[("/metadata/name", json!("a\nb"))], &[("/metadata/name", json!("a-b"))]),
        case("name-length", &[(at("/name"), json!("c".repeat(33)))], &[(at("/name"), json!("c".repeat(32)))]),
        case(
            "name-length",
            &[(at("/network/0/name"), json!("n".repeat(35)))],
            &[(at("/network/0/name"), json!("n".repeat(34)))],
        ),
        case(
            "cluster-unique",
            &[(at("/network/0/name"), json!("compute-a1"))],
            &[(at("/network/0/name"), json!("compute-a2"))],
        ),
        case(
            "cluster-unique",
            &[("/spec/management/name", json!("network-a1"))],
            &[("/spec/management/name", json!("hub"))],
        ),
        case(
            "control-plane-unique",
            &[second(&[("/name", json!("cp-a")), ("/namespace", json!("cp-b"))])],
            &[second(&[])],
        ),
        case(
            "namespace-unique",
            &[second(&[("/namespace", json!("cp-a"))])],
            &[second(&[("/namespace", json!("cp-c"))])],
        ),
        case(
            "namespace-unique",
            &[(at("/compute/0/libvirt/certificateNamespace"), json!("cp-a"))],
            &[(at("/compute/0/libvirt/certificateNamespace"), json!("cp-a-hosts"))],
        ),
        case(
            "pool-unique",
            &[(
                at("/compute/0/pools/1"),
                json!({ "name": "pool1", "nodeSelector": { "openstack.c5c3.io/chassis": "true", "openstack.c5c3.io/nova-compute-pool": "other" } }),
            )],
            &[(at("/compute/0/pools/1"), json!({ "name": "pool2" }))],
        ),
        case(
            "secret-reserved",
            &[(at("/messaging/transportUrlSecret"), json!("cp-a-nova-compute-config"))],
            &[(at("/messaging/transportUrlSecret"), json!("cp-a-nova-compute-configuration"))],
        ),
    ]
}

fn format_cases() -> Vec<Case> {
    vec![
        case("release-format", &[(at("/release"), json!("2025.3"))], &[(at("/release"), json!("2026.1"))]),
        case("region-format", &[(at("/region"), json!("a,b"))], &[(at("/region"), json!("a b"))]),
        case(
            "duration-format",
            &[("/spec/management/reconciliation/interval", json!("10 minutes"))],
            &[("/spec/management/reconciliation/interval", json!("1h30m"))],
        ),
        case(
            "quantity-format",
            &[(at("/ovn/northbound/storage"), json!("2G"))],
            &[(at("/ovn/northbound/storage"), json!("2Gi"))],
        ),
        case(
            "image-format",
            &[(at("/compute/0/metadataAgent/imageTag"), json!("a b"))],
            &[(at("/compute/0/metadataAgent/imageTag"), json!("a-b"))],
        ),
        case(
            "image-format",
            &[(
                at("/compute/0/operators"),
                json!({ "hypervisorOperator": { "tag": "1", "digest": "sha256:12" }, "nodeAgent": { "tag": "1" } }),
            )],
            &[(
                at("/compute/0/operators"),
                json!({ "hypervisorOperator": { "tag": "1" }, "nodeAgent": { "tag": "1" } }),
            )],
        ),
        case(
            "endpoint-format",
            &[(at("/images/endpoint"), json!("https://someone@s3.example.org"))],
            &[(at("/images/endpoint"), json!("http://s3.example.org:3900"))],
        ),
        case(
            "store-format",
            &[("/spec/management/secretPrefix", json!("/a//b"))],
            &[("/spec/management/secretPrefix", json!("a/b"))],
        ),
        case(
            "secret-in-topology",
            &[(at("/messaging/remoteTransportUrlSecret"), json!("rabbit://nova:hunter2@bus.example.org"))],
            &[(at("/messaging/remoteTransportUrlSecret"), json!("rabbit"))],
        ),
    ]
}

fn service_cases() -> Vec<Case> {
    vec![
        case(
            "remote-compute-bus",
            &[(at("/messaging/tls"), json!(false))],
            &[(at("/messaging/tls"), json!(true))],
        ),
        case(
            "remote-compute-bus",
            &[(at("/messaging/mode"), json!("Managed"))],
            &[(at("/messaging/mode"), json!("Managed")), (at("/compute"), json!([]))],
        ),
        case(
            "messaging-fields",
            &[(at("/messaging/cluster"), json!("rabbit"))],
            &[
                (at("/messaging"), json!({ "mode": "Managed", "cluster": "rabbit" })),
                (at("/compute"), json!([])),
            ],
        ),
        case(
            "messaging-secrets",
            &[(at("/messaging/remoteTransportUrlSecret"), json!("cp-a-bus"))],
            &[(at("/messaging/remoteTransportUrlSecret"), json!("cp-a-bus-2"))],
        ),
        case(
            "host-format",
            &[(at("/domain"), json!("A.example.org"))],
            &[(at("/domain"), json!("cloud.internal"))],
        ),
        case(
            "host-unique",
            &[(at("/hosts/novaMetadata"), json!("nova.a.example.org"))],
            &[(at("/hosts/novaMetadata"), json!("metadata.a.example.org"))],
        ),
        case(
            "ovn-replicas",
            &[(at("/ovn/southbound/replicas"), json!(2))],
            &[(at("/ovn/southbound/replicas"), json!(5))],
        ),
        case(
            "node-port-range",
            &[(at("/ovn/northbound/nodePortBase"), json!(32766))],
            &[(at("/ovn/northbound/nodePortBase"), json!(32765))],
        ),
        case("node-port-overlap", &[second(&[("/ovn", Value::Null), ("/ovn", json!({}))])], &[second(&[])]),
        case(
            "node-port-overlap",
            &[(at("/ovn/southbound/nodePortBase"), json!(30643))],
            &[(at("/ovn/southbound/nodePortBase"), json!(30644))],
        ),
        case(
            "node-port-overlap",
            &[(at("/ovn/relay"), json!({ "nodePort": 30653 }))],
            &[(at("/ovn/relay"), json!({ "nodePort": 30654 }))],
        ),
    ]
}

fn network_cases() -> Vec<Case> {
    const MAPPINGS: &str = "/network/0/chassis/bridgeMappings";
    let mapping = |network: &str, bridge: &str| json!({ "physicalNetwork": network, "bridge": bridge });
    vec![
        case(
            "bridge-format",
            &[(at(MAPPINGS), json!([mapping("physnet1", "br-0123456789abc")]))],
            &[(at(MAPPINGS), json!([mapping("physnet1", "br-0123456789ab")]))],
        ),
        case(
            "bridge-format",
            &[(at(MAPPINGS), json!([mapping("phys_net", "br-ex")]))],
            &[(at(MAPPINGS), json!([mapping("phys-net", "br-ex")]))],
        ),
        case(
            "bridge-unique",
            &[(at(MAPPINGS), json!([mapping("one", "br-ex"), mapping("two", "br-ex")]))],
            &[(at(MAPPINGS), json!([mapping("one", "br-ex"), mapping("two", "br-two")]))],
        ),
        case(
            "gateway-mappings",
            &[(at(MAPPINGS), json!([]))],
            &[(at(MAPPINGS), json!([mapping("other", "br-ex")]))],
        ),
        case(
            "gateway-mappings",
            &[(at("/compute/0/chassis/bridgeMappings"), json!([mapping("physnet2", "br-two")]))],
            &[(at("/compute/0/chassis/bridgeMappings"), json!([mapping("physnet1", "br-two")]))],
        ),
        case(
            "encapsulation-equal",
            &[(at("/compute/0/chassis/encapsulation"), json!("vxlan"))],
            &[
                (at("/compute/0/chassis/encapsulation"), json!("vxlan")),
                (at("/network/0/chassis/encapsulation"), json!("vxlan")),
            ],
        ),
        case(
            "mtu-fits",
            &[(at("/physicalNetworkMtu"), json!(9000)), (at("/compute/0/chassis/underlayMtu"), json!(8999))],
            &[(at("/physicalNetworkMtu"), json!(9000)), (at("/compute/0/chassis/underlayMtu"), json!(9000))],
        ),
        case(
            "mtu-fits",
            &[(at("/network/0/chassis/underlayMtu"), json!(1400))],
            &[(at("/network/0/chassis/underlayMtu"), json!(1500))],
        ),
        case(
            "ovn-cluster-attached",
            &[(at("/ovn/cluster"), json!("compute-a1"))],
            &[(at("/ovn/cluster"), json!("network-a1"))],
        ),
        case(
            "ovn-issuer-unique",
            &[
                second(&[("/ovn/issuer", json!({ "name": "shared" }))]),
                (at("/ovn/issuer"), json!({ "name": "shared" })),
            ],
            &[
                second(&[("/ovn/issuer", json!({ "name": "shared", "kind": "Issuer" }))]),
                (at("/ovn/issuer"), json!({ "name": "shared", "kind": "Issuer" })),
            ],
        ),
    ]
}

fn node_cases() -> Vec<Case> {
    const CHASSIS: &str = "/compute/0/chassis/nodeSelector";
    const POOL: &str = "/compute/0/pools/0/nodeSelector";
    let chassis = ("openstack.c5c3.io/chassis", "true");
    vec![
        case("selector-present", &[(at(CHASSIS), json!({}))], &[(at(CHASSIS), json!({ "role": "chassis" }))]),
        case(
            "selector-format",
            &[(at(CHASSIS), json!({ "role": "a b" }))],
            &[(at(CHASSIS), json!({ "example.org/role": "" }))],
        ),
        case(
            "gateway-selector",
            &[(at("/network/0/chassis/gatewayNodeSelector"), json!({ chassis.0: "false" }))],
            &[(at("/network/0/chassis/gatewayNodeSelector"), json!({ chassis.0: "true" }))],
        ),
        case(
            "pool-within-chassis",
            &[(at(POOL), json!({ "pool": "1" }))],
            &[(at(POOL), json!({ "pool": "1", chassis.0: chassis.1 }))],
        ),
        case(
            "pool-overlap",
            &[(
                at("/compute/0/pools/1"),
                json!({ "name": "pool2", "nodeSelector": { chassis.0: chassis.1, "disk": "fast" } }),
            )],
            &[(at("/compute/0/pools/1"), json!({ "name": "pool2" }))],
        ),
        case(
            "pools-declared",
            &[(at("/compute/0/pools"), json!([]))],
            &[(at("/compute/0/pools"), json!([{ "name": "p" }]))],
        ),
        case(
            "cpu-models",
            &[(at("/compute/0/pools/0/cpuModels"), json!([]))],
            &[(at("/compute/0/pools/0/cpuModels"), json!(["EPYC"]))],
        ),
        case(
            "cpu-models",
            &[(at("/compute/0/pools/0/cpuMode"), json!("host-model"))],
            &[(at("/compute/0/pools/0"), json!({ "name": "pool1", "cpuMode": "host-model" }))],
        ),
    ]
}

fn compute_cases() -> Vec<Case> {
    const POOL: &str = "/compute/0/pools/0";
    let pool = |name: &str, zone: &str| json!({ "name": name, "availabilityZone": zone });
    let local = |name: &str, label: &str| json!({ "name": name, "local": true, "chassis": { "nodeSelector": { "role": label } }, "pools": [{ "name": name }] });
    let cloud_hypervisor = |image: Value| json!({ "name": "compute-a1", "hypervisor": "CloudHypervisor", "pools": [{ "name": "p", "image": image }] });
    vec![
        case(
            "cloud-hypervisor",
            &[(at("/compute/0"), cloud_hypervisor(Value::Null))],
            &[(at("/compute/0"), cloud_hypervisor(json!({ "repository": "registry.example.org/nova-ch" })))],
        ),
        case(
            "libvirt-image",
            &[(at("/compute/0/libvirt"), json!({ "deployment": "DaemonSet" }))],
            &[(
                at("/compute/0/libvirt"),
                json!({ "deployment": "DaemonSet", "image": "registry.example.org/libvirt:1" }),
            )],
        ),
        case(
            "migration-ports",
            &[(at("/compute/0/libvirt/migrationPorts"), json!({ "first": 16500, "last": 16600 }))],
            &[(at("/compute/0/libvirt/migrationPorts"), json!({ "first": 16515, "last": 16600 }))],
        ),
        case(
            "zone-migratable",
            &[
                (at(POOL), pool("pool1", "z")),
                (
                    at("/compute/1"),
                    json!({ "name": "c2", "libvirt": { "migrationDomain": "other" }, "pools": [pool("p", "z")] }),
                ),
            ],
            &[
                (at(POOL), pool("pool1", "z")),
                (
                    at("/compute/1"),
                    json!({ "name": "c2", "libvirt": { "migrationDomain": "other" }, "pools": [pool("p", "y")] }),
                ),
            ],
        ),
        case(
            "traits-format",
            &[(at("/compute/0/pools/0/traits"), json!(["HW_CPU"]))],
            &[(at("/compute/0/pools/0/traits"), json!(["CUSTOM_CPU"]))],
        ),
        case(
            "hosts-unique",
            &[(at("/compute/0/pools/0/hosts"), json!([{ "name": "n1" }, { "name": "n1" }]))],
            &[(at("/compute/0/pools/0/hosts"), json!([{ "name": "n1" }, { "name": "n2" }]))],
        ),
        case(
            "chassis-overlap",
            &[(at("/compute/1"), local("l1", "a")), (at("/compute/2"), local("l2", "a"))],
            &[(at("/compute/1"), local("l1", "a")), (at("/compute/2"), local("l2", "b"))],
        ),
    ]
}

fn storage_cases() -> Vec<Case> {
    const FSID: &str = "8f4c1ad0-7b5e-4c11-9a53-1d0e5a4ce001";
    // The sample with two storage clusters that go well with it.
    let with = |edits: &[(&str, Value)]| {
        let mut plane = crate::fixture::sample()["spec"]["controlPlanes"][0].clone();
        let storage =
            |name: &str| json!({ "name": name, "monitors": ["192.0.2.11"], "networks": ["192.0.2.0/24"] });
        let base = [
            ("/volumes", json!({ "nfs": [{ "name": "nfs", "server": "nfs.example.org", "path": "/v" }] })),
            ("/compute/0/libvirt", json!({ "image": "registry.example.org/libvirt:1" })),
            ("/storage", json!([storage("s1"), storage("s2")])),
        ];
        for (pointer, value) in base.iter().chain(edits) {
            crate::fixture::set(&mut plane, pointer, value.clone());
        }
        vec![(PLANE, plane)]
    };
    let pair = |rule: &'static str, fails: &[(&str, Value)], passes: &[(&str, Value)]| Case {
        rule,
        fails: with(fails),
        passes: with(passes),
    };
    vec![
        pair("volumes-need-cinder", &[("/volumes", Value::Null)], &[]),
        pair(
            "ceph-pool-known",
            &[("/storage/0/backups", json!({ "pool": "none" }))],
            &[("/storage/0/backups", json!({}))],
        ),
        pair(
            "ceph-client-caps",
            &[("/storage/0/volumes", json!({ "pool": "backups" }))],
            &[("/storage/0/volumes", json!({ "pool": "backups", "user": "cinder-backup" }))],
        ),
        pair(
            "ceph-monitors",
            &[("/storage/0/monitors", json!(["192.0.2.11", "192.0.2.12"]))],
            &[("/storage/0/monitors", json!(["192.0.2.11", "192.0.2.12:3300", "mon3.example.org"]))],
        ),
        pair(
            "ceph-networks-cover",
            &[("/storage/0/monitors", json!(["192.0.3.1"]))],
            &[("/storage/0/monitors", json!(["192.0.2.254"]))],
        ),
        pair(
            "ceph-networks-cover",
            &[("/storage/0/networks", json!(["fd00::/64"]))],
            &[("/storage/0/networks", json!(["0.0.0.0/0"]))],
        ),
        pair(
            "ceph-replicas",
            &[("/storage/0/ceph", json!({ "failureDomains": 2 }))],
            &[("/storage/0/ceph", json!({ "failureDomains": 3 }))],
        ),
        pair(
            "ceph-storage",
            &[(
                "/storage/0/ceph",
                json!({ "storage": { "deviceFilter": "sd", "claims": { "count": 3, "size": "1Ti", "storageClass": "x" } } }),
            )],
            &[(
                "/storage/0/ceph",
                json!({ "storage": { "claims": { "count": 3, "size": "1Ti", "storageClass": "x" } } }),
            )],
        ),
        pair(
            "ceph-storage",
            &[("/storage/0/ceph", json!({ "network": "Multus" }))],
            &[("/storage/0/ceph", json!({ "network": "Multus", "networkSelectors": { "public": "net" } }))],
        ),
        pair(
            "ceph-names-unique",
            &[("/storage/0/volumes", json!({ "name": "nfs" }))],
            &[("/storage/0/volumes", json!({ "name": "rbd" }))],
        ),
        pair(
            "ceph-cluster-name",
            &[
                ("/storage/0/volumes", json!({ "clusterName": "x" })),
                ("/storage/1/volumes", json!({ "clusterName": "x" })),
            ],
            &[
                ("/storage/0/volumes", json!({ "clusterName": "x" })),
                ("/storage/1/volumes", json!({ "clusterName": "y" })),
            ],
        ),
        pair(
            "ceph-fsid",
            &[("/storage/0/fsid", json!(FSID)), ("/storage/1/fsid", json!(FSID))],
            &[("/storage/0/fsid", json!(FSID))],
        ),
        pair(
            "secret-uuid",
            &[
                ("/storage/0/volumes", json!({ "secretUuid": FSID })),
                ("/storage/1/volumes", json!({ "secretUuid": FSID })),
            ],
            &[("/storage/0/volumes", json!({ "secretUuid": FSID }))],
        ),
        pair(
            "backup-once",
            &[("/storage/0/backups", json!({})), ("/storage/1/backups", json!({}))],
            &[("/storage/1/backups", json!({}))],
        ),
        pair(
            "image-store-known",
            &[("/images", json!({ "cluster": "s1" }))],
            &[
                ("/images", json!({ "cluster": "s1" })),
                ("/storage/0/objectStore", json!({ "endpoint": "https://s3.example.org" })),
            ],
        ),
        pair("volume-keys-need-image", &[("/compute/0/libvirt", Value::Null)], &[]),
    ]
}

fn platform_cases() -> Vec<Case> {
    const PLATFORM: &str = "/spec/management/platform";
    let platform = |commit: &str| {
        let pin = json!({ "commit": commit });
        json!({ "kOrc": pin, "rabbitmqClusterOperator": pin, "messagingTopologyOperator": pin })
    };
    let good = "0123456789abcdef0123456789abcdef01234567";
    let services = |services: Value| json!([{ "name": "services-a1", "services": services }]);
    vec![
        case("pin-format", &[(PLATFORM, platform("main"))], &[(PLATFORM, platform(good))]),
        case(
            "release-known",
            &[(PLATFORM, platform(good)), ("/spec/management/platform/without", json!(["certmanager"]))],
            &[(PLATFORM, platform(good)), ("/spec/management/platform/without", json!(["cert-manager"]))],
        ),
        case(
            "address-format",
            &[(at("/compute/0/access"), json!({ "server": "10.0.0.1:6443" }))],
            &[(at("/compute/0/access"), json!({ "server": "https://10.0.0.1:6443" }))],
        ),
        case(
            "attached-store",
            &[
                ("/spec/management/openbao", json!({ "externalAddress": "https://bao.example.org" })),
                ("/spec/management/secretStore", json!({ "kind": "SecretStore", "name": "s" })),
            ],
            &[("/spec/management/openbao", json!({ "externalAddress": "https://bao.example.org" }))],
        ),
        case(
            "placed-service-present",
            &[(at("/services"), services(json!([{ "service": "horizon" }])))],
            &[(at("/services"), services(json!([{ "service": "horizon" }]))), (at("/dashboard"), json!({}))],
        ),
        case(
            "placed-service-once",
            &[(at("/services"), services(json!([{ "service": "glance", "namespace": "cp-a" }])))],
            &[(at("/services"), services(json!([{ "service": "glance" }])))],
        ),
    ]
}

fn cases() -> Vec<Case> {
    [
        name_cases(),
        format_cases(),
        service_cases(),
        network_cases(),
        node_cases(),
        compute_cases(),
        storage_cases(),
        platform_cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn every_rule_fails_where_it_must_and_says_where() {
    for Case { rule, fails, .. } in cases() {
        let document = edited(&fails);
        let all = findings(&document);
        let found = all.iter().find(|finding| finding.rule == rule);
        let found = found.unwrap_or_else(|| panic!("{rule} did not fail for {fails:?}: {all:?}"));
        let position = found.position.as_ref().unwrap_or_else(|| panic!("{rule} has no position"));
        assert!(position.line > 1 || found.field == "metadata.name", "{rule} points at {position}");
    }
}

#[test]
fn every_rule_passes_where_it_nearly_fails() {
    for Case { rule, passes, .. } in cases() {
        let all = findings(&edited(&passes));
        assert!(all.is_empty(), "{rule} with {passes:?}: {all:#?}");
    }
}

#[test]
fn every_rule_has_cases() {
    let tested: BTreeSet<&str> = cases().iter().map(|case| case.rule).collect();
    let known: BTreeSet<&str> = c5c3_renderer::rules().iter().map(|rule| rule.id).collect();
    assert_eq!(known, tested);
}

#[test]
fn all_violations_are_reported_in_one_run() {
    let document = edited(&[
        (at("/release"), json!("zed")),
        (at("/domain"), json!("UPPER")),
        (at("/compute/0/pools"), json!([])),
        (at("/ovn/northbound/nodePortBase"), json!(1)),
    ]);
    let rules: Vec<&str> = findings(&document).iter().map(|finding| finding.rule).collect();
    for rule in ["release-format", "host-format", "pools-declared", "node-port-range"] {
        assert!(rules.contains(&rule), "{rule} is missing from {rules:?}");
    }
}

#[test]
fn a_secret_in_the_topology_is_named_and_not_repeated() {
    let document = edited(&[(at("/images/bucket"), json!("amqp://nova:hunter2@bus.example.org/"))]);
    let all = findings(&document);
    assert!(all.iter().any(|finding| finding.rule == "secret-in-topology"));
    let text: String =
        all.iter().filter(|finding| finding.rule == "secret-in-topology").map(ToString::to_string).collect();
    assert!(!text.contains("hunter2"), "{text}");
}
