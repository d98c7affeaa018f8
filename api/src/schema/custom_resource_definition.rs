//! The CustomResourceDefinition of a kind: what somebody would install who wants the same objects stored in etcd.
//!
//! The product does not install it. Tests do, to have a real kube-apiserver judge our schemas, and benchmarks do, to
//! compare computed objects with stored ones.

use serde_json::{Value, json};

use super::schema;
use crate::{Column, Kind};

/// The CustomResourceDefinition of a kind, with the schema and the columns that this API serves.
#[must_use]
pub fn custom_resource_definition(kind: &Kind) -> Value {
    let columns: Vec<Value> = kind.columns.iter().map(column).collect();
    let selectable: Vec<Value> =
        kind.selectable_fields.iter().map(|path| json!({"jsonPath": path})).collect();
    let mut definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.resource_name()},
        "spec": {
            "group": kind.group,
            "names": {
                "kind": kind.kind,
                "listKind": kind.list_kind,
                "plural": kind.plural,
                "singular": kind.singular,
                "shortNames": kind.short_names,
                "categories": kind.categories,
            },
            "scope": kind.scope.as_str(),
            "versions": [{
                "name": kind.version,
                "served": true,
                "storage": true,
                "additionalPrinterColumns": columns,
                "selectableFields": selectable,
                "schema": {"openAPIV3Schema": schema(kind)},
                "subresources": {"status": {}},
            }],
        },
    });
    definition.sort_all_objects();
    definition
}

fn column(column: &Column) -> Value {
    let mut value = json!({
        "name": column.name,
        "type": column.type_.as_str(),
        "description": column.description,
        "jsonPath": column.json_path,
        "priority": column.priority,
    });
    if let (Some(fields), false) = (value.as_object_mut(), column.format.is_empty()) {
        fields.insert("format".to_owned(), column.format.into());
    }
    value
}
