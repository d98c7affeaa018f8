//! Options of lists and watches, and the rules by which Kubernetes refuses combinations of them.
//!
//! Clients rely on the refusals: an informer that asks for a streaming list and is refused falls back to a plain one.

use std::time::Duration;

use super::query::Query;
use crate::status::{ApiStatus, Cause};
use crate::version::{ParseVersionError, ResourceVersion};

/// Parsed and checked options.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ListOptions {
    pub(crate) version: Wanted,
    pub(crate) exact: bool,
    pub(crate) initial_events: bool,
    pub(crate) bookmarks: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) limit: Option<usize>,
    pub(crate) resume: Option<String>,
}

/// The version that a client wants to see, or to have seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// `resourceVersion` is absent or empty.
    Latest,
    /// `0`.
    Any,
    /// Any other number.
    Known(ResourceVersion),
}

impl Wanted {
    pub(crate) fn parse(text: &str) -> Result<Self, ApiStatus> {
        match text {
            "" => Ok(Self::Latest),
            "0" => Ok(Self::Any),
            text => text.parse().map(Self::Known).map_err(|error: ParseVersionError| {
                ApiStatus::bad_request(format!("Invalid value for resourceVersion: {error}"))
            }),
        }
    }
}

const NOT_OLDER: &str = "NotOlderThan";
const EXACT: &str = "Exact";

impl ListOptions {
    pub(crate) fn parse(query: &Query, watch: bool) -> Result<Self, ApiStatus> {
        let text = query.get("resourceVersion").unwrap_or_default();
        let rule = query.get("resourceVersionMatch").unwrap_or_default();
        let initial_events = query.switch("sendInitialEvents");
        let resume = query.get("continue").filter(|token| !token.is_empty());
        let causes = if watch {
            watch_faults(rule, initial_events, resume.is_some())
        } else {
            list_faults(text, rule, initial_events, resume.is_some())
        };
        if !causes.is_empty() {
            return Err(ApiStatus::invalid_options("ListOptions", &causes));
        }
        let version = Wanted::parse(text)?;
        if resume.is_some() && !watch && matches!(version, Wanted::Known(_)) {
            let message = "specifying resource version is not allowed when using continue";
            return Err(ApiStatus::bad_request(message));
        }
        let limit = integer(query, "limit")?.filter(|limit| *limit > 0);
        let timeout = integer(query, "timeoutSeconds")?.filter(|seconds| *seconds > 0);
        let legacy_start = rule.is_empty() && !matches!(version, Wanted::Known(_));
        Ok(Self {
            version,
            exact: rule == EXACT,
            initial_events: watch && initial_events.unwrap_or(legacy_start),
            bookmarks: query.switch("allowWatchBookmarks").unwrap_or_default(),
            timeout: timeout.map(|seconds| Duration::from_secs(seconds.unsigned_abs())),
            limit: limit.and_then(|limit| usize::try_from(limit).ok()),
            resume: resume.map(str::to_owned),
        })
    }
}

fn integer(query: &Query, name: &str) -> Result<Option<i64>, ApiStatus> {
    match query.get(name).filter(|text| !text.is_empty()) {
        None => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|_| {
            ApiStatus::bad_request(format!("Invalid value for {name}: {text:?} is not an integer"))
        }),
    }
}

fn list_faults(version: &str, rule: &str, initial_events: Option<bool>, resumes: bool) -> Vec<Cause> {
    let mut causes = Vec::new();
    if initial_events.is_some() {
        causes.push(Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
    }
    if rule.is_empty() {
        return causes;
    }
    let field = "resourceVersionMatch";
    if version.is_empty() {
        causes.push(Cause::forbidden(
            field,
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        ));
    }
    if resumes {
        causes.push(Cause::forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
    }
    if rule != EXACT && rule != NOT_OLDER {
        causes.push(Cause::not_supported(field, rule, &[EXACT, NOT_OLDER, ""]));
    }
    if rule == EXACT && version == "0" {
        let message = "resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"";
        causes.push(Cause::forbidden(field, message));
    }
    causes
}

fn watch_faults(rule: &str, initial_events: Option<bool>, resumes: bool) -> Vec<Cause> {
    let mut causes = Vec::new();
    let field = "resourceVersionMatch";
    match (initial_events, rule) {
        (None, "") => {}
        (None, _) => causes.push(Cause::forbidden(
            field,
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        )),
        (Some(_), "") => {
            let message = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            causes.push(Cause::forbidden(field, message));
        }
        (Some(_), NOT_OLDER) => {}
        (Some(_), other) => causes.push(Cause::not_supported(field, other, &[NOT_OLDER])),
    }
    if resumes && (initial_events.is_some() || !rule.is_empty()) {
        causes.push(Cause::forbidden(field, "resourceVersionMatch is forbidden when continue is provided"));
    }
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str, watch: bool) -> Result<ListOptions, (u16, &'static str)> {
        let options = ListOptions::parse(&Query::parse(query).unwrap(), watch);
        options.map_err(|status| (status.code().as_u16(), status.reason()))
    }

    // covers: L1 L2 L4 C7
    #[test]
    fn contradictions_are_refused() {
        let invalid = Err((422, "Invalid"));
        for query in [
            "resourceVersionMatch=Exact",
            "resourceVersionMatch=NotOlderThan&resourceVersion=5&continue=x",
            "resourceVersionMatch=Newest&resourceVersion=5",
            "resourceVersionMatch=Exact&resourceVersion=0",
            "sendInitialEvents=true",
            "sendInitialEvents=false",
        ] {
            assert_eq!(parse(query, false), invalid, "{query}");
        }
        for query in [
            "sendInitialEvents=true",
            "sendInitialEvents=false",
            "sendInitialEvents=true&resourceVersionMatch=Exact",
            "resourceVersionMatch=NotOlderThan&resourceVersion=5",
            "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x",
        ] {
            assert_eq!(parse(query, true), invalid, "{query}");
        }
        for query in ["resourceVersion=abc", "limit=x", "timeoutSeconds=x", "continue=x&resourceVersion=5"] {
            assert_eq!(parse(query, false), Err((400, "BadRequest")), "{query}");
        }
    }

    // covers: L3
    #[test]
    fn a_watch_from_nowhere_starts_with_all_objects() {
        for (query, initial) in [
            ("", true),
            ("resourceVersion=0", true),
            ("resourceVersion=5", false),
            ("sendInitialEvents=true&resourceVersionMatch=NotOlderThan", true),
            ("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=5", true),
            ("sendInitialEvents=false&resourceVersionMatch=NotOlderThan", false),
            ("sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0", false),
        ] {
            assert_eq!(parse(query, true).unwrap().initial_events, initial, "{query}");
        }
    }

    #[test]
    fn values_are_read() {
        let options = parse("continue=abc&resourceVersion=0", false).unwrap();
        assert_eq!(options.resume.as_deref(), Some("abc"));
        let options = parse("resourceVersion=7&limit=500&timeoutSeconds=30&allowWatchBookmarks=true", false);
        let options = options.unwrap();
        assert_eq!(options.version, Wanted::Known("7".parse().unwrap()));
        assert_eq!(options.limit, Some(500));
        assert_eq!(options.timeout, Some(Duration::from_secs(30)));
        assert!(options.bookmarks);
    }
}
