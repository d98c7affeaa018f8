//! From a request to an answer: who asks, may they, what is it about.

use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use futures::FutureExt as _;
use http::header::CACHE_CONTROL;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use hyper::body::Incoming;
use jiff::Timestamp;
use tracing::{debug, error};

use super::audit::{AuditLevel, Audited};
use super::builder::Site;
use super::metrics::RequestLabels;
use crate::authorization::{self, Attributes, Decision};
use crate::identity::{AuthenticationError, PeerCertificates, User};
use crate::request::info::{RequestInfo, Target};
use crate::request::query::Query;
use crate::serve::body::{self, Body};
use crate::serve::{self, ResourceRequest};
use crate::status::ApiStatus;

const AUDIT_ID: &str = "audit-id";

/// What was found out about a request on the way to its answer.
#[derive(Default)]
struct Findings {
    labels: RequestLabels,
    info: Option<RequestInfo>,
    user: Option<User>,
    allowed: Option<bool>,
    /// What the client sent, for the audit log.
    sent: OnceLock<Bytes>,
}

impl Site {
    /// Answers a request. Never fails: every fault is a Status.
    pub(super) async fn handle(
        self: &Arc<Self>,
        request: Request<Incoming>,
        peer: &Arc<PeerCertificates>,
        address: SocketAddr,
    ) -> Response<Body> {
        let (start, received) = (Instant::now(), Timestamp::now());
        let (parts, body) = request.into_parts();
        let mut findings = Findings::default();
        let answering = AssertUnwindSafe(self.answer(&parts, body, peer, &mut findings)).catch_unwind();
        let answer = match tokio::time::timeout(self.limits.request, answering).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => {
                error!(path = parts.uri.path(), "panic while answering a request");
                Err(ApiStatus::internal("the request could not be answered"))
            }
            Err(_) => Err(ApiStatus::timeout("the request took too long")),
        };
        let mut response = answer.unwrap_or_else(|status| body::status(&status, &parts.headers));
        let id = audit_id(&parts.headers);
        self.complete(&parts, &id, &mut response);
        let code = response.status().as_u16();
        self.metrics.answered(&findings.labels, code, start.elapsed().as_secs_f64());
        self.audit(&parts, &findings, &id, address, code, received);
        debug!(
            method = %parts.method, path = parts.uri.path(), code, audit_id = id,
            millis = start.elapsed().as_millis(), "answered"
        );
        response
    }

    fn audit(
        &self,
        parts: &Parts,
        findings: &Findings,
        id: &str,
        address: SocketAddr,
        code: u16,
        received: Timestamp,
    ) {
        let Some(log) = &self.audit else { return };
        let verb = findings.info.as_ref().map_or("", |info| info.verb.as_str());
        let level = log.level(verb);
        if level == AuditLevel::None || authorization::is_health(parts.uri.path()) {
            return;
        }
        let audited = Audited {
            id,
            uri: &parts.uri,
            headers: &parts.headers,
            address,
            info: findings.info.as_ref(),
            user: findings.user.as_ref(),
            allowed: findings.allowed,
            code,
            received,
            sent: findings.sent.get().map(|bytes| &bytes[..]),
        };
        log.record(&audited.event(level));
    }

    /// What every answer has.
    fn complete(&self, parts: &Parts, id: &str, response: &mut Response<Body>) {
        if parts.method == Method::HEAD {
            // HTTP/2 takes a body after HEAD for a fault of the protocol.
            *response.body_mut() = body::empty();
        }
        let headers = response.headers_mut();
        headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache, private"));
        if let Ok(id) = HeaderValue::from_str(id) {
            headers.insert(AUDIT_ID, id);
        }
    }

    async fn answer(
        &self,
        parts: &Parts,
        body: Incoming,
        peer: &PeerCertificates,
        findings: &mut Findings,
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
        findings.labels = self.labels(&info);
        let info = findings.info.insert(info);
        let user = findings.user.insert(self.authenticate(&parts.headers, peer).await?);
        let allowed = self.authorize(user, &info.attributes()).await;
        findings.allowed = Some(allowed.is_ok());
        allowed?;
        match &info.target {
            Target::Path(path) => self.path(&parts.method, path, &query, &parts.headers),
            Target::Resource(path) => {
                let key = (path.group.clone(), path.version.clone(), path.resource.clone());
                let resource = self.resources.get(&key).ok_or_else(ApiStatus::path_not_found)?;
                let place = if info.verb == "watch" { &self.watches } else { &self.requests }.enter(user)?;
                let headers = &parts.headers;
                let (query, sent) = (&query, &findings.sent);
                let request = ResourceRequest { site: self, user, resource, path, query, headers, sent };
                let response = serve::answer(request, &info.verb, body).await?;
                Ok(body::holding(response, place))
            }
        }
    }

    /// Only what is known becomes a label.
    fn labels(&self, info: &RequestInfo) -> RequestLabels {
        let mut labels = RequestLabels { verb: info.verb.clone(), ..RequestLabels::default() };
        if let Target::Resource(path) = &info.target {
            let key = (path.group.clone(), path.version.clone(), path.resource.clone());
            if self.resources.contains_key(&key) {
                (labels.group, labels.version, labels.resource) = key;
            }
        } else if !["get", "post", "put", "patch", "delete"].contains(&labels.verb.as_str()) {
            "other".clone_into(&mut labels.verb);
        }
        labels
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
            debug!(error = &error as &dyn std::error::Error, "client could not be authenticated");
            if let AuthenticationError::NoAnswer(_) = error {
                return Err(ApiStatus::unavailable("authentication is not available, please try again", 1));
            }
            return Err(ApiStatus::unauthorized());
        }
        if headers.contains_key(http::header::AUTHORIZATION) {
            return Err(ApiStatus::unauthorized());
        }
        Ok(User::anonymous())
    }

    /// Whether a user may do something.
    pub(crate) async fn authorize(&self, user: &User, attributes: &Attributes) -> Result<(), ApiStatus> {
        if authorization::always_allowed(user, attributes, self.authorizer.knows_masters()) {
            return Ok(());
        }
        if user.is_anonymous() {
            return Err(ApiStatus::unauthorized());
        }
        match self.authorizer.authorize(user, attributes).await {
            Ok(Decision::Allowed) => Ok(()),
            Ok(Decision::Denied(why)) => Err(ApiStatus::forbidden(attributes.refusal(user, &why))),
            Err(error) => {
                debug!(
                    error = &error as &dyn std::error::Error,
                    user = user.name,
                    "authorization has no answer"
                );
                Err(ApiStatus::unavailable("authorization is not available, please try again", 1))
            }
        }
    }
}

/// The proxy's name for the request, or a new one.
fn audit_id(headers: &HeaderMap) -> String {
    let given = headers.get(AUDIT_ID).and_then(|value| value.to_str().ok());
    let legal = |id: &&str| !id.is_empty() && id.len() <= 64;
    given.filter(legal).map_or_else(|| uuid::Uuid::new_v4().to_string(), str::to_owned)
}
