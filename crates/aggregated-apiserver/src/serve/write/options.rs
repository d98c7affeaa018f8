//! Options of writes, from the query or from the body of a DELETE, and the rules by which Kubernetes refuses them.

use http::HeaderMap;
use http::header::USER_AGENT;
use serde_json::Value;

use super::decode::{self, Decoded};
use crate::request::query::Query;
use crate::status::{ApiStatus, Cause};

/// What happens to fields that are unknown or there twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FieldValidation {
    Ignore,
    #[default]
    Warn,
    Strict,
}

/// Options of POST, PUT and PATCH.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WriteOptions {
    /// Nothing is stored.
    pub(super) dry_run: bool,
    pub(super) field_validation: FieldValidation,
    /// Who owns what is written.
    pub(super) manager: String,
    /// Conflicts of an apply are won.
    pub(super) force: bool,
}

/// Which options are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum For {
    Create,
    Update,
    Patch { apply: bool },
}

impl For {
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Create => "CreateOptions",
            Self::Update => "UpdateOptions",
            Self::Patch { .. } => "PatchOptions",
        }
    }
}

impl WriteOptions {
    pub(super) fn parse(query: &Query, headers: &HeaderMap, what: For) -> Result<Self, ApiStatus> {
        let mut causes = Vec::new();
        let given = query.get("fieldManager").unwrap_or_default();
        let applies = what == (For::Patch { apply: true });
        if applies && given.is_empty() {
            causes.push(Cause::required("fieldManager", "is required for apply patch"));
        }
        if !applies && matches!(what, For::Patch { .. }) && query.has("force") {
            causes.push(Cause::forbidden("force", "may not be specified for non-apply patch"));
        }
        if let Err(error) = server_side_apply::check_manager_name(given) {
            let reason = if given.len() > 128 { "FieldValueTooLong" } else { "FieldValueInvalid" };
            causes.push(Cause { reason, message: error.to_string(), field: "fieldManager".to_owned() });
        }
        let dry_run: Vec<&str> = query.all("dryRun").collect();
        causes.extend(dry_run_fault(&dry_run));
        let field_validation = match query.get("fieldValidation").unwrap_or_default() {
            "" | "Warn" => FieldValidation::Warn,
            "Ignore" => FieldValidation::Ignore,
            "Strict" => FieldValidation::Strict,
            other => {
                let known = ["", "Ignore", "Strict", "Warn"];
                causes.push(Cause::not_supported("fieldValidation", other, &known));
                FieldValidation::default()
            }
        };
        if !causes.is_empty() {
            return Err(ApiStatus::invalid_options(what.kind(), &causes));
        }
        Ok(Self {
            dry_run: is_dry(&dry_run),
            field_validation,
            manager: if given.is_empty() { agent(headers) } else { given.to_owned() },
            force: query.switch("force").unwrap_or_default(),
        })
    }
}

/// The writer's name when it gives none: that of its program.
fn agent(headers: &HeaderMap) -> String {
    let agent = headers.get(USER_AGENT).map(|value| String::from_utf8_lossy(value.as_bytes()));
    let agent = agent.unwrap_or_default();
    let mut name = String::new();
    for character in agent.split('/').next().unwrap_or_default().chars() {
        if !character.is_control() && name.len() + character.len_utf8() <= 128 {
            name.push(character);
        }
    }
    if name.is_empty() { "unknown".to_owned() } else { name }
}

fn is_dry(values: &[&str]) -> bool {
    values.contains(&"All")
}

fn dry_run_fault(values: &[&str]) -> Option<Cause> {
    let unknown = values.iter().any(|value| *value != "All");
    unknown.then(|| {
        let message =
            format!("Unsupported value: {}: supported values: \"All\"", Value::from(values.to_vec()));
        Cause { reason: "FieldValueNotSupported", message, field: "dryRun".to_owned() }
    })
}

/// What becomes of objects that the deleted one owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Propagation {
    /// They are deleted after it.
    Background,
    /// They are deleted before it.
    Foreground,
    /// They stay.
    Orphan,
}

/// Options of a DELETE.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DeleteOptions {
    pub(super) dry_run: bool,
    pub(super) uid: Option<String>,
    pub(super) resource_version: Option<String>,
    pub(super) propagation: Option<Propagation>,
    /// `orphanDependents: false` was said in so many words: a deletion that is not done at once is a 202.
    pub(super) cascades: bool,
}

