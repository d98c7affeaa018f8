//! Peers that no daemon is: answers out of order, floods, broken frames, wrong authentication; time is paused.
//!
//! Each is a few frames over a pipe, which also shows that any byte stream will do.

use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use libvirt_rpc::wire::{
    HEADER_BYTES, Header, KEEPALIVE_PROGRAM, KeepaliveProcedure, LENGTH_BYTES, List, MessageKind,
    MessageStatus, Procedure, WireError, encode, encode_frame,
};
use libvirt_rpc::{
    CallError, CloseReason, Connecting, Connection, Connector, DomainRef, Event, EventKind, Events,
    OpenError, OpenOptions, Stream, Version,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// Hands out one end of a pipe, once.
pub(crate) struct Pipe(Mutex<Option<DuplexStream>>);

impl Connector for Pipe {
    fn connect(&self) -> Connecting<'_> {
        let stream = self.0.lock().unwrap().take();
        Box::pin(async move { Ok(Box::new(stream.expect("connects once")) as Box<dyn Stream>) })
    }

    fn peer(&self) -> String {
        "pipe".to_owned()
    }
}

pub(crate) fn pipe() -> (Pipe, Peer) {
    let (near, far) = tokio::io::duplex(64 * 1024);
    (Pipe(Mutex::new(Some(near))), Peer(far))
}

/// The daemon's end.
pub(crate) struct Peer(DuplexStream);

impl Peer {
    pub(crate) async fn read(&mut self) -> (Header, Bytes) {
        let length = self.0.read_u32().await.expect("the client went away") as usize;
        let mut rest = vec![0; length - LENGTH_BYTES];
        self.0.read_exact(&mut rest).await.unwrap();
        let header = libvirt_rpc::wire::decode(&rest[..HEADER_BYTES]).unwrap();
        (header, Bytes::from(rest).split_off(HEADER_BYTES))
    }

    /// The next call; keepalive is answered on the way.
    pub(crate) async fn call(&mut self) -> Header {
        loop {
            let (header, _) = self.read().await;
            if header.program != KEEPALIVE_PROGRAM {
                return header;
            }
            if header.procedure == KeepaliveProcedure::Ping.raw() {
                self.send(&Header::keepalive(KeepaliveProcedure::Pong), &[]).await;
            }
        }
    }

    /// The next call, or `None` when the client is gone.
    pub(crate) async fn call_or_end(&mut self) -> Option<Header> {
        let mut word = [0; LENGTH_BYTES];
        self.0.read_exact(&mut word).await.ok()?;
        let mut rest = vec![0; u32::from_be_bytes(word) as usize - LENGTH_BYTES];
        self.0.read_exact(&mut rest).await.ok()?;
        Some(libvirt_rpc::wire::decode(&rest[..HEADER_BYTES]).unwrap())
    }

    pub(crate) async fn send(&mut self, header: &Header, payload: &[u8]) {
        self.0.write_all(&encode_frame(header, payload).unwrap()).await.unwrap();
    }

    pub(crate) async fn reply(&mut self, call: &Header, payload: &[u8]) {
        self.send(&Header { kind: MessageKind::Reply, ..*call }, payload).await;
    }

    pub(crate) async fn refuse(&mut self, call: &Header, code: i32, message: &str) {
        let error = WireError { code, message: Some(message.to_owned()), ..WireError::default() };
        let header = Header { kind: MessageKind::Reply, status: MessageStatus::Error, ..*call };
        self.send(&header, &encode(&error)).await;
    }

    /// Answers what opening asks.
    pub(crate) async fn open(&mut self) {
        loop {
            let call = self.call().await;
            match Procedure::from_raw(call.procedure) {
                Procedure::AuthList => self.reply(&call, &encode(&List::<i32, 20>(vec![0]))).await,
                Procedure::ConnectSupportsFeature => self.reply(&call, &encode(&1)).await,
                Procedure::ConnectOpen => self.reply(&call, &[]).await,
                Procedure::ConnectRegisterCloseCallback => return self.reply(&call, &[]).await,
                other => panic!("{other}"),
            }
        }
    }

