//! WATCH: a stream of events that its reader pulls at its own pace.
//!
//! A watch holds a position in the collection's ring, nothing else. What it sends next is fetched when the connection
//! takes it, so a reader that stops costs nothing but its position; when the ring has moved past that, the stream ends with 410.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, stream};
use http::Response;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::body::{self, Body, JSON};
use super::{ResourceRequest, reach, snapshot};
use crate::collection::{Collection, Event, EventKind, Expired, PublishedObject};
use crate::representation::Representation;
use crate::request::accept;
use crate::request::options::{ListOptions, Wanted};
use crate::selector::Filter;
use crate::server::WatchGuard;
use crate::status::ApiStatus;

/// Events fetched at one time.
const BATCH: usize = 256;
/// A chunk is sent when it has this size, or when nothing more is to be sent at the moment.
const CHUNK: usize = 64 << 10;

pub(super) async fn answer(request: &ResourceRequest<'_>) -> Result<Response<Body>, ApiStatus> {
    let representation = accept::for_watch(request.headers, request.query)?;
    let options = ListOptions::parse(request.query, true)?;
    let filter = request.filter()?;
    let start = start(request, &options).await?;
    let times = &request.site.watching;
    let watching = Watching {
        collection: request.resource.collection.clone(),
        changes: request.resource.collection.changes(),
        filter,
        representation,
        start,
        position: 0,
        headings: true,
        bookmarks: options.bookmarks.then_some(times.bookmarks),
        next_bookmark: Instant::now() + jittered(times.bookmarks),
        deadline: Instant::now() + options.timeout.unwrap_or_else(|| jittered(times.lifetime * 2)),
        end: request.site.end_of_watches.clone(),
        _guard: request.site.metrics.watching(&request.resource.collection),
    };
    Ok(body::streamed(JSON, watching.into_stream()))
}

/// Where a watch begins. A version that this server will not reach soon, or whose process is gone, is said to be expired by an
/// event: some clients ask for the same again for ever when the answer itself is an error.
async fn start(request: &ResourceRequest<'_>, options: &ListOptions) -> Result<Start, ApiStatus> {
    let Wanted::Known(version) = options.version else { return Ok(Start::of(options)) };
    if options.initial_events {
        reach(request, version).await?;
        return Ok(Start::of(options));
    }
    let known = !request.resource.collection.is_gone(version) && reach(request, version).await.is_ok();
    Ok(if known { Start::After(version) } else { Start::Unknown(version) })
}

/// Between half of a duration and all of it, so that not all watches do the same at the same time.
fn jittered(duration: Duration) -> Duration {
    let random = u32::from(uuid::Uuid::new_v4().as_bytes()[0]);
    duration / 2 + duration / 2 * random / 255
}

/// What is to be sent before events.
enum Start {
    /// All objects, and then perhaps a bookmark that says so.
    Objects { bookmark: bool },
    /// Nothing: everything after a version follows.
    After(crate::ResourceVersion),
    /// Nothing: what came after a version cannot be said.
    Unknown(crate::ResourceVersion),
    /// Nothing: whatever happens from now on follows.
    Now,
    /// The rest of all objects.
    Remaining { objects: std::vec::IntoIter<Arc<PublishedObject>>, end: Option<crate::ResourceVersion> },
    /// The start is over.
    Done,
    /// The stream is over.
    Ended,
}

impl Start {
    fn of(options: &ListOptions) -> Self {
        match options.version {
            _ if options.initial_events => Self::Objects { bookmark: options.bookmarks },
            Wanted::Known(version) => Self::After(version),
            Wanted::Latest | Wanted::Any => Self::Now,
        }
    }
}

struct Watching {
    collection: Arc<Collection>,
    changes: watch::Receiver<u64>,
    filter: Filter,
    representation: Representation,
    start: Start,
    position: u64,
    headings: bool,
    bookmarks: Option<Duration>,
    next_bookmark: Instant,
    deadline: Instant,
    end: CancellationToken,
    _guard: WatchGuard,
}

impl Watching {
    fn into_stream(self) -> impl Stream<Item = Bytes> + Send {
        stream::unfold(self, |mut watching| async move {
            let chunk = watching.next().await?;
            Some((chunk, watching))
        })
    }

