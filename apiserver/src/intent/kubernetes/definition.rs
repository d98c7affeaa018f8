//! The custom resource that holds intent, and its installation.
//!
//! One kind for all our kinds, so that what is stored can be watched with one watch, has a schema of its own that changes
//! rarely, and cannot be mistaken for the live objects. People look at it with `kubectl get intents`; they write the live ones.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::wait::{await_condition, conditions};
use kube::{Api, Client};
use serde_json::json;
use thiserror::Error;

/// Group of the stored kind.
pub(super) const GROUP: &str = "storage.c5c3.io";
/// Name of the definition.
const NAME: &str = "intents.storage.c5c3.io";
/// Who we are in managedFields.
pub(super) const MANAGER: &str = "c5c3-apiserver";

/// How long the cluster may take to serve a kind that it was told of.
const ESTABLISHED_WITHIN: Duration = Duration::from_secs(30);

/// The definition of the stored kind.
#[derive(Debug)]
pub struct StoreDefinition;

/// Why the kind cannot be used.
#[derive(Debug, Error)]
pub enum DefinitionError {
    /// We may not install it.
    #[error(
        "this server may not install CustomResourceDefinition {NAME}: allow it to get, create and patch that, or install it \
         (`c5c3-apiserver schema --form store`) and set `intent.kubernetes.install: false`"
    )]
    Forbidden(#[source] Box<kube::Error>),
    /// The cluster did not take it.
    #[error("CustomResourceDefinition {NAME} could not be installed")]
    Install(#[source] Box<kube::Error>),
    /// The cluster does not serve it.
    #[error("the cluster does not serve {NAME} within {} s", ESTABLISHED_WITHIN.as_secs())]
    NotEstablished,
    /// Its state cannot be seen.
    #[error("whether the cluster serves {NAME} cannot be seen")]
    Wait(#[source] Box<kube::runtime::wait::Error>),
}

impl StoreDefinition {
    /// The kind as kube-rs addresses it.
    pub(super) fn resource() -> ApiResource {
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(GROUP, "v1", "Intent"), "intents")
    }

    /// The CustomResourceDefinition.
    pub fn manifest() -> serde_json::Value {
        // Bounded, or the cluster takes the rule for too expensive.
        let text = |longest: u32, description: &str| json!({"type": "string", "maxLength": longest, "description": description});
        let fixed = |longest: u32, description: &str| {
            let rule = json!({
                "rule": "self == oldSelf",
                "message": "kind, namespace and name say whose intent this is and cannot be changed",
            });
            json!({
                "type": "string", "maxLength": longest, "description": description, "x-kubernetes-validations": [rule],
            })
        };
        let spec = json!({
            "type": "object",
            "required": ["kind", "name", "object"],
            "properties": {
                "kind": fixed(63, "Kind of the live object."),
                "namespace": fixed(253, "Its namespace; absent for a cluster-scoped kind."),
                "name": fixed(253, "Its name."),
                "write": text(63, "Which write this is: lets a writer that got no answer see whether it was stored."),
                "object": {
                    "type": "object",
                    "description": "Metadata and spec as their writers left them. Without a spec it wants nothing, and only says \
                                    who the object is.",
                    "x-kubernetes-preserve-unknown-fields": true,
                },
            },
        });
        let column =
            |name: &str, type_: &str, path: &str| json!({"name": name, "type": type_, "jsonPath": path});
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": NAME},
            "spec": {
                "group": GROUP,
                "scope": "Cluster",
                "names": {"kind": "Intent", "listKind": "IntentList", "plural": "intents", "singular": "intent"},
                "versions": [{
                    "name": "v1",
                    "served": true,
                    "storage": true,
                    "additionalPrinterColumns": [
                        column("Kind", "string", ".spec.kind"),
                        column("Namespace", "string", ".spec.namespace"),
                        column("For", "string", ".spec.name"),
                        column("Generation", "integer", ".spec.object.metadata.generation"),
                        column("Age", "date", ".metadata.creationTimestamp"),
                    ],
                    "schema": {"openAPIV3Schema": {
                        "type": "object",
                        "description": "What somebody wants of one object of c5c3-apiserver. Write that object, not this.",
                        "required": ["spec"],
                        "properties": {"spec": spec},
                    }},
                }],
            },
        })
    }

    /// Installs the definition, or brings it up to date, and waits until the cluster serves it.
    ///
    /// # Errors
    /// When the cluster refuses it or does not serve it in time.
    pub async fn install(client: &Client) -> Result<(), DefinitionError> {
        let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
        let apply = PatchParams::apply(MANAGER).force();
        definitions.patch(NAME, &apply, &Patch::Apply(Self::manifest())).await.map_err(
            |error| match &error {
                kube::Error::Api(status) if status.code == 403 => DefinitionError::Forbidden(Box::new(error)),
                _ => DefinitionError::Install(Box::new(error)),
            },
        )?;
        let served = await_condition(definitions, NAME, conditions::is_crd_established());
        match tokio::time::timeout(ESTABLISHED_WITHIN, served).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(DefinitionError::Wait(Box::new(error))),
            Err(_) => Err(DefinitionError::NotEstablished),
        }
    }
}
