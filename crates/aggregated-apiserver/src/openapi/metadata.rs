//! Schemas of what every object has: type, ObjectMeta, ListMeta, and the Status of errors.

use serde_json::{Value, json};

pub(super) fn api_version() -> Value {
    json!({"type": "string", "description": "APIVersion defines the versioned schema of this representation of an object."})
}

pub(super) fn kind() -> Value {
    json!({"type": "string", "description": "Kind is the resource that this object represents, in CamelCase."})
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn time(description: &str) -> Value {
    json!({"type": "string", "format": "date-time", "description": description})
}

fn integer(description: &str) -> Value {
    json!({"type": "integer", "format": "int64", "description": description})
}

fn texts(description: &str) -> Value {
    json!({"type": "object", "additionalProperties": {"type": "string", "default": ""}, "description": description})
}

pub(super) fn object_meta() -> Value {
    let owner = json!({
        "type": "object",
        "description": "An object that owns this one.",
        "required": ["apiVersion", "kind", "name", "uid"],
        "properties": {
            "apiVersion": text("API version of the owner."),
            "kind": text("Kind of the owner."),
            "name": text("Name of the owner."),
            "uid": text("UID of the owner."),
            "controller": {"type": "boolean", "description": "True if the owner is the managing controller."},
            "blockOwnerDeletion": {"type": "boolean", "description": "True if deletion of the owner waits for this object."},
        },
    });
    let manager = json!({
        "type": "object",
        "description": "Which fields a manager owns.",
        "properties": {
            "apiVersion": text("Version in which the fields are named."),
            "fieldsType": text("Format of fieldsV1."),
            "fieldsV1": {"type": "object", "description": "The fields."},
            "manager": text("Name of the manager."),
            "operation": text("Apply or Update."),
            "subresource": text("Subresource that was written."),
            "time": time("When the fields last changed owner."),
        },
    });
    json!({
        "type": "object",
        "description": "ObjectMeta is metadata that all persisted resources have.",
        "properties": {
            "annotations": texts("Unstructured data that tools keep with the object. Not queryable."),
            "creationTimestamp": time("When the object was created."),
            "deletionGracePeriodSeconds": integer("Seconds until the object is removed, once its deletion was asked for."),
            "deletionTimestamp": time("When the object will be deleted. Set by the server."),
            "finalizers": {
                "type": "array", "items": {"type": "string", "default": ""}, "x-kubernetes-list-type": "set",
                "x-kubernetes-patch-strategy": "merge", "description": "What must be done before the object is removed.",
            },
            "generateName": text("Prefix from which the server makes a unique name if none is given."),
            "generation": integer("Number of the desired state. Set by the server."),
            "labels": texts("Map of keys and values by which objects are organised and selected."),
            "managedFields": {
                "type": "array", "items": manager, "x-kubernetes-list-type": "atomic",
                "description": "Which manager owns which fields. Kept by the server.",
            },
            "name": text("Name, unique within the resource and the namespace."),
            "namespace": text("Namespace within which the name is unique; empty for cluster-scoped objects."),
            "ownerReferences": {
                "type": "array", "items": owner, "x-kubernetes-list-map-keys": ["uid"], "x-kubernetes-list-type": "map",
                "x-kubernetes-patch-merge-key": "uid", "x-kubernetes-patch-strategy": "merge",
                "description": "Objects that this one depends on.",
            },
            "resourceVersion": text("Opaque version of the object, greater after every change. Set by the server."),
            "selfLink": text("Deprecated, never set."),
            "uid": text("Unique in time and space. Set by the server."),
        },
    })
}

pub(super) fn list_meta() -> Value {
    json!({
        "type": "object",
        "description": "ListMeta is metadata that lists have.",
        "properties": {
            "continue": text("Token with which the rest of the list is asked for, if there is more."),
            "remainingItemCount": integer("How many items are left, if that is known."),
            "resourceVersion": text("Version of the list, from which a watch can start."),
            "selfLink": text("Deprecated, never set."),
        },
    })
}

pub(super) fn status() -> Value {
    json!({
        "type": "object",
        "description": "Status is the answer to a request that failed.",
        "properties": {
            "apiVersion": api_version(),
            "kind": kind(),
            "metadata": list_meta(),
            "code": {"type": "integer", "format": "int32", "description": "HTTP code."},
            "details": {"type": "object", "description": "More about the reason.", "x-kubernetes-preserve-unknown-fields": true},
            "message": text("What happened."),
            "reason": text("Why, in one machine-readable word."),
            "status": text("Success or Failure."),
        },
    })
}

pub(super) fn patch() -> Value {
    json!({"type": "object", "description": "Patch is a change of an object: an apply, a JSON patch or a merge patch."})
}

pub(super) fn delete_options() -> Value {
    json!({
        "type": "object",
        "description": "DeleteOptions say how an object is deleted.",
        "properties": {
            "apiVersion": api_version(),
            "kind": kind(),
            "dryRun": {
                "type": "array", "items": {"type": "string", "default": ""}, "x-kubernetes-list-type": "atomic",
                "description": "`All`: everything is checked, nothing is deleted.",
            },
            "gracePeriodSeconds": integer("Accepted, and without a meaning: objects have nothing to wind down."),
            "orphanDependents": {"type": "boolean", "description": "Deprecated: use propagationPolicy."},
            "preconditions": {
                "type": "object",
                "description": "What must be true of the object.",
                "properties": {
                    "resourceVersion": text("A version that shows what is wanted of the object now."),
                    "uid": text("UID of the object."),
                },
            },
            "propagationPolicy": text("What becomes of dependents: `Background`, `Foreground` or `Orphan`."),
        },
    })
}
