//! Verb and target of a request, as authorization and routing see them.

use http::Method;

use super::percent;
use super::query::Query;
use crate::authorization::{AccessTarget, Attributes};
use crate::selector;

/// What a request is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestInfo {
    pub(crate) verb: String,
    pub(crate) target: Target,
}

/// Objects of a resource, or a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Resource(ResourcePath),
    Path(String),
}

/// The parts of `/apis/GROUP/VERSION[/namespaces/NAMESPACE]/RESOURCE[/NAME[/SUBRESOURCE]]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourcePath {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) resource: String,
    pub(crate) name: Option<String>,
    pub(crate) subresource: String,
    /// The one name that the field selector of a list or a watch allows: who may see only that one object may ask so.
    pub(crate) selected_name: Option<String>,
}

impl RequestInfo {
    pub(crate) fn parse(method: &Method, path: &str, query: &Query) -> Result<Self, percent::DecodeError> {
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let target = match parts.as_slice() {
            ["apis", group, version, rest @ ..] if !rest.is_empty() => {
                Some(resource_path(group, version, rest)?)
            }
            _ => None,
        };
        let Some(Some(mut resource)) = target else {
            let verb = method.as_str().to_ascii_lowercase();
            return Ok(Self { verb, target: Target::Path(path.to_owned()) });
        };
        let watches = query.switch("watch").unwrap_or_default();
        let many = resource.name.is_none();
        let verb = match *method {
            Method::GET if watches && resource.subresource.is_empty() => "watch",
            Method::GET if many => "list",
            Method::GET => "get",
            Method::POST => "create",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE if many => "deletecollection",
            Method::DELETE => "delete",
            _ => "",
        };
        if many && ["list", "watch", "deletecollection"].contains(&verb) {
            resource.selected_name = query.get("fieldSelector").and_then(selector::name_in);
        }
        Ok(Self { verb: verb.to_owned(), target: Target::Resource(resource) })
    }

    /// The question for an authorizer.
    pub(crate) fn attributes(&self) -> Attributes {
        let target = match &self.target {
            Target::Path(path) => AccessTarget::Path(path.clone()),
            Target::Resource(path) => AccessTarget::Resource {
                group: path.group.clone(),
                version: path.version.clone(),
                resource: path.resource.clone(),
                subresource: path.subresource.clone(),
                namespace: path.namespace.clone().unwrap_or_default(),
                name: path.name.clone().or_else(|| path.selected_name.clone()).unwrap_or_default(),
            },
        };
        Attributes { verb: self.verb.clone(), target }
    }
}

fn resource_path(
    group: &str,
    version: &str,
    rest: &[&str],
) -> Result<Option<ResourcePath>, percent::DecodeError> {
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
        _ => (None, rest),
    };
    let (resource, name, subresource) = match rest {
        [resource] => (*resource, None, ""),
        [resource, name] => (*resource, Some(*name), ""),
        [resource, name, subresource] => (*resource, Some(*name), *subresource),
        _ => return Ok(None),
    };
    let path = ResourcePath {
        group: percent::decode(group)?,
        version: percent::decode(version)?,
        namespace: namespace.map(percent::decode).transpose()?,
        resource: percent::decode(resource)?,
        name: name.map(percent::decode).transpose()?,
        subresource: percent::decode(subresource)?,
        selected_name: None,
    };
    let empty = path.resource.is_empty()
        || path.name.as_deref() == Some("")
        || path.namespace.as_deref() == Some("")
        || (rest.len() == 3 && path.subresource.is_empty());
    Ok((!empty).then_some(path))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(method: &Method, path: &str, query: &str) -> RequestInfo {
        RequestInfo::parse(method, path, &Query::parse(query).unwrap()).unwrap()
    }

    fn resource(info: &RequestInfo) -> &ResourcePath {
        match &info.target {
            Target::Resource(path) => path,
            Target::Path(path) => panic!("{path} is no resource"),
        }
    }

    #[test]
    fn verbs_and_targets_are_those_of_kubernetes() {
        let list = parse(&Method::GET, "/apis/g.io/v1/things", "");
        assert_eq!((list.verb.as_str(), resource(&list).resource.as_str()), ("list", "things"));
        let watch = parse(&Method::GET, "/apis/g.io/v1/things", "watch=1&fieldSelector=metadata.name%3Da");
        assert_eq!(watch.verb, "watch");
        assert_eq!(resource(&watch).selected_name.as_deref(), Some("a"));
        let get = parse(&Method::GET, "/apis/g.io/v1/namespaces/n/things/a%2Db", "");
        assert_eq!(get.verb, "get");
        assert_eq!(resource(&get).namespace.as_deref(), Some("n"));
        assert_eq!(resource(&get).name.as_deref(), Some("a-b"));
        let status = parse(&Method::PATCH, "/apis/g.io/v1/things/a/status", "");
        assert_eq!((status.verb.as_str(), resource(&status).subresource.as_str()), ("patch", "status"));
        assert_eq!(parse(&Method::DELETE, "/apis/g.io/v1/things", "").verb, "deletecollection");
        assert_eq!(parse(&Method::DELETE, "/apis/g.io/v1/things/a", "").verb, "delete");
        assert_eq!(parse(&Method::POST, "/apis/g.io/v1/things", "").verb, "create");
        assert_eq!(parse(&Method::PUT, "/apis/g.io/v1/things/a", "").verb, "update");
        assert_eq!(parse(&Method::GET, "/apis/g.io/v1/things/a", "watch=true").verb, "watch");
    }

    #[test]
    fn everything_else_is_a_path() {
        for path in [
            "/",
            "/apis",
            "/apis/g.io",
            "/apis/g.io/v1",
            "/apis/g.io/v1/",
            "/apis/g.io/v1/a/b/c/d",
            "/apis/g.io/v1//a",
        ] {
            let info = parse(&Method::GET, path, "");
            assert_eq!(info, RequestInfo { verb: "get".into(), target: Target::Path(path.into()) });
        }
    }

    proptest! {
        #[test]
        fn parsing_is_total(path in "/(apis/)?[a/%2.]{0,20}") {
            let _ = RequestInfo::parse(&Method::GET, &path, &Query::default());
        }
    }
}
