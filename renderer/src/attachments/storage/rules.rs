//! Rules of storage clusters: what Cinder, Ceph and libvirt would otherwise find out at run time, some of them by losing data.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use super::Storage;
use crate::conventions::ResolvedControlPlane;
use crate::rules::{Report, Rule, Subject};

pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: "volumes-need-cinder",
        summary: "A control plane with volumes on Ceph declares `volumes`.",
        why: "Upstream's ControlPlane runs Cinder only with an NFS backend; without Cinder a backend on Ceph belongs to nobody.",
        mend: "Declare `volumes.nfs` on the control plane, or `volumes: {disabled: true}` on the storage cluster.",
        check: needs_cinder,
    },
    Rule {
        id: "ceph-pool-known",
        summary: "Pools that users and backends name are pools of that cluster.",
        why: "Operators create no pool; a backend without one never becomes ready.",
        mend: "Add the pool under `pools`, or name one that is there.",
        check: pools_known,
    },
    Rule {
        id: "ceph-client-caps",
        summary: "The user of a backend may use its pool.",
        why: "Ceph answers with a permission error on the first volume, not when the backend is made.",
        mend: "Add the pool to the user's `pools`.",
        check: caps,
    },
    Rule {
        id: "ceph-monitors",
        summary: "Monitors are an odd number of IPv4 addresses or names with an optional port.",
        why: "Monitors agree by majority; the operators read no IPv6 addresses.",
        mend: "List one, three or five, for example `192.0.2.11`.",
        check: monitors,
    },
    Rule {
        id: "ceph-networks-cover",
        summary: "Networks are IPv4 in CIDR notation and cover every monitor.",
        why: "Everything else is cut off by the network policy of the volume service.",
        mend: "Add the network of the monitor, for example `192.0.2.0/24`.",
        check: networks,
    },
    Rule {
        id: "ceph-replicas",
        summary: "A pool keeps two copies or more, and not more than there are failure domains.",
        why: "With one copy a lost disk is lost data; with more copies than domains the pool never becomes clean.",
        mend: "Lower `replicas`, or correct `ceph.failureDomains`.",
        check: replicas,
    },
    Rule {
        id: "ceph-storage",
        summary: "OSDs live on disks or on claims, and the network fits its selectors.",
        why: "Rook reads both kinds at once and then uses disks that were not meant.",
        mend: "Keep one of `deviceFilter` and `claims`; selectors go with `network: Multus` only.",
        check: osds,
    },
    Rule {
        id: "ceph-names-unique",
        summary: "A pool, a user and a backend have a name of their own.",
        why: "Two objects of one name overwrite one another.",
        mend: "Rename one of them.",
        check: unique_names,
    },
    Rule {
        id: "ceph-cluster-name",
        summary: "Storage clusters under one Cinder differ in `volumes.clusterName` or in user.",
        why: "Cinder keeps keyrings by cluster name and user; with two alike one backend uses the key of the other.",
        mend: "Leave `volumes.clusterName` out: it becomes the name of the storage cluster.",
        check: cluster_names,
    },
    Rule {
        id: "ceph-fsid",
        summary: "An fsid is a UUID and belongs to one cluster.",
        why: "It is by its fsid that a volume finds its cluster again.",
        mend: "Copy it from `ceph fsid` of each cluster.",
        check: fsid,
    },
    Rule {
        id: "secret-uuid",
        summary: "The id of libvirt's secret is a UUID and belongs to one cluster and user.",
        why: "libvirt keeps one key for each id; with two alike volumes of one cluster cannot be attached.",
        mend: "Leave `volumes.secretUuid` out: it is computed.",
        check: secret_uuid,
    },
    Rule {
        id: "backup-once",
        summary: "One storage cluster of a control plane holds the backups.",
        why: "A Cinder has one backup backend.",
        mend: "Remove `backups` from all but one.",
        check: backup_once,
    },
    Rule {
        id: "image-store-known",
        summary: "`images.cluster` names a storage cluster of the control plane that has an object store.",
        why: "Glance's credentials come from that cluster; without the store there are none.",
        mend: "Declare `objectStore` there, or remove `images.cluster`.",
        check: image_store,
    },
    Rule {
        id: "volume-keys-need-image",
        summary: "Compute clusters that attach volumes on Ceph name an image with virsh.",
        why: "libvirt needs the key of the volumes on every host, and a DaemonSet hands it over with virsh.",
        mend: "Set `libvirt.image` of the compute cluster.",
        check: keys_need_image,
    },
];

