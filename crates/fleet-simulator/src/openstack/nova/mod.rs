//! Nova: which version, who may, and which list a path means.

mod aggregates;
mod hypervisors;
mod migrations;
mod servers;
mod services;

use http::Method;
use http::request::Parts;
use serde_json::{Value, json};

use super::answer::{Answer, Refusal, ok, unauthorized, with_version};
use super::microversion::{Microversion, Wrong};
use super::server::OpenStack;

const OLDEST: Microversion = Microversion(2, 1);

/// A request whose version and token are good.
struct Call<'a> {
    openstack: &'a OpenStack,
    request: &'a Parts,
    version: Microversion,
    body: &'a [u8],
}

pub(super) fn answer(openstack: &OpenStack, request: &Parts, body: &[u8]) -> Answer {
    let (major, minor) = openstack.fleet.cloud.read(|cloud| cloud.api.compute_max);
    let newest = Microversion(major, minor);
    let path = request.uri.path().trim_start_matches("/compute").trim_matches('/');
    match path {
        "" => return ok(&json!({"versions": [legacy_document(openstack), document(openstack, newest)]})),
        "v2.1" => return ok(&json!({"version": document(openstack, newest)})),
        _ => {}
    }
    let Some(path) = path.strip_prefix("v2.1/") else { return Refusal::no_such_resource().answer() };
    let version = match Microversion::asked(&request.headers, "compute", OLDEST, newest) {
        Ok(version) => version,
        Err(wrong) => return wrong_version(&wrong, newest),
    };
    if !openstack.is_authorized(request) {
        return unauthorized(&openstack.url("/identity"));
    }
    let answer = Call { openstack, request, version, body }.answer(path);
    with_version(answer, "compute", version)
}

impl Call<'_> {
    fn answer(&self, path: &str) -> Answer {
        let segments: Vec<&str> = path.split('/').collect();
        let method = &self.request.method;
        if segments.first().is_some_and(|first| first.starts_with("os-")) && !self.is_admin() {
            let rule = format!("os_compute_api:{}", segments.first().copied().unwrap_or_default());
            return Refusal::forbidden(&rule).answer();
        }
        let answer = match (method, segments.as_slice()) {
            (&Method::GET, ["os-hypervisors"]) => hypervisors::list(self, false),
            (&Method::GET, ["os-hypervisors", "detail"]) => hypervisors::list(self, true),
            (&Method::GET, ["os-hypervisors", id]) => hypervisors::show(self, id),
            (&Method::GET, ["os-services"]) => services::list(self),
            (&Method::PUT, ["os-services", id]) => services::update(self, id),
            (&Method::GET, ["os-aggregates"]) => aggregates::list(self),
            (&Method::GET, ["os-migrations"]) => migrations::list(self),
            (&Method::GET, ["servers", "detail"]) => servers::list(self),
            (&Method::GET, ["servers", id]) => servers::show(self, id),
            _ => Err(Refusal::no_such_resource()),
        };
        match answer {
            Ok(body) => ok(&body),
            Err(refusal) => refusal.answer(),
        }
    }

    fn is_admin(&self) -> bool {
        self.openstack.fleet.cloud.read(|cloud| cloud.api.admin)
    }

    /// URL of this very list, for links.
    fn url(&self) -> String {
        self.openstack.url(self.request.uri.path())
    }

    fn page_limit(&self) -> usize {
        self.openstack.fleet.cloud.read(|cloud| cloud.api.page_limit)
    }
}

fn wrong_version(wrong: &Wrong, newest: Microversion) -> Answer {
    match wrong {
        Wrong::Malformed(text) => {
            let message = format!(
                "API Version String {text} is of invalid format. Must be of format MajorNum.MinorNum."
            );
            Refusal::bad_request(&message).answer()
        }
        Wrong::NotOffered(version) => {
            let message = format!(
                "Version {version} is not supported by the API. Minimum is {OLDEST} and maximum is {newest}."
            );
            with_version(Refusal::not_acceptable(&message).answer(), "compute", *version)
        }
    }
}

fn document(openstack: &OpenStack, newest: Microversion) -> Value {
    json!({
        "id": "v2.1", "status": "CURRENT", "version": newest.to_string(), "min_version": OLDEST.to_string(),
        "updated": "2013-07-23T11:33:21Z",
        "links": [{"rel": "self", "href": openstack.url("/compute/v2.1/")}],
    })
}

fn legacy_document(openstack: &OpenStack) -> Value {
    json!({
        "id": "v2.0", "status": "DEPRECATED", "version": "", "min_version": "", "updated": "2025-07-04T12:00:00Z",
        "links": [{"rel": "self", "href": openstack.url("/compute/v2/")}],
    })
}

/// A time as Nova writes it: no zone, six digits.
fn time(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S.%6f").to_string()
}
