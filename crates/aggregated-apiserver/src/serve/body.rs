//! Bodies of answers: whole, streamed in chunks, compressed.

use std::convert::Infallible;
use std::io::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::{Stream, StreamExt as _, stream};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Empty, Full, StreamBody};
use hyper::body::{Frame, SizeHint};
use serde_json::Value;

use crate::request::accept;
use crate::server::{self, Place};
use crate::status::ApiStatus;

/// The body of an answer.
pub(crate) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Bodies above this size are compressed, as kube-apiserver does.
const COMPRESS_ABOVE: usize = 128 << 10;
const CHUNK: usize = 128 << 10;

pub(crate) const JSON: &str = "application/json";
pub(crate) const YAML: &str = "application/yaml";

/// No body.
pub(crate) fn empty() -> Body {
    Empty::new().boxed_unsync()
}

/// An answer that takes a place until its body has been sent.
pub(crate) fn holding(response: Response<Body>, place: Place) -> Response<Body> {
    response.map(|body| Holding { body, _place: place }.boxed_unsync())
}

struct Holding {
    body: Body,
    _place: Place,
}

impl hyper::body::Body for Holding {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        server::asked_for();
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(_)) = frame {
            server::handed_over();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body of one piece.
pub(crate) fn whole(code: StatusCode, content_type: &'static str, bytes: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Full::new(bytes.into()).boxed_unsync());
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// An error, in YAML for those who would rather have that.
pub(crate) fn status(status: &ApiStatus, request: &HeaderMap) -> Response<Body> {
    let json = status.to_json();
    let text = accept::prefers_yaml(request).then(|| serde_saphyr::to_string(&json).ok()).flatten();
    let mut response = match text {
        Some(text) => whole(status.code(), YAML, text),
        None => whole(status.code(), JSON, json.to_string()),
    };
    if let Some(seconds) = status.retry_after_seconds() {
        response.headers_mut().insert(http::header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// A body whose pieces come when they come.
pub(crate) fn streamed(
    content_type: &'static str,
    pieces: impl Stream<Item = Bytes> + Send + 'static,
) -> Response<Body> {
    let frames = pieces.map(|piece| Ok::<_, Infallible>(Frame::data(piece)));
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// A body that is known, in chunks, compressed if that is worth while and accepted.
pub(crate) fn chunks(
    content_type: &'static str,
    request: &HeaderMap,
    mut chunks: impl Iterator<Item = Bytes> + Send + 'static,
) -> Response<Body> {
    let first = chunks.next().unwrap_or_default();
    let second = chunks.next();
    let large = second.is_some() || first.len() > COMPRESS_ABOVE;
    let all = std::iter::once(first.clone()).chain(second.clone()).chain(chunks);
    let mut response = if large && accept::gzip(request) {
        let mut response = streamed(content_type, stream::iter(Compressed::new(all)));
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        response
    } else if second.is_none() {
        whole(StatusCode::OK, content_type, first)
    } else {
        streamed(content_type, stream::iter(all))
    };
    if large {
        response.headers_mut().append(VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    response
}

/// A body that is there, compressed if that is worth while and accepted.
pub(crate) fn compressible(
    content_type: &'static str,
    request: &HeaderMap,
    bytes: impl Into<Bytes>,
) -> Response<Body> {
    chunks(content_type, request, Chunked(bytes.into()))
}

/// JSON as YAML.
pub(crate) fn yaml(json: &[u8]) -> Result<String, ApiStatus> {
    let fault = |error: &(dyn std::error::Error + 'static)| {
        tracing::error!(error, "published object cannot be written as YAML");
        ApiStatus::internal("the object cannot be written as YAML")
    };
    let value: Value = serde_json::from_slice(json).map_err(|error| fault(&error))?;
    serde_saphyr::to_string(&value).map_err(|error| fault(&error))
}

/// A large piece, cut into chunks without copying.
struct Chunked(Bytes);

impl Iterator for Chunked {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let size = self.0.len().min(CHUNK);
        (size > 0).then(|| self.0.split_to(size))
    }
}

/// Small pieces put together into chunks.
pub(crate) struct Gathered<I> {
    pieces: I,
}

impl<I> Gathered<I> {
    pub(crate) fn new(pieces: I) -> Self {
        Self { pieces }
    }
}

impl<I: Iterator<Item = W>, W: FnOnce(&mut Vec<u8>)> Iterator for Gathered<I> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let mut chunk = Vec::new();
        for write in self.pieces.by_ref() {
            if chunk.is_empty() {
                chunk.reserve(CHUNK + CHUNK / 4);
            }
            write(&mut chunk);
            if chunk.len() >= CHUNK {
                break;
            }
        }
        (!chunk.is_empty()).then(|| chunk.into())
    }
}

/// The chunks of a body, compressed one by one.
struct Compressed<I> {
    pieces: I,
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl<I: Iterator<Item = Bytes>> Compressed<I> {
    fn new(pieces: I) -> Self {
        Self { pieces, encoder: Some(GzEncoder::new(Vec::new(), Compression::fast())) }
    }
}

impl<I: Iterator<Item = Bytes>> Iterator for Compressed<I> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        loop {
            let encoder = self.encoder.as_mut()?;
            let Some(piece) = self.pieces.next() else {
                // Writing into memory does not fail.
                return self.encoder.take().and_then(|encoder| encoder.finish().ok()).map(Bytes::from);
            };
            encoder.write_all(&piece).ok()?;
            let ready = std::mem::take(encoder.get_mut());
            if !ready.is_empty() {
                return Some(ready.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn compression_is_undone_by_gzip(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..300), 0..20),
        ) {
            let compressed: Vec<u8> =
                Compressed::new(pieces.clone().into_iter().map(Bytes::from)).flatten().collect();
            let mut plain = Vec::new();
            flate2::read::GzDecoder::new(compressed.as_slice()).read_to_end(&mut plain).unwrap();
            prop_assert_eq!(plain, pieces.concat());
        }

        #[test]
        fn chunks_put_together_are_the_pieces(sizes in proptest::collection::vec(1usize..40_000, 0..12)) {
            let pieces: Vec<_> = (0u8..).zip(sizes).map(|(byte, size)| vec![byte; size]).collect();
            let writers = pieces.clone().into_iter().map(|piece| move |out: &mut Vec<u8>| out.extend(piece));
            let gathered: Vec<Bytes> = Gathered::new(writers).collect();
            prop_assert!(gathered.iter().rev().skip(1).all(|chunk| chunk.len() >= CHUNK));
            prop_assert_eq!(gathered.concat(), pieces.concat());
        }
    }
}