impl DeleteOptions {
    /// From the body if there is one, else from the query. A dry run is one wherever it is asked for.
    pub(super) fn parse(query: &Query, headers: &HeaderMap, body: &[u8]) -> Result<Self, ApiStatus> {
        let mut fields = if body.is_empty() { from_query(query)? } else { from_body(headers, body)? };
        let asked: Vec<Value> = query.all("dryRun").map(Value::from).collect();
        if let Some(map) = fields.as_object_mut() {
            let dry_run = map.entry("dryRun").or_insert(Value::Null);
            match dry_run {
                Value::Array(list) => list.extend(asked),
                other => *other = Value::from(asked),
            }
        }
        Self::of(&fields)
    }

    fn of(fields: &Value) -> Result<Self, ApiStatus> {
        let wrong = |field: &str| {
            ApiStatus::bad_request(format!("DeleteOptions: {field} has a value of the wrong type"))
        };
        let text = |value: Option<&Value>, field: &str| match value {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(wrong(field)),
        };
        let mut causes = Vec::new();
        let orphan = match fields.get("orphanDependents") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(orphan)) => Some(*orphan),
            Some(_) => return Err(wrong("orphanDependents")),
        };
        if !matches!(fields.get("gracePeriodSeconds"), None | Some(Value::Null))
            && fields.get("gracePeriodSeconds").and_then(Value::as_i64).is_none()
        {
            return Err(wrong("gracePeriodSeconds"));
        }
        let policy = text(fields.get("propagationPolicy"), "propagationPolicy")?;
        let field = "propagationPolicy";
        if let (Some(policy), Some(_)) = (&policy, orphan) {
            let message = "orphanDependents and deletionPropagation cannot be both set";
            causes.push(Cause::invalid(field, policy.as_str(), message));
        }
        let propagation = match policy.as_deref() {
            None => orphan.map(|orphan| if orphan { Propagation::Orphan } else { Propagation::Background }),
            Some("Background") => Some(Propagation::Background),
            Some("Foreground") => Some(Propagation::Foreground),
            Some("Orphan") => Some(Propagation::Orphan),
            Some(other) => {
                let known = ["Foreground", "Background", "Orphan", "nil"];
                causes.push(Cause::not_supported(field, other, &known));
                None
            }
        };
        let dry_run = fields.get("dryRun").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let dry_run: Option<Vec<&str>> = dry_run.iter().map(Value::as_str).collect();
        let dry_run = dry_run.ok_or_else(|| wrong("dryRun"))?;
        causes.extend(dry_run_fault(&dry_run));
        if !causes.is_empty() {
            return Err(ApiStatus::invalid_options("DeleteOptions", &causes));
        }
        let preconditions = fields.get("preconditions");
        let precondition = |field: &str| text(preconditions.and_then(|all| all.get(field)), field);
        Ok(Self {
            dry_run: is_dry(&dry_run),
            uid: precondition("uid")?,
            resource_version: precondition("resourceVersion")?,
            propagation,
            cascades: orphan == Some(false),
        })
    }
}

fn from_query(query: &Query) -> Result<Value, ApiStatus> {
    let mut fields = serde_json::Map::new();
    if let Some(policy) = query.get("propagationPolicy").filter(|policy| !policy.is_empty()) {
        fields.insert("propagationPolicy".to_owned(), policy.into());
    }
    if let Some(orphan) = query.switch("orphanDependents") {
        fields.insert("orphanDependents".to_owned(), orphan.into());
    }
    if let Some(seconds) = query.get("gracePeriodSeconds").filter(|seconds| !seconds.is_empty()) {
        let seconds: i64 = seconds.parse().map_err(|_| {
            ApiStatus::bad_request(format!("gracePeriodSeconds: {seconds:?} is not an integer"))
        })?;
        fields.insert("gracePeriodSeconds".to_owned(), seconds.into());
    }
    Ok(fields.into())
}

