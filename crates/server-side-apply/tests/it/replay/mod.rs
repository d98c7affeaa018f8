//! Every recorded exchange with a real kube-apiserver, through our functions: the same object, the same managedFields in the same order, the same
//! times moved, the same message.

mod exchange;
mod placeholders;
mod server;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use exchange::{Exchange, Expectation, all};
use server::{Answer, Server};

/// Exchanges in which we follow a later merge library (6.4.0) than the recorded server had: what was emptied stays, empty, where that one left null or nothing.
/// Each with the `spec` that we then have.
fn emptied() -> BTreeMap<&'static str, Value> {
    BTreeMap::from([
        ("shrink/map-empty", json!({"evacuate": true, "overcommit": {}})),
        ("shrink/object-empty", json!({"evacuate": true, "maintenance": {}})),
        ("shrink/inner-empty", json!({"evacuate": true, "maintenance": {"window": {}}})),
        ("shrink/schemaless-empty", json!({"evacuate": true, "extra": {"k": {}}})),
    ])
}

fn run(exchange: &Exchange) -> Result<(), String> {
    let Some(expectation) = exchange.expectation() else { return Ok(()) };
    let server = Server::for_topic(exchange.topic());
    let answer = server.answer(exchange);
    if let Some(spec) = emptied().get(exchange.id.as_str()) {
        let Answer::Stored { object, .. } = &answer else { return Err(format!("{answer:?}")) };
        return if &object["spec"] == spec { Ok(()) } else { Err(format!("spec is {}", object["spec"])) };
    }
    match (expectation, answer) {
        (
            Expectation::Stored { object, version, generation },
            Answer::Stored { object: ours, changed, spec_changed },
        ) => {
            same("object", &object, &ours)?;
            same("a new resourceVersion", &json!(version), &json!(changed))?;
            same("a new generation", &json!(generation), &json!(spec_changed))
        }
        (Expectation::Refused { message, causes }, Answer::Refused { message: ours, causes: our_causes }) => {
            same("message", &json!(message), &json!(ours))?;
            same("causes", &json!(causes), &json!(our_causes))
        }
        // Refused by validation, which comes after the merge and is not ours: the merge itself must go through.
        (Expectation::RefusedLater, Answer::Stored { .. }) => Ok(()),
        (expected, ours) => Err(format!("expected {expected:?}\n     got {ours:?}")),
    }
}

fn same(what: &str, expected: &Value, ours: &Value) -> Result<(), String> {
    if expected == ours { Ok(()) } else { Err(format!("{what}\n   expected {expected}\n   got      {ours}")) }
}

#[test]
fn every_recorded_exchange_ends_as_it_did_on_the_real_server() {
    let exchanges = all();
    let failures: Vec<String> = exchanges
        .iter()
        .filter_map(|exchange| {
            run(exchange).err().map(|error| format!("{} ({}): {error}", exchange.id, exchange.purpose))
        })
        .collect();
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn few_exchanges_are_not_about_us() {
    let exchanges = all();
    let skipped: Vec<&str> = exchanges
        .iter()
        .filter(|exchange| exchange.expectation().is_none())
        .map(|exchange| exchange.id.as_str())
        .collect();
    assert_eq!((exchanges.len(), skipped.len()), (254, 30), "not replayed: {skipped:?}");
}
