//! What a client accepts: media types with their weights, and the `as`, `g`, `v` parameters of Kubernetes.
//!
//! Clients list what they like best first, often protobuf or CBOR, with JSON behind. The best that can be served is chosen;
//! if nothing can, the answer is 406, never something that was not asked for.

use http::HeaderMap;
use http::header::{ACCEPT, ACCEPT_ENCODING};

use super::query::Query;
use crate::representation::{IncludeObject, MetaVersion, Representation};
use crate::status::ApiStatus;

/// How the answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json,
    Yaml,
}

/// One element of an `Accept` header.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clause<'a> {
    type_: &'a str,
    subtype: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
    weight: u16,
}

impl<'a> Clause<'a> {
    pub(crate) fn parameter(&self, name: &str) -> Option<&'a str> {
        self.parameters.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }

    pub(crate) fn admits(&self, type_: &str, subtype: &str) -> bool {
        (self.type_ == "*" || self.type_.eq_ignore_ascii_case(type_))
            && (self.subtype == "*" || self.subtype.eq_ignore_ascii_case(subtype))
    }

    /// The format in which objects may be written; JSON where either would do.
    fn format(&self) -> Option<Format> {
        if self.admits("application", "json") {
            Some(Format::Json)
        } else if self.admits("application", "yaml") {
            Some(Format::Yaml)
        } else {
            None
        }
    }
}

/// The clauses of all `Accept` headers, best first. Without any, everything is accepted.
pub(crate) fn clauses(headers: &HeaderMap) -> Vec<Clause<'_>> {
    let mut clauses: Vec<_> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| std::str::from_utf8(value.as_bytes()).ok())
        .flat_map(|value| value.split(','))
        .filter_map(clause)
        .filter(|clause| clause.weight > 0)
        .collect();
    if !headers.contains_key(ACCEPT) {
        clauses.push(Clause { type_: "*", subtype: "*", parameters: Vec::new(), weight: 1000 });
    }
    clauses.sort_by_key(|clause| std::cmp::Reverse(clause.weight));
    clauses
}

fn clause(text: &str) -> Option<Clause<'_>> {
    let mut parts = text.split(';').map(str::trim);
    let (type_, subtype) = match parts.next()? {
        "*" => ("*", "*"),
        range => range.split_once('/')?,
    };
    let parameters: Vec<_> = parts
        .filter_map(|part| part.split_once('='))
        .map(|(name, value)| (name.trim(), value.trim().trim_matches('"')))
        .collect();
    let weight = parameters.iter().find(|(name, _)| name.eq_ignore_ascii_case("q"));
    let weight = weight.map_or(Some(1000), |(_, value)| weight_of(value))?;
    Some(Clause { type_: type_.trim(), subtype: subtype.trim(), parameters, weight })
}

/// Thousandths.
fn weight_of(text: &str) -> Option<u16> {
    let weight: f32 = text.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1000")]
    (0.0..=1.0).contains(&weight).then_some((weight * 1000.0) as u16)
}

const ACCEPTED: [&str; 2] = ["application/json", "application/yaml"];

/// Format and representation of objects and lists.
pub(crate) fn for_objects(headers: &HeaderMap, query: &Query) -> Result<(Format, Representation), ApiStatus> {
    for clause in clauses(headers) {
        if let Some(format) = clause.format()
            && let Some(representation) = representation(&clause, query)?
        {
            return Ok((format, representation));
        }
    }
    Err(ApiStatus::not_acceptable(&ACCEPTED))
}

/// Representation of a watch, which is always JSON.
pub(crate) fn for_watch(headers: &HeaderMap, query: &Query) -> Result<Representation, ApiStatus> {
    for clause in clauses(headers) {
        if clause.format() == Some(Format::Json)
            && let Some(representation) = representation(&clause, query)?
        {
            return Ok(representation);
        }
    }
    Err(ApiStatus::not_acceptable(&["application/json", "application/json;stream=watch"]))
}

/// Whether a plain JSON document may be the answer.
pub(crate) fn for_json(headers: &HeaderMap) -> Result<(), ApiStatus> {
    let accepts = clauses(headers).iter().any(|clause| clause.admits("application", "json"));
    if accepts { Ok(()) } else { Err(ApiStatus::not_acceptable(&["application/json"])) }
}

/// Format of a document that exists in both.
pub(crate) fn for_document(headers: &HeaderMap) -> Result<Format, ApiStatus> {
    let format = clauses(headers).iter().find_map(Clause::format);
    format.ok_or_else(|| ApiStatus::not_acceptable(&ACCEPTED))
}

