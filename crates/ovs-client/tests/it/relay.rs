//! A relay between the client and the sockets of a host: the client must not notice.

use std::fmt;
use std::time::Duration;

use ovs_client::openflow;
use ovs_client::ovsdb::Options;
use ovs_client::switch::SwitchView;
use ovs_client::{BoxedStream, Connecting, Connector, Endpoint, unixctl};

use crate::peer::Peer;

/// Passes bytes on, a few at a time.
#[derive(Debug)]
struct Relay {
    to: Endpoint,
}

impl fmt::Display for Relay {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "relay to {}", self.to)
    }
}

impl Connector for Relay {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async {
            let mut far = self.to.connect().await?;
            let (near, mut middle) = tokio::io::duplex(7);
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut middle, &mut far).await });
            Ok(Box::new(near) as BoxedStream)
        })
    }
}

#[tokio::test]
async fn a_switch_behind_a_relay_is_the_same_switch() {
    for peer in Peer::all().await {
        let view = SwitchView::open(&Relay { to: peer.unix() }, &Options::default()).await.unwrap();
        assert!(view.switch().bridge("br-int").is_some());
        let relay = Relay { to: peer.management("br-int") };
        let mut connection = openflow::Connection::open(&relay, &Default::default()).await.unwrap();
        assert_eq!(connection.tables().await.unwrap().len(), 254);
        let (directory, options) = (peer.run.join("ovn"), unixctl::Options::default());
        let daemon =
            unixctl::Target::find(&directory, unixctl::Program::OvnController, &options).await.unwrap();
        let relay = Relay { to: Endpoint::Unix(daemon.socket) };
        assert_eq!(
            unixctl::call(&relay, "connection-status", &[], &Default::default()).await.unwrap(),
            "connected\n"
        );
    }
}

#[tokio::test]
async fn an_error_names_the_relay_as_it_names_itself() {
    let relay = Relay { to: Endpoint::Unix("/nowhere".into()) };
    let options = unixctl::Options { connect_deadline: Duration::from_secs(1), ..Default::default() };
    let error = unixctl::call(&relay, "version", &[], &options).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot connect to relay to unix:/nowhere");
}
