//! One HTTP request and its answer: token on, deadline and size limit kept, error bodies understood.
//!
//! Redirects are not followed: they would carry the token to wherever they point.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, StatusCode};
use reqwest::{Certificate, Client, Url, redirect};
use tokio::time::timeout;

use crate::failure::{Failure, LoginFailure, Refusal};
use crate::fault::{self, Fault};
use crate::options::{CloudEntry, Limits};
use crate::service::Service;
use crate::version::Microversion;

const USER_AGENT: &str = concat!("c5c3-nova-client/", env!("CARGO_PKG_VERSION"));

/// An HTTP client that carries one token.
pub(crate) struct Transport {
    client: Client,
    token: HeaderValue,
    attempt: Duration,
    answer_bytes: usize,
}

/// A whole answer with a good status.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) path: String,
    pub(crate) body: Bytes,
}

impl Transport {
    /// Reads the CA file now, so that a new one is taken up at the next login.
    pub(crate) fn new(entry: &CloudEntry, limits: &Limits, token: HeaderValue) -> Result<Self, LoginFailure> {
        let wrong = |message: String| LoginFailure::Configuration { message };
        let mut builder = Client::builder()
            .user_agent(USER_AGENT)
            .connect_timeout(limits.connect)
            .redirect(redirect::Policy::none())
            .danger_accept_invalid_certs(!entry.verify);
        if let Some(path) = &entry.ca_file {
            let told =
                |error: &dyn std::fmt::Display| wrong(format!("read CA file {}: {error}", path.display()));
            let pem = std::fs::read(path).map_err(|error| told(&error))?;
            for certificate in Certificate::from_pem_bundle(&pem).map_err(|error| told(&error))? {
                builder = builder.add_root_certificate(certificate);
            }
        }
        let client = builder.build().map_err(|error| wrong(format!("build the HTTP client: {error}")))?;
        Ok(Self { client, token, attempt: limits.attempt, answer_bytes: limits.answer_bytes })
    }

    /// GETs `url`. Without a version no token is sent either: version documents need none.
    pub(crate) async fn get(
        &self,
        service: Service,
        url: Url,
        version: Option<Microversion>,
    ) -> Result<Answer, Failure> {
        let whole = self.get_in_time(service, url, version);
        timeout(self.attempt, whole).await.map_err(|_| Failure::Deadline { service, after: self.attempt })?
    }

    async fn get_in_time(
        &self,
        service: Service,
        url: Url,
        version: Option<Microversion>,
    ) -> Result<Answer, Failure> {
        let path = url.path().to_owned();
        let place = without_query(&url);
        let mut request = self.client.get(url).header(http::header::ACCEPT, "application/json");
        if let Some(version) = version {
            let version = format!("{} {version}", service.catalog_type());
            request =
                request.header("OpenStack-API-Version", version).header("X-Auth-Token", self.token.clone());
        }
        let response = request.send().await.map_err(|error| broken(service, &place, error))?;
        let status = response.status();
        let headers = response.headers().clone();
        let body = self.body(service, &path, &place, response).await?;
        if status == StatusCode::OK {
            return Ok(Answer { path, body });
        }
        Err(refusal(service, path, status, &headers, &body))
    }

    async fn body(
        &self,
        service: Service,
        path: &str,
        place: &str,
        mut response: reqwest::Response,
    ) -> Result<Bytes, Failure> {
        let mut body = BytesMut::new();
        while let Some(part) = response.chunk().await.map_err(|error| broken(service, place, error))? {
            if body.len() + part.len() > self.answer_bytes {
                return Err(Failure::TooLarge { service, path: path.to_owned(), limit: self.answer_bytes });
            }
            body.extend_from_slice(&part);
        }
        Ok(body.freeze())
    }
}

fn refusal(service: Service, path: String, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Failure {
    let Fault { message, code } = Fault::of_body(body);
    let request_id = headers.get("x-openstack-request-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
    Failure::Refused(Box::new(Refusal {
        service,
        method: "GET",
        path,
        status,
        message,
        code,
        request_id,
        retry_after: fault::retry_after(headers),
    }))
}

fn broken(service: Service, url: &str, error: reqwest::Error) -> Failure {
    let url = url.to_owned();
    let connecting = error.is_connect();
    let source = error.without_url();
    if connecting {
        Failure::Connect { service, url, source }
    } else {
        Failure::Broken { service, url, source }
    }
}

fn without_query(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.to_string()
}
