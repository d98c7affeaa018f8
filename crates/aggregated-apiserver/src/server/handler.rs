//! From a request to an answer: who asks, may they, what is it about.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use tracing::{debug, error, warn};

use super::builder::Site;
use super::metrics::RequestLabels;
use crate::authorization::{self, Decision};
use crate::discovery::Document;
use crate::identity::{PeerCertificates, User};
use crate::request::accept;
use crate::request::info::{RequestInfo, Target};
use crate::request::query::Query;
use crate::serve::body::{self, Body, JSON};
use crate::serve::{self, ResourceRequest};
use crate::status::ApiStatus;

const TEXT: &str = "text/plain; charset=utf-8";
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

impl Site {
    /// Answers a request. Never fails: every fault is a Status.
    pub(super) async fn handle(
        self: &Arc<Self>,
        request: Request<Incoming>,
        peer: &Arc<PeerCertificates>,
    ) -> Response<Body> {
        let start = Instant::now();
        let (parts, _body) = request.into_parts();
        let mut labels = RequestLabels::default();
        let answering = AssertUnwindSafe(self.answer(&parts, peer, &mut labels)).catch_unwind();
        let answer = match tokio::time::timeout(self.limits.request, answering).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => {
                error!(path = parts.uri.path(), "panic while answering a request");
                Err(ApiStatus::internal("the request could not be answered"))
            }
            Err(_) => Err(ApiStatus::timeout("the request took too long")),
        };
        let mut response = answer.unwrap_or_else(|status| body::status(&status));
        if parts.method == Method::HEAD {
            // HTTP/2 takes a body after HEAD for a fault of the protocol.
            *response.body_mut() = body::empty();
        }
        let headers = response.headers_mut();
        headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache, private"));
        self.metrics.answered(&labels, response.status().as_u16(), start.elapsed().as_secs_f64());
        debug!(
            method = %parts.method, path = parts.uri.path(), code = response.status().as_u16(),
            millis = start.elapsed().as_millis(), "answered"
        );
        response
    }

    async fn answer(
        &self,
        parts: &http::request::Parts,
        peer: &PeerCertificates,
        labels: &mut RequestLabels,
    ) -> Result<Response<Body>, ApiStatus> {
        let limit = self.limits.uri_bytes;
        let query = parts.uri.query().unwrap_or_default();
        if parts.uri.path().len() + query.len() > limit {
            return Err(ApiStatus::uri_too_long(limit));
        }
        let undecodable = |error: &dyn std::error::Error| ApiStatus::bad_request(error.to_string());
        let query = Query::parse(query).map_err(|error| undecodable(&error))?;
        let info = RequestInfo::parse(&parts.method, parts.uri.path(), &query)
            .map_err(|error| undecodable(&error))?;
        self.label(&info, labels);
        let user = self.authenticate(&parts.headers, peer).await?;
        self.authorize(&user, &info).await?;
        match &info.target {
            Target::Path(path) => self.path(&parts.method, path, &query, &parts.headers),
            Target::Resource(path) => {
                let key = (path.group.clone(), path.version.clone(), path.resource.clone());
                let resource = self.resources.get(&key).ok_or_else(ApiStatus::path_not_found)?;
                let headers = &parts.headers;
                let request = ResourceRequest { site: self, resource, path, query: &query, headers };
                serve::answer(request, &info.verb).await
            }
        }
    }

    /// Only what is known becomes a label.
    fn label(&self, info: &RequestInfo, labels: &mut RequestLabels) {
        labels.verb.clone_from(&info.verb);
        if let Target::Resource(path) = &info.target {
            let key = (path.group.clone(), path.version.clone(), path.resource.clone());
            if self.resources.contains_key(&key) {
                (labels.group, labels.version, labels.resource) = key;
            }
        } else if !["get", "post", "put", "patch", "delete"].contains(&labels.verb.as_str()) {
            "other".clone_into(&mut labels.verb);
        }
    }

    async fn authenticate(&self, headers: &HeaderMap, peer: &PeerCertificates) -> Result<User, ApiStatus> {
        let mut refused = None;
        for authenticator in &self.authenticators {
            match authenticator.authenticate(headers, peer).await {
                Ok(Some(user)) => return Ok(user.authenticated()),
                Ok(None) => {}
                Err(error) => refused = Some(error),
            }
        }
        if let Some(error) = refused {
            warn!(error = &error as &dyn std::error::Error, "client could not be authenticated");
            return Err(ApiStatus::unauthorized());
        }
        if headers.contains_key(http::header::AUTHORIZATION) {
            return Err(ApiStatus::unauthorized());
        }
        Ok(User::anonymous())
    }

    async fn authorize(&self, user: &User, info: &RequestInfo) -> Result<(), ApiStatus> {
        let attributes = info.attributes();
        if authorization::always_allowed(user, &attributes) {
            return Ok(());
        }
        if user.is_anonymous() {
            return Err(ApiStatus::unauthorized());
        }
        match self.authorizer.authorize(user, &attributes).await {
            Ok(Decision::Allowed) => Ok(()),
            Ok(Decision::Denied(why)) => Err(ApiStatus::forbidden(attributes.refusal(user, &why))),
            Err(error) => {
                warn!(
                    error = &error as &dyn std::error::Error,
                    user = user.name,
                    "authorization has no answer"
                );
                Err(ApiStatus::unavailable("authorization is not available, please try again", 1))
            }
        }
    }

    /// Everything that is not a resource.
    fn path(
        &self,
        method: &Method,
        path: &str,
        query: &Query,
        headers: &HeaderMap,
    ) -> Result<Response<Body>, ApiStatus> {
        let trimmed = path.trim_end_matches('/');
        let excluded: Vec<_> = query.all("exclude").collect();
        if let Some((code, text)) = self.health.answer(trimmed, query.has("verbose"), &excluded) {
            only_get(method)?;
            return Ok(body::whole(code, TEXT, text));
        }
        let document = match trimmed {
            "" => return only_get(method).and_then(|()| self.index(headers)),
            "/version" => {
                only_get(method)?;
                return Ok(body::whole(StatusCode::OK, JSON, self.version.to_json().to_string()));
            }
            "/metrics" => return only_get(method).and_then(|()| self.exposition()),
            "/apis" => return only_get(method).and_then(|()| self.groups(headers)),
            other => self.discovery.by_path.get(other).or_else(|| self.openapi.document(other)),
        };
        let document = document.ok_or_else(ApiStatus::path_not_found)?;
        only_get(method)?;
        accept::for_json(headers)?;
        Ok(cached(document, JSON, headers))
    }

    /// All groups at once for those who can read that, else their names only.
    fn groups(&self, headers: &HeaderMap) -> Result<Response<Body>, ApiStatus> {
        for clause in accept::clauses(headers) {
            if !clause.admits("application", "json") {
                continue;
            }
            let wanted = (clause.parameter("as"), clause.parameter("g"), clause.parameter("v"));
            let (document, content_type) = match wanted {
                (None, ..) => (&self.discovery.groups, JSON),
                (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2")) => (
                    &self.discovery.aggregated_v2,
                    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
                ),
                (Some("APIGroupDiscoveryList"), Some("apidiscovery.k8s.io"), Some("v2beta1")) => (
                    &self.discovery.aggregated_v2beta1,
                    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
                ),
                _ => continue,
            };
            return Ok(cached(document, content_type, headers));
        }
        Err(ApiStatus::not_acceptable(&["application/json"]))
    }

    fn index(&self, headers: &HeaderMap) -> Result<Response<Body>, ApiStatus> {
        accept::for_json(headers)?;
        let mut paths = vec!["/apis".to_owned()];
        paths.extend(self.discovery.by_path.keys().cloned());
        paths.extend(
            ["/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"]
                .map(str::to_owned),
        );
        Ok(body::whole(StatusCode::OK, JSON, serde_json::json!({"paths": paths}).to_string()))
    }

    fn exposition(&self) -> Result<Response<Body>, ApiStatus> {
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &self.registry).map_err(|error| {
            error!(error = &error as &dyn std::error::Error, "metrics cannot be written");
            ApiStatus::internal("metrics cannot be written")
        })?;
        Ok(body::whole(StatusCode::OK, METRICS, text))
    }
}

fn only_get(method: &Method) -> Result<(), ApiStatus> {
    if method == Method::GET { Ok(()) } else { Err(ApiStatus::method_not_allowed()) }
}

/// A document that the client may have already.
fn cached(document: &Document, content_type: &'static str, headers: &HeaderMap) -> Response<Body> {
    let etag = format!("\"{}\"", document.etag);
    let known = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let unchanged = known
        .flat_map(|value| value.split(','))
        .any(|value| value.trim().trim_start_matches("W/").trim_matches('"') == document.etag);
    let mut response = if unchanged {
        let mut response = body::whole(StatusCode::NOT_MODIFIED, content_type, bytes::Bytes::new());
        response.headers_mut().remove(http::header::CONTENT_TYPE);
        response
    } else {
        body::compressible(content_type, headers, document.body.clone())
    };
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        response.headers_mut().insert(ETAG, etag);
    }
    response.headers_mut().append(VARY, HeaderValue::from_static("Accept"));
    response
}