    async fn lifecycle(&mut self, detail: i32) {
        let payload = encode(&(0, DomainRef::from(uuid::Uuid::nil()), 2, detail));
        self.send(&Header::remote(MessageKind::Message, Procedure::EventLifecycle.raw(), 0), &payload).await;
    }
}

async fn opened_with(options: OpenOptions) -> (Connection, Events, Peer) {
    let (pipe, mut peer) = pipe();
    let (opened, ()) = tokio::join!(Connection::open(&pipe, options), peer.open());
    let (connection, events) = opened.unwrap();
    (connection, events, peer)
}

pub(crate) async fn opened() -> (Connection, Events, Peer) {
    opened_with(OpenOptions::new("qemu:///system")).await
}

pub(crate) async fn open_against(script: impl AsyncFnOnce(&mut Peer)) -> OpenError {
    let (pipe, mut peer) = pipe();
    let script = async {
        script(&mut peer).await;
        // Whatever else is asked goes unanswered.
        peer
    };
    let (opened, _peer) = tokio::join!(Connection::open(&pipe, OpenOptions::default()), script);
    opened.unwrap_err()
}

#[tokio::test]
async fn answers_out_of_order_reach_their_callers() {
    let (connection, _events, mut peer) = opened().await;
    let answer_backwards = async {
        let calls = [peer.call().await, peer.call().await, peer.call().await];
        for call in calls.iter().rev() {
            peer.reply(call, &encode(&u64::from(call.serial))).await;
        }
        calls.map(|call| Version::from_raw(call.serial.into()))
    };
    let (one, two, three, sent) = tokio::join!(
        connection.lib_version(),
        connection.lib_version(),
        connection.lib_version(),
        answer_backwards
    );
    assert_eq!([one.unwrap(), two.unwrap(), three.unwrap()], sent);
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_are_sent_than_the_daemon_works_on() {
    let (connection, _events, mut peer) = opened().await;
    let calls: Vec<_> = (0..10).map(|_| connection.clone()).collect();
    let asking = tokio::spawn(async move {
        let calls = calls.iter().map(Connection::lib_version);
        futures::future::join_all(calls).await.into_iter().filter(Result::is_ok).count()
    });
    let mut waiting = Vec::new();
    for _ in 0..4 {
        waiting.push(peer.call().await);
    }
    let fifth = tokio::time::timeout(Duration::from_secs(1), peer.call()).await;
    assert!(fifth.is_err(), "a fifth call came before an answer was given");
    for _ in 0..6 {
        let call = waiting.remove(0);
        peer.reply(&call, &encode(&1_u64)).await;
        waiting.push(peer.call().await);
    }
    for call in waiting {
        peer.reply(&call, &encode(&1_u64)).await;
    }
    assert_eq!(asking.await.unwrap(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_call_given_up_keeps_its_place_until_it_is_answered() {
    let mut options = OpenOptions::default();
    options.calls_in_flight = 1;
    options.call_timeout = Duration::from_secs(1);
    options.keepalive_interval = None;
    let (connection, _events, mut peer) = opened_with(options).await;
    assert!(matches!(connection.lib_version().await, Err(CallError::Timeout { .. })));
    assert!(
        matches!(connection.hostname().await, Err(CallError::Timeout { .. })),
        "its place is not free yet"
    );
    let late = peer.call().await;
    assert_eq!(late.procedure, Procedure::ConnectGetLibVersion.raw());
    peer.reply(&late, &encode(&7_u64)).await;
    let (answer, ()) = tokio::join!(connection.hostname(), async {
        let call = peer.call().await;
        assert_eq!(
            call.procedure,
            Procedure::ConnectGetHostname.raw(),
            "the call that never had its turn is not sent"
        );
        peer.reply(&call, &encode(&"host".to_owned())).await;
    });
    assert_eq!(answer.unwrap(), "host");
}

#[tokio::test]
async fn ten_thousand_events_before_a_reply_delay_it_not() {
    let (connection, mut events, mut peer) = opened().await;
    let flood = async {
        let call = peer.call().await;
        for number in 0..10_000 {
            peer.lifecycle(number).await;
        }
        peer.reply(&call, &encode(&5_u64)).await;
    };
    let (version, ()) = tokio::join!(connection.lib_version(), flood);
    assert_eq!(version.unwrap(), Version::from_raw(5));
    for _ in 0..1024 {
        assert!(matches!(events.try_next(), Some(Event::Lifecycle { .. })));
    }
    assert_eq!(events.try_next(), Some(Event::Lost { count: 10_000 - 1024 }));
    assert_eq!(events.try_next(), None);
}

#[tokio::test]
async fn a_message_that_cannot_be_decoded_is_a_lost_event() {
    let (connection, mut events, mut peer) = opened().await;
    let message = |procedure| Header::remote(MessageKind::Message, procedure, 0);
    peer.send(&message(Procedure::EventLifecycle.raw()), &encode(&(0, 17))).await;
    peer.send(&message(4_242), b"from a later release").await;
    peer.lifecycle(0).await;
    assert_eq!(events.next().await, Some(Event::Lost { count: 1 }));
    assert!(matches!(events.next().await, Some(Event::Lifecycle { .. })));
    let counters = connection.counters();
    assert_eq!((counters.events, counters.events_unknown, counters.events_malformed), (1, 1, 1));
}

#[tokio::test]
async fn a_malformed_answer_fails_its_call_only() {
    let (connection, _events, mut peer) = opened().await;
    let answers = async {
        let call = peer.call().await;
        peer.reply(&call, b"\0\0\0\x01").await;
        let call = peer.call().await;
        peer.send(&Header { kind: MessageKind::Reply, status: MessageStatus::Error, ..call }, b"\0\0\0\x01")
            .await;
        let call = peer.call().await;
        // An answer nobody waits for is no harm either.
        peer.reply(&Header { serial: call.serial + 1_000, ..call }, &[]).await;
        peer.reply(&call, &encode(&5_u64)).await;
    };
    let calls = async {
        assert!(matches!(connection.lib_version().await, Err(CallError::Malformed { .. })));
        assert!(matches!(connection.lib_version().await, Err(CallError::Malformed { .. })));
        connection.lib_version().await.unwrap();
    };
    tokio::join!(calls, answers);
    assert_eq!(connection.counters().strays, 1);
}

#[tokio::test]
async fn a_frame_above_the_limit_ends_the_connection() {
    let (connection, _events, mut peer) = opened().await;
    peer.0.write_u32(33_554_437).await.unwrap();
    let reason = connection.closed().await;
    assert!(matches!(reason, CloseReason::Protocol(_)), "{reason:?}");
    assert!(connection.lib_version().await.unwrap_err().is_disconnected());
}

#[tokio::test]
async fn something_that_is_no_daemon_is_told_at_open() {
    let error = open_against(async |peer| peer.0.write_all(b"SSH-2.0-OpenSSH_9.9\r\n").await.unwrap()).await;
    let OpenError::Handshake { source: CallError::Disconnected { reason, .. }, .. } = error else {
        panic!("{error:?}")
    };
    assert!(matches!(reason, CloseReason::Protocol(_)), "{reason:?}");
}

#[tokio::test(start_paused = true)]
async fn a_frame_that_trickles_in_ends_the_connection() {
    let (connection, _events, mut peer) = opened().await;
    let trickle = tokio::spawn(async move {
        peer.0.write_u32(1_000).await.unwrap();
        while peer.0.write_u8(0).await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let reason = connection.closed().await;
    assert!(matches!(reason, CloseReason::SlowFrame(_)), "{reason:?}");
    trickle.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn pings_are_answered_while_a_call_waits_and_silence_ends_the_connection() {
    let (connection, _events, mut peer) = opened().await;
    let waiting = tokio::spawn({
        let connection = connection.clone();
        async move { connection.lib_version().await }
    });
    let call = peer.read().await.0;
    assert_eq!(call.procedure, Procedure::ConnectGetLibVersion.raw());
    peer.send(&Header::keepalive(KeepaliveProcedure::Ping), &[]).await;
    assert_eq!(peer.read().await.0, Header::keepalive(KeepaliveProcedure::Pong));
    peer.reply(&call, &encode(&1_u64)).await;
    waiting.await.unwrap().unwrap();

    let began = tokio::time::Instant::now();
    let reason = connection.closed().await;
    assert!(matches!(reason, CloseReason::Silence(_)), "{reason:?}");
    assert_eq!(began.elapsed().as_secs(), 20, "three pings, five seconds apart, and five more");
    for _ in 0..3 {
        assert_eq!(peer.read().await.0, Header::keepalive(KeepaliveProcedure::Ping));
    }
}

#[tokio::test(start_paused = true)]
async fn a_daemon_without_keepalive_may_be_silent() {
    let (pipe, mut peer) = pipe();
    let old_daemon = async {
        loop {
            let call = peer.call().await;
            match Procedure::from_raw(call.procedure) {
                Procedure::AuthList => peer.reply(&call, &encode(&List::<i32, 20>(Vec::new()))).await,
                Procedure::ConnectOpen => peer.reply(&call, &[]).await,
                _ => peer.refuse(&call, 39, &format!("unknown procedure: {}", call.procedure)).await,
            }
            // Whether it has a feature is asked once only: it does not know the question.
            if call.procedure == Procedure::ConnectOpen.raw() {
                return peer;
            }
        }
    };
    let (opened, mut peer) = tokio::join!(Connection::open(&pipe, OpenOptions::default()), old_daemon);
    let (connection, _events) = opened.unwrap();
    assert!(!connection.has_keepalive());
    assert_eq!(connection.lacking(), [Procedure::ConnectSupportsFeature]);
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert!(connection.is_alive());
    let (refused, ()) = tokio::join!(connection.register_events(&[EventKind::Lifecycle]), async {
        let call = peer.call().await;
        peer.refuse(&call, 3, "this function is not supported by the connection driver").await;
    });
    assert_eq!(refused.unwrap(), [EventKind::Lifecycle]);
}

#[tokio::test]
async fn polkit_that_says_no_is_told_apart() {
    let error = open_against(async |peer| {
        let call = peer.call().await;
        peer.reply(&call, &encode(&List::<i32, 20>(vec![2]))).await;
        let call = peer.call().await;
        assert_eq!(call.procedure, Procedure::AuthPolkit.raw());
        peer.refuse(&call, 45, "authentication failed").await;
    });
    let OpenError::AuthRefused { source, .. } = error.await else { panic!("another error") };
    assert!(source.is_denied());
}

#[tokio::test(start_paused = true)]
async fn opening_says_how_far_it_got() {
    let error = open_against(async |peer| {
        let call = peer.call().await;
        peer.reply(&call, &encode(&List::<i32, 20>(vec![0]))).await;
    });
    assert_eq!(error.await.to_string(), "pipe did not get as far as opening the driver within 10s");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_not_sent() {
    let (connection, _events, mut peer) = opened().await;
    let error = connection.create_transient(&"x".repeat(33_554_432)).await.unwrap_err();
    assert!(matches!(error, CallError::TooLarge { .. }), "{error:?}");
    let (version, ()) = tokio::join!(connection.lib_version(), async {
        let call = peer.call().await;
        peer.reply(&call, &encode(&1_u64)).await;
    });
    version.unwrap();
}

#[tokio::test]
async fn the_peer_sees_the_end_when_the_last_handle_is_dropped() {
    let (connection, events, mut peer) = opened().await;
    drop((connection, events));
    let mut rest = Vec::new();
    tokio::time::timeout(Duration::from_secs(5), peer.0.read_to_end(&mut rest)).await.unwrap().unwrap();
    assert!(rest.is_empty());
}
