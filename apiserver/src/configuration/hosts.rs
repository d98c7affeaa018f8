//! Which hosts there are and how each of their sources is reached.
//!
//! One rule serves all hosts: endpoints with `{name}` and `{address}` in them. A configured host may have its own.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{LibvirtSasl, LibvirtTls};

/// Hosts and how to reach them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct HostRules {
    /// How a host is reached unless it says otherwise.
    pub reach: Reach,
    /// Hosts that exist because they are listed here, by name; for a Node of the same name, what differs for it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub known: BTreeMap<String, HostAddress>,
}

/// What is particular to one host.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct HostAddress {
    /// Address to put in place of `{address}`; absent: the Node's first InternalIP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Host name of its nova-compute service; absent: the host's own name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nova_host: Option<String>,
    /// Labels of a host that has no Node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// How to reach it; what is absent here is taken from the common rule.
    pub reach: Reach,
}

/// How the sources of a host are reached. What is absent is not read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Reach {
    /// libvirtd: `tls://{address}:16514`, `tcp://{address}:16509` or `unix:/run/libvirt/libvirt-sock`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub libvirt: Option<String>,
    /// What libvirtd is asked to open: `qemu:///system`, `ch:///system`, `test:///default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub libvirt_uri: Option<String>,
    /// Certificates for libvirtd by TLS; absent: those of libvirt's own clients, in `/etc/pki`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub libvirt_tls: Option<LibvirtTls>,
    /// Name and password for a libvirtd that wants them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub libvirt_sasl: Option<LibvirtSasl>,
    /// ovsdb-server: `tcp:{address}:6640` or `unix:/run/openvswitch/db.sock`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ovsdb: Option<String>,
    /// Folder with the sockets of Open vSwitch (OpenFlow and unixctl): `/run/openvswitch`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub openvswitch_run: Option<String>,
    /// Folder with the socket of ovn-controller: `/run/ovn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ovn_run: Option<String>,
}

impl HostRules {
    /// How the host called `name` is reached, with its address put in. `node_address` is what its Node says.
    ///
    /// An endpoint that needs an address which nobody knows is absent: there is nothing to connect to yet.
    pub fn reach(&self, name: &str, node_address: Option<&str>) -> Reach {
        let own = self.known.get(name);
        let address = own.and_then(|host| host.address.as_deref()).or(node_address);
        let pick = |field: fn(&Reach) -> &Option<String>| {
            let template =
                own.and_then(|host| field(&host.reach).as_deref()).or(field(&self.reach).as_deref())?;
            fill(template, name, address)
        };
        Reach {
            libvirt: pick(|reach| &reach.libvirt),
            libvirt_uri: pick(|reach| &reach.libvirt_uri),
            libvirt_tls: own
                .and_then(|host| host.reach.libvirt_tls.as_ref())
                .or(self.reach.libvirt_tls.as_ref())
                .map(|tls| tls.of(name)),
            libvirt_sasl: own
                .and_then(|host| host.reach.libvirt_sasl.clone())
                .or_else(|| self.reach.libvirt_sasl.clone()),
            ovsdb: pick(|reach| &reach.ovsdb),
            openvswitch_run: pick(|reach| &reach.openvswitch_run),
            ovn_run: pick(|reach| &reach.ovn_run),
        }
    }

    /// Hosts whose nova-compute service has another host name: that name, and the host's own.
    pub fn renamed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.known.iter().filter_map(|(name, host)| Some((host.nova_host.as_deref()?, name.as_str())))
    }

    /// All rules, the common one and those of single hosts.
    pub(super) fn all(&self) -> impl Iterator<Item = &Reach> {
        std::iter::once(&self.reach).chain(self.known.values().map(|host| &host.reach))
    }

    /// Host name of the nova-compute service of the host called `name`.
    pub fn nova_host<'a>(&'a self, name: &'a str) -> &'a str {
        self.known.get(name).and_then(|host| host.nova_host.as_deref()).unwrap_or(name)
    }
}

fn fill(template: &str, name: &str, address: Option<&str>) -> Option<String> {
    let named = template.replace("{name}", name);
    if !named.contains("{address}") {
        return Some(named);
    }
    // An IPv6 literal needs brackets wherever a port follows it.
    let address = address?;
    let written = if address.contains(':') { format!("[{address}]") } else { address.to_owned() };
    Some(named.replace("{address}", &written))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> HostRules {
        let reach = Reach { libvirt: Some("tcp://{address}:16509".into()), ..Reach::default() };
        let own = Reach { libvirt: Some("unix:/sockets/{name}".into()), ..Reach::default() };
        let known = BTreeMap::from([("b".to_owned(), HostAddress { reach: own, ..HostAddress::default() })]);
        HostRules { reach, known }
    }

    #[test]
    fn the_common_rule_takes_the_address_of_the_node() {
        assert_eq!(rules().reach("a", Some("10.0.0.1")).libvirt.unwrap(), "tcp://10.0.0.1:16509");
        assert_eq!(rules().reach("a", Some("fd00::1")).libvirt.unwrap(), "tcp://[fd00::1]:16509");
    }

    #[test]
    fn a_host_may_have_its_own_rule() {
        assert_eq!(rules().reach("b", None).libvirt.unwrap(), "unix:/sockets/b");
    }

    #[test]
    fn a_host_may_have_its_own_certificates() {
        let tls = |name: &str| LibvirtTls {
            ca: "/pki/ca.crt".into(),
            certificate: Some(format!("/pki/{name}.crt").into()),
            key: Some(format!("/pki/{name}.key").into()),
            server_name: Some("{name}.example".into()),
        };
        let mut rules = rules();
        rules.reach.libvirt_tls = Some(tls("common"));
        let of_a = rules.reach("a", None).libvirt_tls.unwrap();
        assert_eq!(of_a.certificate.unwrap().to_str(), Some("/pki/common.crt"));
        assert_eq!(of_a.server_name.as_deref(), Some("a.example"));
        rules.known.get_mut("b").unwrap().reach.libvirt_tls = Some(tls("{name}"));
        let of_b = rules.reach("b", None).libvirt_tls.unwrap();
        assert_eq!(of_b.key.unwrap().to_str(), Some("/pki/b.key"));
    }

    #[test]
    fn without_an_address_there_is_nothing_to_connect_to() {
        assert_eq!(rules().reach("a", None), Reach::default());
    }
}
