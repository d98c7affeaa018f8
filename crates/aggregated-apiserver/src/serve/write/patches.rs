//! JSON patches (RFC 6902) and merge patches (RFC 7386) on a document.

use json_patch::{AddOperation, PatchOperation, jsonptr::Pointer};
use serde_json::Value;

use crate::status::ApiStatus;

/// Most operations of one JSON patch.
const OPERATIONS: usize = 10_000;
/// Most bytes that the copies of one JSON patch may add.
const COPIED: usize = 3 << 20;

/// A patch that has been read.
#[derive(Clone, Debug)]
pub(super) enum Patch {
    Json(Vec<PatchOperation>),
    Merge(Value),
}

impl Patch {
    /// Reads a JSON patch.
    pub(super) fn json(document: Value) -> Result<Self, ApiStatus> {
        let Value::Array(operations) = &document else {
            return Err(ApiStatus::bad_request("error decoding patch: a JSON patch must be an array"));
        };
        let count = operations.len();
        if count > OPERATIONS {
            let message =
                format!("The allowed maximum operations in a JSON patch is {OPERATIONS}, got {count}");
            let code = http::StatusCode::PAYLOAD_TOO_LARGE;
            return Err(ApiStatus::new(code, "RequestEntityTooLarge", message));
        }
        serde_json::from_value(document).map(Self::Json).map_err(|error| rejected(&error.to_string()))
    }

    /// Reads a merge patch.
    pub(super) fn merge(document: Value) -> Result<Self, ApiStatus> {
        if document.is_object() {
            Ok(Self::Merge(document))
        } else {
            Err(ApiStatus::bad_request("error decoding patch: a merge patch must be an object"))
        }
    }

    /// The document that it makes of another one.
    pub(super) fn apply(&self, document: &Value) -> Result<Value, ApiStatus> {
        let mut document = document.clone();
        match self {
            Self::Merge(patch) => merge(&mut document, patch),
            Self::Json(operations) => {
                let mut copied = 0;
                for operation in operations {
                    copied += copied_bytes(operation, &document);
                    if copied > COPIED {
                        return Err(rejected("the patch copies too much"));
                    }
                    let operation = lenient(operation, &document);
                    json_patch::patch(&mut document, std::slice::from_ref(&operation))
                        .map_err(|error| rejected(&error.to_string()))?;
                }
            }
        }
        Ok(document)
    }
}

fn rejected(why: &str) -> ApiStatus {
    let message = format!("the server rejected our request due to an error in our request: {why}");
    ApiStatus::new(http::StatusCode::UNPROCESSABLE_ENTITY, "Invalid", message)
}

/// As in kube-apiserver, to replace a member that is not there is to add it: clients do so with `metadata.managedFields`.
fn lenient(operation: &PatchOperation, document: &Value) -> PatchOperation {
    if let PatchOperation::Replace(replace) = operation
        && let Some(parent) = replace.path.parent()
        && document.pointer(parent.as_str()).is_some_and(Value::is_object)
    {
        let (path, value) = (replace.path.clone(), replace.value.clone());
        return PatchOperation::Add(AddOperation { path, value });
    }
    operation.clone()
}

fn copied_bytes(operation: &PatchOperation, document: &Value) -> usize {
    let PatchOperation::Copy(copy) = operation else { return 0 };
    let from: &Pointer = &copy.from;
    document.pointer(from.as_str()).map_or(0, |value| value.to_string().len())
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    let Some(map) = target.as_object_mut() else { return };
    for (key, value) in patch {
        if value.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn merge_patches_follow_the_examples_of_their_standard() {
        for (target, patch, expected) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": [{"b": "c"}]}), json!({"a": [1]}), json!({"a": [1]})),
            (json!({"e": null}), json!({"a": 1}), json!({"e": null, "a": 1})),
            (json!({}), json!({"a": {"bb": {"ccc": null}}}), json!({"a": {"bb": {}}})),
        ] {
            assert_eq!(Patch::merge(patch).unwrap().apply(&target).unwrap(), expected);
        }
        assert_eq!(Patch::merge(json!([])).unwrap_err().code(), 400);
    }

    #[test]
    fn json_patches_are_carried_out_whole_or_refused() {
        let target = json!({"a": {"b": 1}, "list": [1, 2]});
        let good = json!([
            {"op": "test", "path": "/a/b", "value": 1}, {"op": "add", "path": "/list/-", "value": 3},
            {"op": "move", "from": "/a/b", "path": "/c"}, {"op": "copy", "from": "/list", "path": "/d"},
            {"op": "remove", "path": "/list/0"}, {"op": "replace", "path": "/a", "value": null},
        ]);
        let expected = json!({"a": null, "list": [2, 3], "c": 1, "d": [1, 2, 3]});
        assert_eq!(Patch::json(good).unwrap().apply(&target).unwrap(), expected);
        let added = Patch::json(json!([{"op": "replace", "path": "/a/x", "value": 1}])).unwrap();
        assert_eq!(added.apply(&target).unwrap()["a"], json!({"b": 1, "x": 1}));
        for bad in [
            json!([{"op": "test", "path": "/a/b", "value": 2}]),
            json!([{"op": "remove", "path": "/x"}]),
            json!([{"op": "add", "path": "/x/y", "value": 1}]),
            json!([{"op": "replace", "path": "/list/7", "value": 1}]),
        ] {
            assert_eq!(Patch::json(bad).unwrap().apply(&target).unwrap_err().code(), 422);
        }
        assert_eq!(Patch::json(json!([{"op": "nope", "path": "/a"}])).unwrap_err().code(), 422);
        assert_eq!(Patch::json(json!({})).unwrap_err().code(), 400);
        let many = vec![json!({"op": "test", "path": "", "value": 1}); OPERATIONS + 1];
        assert_eq!(Patch::json(many.into()).unwrap_err().code(), 413);
    }

    #[test]
    fn copies_cannot_fill_the_memory() {
        let doubling: Vec<_> = (0..64).map(|_| json!({"op": "copy", "from": "", "path": "/a"})).collect();
        let patch = Patch::json(doubling.into()).unwrap();
        assert_eq!(patch.apply(&json!({"x": "y".repeat(100_000)})).map(drop).unwrap_err().code(), 422);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            "[a-c]{0,2}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 16, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::hash_map("[a-c]", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_merge_done_twice_is_done_once(target in any_json(), patch in any_json()) {
            prop_assume!(patch.is_object());
            let patch = Patch::merge(patch).unwrap();
            let once = patch.apply(&target).unwrap();
            prop_assert_eq!(patch.apply(&once).unwrap(), once);
        }
    }
}
