//! Conventions of a control plane.

use c5c3_api::topology::{ControlPlane, Hosts, Messaging, MessagingMode, NfsShare, SizingProfile};

use super::ovn::{self, ResolvedOvn};
use super::{Attachment, Compute, Network, ResolvedManagement, Services, Storage};
use crate::attachments::{compute, network, services, storage};

/// A control plane, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedControlPlane {
    /// Path of its entry in the document.
    pub field: String,
    /// Name.
    pub name: String,
    /// Namespace on the management cluster.
    pub namespace: String,
    /// OpenStack release.
    pub release: String,
    /// OpenStack region.
    pub region: String,
    /// Sizing profile.
    pub sizing: &'static str,
    /// The Gateway.
    pub gateway: ResolvedGateway,
    /// Public host names.
    pub hosts: PublicHosts,
    /// Database cluster.
    pub database_cluster: String,
    /// Cache cluster.
    pub cache_cluster: String,
    /// The message bus.
    pub bus: Bus,
    /// Where images are kept.
    pub images: ResolvedImageStore,
    /// OVN central.
    pub ovn: ResolvedOvn,
    /// MTU of physical networks, when declared.
    pub physical_network_mtu: Option<u32>,
    /// Compute clusters.
    pub compute: Vec<Compute>,
    /// Network clusters.
    pub network: Vec<Network>,
    /// Storage clusters.
    pub storage: Vec<Storage>,
    /// Service clusters.
    pub services: Vec<Services>,
    /// NFS shares for volumes; with any, there is a Cinder.
    pub nfs_shares: Vec<NfsShare>,
    /// Whether there is a dashboard.
    pub has_dashboard: bool,
}

/// The Gateway of a control plane.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedGateway {
    /// Name.
    pub name: String,
    /// Namespace, when another one.
    pub namespace: Option<String>,
    /// Listener, when one is named.
    pub section_name: Option<String>,
    /// Class, when the Gateway is ours to make.
    pub class: Option<String>,
    /// ClusterIssuer of its certificates.
    pub issuer: Option<String>,
}

/// Public host names.
#[derive(Clone, Debug, PartialEq)]
pub struct PublicHosts {
    /// Keystone.
    pub keystone: String,
    /// Glance.
    pub glance: String,
    /// Placement.
    pub placement: String,
    /// Neutron.
    pub neutron: String,
    /// Nova.
    pub nova: String,
    /// Nova's metadata service.
    pub nova_metadata: String,
    /// Cinder.
    pub cinder: String,
    /// Horizon.
    pub horizon: String,
}

impl PublicHosts {
    /// The names with the field that sets each.
    #[must_use]
    pub fn named(&self) -> [(&'static str, &str); 8] {
        [
            ("keystone", &self.keystone),
            ("glance", &self.glance),
            ("placement", &self.placement),
            ("neutron", &self.neutron),
            ("nova", &self.nova),
            ("novaMetadata", &self.nova_metadata),
            ("cinder", &self.cinder),
            ("horizon", &self.horizon),
        ]
    }
}

/// The message bus.
#[derive(Clone, Debug, PartialEq)]
pub enum Bus {
    /// Somebody else's.
    External {
        /// Secret with the URL for the control plane.
        transport_url_secret: String,
        /// Secret with the CA, when the bus speaks TLS.
        certificate_authority_secret: Option<String>,
        /// Secret with the URL for compute clusters.
        remote_transport_url_secret: String,
    },
    /// The operator's.
    Managed {
        /// Name of the RabbitMQ cluster.
        cluster: String,
    },
}

/// Where Glance keeps images.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedImageStore {
    /// URL.
    pub endpoint: String,
    /// Bucket.
    pub bucket: String,
    /// Region of the object store.
    pub region: String,
    /// Secret with the credentials.
    pub credentials_secret: String,
    /// Storage cluster that it is on, when it is on one of ours.
    pub cluster: Option<String>,
}

impl ResolvedControlPlane {
    /// The clusters attached to it: network clusters first, since compute nodes tunnel to them.
    pub fn attachments(&self) -> impl Iterator<Item = &Attachment> {
        let network = self.network.iter().map(|network| &network.attachment);
        network.chain(self.compute.iter().map(|compute| &compute.attachment))
    }

    /// Whether hypervisors outside of the management cluster need the bus.
    #[must_use]
    pub fn has_remote_compute(&self) -> bool {
        self.compute.iter().any(|compute| !compute.attachment.local)
    }

    /// Every attached cluster of any kind: the field of its entry, its name, and whether it is being emptied.
    pub fn clusters(&self) -> impl Iterator<Item = (&str, &str, bool)> {
        let with_chassis =
            self.attachments().map(|entry| (entry.field.as_str(), entry.cluster.as_str(), entry.draining));
        let storage =
            self.storage.iter().map(|entry| (entry.field.as_str(), entry.cluster.as_str(), entry.draining));
        let services =
            self.services.iter().map(|entry| (entry.field.as_str(), entry.cluster.as_str(), entry.draining));
        with_chassis.chain(storage).chain(services)
    }

    /// The storage cluster that images are kept on.
    #[must_use]
    pub fn image_storage(&self) -> Option<&Storage> {
        let cluster = self.images.cluster.as_ref()?;
        self.storage.iter().find(|storage| storage.cluster == *cluster)
    }

