//! The schema of `metadata`, which is the same for every object and never stands in a custom resource definition.

use serde_json::{Value, json};

/// ObjectMeta as kube-apiserver publishes it, reduced to what merging looks at.
pub(super) fn object_meta() -> Value {
    let text = json!({"type": "string"});
    let time = json!({"type": "string", "format": "date-time"});
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    json!({
        "type": "object",
        "properties": {
            "annotations": texts,
            "creationTimestamp": time,
            "deletionGracePeriodSeconds": {"type": "integer"},
            "deletionTimestamp": time,
            "finalizers": {"type": "array", "items": text, "x-kubernetes-list-type": "set"},
            "generateName": text,
            "generation": {"type": "integer"},
            "labels": texts,
            "managedFields": {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "atomic"},
            "name": text,
            "namespace": text,
            "ownerReferences": {
                "type": "array",
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["uid"],
                "items": {
                    "type": "object",
                    "x-kubernetes-map-type": "atomic",
                    "properties": {
                        "apiVersion": text,
                        "blockOwnerDeletion": {"type": "boolean"},
                        "controller": {"type": "boolean"},
                        "kind": text,
                        "name": text,
                        "uid": text,
                    },
                },
            },
            "resourceVersion": text,
            "selfLink": text,
            "uid": text,
        },
    })
}