fn storages<'topology>(
    subject: &Subject<'topology>,
) -> impl Iterator<Item = (&'topology ResolvedControlPlane, &'topology Storage)> {
    let planes = subject.resolved.control_planes.iter();
    planes.flat_map(|plane| plane.storage.iter().map(move |storage| (plane, storage)))
}

fn needs_cinder(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (plane, storage) in storages(subject) {
        if plane.nfs_shares.is_empty() && (storage.volumes.is_some() || storage.backups.is_some()) {
            let message = format!("{} has no Cinder to use it", plane.name);
            report.add(storage.field.clone(), message, None);
        }
    }
    for plane in &subject.resolved.control_planes {
        let declared = subject.declared.spec.control_planes.iter().find(|entry| entry.name == plane.name);
        if declared.is_some_and(|entry| entry.volumes.is_some()) && plane.nfs_shares.is_empty() {
            report.add(format!("{}.volumes.nfs", plane.field), "there is no share", None);
        }
    }
}

fn pools_known(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (_, storage) in storages(subject) {
        let known = |pool: &str| storage.pools.iter().any(|entry| entry.name == pool);
        let hint = || {
            let names: Vec<&str> = storage.pools.iter().map(|pool| pool.name.as_str()).collect();
            Some(format!("known here: {}", names.join(", ")))
        };
        for client in &storage.clients {
            for (index, pool) in client.pools.iter().enumerate().filter(|(_, pool)| !known(pool)) {
                report.add(
                    format!("{}.pools[{index}]", client.field),
                    format!("there is no pool {pool:?}"),
                    hint(),
                );
            }
        }
        let backends = [
            ("volumes", storage.volumes.as_ref().map(|entry| &entry.pool)),
            ("backups", storage.backups.as_ref().map(|entry| &entry.pool)),
        ];
        for (name, pool) in backends {
            if let Some(pool) = pool.filter(|pool| !known(pool)) {
                report.add(
                    format!("{}.{name}.pool", storage.field),
                    format!("there is no pool {pool:?}"),
                    hint(),
                );
            }
        }
    }
}

fn caps(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (_, storage) in storages(subject) {
        let backends = [
            ("volumes", storage.volumes.as_ref().map(|entry| (&entry.pool, &entry.user))),
            ("backups", storage.backups.as_ref().map(|entry| (&entry.pool, &entry.user))),
        ];
        for (name, backend) in backends {
            let Some((pool, user)) = backend else {
                continue;
            };
            let client = storage.clients.iter().find(|client| client.name == *user);
            if !client.is_some_and(|client| client.pools.contains(pool)) {
                let message = format!("{user:?} may not use the pool {pool:?}");
                report.add(format!("{}.{name}.user", storage.field), message, None);
            }
        }
    }
}

fn monitors(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (_, storage) in storages(subject) {
        let field = format!("{}.monitors", storage.field);
        if storage.monitors.len() % 2 == 0 || storage.monitors.len() > 16 {
            let message = format!("{} monitors cannot agree by majority", storage.monitors.len());
            report.add(field.clone(), message, None);
        }
        if storage.monitor_count % 2 == 0 {
            report.add(
                format!("{}.ceph.monitorCount", storage.field),
                format!("{} monitors cannot agree by majority", storage.monitor_count),
                None,
            );
        }
        for (index, monitor) in storage.monitors.iter().enumerate() {
            let (host, port) =
                monitor.split_once(':').map_or((monitor.as_str(), None), |(host, port)| (host, Some(port)));
            let host_fits = !host.is_empty()
                && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-');
            if !host_fits || port.is_some_and(|port| port.parse::<u16>().is_err()) {
                report.add(format!("{field}[{index}]"), format!("{monitor:?} is not an address"), None);
            }
        }
    }
}