    /// The next chunk that is not empty, or the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let sent = match std::mem::replace(&mut self.start, Start::Done) {
                Start::Ended => {
                    self.start = Start::Ended;
                    return None;
                }
                Start::Objects { bookmark } => {
                    let snapshot = snapshot(&self.collection, &self.filter);
                    self.position = snapshot.position;
                    let end = bookmark.then_some(snapshot.version);
                    self.start = Start::Remaining { objects: snapshot.objects.into_iter(), end };
                    continue;
                }
                Start::Remaining { objects, end } => self.initial(objects, end),
                Start::After(version) => match self.collection.position_after(version) {
                    Ok(position) => {
                        self.position = position;
                        continue;
                    }
                    Err(expired) => return Some(self.expired(&version.to_string(), expired)),
                },
                Start::Unknown(version) => {
                    let oldest = self.collection.clock().read();
                    return Some(self.expired(&version.to_string(), Expired { oldest }));
                }
                Start::Now => {
                    self.position = self.collection.end_position();
                    continue;
                }
                Start::Done => self.events().await?,
            };
            if !sent.is_empty() {
                return Some(sent);
            }
        }
    }

    /// A chunk of the objects that are there, as ADDED events.
    fn initial(
        &mut self,
        mut objects: std::vec::IntoIter<Arc<PublishedObject>>,
        end: Option<crate::ResourceVersion>,
    ) -> Bytes {
        let mut out = Vec::new();
        for object in objects.by_ref() {
            if self.filter.matches(&object) {
                self.write(EventKind::Added, &object, &mut out);
            }
            if out.len() >= CHUNK {
                self.start = Start::Remaining { objects, end };
                return out.into();
            }
        }
        if let Some(version) = end {
            self.write_bookmark(version, true, &mut out);
        }
        out.into()
    }

    /// Waits until there is something to send. `None` is the regular end.
    async fn events(&mut self) -> Option<Bytes> {
        self.changes.borrow_and_update();
        if self.end.is_cancelled() || Instant::now() >= self.deadline {
            return self.last_words();
        }
        let events = match self.collection.events_from(self.position, BATCH) {
            Ok(events) => events,
            Err(expired) => {
                return Some(self.expired("the version that this watch has reached", expired));
            }
        };
        if !events.is_empty() {
            return Some(self.batch(&events));
        }
        tokio::select! {
            biased;
            () = self.end.cancelled() => self.last_words(),
            () = tokio::time::sleep_until(self.deadline) => self.last_words(),
            // The collection lives at least as long as this watch.
            _ = self.changes.changed() => Some(Bytes::new()),
            () = tokio::time::sleep_until(self.next_bookmark), if self.bookmarks.is_some() => {
                Some(self.bookmark())
            }
        }
    }

    fn batch(&mut self, events: &[Arc<Event>]) -> Bytes {
        let mut out = Vec::new();
        let mut single = None;
        for event in events {
            self.position += 1;
            let Some((kind, object)) = self.filter.seen(event) else { continue };
            match self.representation.ready_frame(event).filter(|_| kind == event.kind) {
                Some(frame) if out.is_empty() && single.is_none() => single = Some(frame),
                Some(frame) => {
                    out.extend_from_slice(&single.take().unwrap_or_default());
                    out.extend_from_slice(&frame);
                }
                None => {
                    out.extend_from_slice(&single.take().unwrap_or_default());
                    self.write(kind, &object, &mut out);
                }
            }
            if out.len() >= CHUNK {
                break;
            }
        }
        single.unwrap_or_else(|| out.into())
    }

    fn write(&mut self, kind: EventKind, object: &PublishedObject, out: &mut Vec<u8>) {
        let headings = std::mem::take(&mut self.headings);
        self.representation.write_event(kind, object, self.collection.definition(), headings, out);
    }

    fn write_bookmark(&mut self, version: crate::ResourceVersion, initial: bool, out: &mut Vec<u8>) {
        let headings = std::mem::take(&mut self.headings);
        let definition = self.collection.definition();
        self.representation.write_bookmark(definition, version, initial, headings, out);
    }

    /// Tells the version that has been reached, unless there are events to send first.
    fn bookmark(&mut self) -> Bytes {
        let mut out = Vec::new();
        if let (Some(interval), Some(version)) =
            (self.bookmarks, self.collection.version_at_end(self.position))
        {
            self.next_bookmark = Instant::now() + jittered(interval);
            self.write_bookmark(version, false, &mut out);
        }
        out.into()
    }

    /// The end: once more the version that has been reached, so that the next watch starts there.
    fn last_words(&mut self) -> Option<Bytes> {
        self.start = Start::Ended;
        Some(self.bookmark()).filter(|bytes| !bytes.is_empty())
    }

    fn expired(&mut self, asked: &str, expired: Expired) -> Bytes {
        self.start = Start::Ended;
        ApiStatus::expired(asked, expired.oldest).to_event().into()
    }
}
