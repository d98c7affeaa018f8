//! A recorded exchange, and what it says about us.

use serde_json::Value;

use super::placeholders::{latest, time, with_times};

#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) id: String,
    pub(super) purpose: String,
    pub(super) path: String,
    query: String,
    pub(super) content_type: String,
    pub(super) agent: Option<String>,
    pub(super) body: Value,
    pub(super) before: Option<Value>,
    after: Value,
    code: u64,
    answer: Value,
    effect: Value,
    /// When it happened.
    pub(super) now: String,
}

/// What a recording says that our functions must do.
#[derive(Debug)]
pub(super) enum Expectation {
    Stored { object: Value, version: bool, generation: bool },
    Refused { message: String, causes: Vec<(String, String)> },
    RefusedLater,
}

/// All exchanges of all topics, in order.
pub(super) fn all() -> Vec<Exchange> {
    let topics = [
        include_str!("../../data/requests.json"),
        include_str!("../../data/builtin.json"),
        include_str!("../../data/ownership.json"),
        include_str!("../../data/lists.json"),
        include_str!("../../data/shrink.json"),
        include_str!("../../data/maps.json"),
        include_str!("../../data/status.json"),
        include_str!("../../data/metadata.json"),
        include_str!("../../data/managers.json"),
        include_str!("../../data/clientside.json"),
        include_str!("../../data/negotiation.json"),
    ];
    let topics = topics.iter().flat_map(|text| serde_json::from_str::<Vec<Value>>(text).unwrap());
    topics.map(|recorded| Exchange::read(&recorded)).collect()
}

impl Exchange {
    fn read(recorded: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (request, response) = (&recorded["request"], &recorded["response"]);
        let moment = latest(&response["body"]).max(latest(&recorded["after"]));
        // A time that appears for the first time is that of this exchange; else the clock stands later than all there are.
        let moment = if moment > latest(&recorded["before"]) { moment } else { 3000 };
        Self {
            id: text(&recorded["id"]),
            purpose: text(&recorded["purpose"]),
            path: text(&request["path"]),
            query: text(&request["query"]),
            content_type: text(&request["contentType"]),
            agent: request["headers"]["User-Agent"].as_str().map(str::to_owned),
            body: with_times(&request["body"]),
            before: Some(with_times(&recorded["before"])).filter(Value::is_object),
            after: with_times(&recorded["after"]),
            code: response["code"].as_u64().unwrap(),
            answer: with_times(&response["body"]),
            effect: recorded["effect"].clone(),
            now: time(moment),
        }
    }

    pub(super) fn topic(&self) -> &str {
        self.id.split('/').next().unwrap()
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.query
            .split('&')
            .find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| value))
    }

    pub(super) fn is_apply(&self) -> bool {
        self.content_type.starts_with("application/apply-patch+yaml")
    }

    /// `None` for what the server decides before or after us: parameters, media types, YAML, names, versions, what does not exist.
    pub(super) fn expectation(&self) -> Option<Expectation> {
        if !self.body.is_object() && !self.body.is_array() {
            return None;
        }
        let message = self.answer["message"].as_str().unwrap_or_default();
        let ours = [
            "Apply failed",
            "invalid object type",
            "metadata.managedFields must be nil",
            "failed to create typed patch",
        ];
        if self.code < 300 {
            let dry_run = self.parameter("dryRun").is_some();
            let object = if dry_run { &self.answer } else { &self.after };
            let flag = |name: &str| self.effect[name].as_bool().unwrap();
            let changed = |name: &str| {
                if dry_run { object != self.before.as_ref().unwrap_or(&Value::Null) } else { flag(name) }
            };
            let (version, generation) = (changed("resourceVersionChanged"), changed("generationChanged"));
            return Some(Expectation::Stored { object: object.clone(), version, generation });
        }
        if ours.iter().any(|start| message.starts_with(start)) {
            let cause = |cause: &Value| {
                (cause["message"].as_str().unwrap().to_owned(), cause["field"].as_str().unwrap().to_owned())
            };
            let mut causes: Vec<_> =
                self.answer["details"]["causes"].as_array().into_iter().flatten().map(cause).collect();
            causes.sort();
            return Some(Expectation::Refused { message: message.to_owned(), causes });
        }
        let invalid = self.code == 422 && message.starts_with("Host.ssa.example.com") && self.is_apply();
        (invalid).then_some(Expectation::RefusedLater)
    }
}
