//! The OVN central databases of one control plane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The OVN central: two replicated databases, `ovn-northd`, and a relay when declared.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OvnCentral {
    /// Name of the `OVNCentral`. Default: `<control plane>-ovn`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A network cluster of this control plane that hosts the databases. Default: the management cluster. Cannot be changed later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The issuer of OVN certificates. It signs nothing else: each of its certificates can write everything in OVN.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<Issuer>,
    /// The Northbound database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub northbound: Option<OvnDatabase>,
    /// The Southbound database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub southbound: Option<OvnDatabase>,
    /// A relay in front of the Southbound database. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay: Option<OvnRelay>,
}

/// A cert-manager issuer.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Issuer {
    /// Name of the issuer. Without an issuer: `<control plane>-ovn-ca-issuer`.
    pub name: String,
    /// Scope of the issuer. Default: `ClusterIssuer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<IssuerKind>,
}

/// The scopes of an issuer.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
pub enum IssuerKind {
    /// An issuer of one namespace.
    Issuer,
    /// An issuer for every namespace.
    ClusterIssuer,
}

/// One replicated OVN database. Replicas and storage cannot be changed later.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OvnDatabase {
    /// Members: 1, 3 or 5. Default: 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u32>,
    /// Size of each member's volume. Default: `1Gi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// First of as many node ports as there are members. Default: 30641 (Northbound), 30651 (Southbound).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_port_base: Option<u32>,
}

/// A relay that takes the load of many chassis off the Southbound database.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct OvnRelay {
    /// Replicas. Default: 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u32>,
    /// Node port. Default: 30661.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_port: Option<u32>,
}
