//! HTTP/2 as it is on the wire: what a proxy in front of the server sees.

use std::time::{Duration, Instant};

use aggregated_apiserver::Drain;
use http::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

use crate::fixture::{Fixture, STATIONS, Settings, station};
use crate::http::tls;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

struct Wire(TlsStream<TcpStream>);

impl Wire {
    async fn open(fixture: &Fixture) -> Self {
        let identity = fixture.clients.client("rita", &["readers"]);
        let mut stream = tls(fixture.address, &fixture.serving.pem, Some(&identity), b"h2").await.unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        let mut wire = Self(stream);
        wire.send(SETTINGS, 0, 0, &[]).await;
        wire
    }

    async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut frame = length[1..].to_vec();
        frame.extend([kind, flags]);
        frame.extend(stream.to_be_bytes());
        frame.extend(payload);
        self.0.write_all(&frame).await.unwrap();
    }

    /// A GET without a body.
    async fn get(&mut self, stream: u32, path: &str) {
        let mut block = Vec::new();
        for (name, value) in
            [(":method", "GET"), (":scheme", "https"), (":authority", "localhost"), (":path", path)]
        {
            // A literal without index; all lengths are below 127.
            block.push(0);
            for text in [name, value] {
                block.push(u8::try_from(text.len()).unwrap());
                assert!(text.len() < 127);
                block.extend(text.as_bytes());
            }
        }
        self.send(HEADERS, 0x5, stream, &block).await;
    }

    async fn next(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        let read = tokio::time::timeout(Duration::from_secs(20), self.0.read_exact(&mut head));
        read.await.expect("a frame or the end within 20 s").ok()?;
        let number = |bytes: &[u8]| bytes.iter().fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
        let mut payload = vec![0; number(&head[..3]) as usize];
        self.0.read_exact(&mut payload).await.unwrap();
        let stream = number(&head[5..]) & 0x7fff_ffff;
        Some(Frame { kind: head[3], flags: head[4], stream, payload })
    }

    async fn until(&mut self, kind: u8) -> Frame {
        loop {
            let frame = self.next().await.expect("the connection is open");
            if frame.kind == kind && (kind != SETTINGS || frame.flags & 1 == 0) {
                return frame;
            }
        }
    }
}

// covers: C31
#[tokio::test]
async fn a_connection_takes_a_thousand_streams_and_pings_are_answered_at_once() {
    let fixture = Fixture::start().await;
    let mut wire = Wire::open(&fixture).await;
    let settings = wire.until(SETTINGS).await;
    let streams = settings.payload.chunks(6).find(|setting| setting[..2] == [0, 3]).unwrap();
    assert!(u32::from_be_bytes(streams[2..].try_into().unwrap()) >= 1000);
    for round in 0_u8..5 {
        let start = Instant::now();
        wire.send(PING, 0, 0, &[round; 8]).await;
        let pong = wire.until(PING).await;
        assert_eq!((pong.flags & 1, pong.payload), (1, vec![round; 8]));
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }
}

// covers: C31 C14
#[tokio::test]
async fn at_the_end_watches_get_their_end_and_the_connection_a_goaway_without_error() {
    let drain = Drain { announce: Duration::from_millis(1500), finish: Duration::from_secs(5) };
    let fixture = Fixture::with(Settings { drain, ..Settings::default() }, |builder| builder).await;
    fixture.ready.open();
    let mut wire = Wire::open(&fixture).await;
    wire.until(SETTINGS).await;
    wire.send(SETTINGS, 1, 0, &[]).await;
    wire.get(1, &format!("{STATIONS}?watch=true&resourceVersion={}", fixture.version())).await;
    assert_eq!(wire.until(HEADERS).await.stream, 1, "headers before the first event");
    let start = Instant::now();
    fixture.stop.cancel();
    // A connection that was there before is served to the last, and told to go only then.
    let late = fixture.reader().await;
    assert_eq!(late.call(Method::GET, STATIONS, &[]).await.code, 200);
    fixture.stations.publish(station("a", "north")).unwrap();
    assert!(!wire.until(DATA).await.payload.is_empty());
    let (mut ended, mut goaway) = (false, Vec::new());
    while let Some(frame) = wire.next().await {
        match frame.kind {
            DATA if frame.stream == 1 => ended |= frame.flags & 1 == 1,
            RST_STREAM => panic!("a reset instead of an end"),
            PING if frame.flags & 1 == 0 => wire.send(PING, 1, 0, &frame.payload).await,
            GOAWAY => {
                assert!(
                    start.elapsed() >= Duration::from_millis(1500),
                    "still serving while it is announced"
                );
                goaway.push(frame.payload);
            }
            _ => {}
        }
    }
    assert!(ended, "a clean end of the stream");
    let last = goaway.last().expect("a GOAWAY");
    assert_eq!(last[..8], [0, 0, 0, 1, 0, 0, 0, 0], "the last stream that was served, and no error");
}