fn from_body(headers: &HeaderMap, body: &[u8]) -> Result<Value, ApiStatus> {
    let syntax = decode::syntax(headers)?;
    let Decoded { value, .. } = decode::decode(body, syntax).map_err(|error| {
        ApiStatus::bad_request(format!("couldn't get version/kind; json parse error: {error}"))
    })?;
    match value.get("kind").map(|kind| kind.as_str().unwrap_or_default()) {
        _ if !value.is_object() => Err(ApiStatus::bad_request("DeleteOptions must be an object")),
        None | Some("" | "DeleteOptions") => Ok(value),
        Some(other) => {
            Err(ApiStatus::bad_request(format!("the body must be DeleteOptions, and is of kind {other:?}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::parse(text).unwrap()
    }

    fn written(text: &str, what: For) -> Result<WriteOptions, String> {
        let headers = HeaderMap::from_iter([(USER_AGENT, "kubectl/v1.36 (linux)".parse().unwrap())]);
        WriteOptions::parse(&query(text), &headers, what).map_err(|status| status.message().to_owned())
    }

    fn deleted(text: &str, body: &str) -> Result<DeleteOptions, (u16, String)> {
        DeleteOptions::parse(&query(text), &HeaderMap::new(), body.as_bytes())
            .map_err(|status| (status.code().as_u16(), status.message().to_owned()))
    }

    #[test]
    fn options_that_are_wrong_are_refused_in_the_words_of_kubernetes() {
        for (text, what, message) in [
            (
                "dryRun=x&fieldValidation=y",
                For::Create,
                "CreateOptions.meta.k8s.io \"\" is invalid: [dryRun: Unsupported value: [\"x\"]: supported values: \"All\", \
                 fieldValidation: Unsupported value: \"y\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\"]",
            ),
            (
                "",
                For::Patch { apply: true },
                "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch",
            ),
            (
                "force=true",
                For::Patch { apply: false },
                "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch",
            ),
            (
                "fieldManager=a%0Ab",
                For::Update,
                "UpdateOptions.meta.k8s.io \"\" is invalid: fieldManager: Invalid value: \"a\\nb\": \
                 invalid character U+000A (at position 1)",
            ),
        ] {
            assert_eq!(written(text, what), Err(message.to_owned()));
        }
    }

    #[test]
    fn the_manager_is_the_program_if_it_says_nothing_else() {
        assert_eq!(written("", For::Create).unwrap().manager, "kubectl");
        assert_eq!(written("fieldManager=me", For::Update).unwrap().manager, "me");
        let nobody = WriteOptions::parse(&query(""), &HeaderMap::new(), For::Create).unwrap();
        assert_eq!(nobody, WriteOptions { manager: "unknown".into(), ..WriteOptions::default() });
        assert!(written("dryRun=All", For::Create).unwrap().dry_run);
    }

    #[test]
    fn deletions_are_asked_for_in_query_or_body() {
        let foreground =
            DeleteOptions { propagation: Some(Propagation::Foreground), ..DeleteOptions::default() };
        assert_eq!(deleted("propagationPolicy=Foreground&gracePeriodSeconds=3", ""), Ok(foreground.clone()));
        let body = r#"{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground"}"#;
        assert_eq!(deleted("propagationPolicy=Orphan", body), Ok(foreground.clone()));
        assert_eq!(deleted("dryRun=All", body), Ok(DeleteOptions { dry_run: true, ..foreground }));
        let orphan =
            deleted("", r#"{"orphanDependents":false,"preconditions":{"uid":"u","resourceVersion":"5"}}"#);
        let expected = DeleteOptions {
            uid: Some("u".into()),
            resource_version: Some("5".into()),
            propagation: Some(Propagation::Background),
            cascades: true,
            ..DeleteOptions::default()
        };
        assert_eq!(orphan, Ok(expected));
    }

    #[test]
    fn deletions_that_are_wrong_are_refused() {
        let code = |text: &str, body: &str| deleted(text, body).map_err(|(code, _)| code).err();
        assert_eq!(code("dryRun=None", ""), Some(422));
        assert_eq!(code("propagationPolicy=x", ""), Some(422));
        assert_eq!(code("propagationPolicy=Orphan&orphanDependents=true", ""), Some(422));
        for body in ["{", "[]", r#"{"kind":"Pod"}"#, r#"{"dryRun":[1]}"#, r#"{"gracePeriodSeconds":"x"}"#] {
            assert_eq!(code("", body), Some(400), "{body}");
        }
        assert_eq!(code("gracePeriodSeconds=x", ""), Some(400));
        assert_eq!(code("", r#"{"gracePeriodSeconds":-1,"preconditions":null}"#), None);
    }
}
