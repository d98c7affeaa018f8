//! The rules of the kinds that are written, from `c5c3-api`, in the words of the machinery.

use std::sync::Arc;

use aggregated_apiserver::{Cause, ObjectKey, Strategy};
use c5c3_api::eviction::{self, EvictionSpec};
use c5c3_api::hypervisor::{self, HypervisorSpec};
use c5c3_api::validation::FieldError;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::Bases;

/// What a good Hypervisor is. What a writer leaves out is what it would be without any writer.
#[derive(Debug)]
pub struct HypervisorRules {
    bases: Arc<Bases>,
}

impl HypervisorRules {
    /// With what Nodes say.
    pub fn new(bases: Arc<Bases>) -> Self {
        Self { bases }
    }
}

impl Strategy for HypervisorRules {
    fn fill(&self, key: &ObjectKey, object: &mut Value) {
        let Some(object) = object.as_object_mut() else { return };
        let spec = object.entry("spec").or_insert_with(|| Value::Object(Map::new()));
        let (Some(spec), Value::Object(base)) = (spec.as_object_mut(), self.bases.spec(&key.name)) else {
            return;
        };
        for (field, value) in base {
            spec.entry(field).or_insert(value);
        }
    }

    /// A default that somebody happens to see when they create a host is not their wish: the Node may say otherwise later.
    fn owns_defaults(&self) -> bool {
        false
    }

    fn validate(&self, object: &Value) -> Vec<Cause> {
        let spec = spec::<HypervisorSpec>(object);
        spec.map_or_else(|cause| vec![cause], |spec| causes(hypervisor::validate(&spec)))
    }

    fn validate_update(&self, old: &Value, new: &Value) -> Vec<Cause> {
        match (spec(old), spec(new)) {
            (Ok(old), Ok(new)) => causes(hypervisor::validate_update(&old, &new)),
            _ => Vec::new(),
        }
    }
}

/// What a good Eviction is.
#[derive(Clone, Copy, Debug)]
pub struct EvictionRules;

impl Strategy for EvictionRules {
    fn validate(&self, object: &Value) -> Vec<Cause> {
        spec::<EvictionSpec>(object)
            .map_or_else(|cause| vec![cause], |spec| causes(eviction::validate(&spec)))
    }

    fn validate_update(&self, old: &Value, new: &Value) -> Vec<Cause> {
        match (spec(old), spec(new)) {
            (Ok(old), Ok(new)) => causes(eviction::validate_update(&old, &new)),
            _ => Vec::new(),
        }
    }
}

/// The spec, which has the form of its schema when rules are asked.
fn spec<S: DeserializeOwned>(object: &Value) -> Result<S, Cause> {
    let spec = object.get("spec").cloned().unwrap_or_default();
    serde_json::from_value(spec).map_err(|error| Cause {
        reason: "FieldValueInvalid",
        message: format!("Invalid value: {error}"),
        field: "spec".to_owned(),
    })
}

fn causes(errors: Vec<FieldError>) -> Vec<Cause> {
    let cause = |error: FieldError| Cause {
        reason: error.kind.reason(),
        message: error.message(),
        field: error.path,
    };
    errors.into_iter().map(cause).collect()
}
