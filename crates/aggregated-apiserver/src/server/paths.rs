//! Everything that is served and is not a resource: health, version, metrics, discovery, OpenAPI, the index.

use http::header::{ETAG, IF_NONE_MATCH, VARY};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};
use tracing::error;

use super::builder::Site;
use crate::discovery::Document;
use crate::request::accept::{self, Format};
use crate::request::query::Query;
use crate::serve::body::{self, Body, JSON, YAML};
use crate::status::ApiStatus;

const TEXT: &str = "text/plain; charset=utf-8";
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

impl Site {
    /// The answer for a path.
    pub(super) fn path(
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
        match trimmed {
            "" => return only_get(method).and_then(|()| self.index(headers)),
            "/version" => {
                only_get(method)?;
                return Ok(body::whole(StatusCode::OK, JSON, self.version.to_json().to_string()));
            }
            "/metrics" => return only_get(method).and_then(|()| self.exposition()),
            "/apis" => return only_get(method).and_then(|()| self.groups(headers)),
            _ => {}
        }
        if let Some(document) = self.discovery.by_path.get(trimmed) {
            only_get(method)?;
            return match accept::for_document(headers)? {
                Format::Json => Ok(cached(document, JSON, headers)),
                Format::Yaml => in_yaml(document, headers),
            };
        }
        let document = self.openapi.document(trimmed).ok_or_else(ApiStatus::path_not_found)?;
        only_get(method)?;
        accept::for_json(headers)?;
        Ok(cached(document, JSON, headers))
    }

    /// All groups at once for those who can read that, else their names only.
    fn groups(&self, headers: &HeaderMap) -> Result<Response<Body>, ApiStatus> {
        for clause in accept::clauses(headers) {
            if !clause.admits("application", "json") {
                if clause.admits("application", "yaml") && clause.parameter("as").is_none() {
                    return in_yaml(&self.discovery.groups, headers);
                }
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
        Err(ApiStatus::not_acceptable(&["application/json", "application/yaml"]))
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

/// A document of discovery for those who would rather read YAML.
fn in_yaml(document: &Document, headers: &HeaderMap) -> Result<Response<Body>, ApiStatus> {
    let body = body::yaml(&document.body)?.into();
    let document = Document { body, etag: format!("{}-yaml", document.etag) };
    Ok(cached(&document, YAML, headers))
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
