//! The services of a ControlPlane: where they are published, where they run, what they lean on.

use serde_json::{Map, Value, json};

use crate::conventions::{Bus, ResolvedControlPlane};

pub(super) fn services(control_plane: &ResolvedControlPlane) -> Value {
    let hosts = &control_plane.hosts;
    let gateway = |hostname: &str| {
        let mut parent = Map::new();
        parent.insert("name".to_owned(), json!(control_plane.gateway.name));
        if let Some(namespace) = &control_plane.gateway.namespace {
            parent.insert("namespace".to_owned(), json!(namespace));
        }
        if let Some(section) = &control_plane.gateway.section_name {
            parent.insert("sectionName".to_owned(), json!(section));
        }
        json!({ "parentRef": parent, "hostname": hostname })
    };
    let images = &control_plane.images;
    let mut neutron = json!({
        "gateway": gateway(&hosts.neutron),
        "ovn": { "centralRef": { "name": control_plane.ovn.name } },
    });
    if let (Some(mtu), Some(neutron)) = (control_plane.physical_network_mtu, neutron.as_object_mut()) {
        neutron.insert(
            "extraConfig".to_owned(),
            json!({ "DEFAULT": { "global_physnet_mtu": mtu.to_string() } }),
        );
    }
    let mut nova = Map::new();
    nova.insert("gateway".to_owned(), gateway(&hosts.nova));
    if !control_plane.compute.is_empty() {
        nova.insert("metadataGateway".to_owned(), gateway(&hosts.nova_metadata));
    }
    if let (true, Bus::External { remote_transport_url_secret, .. }) =
        (control_plane.has_remote_compute(), &control_plane.bus)
    {
        let transport = json!({ "name": remote_transport_url_secret, "key": "transport_url" });
        nova.insert("remoteCompute".to_owned(), json!({ "transportURLSecretRef": transport }));
    }
    if !control_plane.compute.is_empty() {
        nova.insert("hypervisorOperator".to_owned(), json!({}));
    }
    let mut services = json!({
        "keystone": {
            "publicEndpoint": format!("https://{}/v3", hosts.keystone),
            "gateway": gateway(&hosts.keystone),
        },
        "placement": { "gateway": gateway(&hosts.placement) },
        "glance": {
            "gateway": gateway(&hosts.glance),
            "backends": [{
                "name": "default",
                "type": "S3",
                "isDefault": true,
                "s3": {
                    "endpoint": images.endpoint,
                    "bucket": images.bucket,
                    "region": images.region,
                    "credentialsSecretRef": { "name": images.credentials_secret },
                },
            }],
        },
        "neutron": neutron,
        "nova": nova,
    });
    if let Some(all) = services.as_object_mut() {
        if !control_plane.nfs_shares.is_empty() {
            all.insert("cinder".to_owned(), cinder(control_plane, &gateway(&hosts.cinder)));
        }
        if control_plane.has_dashboard {
            all.insert("horizon".to_owned(), json!({ "gateway": gateway(&hosts.horizon) }));
        }
        place(control_plane, all);
    }
    services
}

/// Upstream's ControlPlane knows NFS backends only; those on Ceph are resources of their own.
fn cinder(control_plane: &ResolvedControlPlane, gateway: &Value) -> Value {
    let backends: Vec<Value> = control_plane
        .nfs_shares
        .iter()
        .map(|share| {
            json!({ "name": share.name, "type": "NFS", "nfs": { "server": share.server, "path": share.path } })
        })
        .collect();
    json!({ "gateway": gateway, "backends": backends })
}

/// Services that run on a cluster of their own.
fn place(control_plane: &ResolvedControlPlane, services: &mut Map<String, Value>) {
    for cluster in &control_plane.services {
        for placed in &cluster.placed {
            if let Some(service) = services.get_mut(placed.service).and_then(Value::as_object_mut) {
                service.insert("targetClusterRef".to_owned(), json!({ "name": cluster.cluster }));
                service.insert("namespace".to_owned(), json!({ "name": placed.namespace }));
            }
        }
    }
}
