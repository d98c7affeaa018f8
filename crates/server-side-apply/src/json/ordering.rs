//! A total order and an equality of JSON values in which numbers are compared by what they mean.
//!
//! Keys of list items and items of sets are values, so a field set can only be a sorted tree if values are ordered. The order is
//! that of field sets in Kubernetes: number < string < boolean < list < map < null.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Orders two values; `Equal` also for 3 and 3.0.
pub(crate) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right),
        (Value::String(left), Value::String(right)) => left.cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Array(left), Value::Array(right)) => left
            .iter()
            .zip(right)
            .map(|(l, r)| compare(l, r))
            .find(|order| order.is_ne())
            .unwrap_or_else(|| left.len().cmp(&right.len())),
        (Value::Object(left), Value::Object(right)) => compare_maps(left, right),
        _ => rank(left).cmp(&rank(right)),
    }
}

/// Whether two values are the same to a client: order of keys and spelling of numbers do not count, order of lists does.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right).is_eq(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| equal(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, l)| right.get(key).is_some_and(|r| equal(l, r)))
        }
        _ => left == right,
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn compare_maps(left: &serde_json::Map<String, Value>, right: &serde_json::Map<String, Value>) -> Ordering {
    let sorted = |map: &serde_json::Map<String, Value>| {
        let mut entries: Vec<_> = map.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries
    };
    compare_fields(&sorted(left), &sorted(right))
}

/// Orders two lists of named values: name, then value, then length.
pub(crate) fn compare_fields(left: &[(String, Value)], right: &[(String, Value)]) -> Ordering {
    left.iter()
        .zip(right)
        .map(|(l, r)| l.0.cmp(&r.0).then_with(|| compare(&l.1, &r.1)))
        .find(|order| order.is_ne())
        .unwrap_or_else(|| left.len().cmp(&right.len()))
}

/// Exact, so that the order stays transitive beyond 2^53: a float that is a whole number is compared as that whole number.
fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => float(left).total_cmp(&float(right)),
    }
}

fn whole(number: &Number) -> Option<i128> {
    if let Some(number) = number.as_i64() {
        return Some(i128::from(number));
    }
    if let Some(number) = number.as_u64() {
        return Some(i128::from(number));
    }
    let float = float(number);
    // Above 2^100 nothing but floats is left, and they are compared as floats. `as` saturates, so this never is a wrong number below that.
    let small = float.fract() == 0.0 && float.abs() < 1.267_650_600_228_229_4e30;
    small.then_some(float as i128)
}

fn float(number: &Number) -> f64 {
    // Only a number of arbitrary precision has none; it then is larger than anything else.
    number.as_f64().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_compared_by_what_they_mean() {
        assert!(equal(&json!(3), &json!(3.0)));
        assert!(equal(&json!({"a": [1.0]}), &json!({"a": [1]})));
        assert_eq!(compare(&json!(10), &json!(9)), Ordering::Greater);
        assert_eq!(
            compare(&json!(9_007_199_254_740_993_i64), &json!(9_007_199_254_740_992.0)),
            Ordering::Greater
        );
        assert_eq!(compare(&json!(0.5), &json!(1)), Ordering::Less);
        assert_eq!(compare(&json!(-0.0), &json!(0)), Ordering::Equal);
    }

    #[test]
    fn kinds_have_an_order() {
        let ordered =
            [json!(7), json!("a"), json!(false), json!(true), json!([1]), json!({"a": 1}), json!(null)];
        for pair in ordered.windows(2) {
            assert_eq!(compare(&pair[0], &pair[1]), Ordering::Less, "{pair:?}");
        }
    }
}
