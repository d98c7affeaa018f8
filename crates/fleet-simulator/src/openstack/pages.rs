//! One page of rows and the link to the next.

use serde_json::{Value, json};

use super::answer::Refusal;
use super::query::Query;

/// Cuts `rows`, each with its key, to the page that the query asks for and links to the next.
///
/// `url` is the list's own URL, `name` the key of the list in the body.
pub(super) fn page(
    name: &str,
    url: &str,
    query: &Query,
    limit: usize,
    rows: Vec<(String, Value)>,
) -> Result<Value, Refusal> {
    let bad = |message: String| Refusal::bad_request(&message);
    let asked = match query.get("limit") {
        Some(text) => text
            .parse()
            .map_err(|_| bad(format!("Invalid input for query parameters limit. Value: {text}.")))?,
        None => limit,
    };
    let size = limit.min(asked);
    let start = match query.get("marker") {
        Some(marker) => {
            let last = rows.iter().position(|(key, _)| key == marker);
            last.ok_or_else(|| bad(format!("marker [{marker}] not found")))? + 1
        }
        None => 0,
    };
    let more = rows.len().saturating_sub(start) > size;
    let mut last = None;
    let mut part = Vec::new();
    for (key, row) in rows.into_iter().skip(start).take(size) {
        last = Some(key);
        part.push(row);
    }
    let mut body = json!({name: part});
    if let (true, Some(last), Some(keys)) = (more, last, body.as_object_mut()) {
        let link = json!([{"rel": "next", "href": format!("{url}?{}", query.with_marker(&last))}]);
        keys.insert(format!("{name}_links"), link);
    }
    Ok(body)
}
