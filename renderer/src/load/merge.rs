//! Several documents, one topology: lists of control planes are put together, everything else may be said once.

use super::Positions;
use super::node::{Content, Node, Place, join};
use crate::finding::{Finding, Findings};

/// Puts the documents together, in order.
pub(super) fn merge(documents: Vec<Node>, positions: &Positions) -> Result<Node, Findings> {
    let mut findings = Findings::default();
    let mut documents = documents.into_iter();
    let Some(mut merged) = documents.next() else {
        return Ok(Node { place: Place::default(), content: Content::Null });
    };
    for document in documents {
        combine("", &mut merged, document, positions, &mut findings);
    }
    findings.into_result()?;
    Ok(merged)
}

fn combine(path: &str, into: &mut Node, from: Node, positions: &Positions, findings: &mut Findings) {
    let place = from.place;
    match (&mut into.content, from.content) {
        (Content::Mapping(entries), Content::Mapping(additions)) => {
            for (key, key_place, value) in additions {
                match entries.iter_mut().find(|(existing, _, _)| *existing == key) {
                    Some((_, _, existing)) => {
                        combine(&join(path, &key), existing, value, positions, findings)
                    }
                    None => entries.push((key, key_place, value)),
                }
            }
        }
        (Content::List(items), Content::List(additions)) => items.extend(additions),
        (left, right) if same_scalar(left, &right) => {}
        _ => findings.0.push(Finding {
            rule: "document-merge",
            position: positions.position(place),
            field: path.to_owned(),
            message: "another document of this topology says something else here".to_owned(),
            hint: Some(format!("first said at {}", describe(positions, into.place))),
        }),
    }
}

fn same_scalar(left: &Content, right: &Content) -> bool {
    match (left, right) {
        (Content::Null, Content::Null) => true,
        (Content::Bool(left), Content::Bool(right)) => left == right,
        (Content::Number(left), Content::Number(right)) => left == right,
        (Content::Text(left), Content::Text(right)) => left == right,
        _ => false,
    }
}

fn describe(positions: &Positions, place: Place) -> String {
    positions.position(place).map_or_else(|| "an unknown place".to_owned(), |position| position.to_string())
}
