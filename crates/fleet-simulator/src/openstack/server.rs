//! The listener: connections, faults, and which service a path belongs to.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, Bytes, to_bytes};
use futures::StreamExt;
use futures::stream;
use http::request::Parts;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::answer::{self, Answer};
use super::tokens::Tokens;
use super::{keystone, nova, placement};
use crate::model::{CloudState, Fault, Fleet};

/// The largest request body.
const REQUEST_BYTES: usize = 1024 * 1024;

/// What the services share.
pub(super) struct OpenStack {
    pub(super) fleet: Fleet,
    pub(super) tokens: Tokens,
    /// `http://address:port`.
    pub(super) base: String,
    /// When the server began, on both clocks.
    pub(super) began: jiff::Timestamp,
    pub(super) began_at: Instant,
}

/// Which service a request is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Service {
    Identity,
    Compute,
    Placement,
}

/// Serves Keystone at `/identity`, Nova at `/compute` and Placement at `/placement` until the future is dropped, which
/// also ends all connections.
pub async fn serve(fleet: Fleet, listener: TcpListener) -> io::Result<()> {
    let base = format!("http://{}", listener.local_addr()?);
    let openstack = Arc::new(OpenStack::new(fleet, base));
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                // A refusing server closes at once.
                if openstack.fleet.cloud.read(|cloud| cloud.fault) != Fault::Refuse {
                    connections.spawn(connection(Arc::clone(&openstack), stream));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(openstack: Arc<OpenStack>, stream: TcpStream) {
    let service = service_fn(move |request: Request<Incoming>| {
        let openstack = Arc::clone(&openstack);
        async move { openstack.take(request).await }
    });
    if let Err(error) =
        Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await
    {
        tracing::debug!(%error, "connection ended");
    }
}

impl OpenStack {
    pub(super) fn new(fleet: Fleet, base: String) -> Self {
        let (began, began_at) = (jiff::Timestamp::now(), Instant::now());
        Self { fleet, tokens: Tokens::default(), base, began, began_at }
    }

    /// Misbehaves as told, or answers. An error drops the connection without an answer.
    async fn take(&self, request: Request<Incoming>) -> io::Result<Response<Body>> {
        let (parts, body) = request.into_parts();
        let service = Service::of(parts.uri.path());
        let (fault, retry_after) = self.fleet.cloud.change(|cloud| {
            Service::count(service, cloud);
            (Service::fault(service, cloud), cloud.api.retry_after)
        });
        let body = to_bytes(Body::new(body), REQUEST_BYTES).await.map_err(io::Error::other)?;
        match fault {
            Fault::Refuse => Err(io::Error::from(io::ErrorKind::ConnectionReset)),
            Fault::Stall => std::future::pending().await,
            Fault::Unavailable => Ok(answer::unavailable(retry_after).map(Body::from)),
            Fault::HalfFrame => {
                self.fleet.cloud.change(|cloud| Service::behave(service, cloud));
                Ok(half(self.answer(service, &parts, &body)))
            }
            Fault::None
            | Fault::JobLock
            | Fault::LostEvents
            | Fault::WrongCertificate
            | Fault::CertificateRejected => Ok(self.answer(service, &parts, &body).map(Body::from)),
        }
    }

    fn answer(&self, service: Option<Service>, request: &Parts, body: &[u8]) -> Answer {
        match service {
            Some(Service::Identity) => answer::with_request_id(keystone::answer(self, request, body)),
            Some(Service::Compute) => answer::with_request_id(nova::answer(self, request, body)),
            Some(Service::Placement) => answer::with_request_id(placement::answer(self, request)),
            None => answer::Refusal::no_such_resource().answer(),
        }
    }

    /// The answer to a request, without faults.
    #[cfg(test)]
    pub(super) fn ask(&self, request: &Parts, body: &[u8]) -> Answer {
        self.answer(Service::of(request.uri.path()), request, body)
    }

    /// Whether the request carries a good token.
    pub(super) fn is_authorized(&self, request: &Parts) -> bool {
        let token = request.headers.get("x-auth-token").and_then(|token| token.to_str().ok());
        let (epoch, most) = self.fleet.cloud.read(|cloud| (cloud.api.token_epoch, cloud.api.token_requests));
        let good = token.is_some_and(|token| self.tokens.take(token, epoch, most));
        if !good {
            self.fleet.cloud.change(|cloud| cloud.traffic.unauthorized += 1);
        }
        good
    }

    /// URL of a path on this server.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

impl Service {
    fn of(path: &str) -> Option<Self> {
        match path.trim_start_matches('/').split('/').next() {
            Some("identity") => Some(Self::Identity),
            Some("compute") => Some(Self::Compute),
            Some("placement") => Some(Self::Placement),
            _ => None,
        }
    }

    fn count(service: Option<Self>, cloud: &mut CloudState) {
        match service {
            Some(Self::Compute) => cloud.traffic.compute += 1,
            Some(Self::Placement) => cloud.traffic.placement += 1,
            Some(Self::Identity) | None => {}
        }
    }

    /// The fault of the whole cloud, or else of the service.
    fn fault(service: Option<Self>, cloud: &CloudState) -> Fault {
        match service {
            _ if cloud.fault != Fault::None => cloud.fault,
            Some(Self::Identity) => cloud.api.identity_fault,
            Some(Self::Compute) => cloud.api.compute_fault,
            Some(Self::Placement) => cloud.api.placement_fault,
            None => Fault::None,
        }
    }

    /// Ends a fault that happens once.
    fn behave(service: Option<Self>, cloud: &mut CloudState) {
        let fault = match service {
            _ if cloud.fault != Fault::None => &mut cloud.fault,
            Some(Self::Identity) => &mut cloud.api.identity_fault,
            Some(Self::Compute) => &mut cloud.api.compute_fault,
            Some(Self::Placement) => &mut cloud.api.placement_fault,
            None => return,
        };
        *fault = Fault::None;
    }
}

/// The head and half of the body, then the connection breaks.
fn half(answer: Answer) -> Response<Body> {
    let (mut parts, body) = answer.into_parts();
    parts.headers.insert(http::header::CONTENT_LENGTH, body.len().into());
    let first = Bytes::copy_from_slice(body.get(..body.len() / 2).unwrap_or_default());
    let start = stream::once(async { Ok::<_, Infallible>(first) }).map(|part| part.map_err(io::Error::other));
    let end = stream::once(async { Err(io::Error::from(io::ErrorKind::ConnectionReset)) });
    Response::from_parts(parts, Body::from_stream(start.chain(end)))
}