/// True when YAML is what a client likes best of all that can be served.
pub(crate) fn prefers_yaml(headers: &HeaderMap) -> bool {
    for_document(headers) == Ok(Format::Yaml)
}

/// `None` for a transformation that is not known.
fn representation(clause: &Clause<'_>, query: &Query) -> Result<Option<Representation>, ApiStatus> {
    let Some(kind) = clause.parameter("as") else { return Ok(Some(Representation::Whole)) };
    let version = match clause.parameter("v") {
        Some("v1") => MetaVersion::V1,
        Some("v1beta1") => MetaVersion::V1Beta1,
        _ => return Ok(None),
    };
    if clause.parameter("g") != Some("meta.k8s.io") {
        return Ok(None);
    }
    Ok(match kind {
        "Table" => {
            let include = query.get("includeObject").unwrap_or_default();
            let include = IncludeObject::parse(include).ok_or_else(|| {
                ApiStatus::bad_request(format!("unrecognized includeObject value: {include:?}"))
            })?;
            Some(Representation::Table(version, include))
        }
        "PartialObjectMetadata" | "PartialObjectMetadataList" => Some(Representation::Metadata(version)),
        _ => None,
    })
}

/// Whether the answer may be compressed.
pub(crate) fn gzip(headers: &HeaderMap) -> bool {
    headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
            let refused = parts
                .any(|part| part.strip_prefix("q=").and_then(weight_of).is_some_and(|weight| weight == 0));
            named && !refused
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn headers(accept: &str) -> HeaderMap {
        HeaderMap::from_iter([(ACCEPT, accept.parse().unwrap())])
    }

    fn chosen(accept: &str) -> Result<(Format, Representation), u16> {
        for_objects(&headers(accept), &Query::default()).map_err(|status| status.code().as_u16())
    }

    // covers: C27 C25 C8 R8
    #[test]
    fn the_best_that_can_be_served_is_chosen() {
        use Representation::{Metadata, Table, Whole};
        let table = Table(MetaVersion::V1, IncludeObject::Metadata);
        for (accept, expected) in [
            ("application/vnd.kubernetes.protobuf,application/json", Ok((Format::Json, Whole))),
            ("application/vnd.kubernetes.protobuf", Err(406)),
            ("application/vnd.kubernetes.protobuf, */*", Ok((Format::Json, Whole))),
            ("application/json;q=0.9,application/cbor;q=1", Ok((Format::Json, Whole))),
            ("application/yaml", Ok((Format::Yaml, Whole))),
            ("application/json;q=0.5,application/yaml", Ok((Format::Yaml, Whole))),
            ("text/html", Err(406)),
            ("*", Ok((Format::Json, Whole))),
            ("application/json;as=Table;v=v1;g=meta.k8s.io,application/json", Ok((Format::Json, table))),
            (
                "application/json;as=Table;v=v2;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io",
                Ok((Format::Json, Table(MetaVersion::V1Beta1, IncludeObject::Metadata))),
            ),
            ("application/json;as=Other;v=v1;g=meta.k8s.io", Err(406)),
            (
                "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
                 application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
                Ok((Format::Json, Metadata(MetaVersion::V1))),
            ),
        ] {
            assert_eq!(chosen(accept), expected, "{accept}");
        }
        assert_eq!(for_objects(&HeaderMap::new(), &Query::default()), Ok((Format::Json, Whole)));
    }

    // covers: C27
    #[test]
    fn watches_are_json_only() {
        let status = for_watch(&headers("application/yaml"), &Query::default()).unwrap_err();
        assert_eq!(status.code(), 406);
        let json = for_watch(&headers("application/json;stream=watch"), &Query::default());
        assert_eq!(json, Ok(Representation::Whole));
    }

    // covers: C25
    #[test]
    fn an_unknown_include_object_is_refused() {
        let query = Query::parse("includeObject=Everything").unwrap();
        let accept = headers("application/json;as=Table;v=v1;g=meta.k8s.io");
        assert_eq!(for_objects(&accept, &query).unwrap_err().code(), 400);
    }

    #[test]
    fn gzip_is_used_only_when_accepted() {
        let accepts = |value: &str| gzip(&HeaderMap::from_iter([(ACCEPT_ENCODING, value.parse().unwrap())]));
        assert!(
            accepts("gzip") && accepts("deflate, GZIP;q=0.5") && !accepts("identity") && !accepts("gzip;q=0")
        );
        assert!(!gzip(&HeaderMap::new()));
    }

    proptest! {
        #[test]
        fn negotiation_is_total(accept in "[a-z*/;=,. 0-9\"]{0,40}") {
            let _ = chosen(&accept);
        }
    }
}