/// A network as address and mask.
fn network(text: &str) -> Option<(u32, u32)> {
    let (address, length) = text.split_once('/')?;
    let address: Ipv4Addr = address.parse().ok()?;
    let length: u32 = length.parse().ok().filter(|length| *length <= 32)?;
    let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
    Some((u32::from(address) & mask, mask))
}

fn networks(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (_, storage) in storages(subject) {
        let field = format!("{}.networks", storage.field);
        if storage.networks.is_empty() {
            report.add(field.clone(), "there is no network", None);
        }
        for (index, text) in storage.networks.iter().enumerate().filter(|(_, text)| network(text).is_none()) {
            report.add(format!("{field}[{index}]"), format!("{text:?} is not an IPv4 network"), None);
        }
        let all: Vec<(u32, u32)> = storage.networks.iter().filter_map(|text| network(text)).collect();
        for (index, monitor) in storage.monitors.iter().enumerate() {
            let host = monitor.split(':').next().unwrap_or_default();
            let Ok(address) = host.parse::<Ipv4Addr>().map(u32::from) else {
                continue;
            };
            if !all.iter().any(|(network, mask)| address & mask == *network) {
                let message = format!("{host} is in none of the networks");
                report.add(format!("{}.monitors[{index}]", storage.field), message, None);
            }
        }
    }
}

fn replicas(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (_, storage) in storages(subject) {
        let domains = storage.ceph.failure_domains.unwrap_or(u32::MAX);
        for pool in &storage.pools {
            let field = format!("{}.replicas", pool.field);
            if pool.replicas < 2 {
                report.add(field, format!("{} copies are too few to lose a disk", pool.replicas), None);
            } else if pool.replicas > domains {
                report.add(
                    field,
                    format!("{} copies need as many failure domains, there are {domains}", pool.replicas),
                    None,
                );
            }
        }
    }
}

fn osds(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (_, storage) in storages(subject) {
        if let Some(declared) = &storage.ceph.storage
            && declared.claims.is_some()
            && declared.device_filter.is_some()
        {
            report.add(
                format!("{}.ceph.storage.claims", storage.field),
                "disks and claims exclude each other",
                None,
            );
        }
        let multus = !super::conventions::on_host_network(&storage.ceph);
        if multus == storage.ceph.network_selectors.is_empty() {
            let field =
                format!("{}.ceph.{}", storage.field, if multus { "network" } else { "networkSelectors" });
            let message = if multus {
                "Multus needs `networkSelectors`"
            } else {
                "selectors mean nothing on the host network"
            };
            report.add(field, message, None);
        }
    }
}

fn unique_names(subject: &Subject<'_>, report: &mut Report<'_>) {
    for plane in &subject.resolved.control_planes {
        let mut backends: Vec<&str> = plane.nfs_shares.iter().map(|share| share.name.as_str()).collect();
        for storage in &plane.storage {
            let mut seen: Vec<(&str, &str)> = Vec::new();
            let pools = storage.pools.iter().map(|pool| ("pool", &pool.name, &pool.field));
            let clients = storage.clients.iter().map(|client| ("user", &client.name, &client.field));
            for (what, name, field) in pools.chain(clients) {
                if seen.contains(&(what, name.as_str())) {
                    report.add(format!("{field}.name"), format!("there is another {what} {name:?}"), None);
                }
                seen.push((what, name));
                let fits = !name.is_empty()
                    && name.len() <= 45
                    && name.bytes().all(|byte| {
                        byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'.'
                    });
                if !fits {
                    report.add(format!("{field}.name"), format!("{name:?} cannot name a {what}"), None);
                }
            }
            if let Some(volumes) = &storage.volumes {
                let field = format!("{}.volumes.name", storage.field);
                if backends.contains(&volumes.name.as_str()) {
                    report.add(field.clone(), format!("there is another backend {:?}", volumes.name), None);
                }
                backends.push(&volumes.name);
                if volumes.name == "default"
                    || plane.name.len() + 7 + volumes.name.len() > 47
                    || volumes.name.len() > 35
                {
                    let hint = "35 characters at most, and 40 together with the name of the control plane; not `default`";
                    report.add(field, format!("{:?} does not fit", volumes.name), Some(hint.to_owned()));
                }
            }
        }
    }
}