    /// The services that are published, with the field that sets each host name, and the name.
    #[must_use]
    pub fn published_hosts(&self) -> Vec<(&'static str, &str)> {
        let is_there = |service: &str| match service {
            "cinder" => !self.nfs_shares.is_empty(),
            "horizon" => self.has_dashboard,
            "novaMetadata" => !self.compute.is_empty(),
            _ => true,
        };
        self.hosts.named().into_iter().filter(|(service, _)| is_there(service)).collect()
    }
}

pub(super) fn resolve(
    declared: &ControlPlane,
    field: &str,
    topology: &str,
    management: &ResolvedManagement,
) -> ResolvedControlPlane {
    let name = &declared.name;
    let namespace = declared.namespace.clone().unwrap_or_else(|| name.clone());
    let region = declared.region.clone().unwrap_or_else(|| "RegionOne".to_owned());
    let gateway = declared.gateway.clone().unwrap_or_default();
    let images = declared.images.clone().unwrap_or_default();
    let network: Vec<Network> = declared
        .network
        .iter()
        .enumerate()
        .map(|(index, cluster)| network::resolve(cluster, &format!("{field}.network[{index}]")))
        .collect();
    let compute: Vec<Compute> = declared
        .compute
        .iter()
        .enumerate()
        .map(|(index, cluster)| {
            compute::resolve(cluster, &format!("{field}.compute[{index}]"), declared, management)
        })
        .collect();
    let alone = declared.storage.len() < 2;
    let storage: Vec<Storage> = declared
        .storage
        .iter()
        .enumerate()
        .map(|(index, cluster)| {
            storage::resolve(cluster, &format!("{field}.storage[{index}]"), topology, alone)
        })
        .collect();
    let services = declared.services.iter().enumerate();
    let services = services
        .map(|(index, cluster)| services::resolve(cluster, &format!("{field}.services[{index}]"), name));
    let has_remote_chassis = network.iter().any(|entry| !entry.attachment.local)
        || compute.iter().any(|entry| !entry.attachment.local);
    ResolvedControlPlane {
        field: field.to_owned(),
        name: name.clone(),
        release: declared.release.clone(),
        sizing: match declared.sizing.unwrap_or(SizingProfile::Standard) {
            SizingProfile::Minimal => "Minimal",
            SizingProfile::Standard => "Standard",
        },
        gateway: ResolvedGateway {
            name: gateway.name.unwrap_or_else(|| "openstack-gw".to_owned()),
            namespace: gateway.namespace,
            section_name: gateway.section_name,
            class: gateway.class,
            issuer: gateway.issuer,
        },
        hosts: hosts(declared.hosts.clone().unwrap_or_default(), &declared.domain),
        database_cluster: named(
            declared.database.as_ref().and_then(|database| database.cluster.clone()),
            "openstack-db",
        ),
        cache_cluster: named(
            declared.cache.as_ref().and_then(|cache| cache.cluster.clone()),
            "openstack-memcached",
        ),
        bus: bus(declared.messaging.clone().unwrap_or_default(), name),
        images: ResolvedImageStore {
            endpoint: images.endpoint.unwrap_or_else(|| {
                let on_ours = storage.iter().find(|entry| Some(&entry.cluster) == images.cluster.as_ref());
                let store = on_ours.and_then(|entry| entry.object_store.as_ref());
                store
                    .map_or_else(|| format!("https://s3.{}", declared.domain), |store| store.endpoint.clone())
            }),
            cluster: images.cluster,
            bucket: images.bucket.unwrap_or_else(|| format!("{name}-images")),
            region: images.region.unwrap_or_else(|| region.clone()),
            credentials_secret: images.credentials_secret.unwrap_or_else(|| format!("{name}-image-store")),
        },
        ovn: ovn::resolve(declared.ovn.as_ref(), &format!("{field}.ovn"), name, has_remote_chassis),
        physical_network_mtu: declared.physical_network_mtu,
        namespace,
        region,
        compute,
        network,
        services: services.collect(),
        storage,
        nfs_shares: declared.volumes.clone().map(|volumes| volumes.nfs).unwrap_or_default(),
        has_dashboard: declared.dashboard.is_some(),
    }
}

fn named(declared: Option<String>, convention: &str) -> String {
    declared.unwrap_or_else(|| convention.to_owned())
}

fn hosts(declared: Hosts, domain: &str) -> PublicHosts {
    let host =
        |declared: Option<String>, service: &str| declared.unwrap_or_else(|| format!("{service}.{domain}"));
    PublicHosts {
        keystone: host(declared.keystone, "keystone"),
        glance: host(declared.glance, "glance"),
        placement: host(declared.placement, "placement"),
        neutron: host(declared.neutron, "neutron"),
        nova: host(declared.nova, "nova"),
        nova_metadata: host(declared.nova_metadata, "nova-metadata"),
        cinder: host(declared.cinder, "cinder"),
        horizon: host(declared.horizon, "horizon"),
    }
}

fn bus(declared: Messaging, name: &str) -> Bus {
    match declared.mode.unwrap_or(MessagingMode::External) {
        MessagingMode::Managed => Bus::Managed { cluster: named(declared.cluster, "openstack-rabbitmq") },
        MessagingMode::External => Bus::External {
            transport_url_secret: declared.transport_url_secret.unwrap_or_else(|| format!("{name}-bus")),
            certificate_authority_secret: declared
                .tls
                .unwrap_or(true)
                .then(|| declared.certificate_authority_secret.unwrap_or_else(|| format!("{name}-bus-ca"))),
            remote_transport_url_secret: declared
                .remote_transport_url_secret
                .unwrap_or_else(|| format!("{name}-remote-bus")),
        },
    }
}
