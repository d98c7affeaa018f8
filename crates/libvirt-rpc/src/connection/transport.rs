//! The task of a connection: reads whole frames, writes queued ones, watches for silence.
//!
//! Reading and writing go on side by side, so a peer that does not read cannot keep its answers from being read. Bytes
//! are taken as they arrive; the buffer grows with what has arrived, not with what a length word announces.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::OpenOptions;
use super::session::Session;
use crate::CloseReason;
use crate::connector::Stream;
use crate::wire::{HEADER_BYTES, KeepaliveProcedure, LENGTH_BYTES, parse_frame};

/// Least room for one read; a larger frame gets room of its own, which goes with it.
const READ_BYTES: usize = 8 * 1024;
/// Most room added for one read.
const READ_BYTES_MAX: usize = 1024 * 1024;
/// How long a frame may take from its first byte to its last.
const FRAME_TIMEOUT: Duration = Duration::from_secs(60);
/// For a wait without an end of its own.
const FAR_AWAY: Duration = Duration::from_secs(24 * 3600);

/// Silence and pings.
#[derive(Debug, Clone, Copy)]
struct Keepalive {
    interval: Duration,
    count: u32,
}

/// Serves the stream until the session ends.
pub(super) async fn run(
    stream: Box<dyn Stream>,
    session: Arc<Session>,
    frames: mpsc::Receiver<Vec<u8>>,
    options: OpenOptions,
) {
    let (input, output) = tokio::io::split(stream);
    let keepalive = options.keepalive_interval.map(|interval| Keepalive {
        interval: interval.max(Duration::from_millis(1)),
        count: options.keepalive_count,
    });
    let reading = async {
        tokio::select! {
            reason = Reader::new(input, keepalive).run(&session) => session.close(reason),
            () = session.ended.cancelled() => {}
        }
    };
    let writing = async {
        tokio::select! {
            Err(error) = write_frames(output, frames) => session.close(CloseReason::Broken(Arc::new(error))),
            () = session.ended.cancelled() => {}
        }
    };
    tokio::join!(reading, writing);
    // The token also ends the task when the last handle is dropped; then nobody has said so yet.
    session.close(CloseReason::ByCaller);
}

async fn write_frames<S: AsyncWrite>(
    mut output: WriteHalf<S>,
    mut frames: mpsc::Receiver<Vec<u8>>,
) -> std::io::Result<()> {
    while let Some(frame) = frames.recv().await {
        output.write_all(&frame).await?;
        output.flush().await?;
    }
    output.shutdown().await
}

struct Reader<S> {
    input: ReadHalf<S>,
    buffer: BytesMut,
    keepalive: Option<Keepalive>,
    pings_unanswered: u32,
    heard: Instant,
    frame_began: Option<Instant>,
}

impl<S: AsyncRead> Reader<S> {
    fn new(input: ReadHalf<S>, keepalive: Option<Keepalive>) -> Self {
        let buffer = BytesMut::with_capacity(READ_BYTES);
        Self { input, buffer, keepalive, pings_unanswered: 0, heard: Instant::now(), frame_began: None }
    }

    async fn run(mut self, session: &Session) -> CloseReason {
        loop {
            if let Err(reason) = self.take_frames(session) {
                return reason;
            }
            let read = tokio::time::timeout_at(self.deadline(), self.input.read_buf(&mut self.buffer)).await;
            match read {
                Ok(Ok(0)) if self.buffer.is_empty() => return CloseReason::ByPeer,
                Ok(Ok(0)) => return CloseReason::MidFrame(self.buffer.len()),
                Ok(Ok(_)) => {
                    self.heard = Instant::now();
                    self.pings_unanswered = 0;
                }
                Ok(Err(error)) => return CloseReason::Broken(Arc::new(error)),
                Err(_) => {
                    if let Some(reason) = self.waited_long(session) {
                        return reason;
                    }
                }
            }
        }
    }

    /// Hands on every whole frame of the buffer and makes room for the next read.
    fn take_frames(&mut self, session: &Session) -> Result<(), CloseReason> {
        let mut took_large = false;
        while let Some((header, length)) = parse_frame(&self.buffer).map_err(CloseReason::Protocol)? {
            let mut frame = self.buffer.split_to(length).freeze();
            frame.advance(LENGTH_BYTES + HEADER_BYTES);
            took_large |= length > READ_BYTES;
            self.frame_began = None;
            session.dispatch(header, frame);
        }
        if took_large {
            // The buffer shares the room of that frame and would take it over for good.
            let mut small = BytesMut::with_capacity(self.buffer.len().max(READ_BYTES));
            small.extend_from_slice(&self.buffer);
            self.buffer = small;
        }
        if !self.buffer.is_empty() {
            self.frame_began.get_or_insert_with(Instant::now);
        }
        if self.buffer.capacity() - self.buffer.len() < READ_BYTES / 2 {
            self.buffer.reserve(self.buffer.len().clamp(READ_BYTES, READ_BYTES_MAX));
        }
        Ok(())
    }

    fn deadline(&self) -> Instant {
        let silence = match self.keepalive {
            Some(keepalive) => self.heard + keepalive.interval * (self.pings_unanswered + 1),
            None => Instant::now() + FAR_AWAY,
        };
        self.frame_began.map_or(silence, |began| silence.min(began + FRAME_TIMEOUT))
    }

    /// Nothing came until the deadline: gives up or pings.
    fn waited_long(&mut self, session: &Session) -> Option<CloseReason> {
        if self.frame_began.is_some_and(|began| began.elapsed() >= FRAME_TIMEOUT) {
            return Some(CloseReason::SlowFrame(FRAME_TIMEOUT));
        }
        let keepalive = self.keepalive?;
        if !session.keepalive_armed() {
            self.heard = Instant::now();
            return None;
        }
        if self.pings_unanswered >= keepalive.count {
            return Some(CloseReason::Silence(self.heard.elapsed()));
        }
        self.pings_unanswered += 1;
        session.send_keepalive(KeepaliveProcedure::Ping);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{FRAME_MAX, Header, encode_frame};

    #[tokio::test]
    async fn the_buffer_grows_with_what_has_arrived_not_with_what_is_announced() {
        let (session, _frames, _events) = Session::new(&OpenOptions::default());
        let (near, _far) = tokio::io::duplex(1);
        let mut reader = Reader::new(tokio::io::split(near).0, None);
        let announced = u32::try_from(FRAME_MAX).unwrap();
        reader.buffer.extend_from_slice(&announced.to_be_bytes());
        let mut arrived = 4;
        while arrived < 200_000 {
            reader.take_frames(&session).unwrap();
            assert!(
                reader.buffer.capacity() <= 4 * arrived.max(READ_BYTES),
                "{arrived}: {}",
                reader.buffer.capacity()
            );
            reader.buffer.extend_from_slice(&[0; 1000]);
            arrived += 1000;
        }
    }

    #[tokio::test]
    async fn the_room_of_a_large_frame_is_given_back() {
        let (session, _frames, _events) = Session::new(&OpenOptions::default());
        let (near, _far) = tokio::io::duplex(1);
        let mut reader = Reader::new(tokio::io::split(near).0, None);
        let ping = Header::keepalive(KeepaliveProcedure::Pong);
        reader.buffer.extend_from_slice(&encode_frame(&ping, &vec![0; 1 << 20]).unwrap());
        reader.take_frames(&session).unwrap();
        assert!(reader.buffer.is_empty() && reader.buffer.capacity() <= 2 * READ_BYTES);
        assert_eq!(session.counters().frames, 1);
    }
}