fn cluster_names(subject: &Subject<'_>, report: &mut Report<'_>) {
    for plane in &subject.resolved.control_planes {
        let mut seen: Vec<(&str, &str)> = Vec::new();
        for storage in &plane.storage {
            let Some(volumes) = &storage.volumes else {
                continue;
            };
            let pair = (volumes.cluster_name.as_str(), volumes.user.as_str());
            if seen.contains(&pair) {
                let message = format!(
                    "another storage cluster of {} has {:?} and {:?} too",
                    plane.name, pair.0, pair.1
                );
                report.add(format!("{}.volumes.clusterName", storage.field), message, None);
            }
            seen.push(pair);
        }
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.char_indices().all(|(index, character)| match index {
            8 | 13 | 18 | 23 => character == '-',
            _ => matches!(character, '0'..='9' | 'a'..='f'),
        })
}

fn fsid(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut seen: BTreeMap<&str, String> = BTreeMap::new();
    for (_, storage) in storages(subject) {
        let Some(fsid) = &storage.fsid else {
            continue;
        };
        let field = format!("{}.fsid", storage.field);
        if !is_uuid(fsid) {
            report.add(field.clone(), format!("{fsid:?} is not a UUID"), None);
        } else if let Some(first) = seen.get(fsid.as_str()) {
            let hint = format!("first used at {}", report.place(first));
            report.add(field.clone(), "another cluster has this fsid", Some(hint));
        }
        seen.entry(fsid).or_insert(field);
    }
}

fn secret_uuid(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut seen: BTreeMap<&str, String> = BTreeMap::new();
    for (_, storage) in storages(subject) {
        let Some(volumes) = &storage.volumes else {
            continue;
        };
        let field = format!("{}.volumes.secretUuid", storage.field);
        if !is_uuid(&volumes.secret_uuid) {
            report.add(field.clone(), format!("{:?} is not a UUID", volumes.secret_uuid), None);
        } else if let Some(first) = seen.get(volumes.secret_uuid.as_str()) {
            let hint = format!("first used at {}", report.place(first));
            report.add(field.clone(), "another cluster has this id", Some(hint));
        }
        seen.entry(&volumes.secret_uuid).or_insert(field);
    }
}

fn backup_once(subject: &Subject<'_>, report: &mut Report<'_>) {
    for plane in &subject.resolved.control_planes {
        for storage in plane.storage.iter().filter(|storage| storage.backups.is_some()).skip(1) {
            let message = format!("another storage cluster of {} holds the backups", plane.name);
            report.add(format!("{}.backups", storage.field), message, None);
        }
    }
}

fn image_store(subject: &Subject<'_>, report: &mut Report<'_>) {
    for plane in &subject.resolved.control_planes {
        let Some(cluster) = &plane.images.cluster else {
            continue;
        };
        let field = format!("{}.images.cluster", plane.field);
        match plane.image_storage() {
            None => {
                report.add(field, format!("{cluster:?} is not a storage cluster of {}", plane.name), None)
            }
            Some(storage) if storage.object_store.is_none() => {
                report.add(field, format!("{cluster:?} has no object store"), None);
            }
            Some(_) => {}
        }
    }
}

fn keys_need_image(subject: &Subject<'_>, report: &mut Report<'_>) {
    for plane in &subject.resolved.control_planes {
        if plane.storage.iter().all(|storage| storage.volume_key().is_none()) {
            continue;
        }
        for compute in plane.compute.iter().filter(|compute| compute.libvirt.image.is_none()) {
            let message = format!("volumes of {} could not be attached here", plane.name);
            report.add(format!("{}.libvirt.image", compute.attachment.field), message, None);
        }
    }
}
