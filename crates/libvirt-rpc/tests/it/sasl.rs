//! Authentication by name and password, against a peer that says what it likes.

use libvirt_rpc::wire::{List, Procedure, SaslData, decode, encode};
use libvirt_rpc::{Connection, Credentials, OpenError, OpenOptions, SaslError};

use crate::scripted::{Peer, pipe};

/// Opens against a daemon that wants SASL and offers `mechanisms`, then does as `script` says.
async fn open_against(
    mechanisms: &str,
    options: OpenOptions,
    script: impl AsyncFnOnce(&mut Peer),
) -> Result<Connection, OpenError> {
    let (pipe, mut peer) = pipe();
    let serving = async {
        let call = peer.call().await;
        peer.reply(&call, &encode(&List::<i32, 20>(vec![1]))).await;
        let call = peer.call().await;
        assert_eq!(call.procedure, Procedure::AuthSaslInit.raw());
        peer.reply(&call, &encode(&mechanisms.to_owned())).await;
        script(&mut peer).await;
        peer
    };
    let (opened, _peer) = tokio::join!(Connection::open(&pipe, options), serving);
    opened.map(|(connection, _events)| connection)
}

fn known() -> OpenOptions {
    OpenOptions::default().with_credentials(Credentials::new("user", "pencil"))
}

#[tokio::test]
async fn a_daemon_that_wants_a_password_says_what_it_offers() {
    let error = open_against("SCRAM-SHA-256,GSSAPI", OpenOptions::default(), async |_| {}).await.unwrap_err();
    assert_eq!(error.to_string(), "pipe wants a user name and a password, by SASL (SCRAM-SHA-256,GSSAPI)");
    assert!(error.is_denied());
}

#[tokio::test]
async fn mechanisms_that_are_not_supported_are_named() {
    let error = open_against("GSSAPI,DIGEST-MD5", known(), async |_| {}).await.unwrap_err();
    let said = "pipe wants authentication by SASL (GSSAPI,DIGEST-MD5), which is not supported";
    assert_eq!(error.to_string(), said);
}

#[tokio::test]
async fn a_password_is_not_sent_where_others_can_read_it() {
    let error = open_against("PLAIN", known(), async |_| {}).await.unwrap_err();
    assert!(matches!(error, OpenError::PlainExposed { .. }), "{error:?}");
}

#[tokio::test]
async fn a_password_is_sent_where_the_caller_asks_for_it() {
    let careless = Credentials::new("user", "pencil").allow_plain_without_encryption();
    let options = OpenOptions::default().with_credentials(careless);
    open_against("PLAIN", options, async |peer| {
        let (call, payload) = peer.read().await;
        assert_eq!(call.procedure, Procedure::AuthSaslStart.raw());
        let (mechanism, data): (String, SaslData) = decode(&payload).unwrap();
        assert_eq!((mechanism.as_str(), data.0.unwrap().as_slice()), ("PLAIN", &b"\0user\0pencil"[..]));
        peer.reply(&call, &encode(&(1, SaslData(None)))).await;
        peer.open().await;
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_daemon_that_refuses_the_password_is_told_as_such() {
    let error = open_against("SCRAM-SHA-256", known(), async |peer| {
        let call = peer.call().await;
        peer.refuse(&call, 45, "authentication failed: authentication failed").await;
    });
    let OpenError::AuthRefused { source, .. } = error.await.unwrap_err() else { panic!("another error") };
    assert!(source.is_denied());
}

#[tokio::test]
async fn a_daemon_that_accepts_without_proving_itself_is_not_believed() {
    let error = open_against("SCRAM-SHA-256", known(), async |peer| {
        let (call, payload) = peer.read().await;
        let (_, data): (String, SaslData) = decode(&payload).unwrap();
        let first = String::from_utf8(data.0.unwrap()).unwrap();
        let nonce = first.split_once("r=").unwrap().1;
        let answer = format!("r={nonce}server,s=c2FsdA==,i=4096").into_bytes();
        peer.reply(&call, &encode(&(0, SaslData(Some(answer))))).await;
        let call = peer.call().await;
        peer.reply(&call, &encode(&(1, SaslData(None)))).await;
    });
    let OpenError::AuthBroken { source, .. } = error.await.unwrap_err() else { panic!("another error") };
    assert_eq!(source, SaslError::NotProven);
}

#[tokio::test]
async fn a_daemon_that_makes_no_sense_is_told_as_such() {
    let error = open_against("SCRAM-SHA-256", known(), async |peer| {
        let call = peer.call().await;
        peer.reply(&call, &encode(&(0, SaslData(Some(b"r=somebody else".to_vec()))))).await;
    });
    let OpenError::AuthBroken { source, .. } = error.await.unwrap_err() else { panic!("another error") };
    assert_eq!(source, SaslError::Nonce);
}
