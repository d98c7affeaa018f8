//! The Node's share in a Hypervisor, as a manager in managedFields.
//!
//! Whoever applies a field that the Node speaks of gets a conflict with this manager: the label says otherwise. The
//! entry is computed while the object is shown and never stored; a field that is stored belongs to its writer.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, Time};
use serde_json::{Map, Value, json};

use super::effective_spec::{is_readable, node_spec};
use crate::sources::picture::NodePicture;

/// The manager of what comes from the Node.
pub const NODE_MANAGER: &str = "c5c3-node";

/// The entry of the Node: the spec fields and labels that are shown as it says, and the reference to it.
pub(super) fn node_share(
    node: &NodePicture,
    transferred: &BTreeMap<String, String>,
    stored_spec: Option<&Value>,
    stored_labels: &BTreeMap<String, String>,
    since: Time,
) -> ManagedFieldsEntry {
    let stored = |field: &str| {
        stored_spec.and_then(|spec| spec.get(field)).is_some_and(|value| is_readable(field, value))
    };
    let leaves = |names: Vec<String>| -> Map<String, Value> {
        names.into_iter().map(|name| (format!("f:{name}"), json!({}))).collect()
    };
    let spec = leaves(
        node_spec(Some(node)).into_iter().map(|(field, _)| field).filter(|field| !stored(field)).collect(),
    );
    let labels =
        leaves(transferred.keys().filter(|key| !stored_labels.contains_key(*key)).cloned().collect());
    let owner = format!("k:{}", json!({ "uid": node.uid }));
    let mut metadata = json!({"f:ownerReferences": {owner: {}}});
    if let (Some(metadata), false) = (metadata.as_object_mut(), labels.is_empty()) {
        metadata.insert("f:labels".to_owned(), Value::Object(labels));
    }
    let mut fields = json!({ "f:metadata": metadata });
    if let (Some(fields), false) = (fields.as_object_mut(), spec.is_empty()) {
        fields.insert("f:spec".to_owned(), Value::Object(spec));
    }
    ManagedFieldsEntry {
        api_version: Some("hypervisor.c5c3.io/v1".to_owned()),
        fields_type: Some("FieldsV1".to_owned()),
        fields_v1: Some(FieldsV1(fields)),
        manager: Some(NODE_MANAGER.to_owned()),
        operation: Some("Update".to_owned()),
        subresource: None,
        time: Some(since),
    }
}

#[cfg(test)]
mod tests {
    use c5c3_api::labels::{AGGREGATES, LIFECYCLE, ZONE};

    use super::*;
    use crate::merge::tests::scene::{at, pairs};

    fn share(stored: &Value, labels: &[(&str, &str)]) -> Value {
        let node = NodePicture {
            uid: "u".to_owned(),
            labels: pairs(&[(LIFECYCLE, "true")]),
            annotations: pairs(&[(AGGREGATES, "gold")]),
            ..NodePicture::default()
        };
        let transferred = pairs(&[(ZONE, "a"), ("kubernetes.io/hostname", "h")]);
        node_share(&node, &transferred, Some(stored), &pairs(labels), Time(at(1))).fields_v1.unwrap().0
    }

    #[test]
    fn the_node_has_what_it_says_and_nobody_has_stored() {
        let all = share(&json!({}), &[]);
        assert_eq!(all["f:spec"], json!({"f:lifecycleEnabled": {}, "f:skipTests": {}, "f:aggregates": {}}));
        assert_eq!(
            all["f:metadata"],
            json!({
                "f:labels": {"f:topology.kubernetes.io/zone": {}, "f:kubernetes.io/hostname": {}},
                "f:ownerReferences": {"k:{\"uid\":\"u\"}": {}},
            })
        );
    }

    #[test]
    fn a_stored_field_or_label_is_its_writers() {
        let less = share(&json!({"aggregates": [], "skipTests": 7, "version": "x"}), &[(ZONE, "b")]);
        assert_eq!(less["f:spec"], json!({"f:lifecycleEnabled": {}, "f:skipTests": {}}));
        assert_eq!(less["f:metadata"]["f:labels"], json!({"f:kubernetes.io/hostname": {}}));
        let none = share(&json!({"aggregates": [], "skipTests": false, "lifecycleEnabled": true}), &[]);
        assert_eq!(none.get("f:spec"), None);
    }
}
