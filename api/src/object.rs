//! A kind as a Kubernetes object: `apiVersion` and `kind` written and checked, and the traits that clients want.
//!
//! k8s-openapi's traits are what `kube::Api<Hypervisor>` needs. The macro only ties a type to its [`crate::Kind`]; all
//! that could be written once for every kind is in the generic types below it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Deserialize, Serialize};

/// An object on its way out.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Written<'a, Spec, Status> {
    pub(crate) api_version: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) metadata: &'a ObjectMeta,
    pub(crate) spec: &'a Spec,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: &'a Option<Status>,
}

/// An object on its way in. Everything but the spec's required fields may be absent.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Read<Spec, Status> {
    pub(crate) api_version: Option<String>,
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) metadata: ObjectMeta,
    pub(crate) spec: Option<Spec>,
    #[serde(default = "Option::default")]
    pub(crate) status: Option<Status>,
}

impl<Spec, Status> Read<Spec, Status> {
    /// Why this is not an object of that kind, if it says it is something else.
    pub(crate) fn contradiction(&self, kind: &crate::Kind) -> Option<String> {
        let wanted = kind.api_version();
        if let Some(found) = self.kind.as_deref().filter(|found| *found != kind.kind) {
            return Some(format!("kind is {found:?}, not {:?}", kind.kind));
        }
        let found = self.api_version.as_deref().filter(|found| *found != wanted)?;
        Some(format!("apiVersion is {found:?}, not {wanted:?}"))
    }
}

/// Ties a type to its kind: serde with `apiVersion` and `kind`, and k8s-openapi's `Resource` and `Metadata`.
macro_rules! kubernetes_object {
    ($object:ident, $spec:ident, $status:ident, $scope:ident, $missing_spec:expr) => {
        impl serde::Serialize for $object {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let written = $crate::object::Written {
                    api_version: <Self as k8s_openapi::Resource>::API_VERSION,
                    kind: KIND.kind,
                    metadata: &self.metadata,
                    spec: &self.spec,
                    status: &self.status,
                };
                serde::Serialize::serialize(&written, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $object {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let read: $crate::object::Read<$spec, $status> =
                    serde::Deserialize::deserialize(deserializer)?;
                if let Some(contradiction) = read.contradiction(&KIND) {
                    return Err(serde::de::Error::custom(contradiction));
                }
                let missing: Option<$spec> = $missing_spec;
                let spec = read.spec.or(missing).ok_or_else(|| serde::de::Error::missing_field("spec"))?;
                Ok(Self { metadata: read.metadata, spec, status: read.status })
            }
        }

        impl k8s_openapi::Resource for $object {
            const API_VERSION: &'static str = API_VERSION;
            const GROUP: &'static str = KIND.group;
            const KIND: &'static str = KIND.kind;
            const VERSION: &'static str = KIND.version;
            const URL_PATH_SEGMENT: &'static str = KIND.plural;
            type Scope = k8s_openapi::$scope;
        }

        impl k8s_openapi::ListableResource for $object {
            const LIST_KIND: &'static str = KIND.list_kind;
        }

        impl k8s_openapi::Metadata for $object {
            type Ty = k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

            fn metadata(&self) -> &Self::Ty {
                &self.metadata
            }

            fn metadata_mut(&mut self) -> &mut Self::Ty {
                &mut self.metadata
            }
        }

        impl $object {
            /// An object of this name with this spec; its status is not known yet.
            #[must_use]
            pub fn new(name: impl Into<String>, spec: $spec) -> Self {
                let metadata = k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                    name: Some(name.into()),
                    ..Default::default()
                };
                Self { metadata, spec, status: None }
            }
        }
    };
}

pub(crate) use kubernetes_object;
