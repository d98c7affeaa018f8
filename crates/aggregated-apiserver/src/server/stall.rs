//! Readers that stop reading: they are cut off, so that what waits for them is not kept for ever.
//!
//! A stream of HTTP/2 whose window stays closed is not polled any more, so it cannot notice by itself that its time is over.
//! Each stream is therefore run together with a watchman, who knows when a piece of the body was handed over and whether
//! the next one has been asked for. When he gives up, the stream is dropped, which resets it; other streams of the
//! connection go on. A peer that takes no bytes from its socket at all loses the connection.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;
use tracing::debug;

tokio::task_local! {
    static PROGRESS: Arc<Progress>;
}

/// Whether the reader of the stream that this task serves owes something.
#[derive(Debug, Default)]
struct Progress {
    waits: AtomicBool,
    pieces: AtomicU64,
}

/// A piece of the body has been handed over: from now on the reader owes a sign.
pub(crate) fn handed_over() {
    // Bodies that are polled outside of a stream (HTTP/1.1) have no watchman.
    let _ = PROGRESS.try_with(|progress| {
        progress.pieces.fetch_add(1, Ordering::Relaxed);
        progress.waits.store(true, Ordering::Relaxed);
    });
}

/// The next piece has been asked for: the reader owes nothing.
pub(crate) fn asked_for() {
    let _ = PROGRESS.try_with(|progress| progress.waits.store(false, Ordering::Relaxed));
}

impl Progress {
    /// Returns when the reader owed a sign for at least `patience`.
    async fn stalled(&self, patience: Duration) {
        let mut before = None;
        loop {
            tokio::time::sleep(patience).await;
            let now = self.waits.load(Ordering::Relaxed).then(|| self.pieces.load(Ordering::Relaxed));
            if now.is_some() && now == before {
                return;
            }
            before = now;
        }
    }
}

/// Runs the streams of connections as tasks.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    patience: Duration,
    cut_off: Counter,
}

impl Streams {
    /// A reader that owes a sign is cut off after `patience` at the latest, and not before half of it.
    pub(super) fn new(patience: Duration, cut_off: Counter) -> Self {
        Self { patience: patience / 2, cut_off }
    }
}

impl<F> hyper::rt::Executor<F> for Streams
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, stream: F) {
        let Self { patience, cut_off } = self.clone();
        let progress = Arc::new(Progress::default());
        let watchman = progress.clone();
        tokio::spawn(PROGRESS.scope(progress, async move {
            tokio::select! {
                biased;
                _ = stream => {}
                () = watchman.stalled(patience) => {
                    debug!("a reader that stopped was cut off");
                    cut_off.inc();
                }
            }
        }));
    }
}

/// A connection whose peer must take bytes from time to time.
#[derive(Debug)]
pub(super) struct Impatient<T> {
    stream: T,
    patience: Duration,
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<T> Impatient<T> {
    pub(super) fn new(stream: T, patience: Duration) -> Self {
        Self { stream, patience, waiting: None }
    }

    fn bounded<O>(&mut self, context: &mut Context<'_>, outcome: Poll<io::Result<O>>) -> Poll<io::Result<O>> {
        if outcome.is_ready() {
            self.waiting = None;
            return outcome;
        }
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Impatient<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Impatient<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(context, outcome)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(context);
        self.bounded(context, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_shutdown(context);
        self.bounded(context, outcome)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_nothing_loses_the_connection_and_a_slow_one_does_not() {
        let (near, mut far) = tokio::io::duplex(100);
        let mut connection = Impatient::new(near, Duration::from_secs(60));
        let reading = tokio::spawn(async move {
            let mut taken = [0; 10];
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_secs(50)).await;
                far.read_exact(&mut taken).await.unwrap();
            }
            far
        });
        connection.write_all(&[0; 190]).await.unwrap();
        let _far = reading.await.unwrap();
        let start = tokio::time::Instant::now();
        let error = connection.write_all(&[0; 190]).await.unwrap_err();
        assert_eq!((error.kind(), start.elapsed()), (io::ErrorKind::TimedOut, Duration::from_secs(60)));
    }

    #[tokio::test(start_paused = true)]
    async fn only_who_owes_a_sign_is_stalled() {
        let patience = Duration::from_secs(30);
        let progress = Progress::default();
        let idle = tokio::time::timeout(Duration::from_secs(3600), progress.stalled(patience)).await;
        assert!(idle.is_err(), "nothing was handed over");
        let progress = Arc::new(Progress::default());
        PROGRESS
            .scope(progress.clone(), async {
                for _ in 0..20 {
                    handed_over();
                    let slow =
                        tokio::time::timeout(Duration::from_secs(29), progress.stalled(patience)).await;
                    assert!(slow.is_err());
                    asked_for();
                }
                handed_over();
            })
            .await;
        let start = tokio::time::Instant::now();
        progress.stalled(patience).await;
        assert_eq!(start.elapsed(), Duration::from_secs(60));
    }
}
