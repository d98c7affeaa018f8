//! Opening: connect, authenticate, keepalive, the driver, in the order libvirt's own client uses.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::authentication::Authentication;
use super::session::Session;
use super::{Connection, OpenOptions, transport};
use crate::connector::Connector;
use crate::wire::Procedure;
use crate::{CallError, Events, OpenError};

/// `VIR_CONNECT_RO`.
const READ_ONLY: u32 = 1;
/// `VIR_DRV_FEATURE_PROGRAM_KEEPALIVE`; asking for it makes the daemon ping, too.
const FEATURE_KEEPALIVE: i32 = 10;
/// `VIR_DRV_FEATURE_REMOTE_CLOSE_CALLBACK`.
const FEATURE_CLOSE_CALLBACK: i32 = 15;

impl Connection {
    /// Opens a connection and the events that come with it.
    ///
    /// Events come once they are asked for with [`Connection::register_event`]. Must be called within a tokio runtime,
    /// which then runs the connection's task. Safe to cancel: nothing of a connection that was not opened stays.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn open(
        connector: &(impl Connector + ?Sized),
        options: OpenOptions,
    ) -> Result<(Self, Events), OpenError> {
        let mut step = "a connection";
        let opened =
            tokio::time::timeout(options.connect_timeout, open(connector, &options, &mut step)).await;
        opened.unwrap_or_else(|_| {
            Err(OpenError::Timeout { peer: connector.peer(), step, after: options.connect_timeout })
        })
    }
}

async fn open(
    connector: &(impl Connector + ?Sized),
    options: &OpenOptions,
    step: &mut &'static str,
) -> Result<(Connection, Events), OpenError> {
    let peer = connector.peer();
    let stream =
        connector.connect().await.map_err(|source| OpenError::Connect { peer: peer.clone(), source })?;
    let (session, frames, events) = Session::new(options);
    let last_handle = Arc::new(CancellationToken::clone(&session.ended).drop_guard());
    let span = tracing::debug_span!("libvirt connection", %peer);
    tokio::spawn(transport::run(stream, Arc::clone(&session), frames, options.clone()).instrument(span));
    let mut connection = Connection {
        session,
        // The deadline of opening is that of the whole.
        call_timeout: options.connect_timeout.saturating_mul(2),
        keepalive: false,
        _last_handle: last_handle,
    };
    *step = "its authentication";
    Authentication { connection: &connection, peer: &peer, step, private: connector.is_private() }
        .run(options.credentials.as_ref())
        .await?;
    *step = "opening the driver";
    open_driver(&mut connection, options).await.map_err(|error| match error {
        CallError::Refused { source, .. } => OpenError::Open { peer, uri: options.uri.clone(), source },
        source => OpenError::Handshake { peer, step, source },
    })?;
    connection.call_timeout = options.call_timeout;
    Ok((connection, events))
}

async fn open_driver(connection: &mut Connection, options: &OpenOptions) -> Result<(), CallError> {
    if options.keepalive_interval.is_some() && supports(connection, FEATURE_KEEPALIVE).await? {
        connection.session.arm_keepalive();
        connection.keepalive = true;
    }
    let flags = if options.read_only { READ_ONLY } else { 0 };
    let arguments = (Some(options.uri.clone()), flags);
    connection.call::<_, ()>(Procedure::ConnectOpen, &arguments).await?;
    if supports(connection, FEATURE_CLOSE_CALLBACK).await? {
        match connection.call::<_, ()>(Procedure::ConnectRegisterCloseCallback, &()).await {
            Ok(()) => {}
            // A driver without it closes without a word first.
            Err(CallError::Refused { source, .. }) => {
                tracing::debug!(%source, "the daemon will not announce that it closes");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether the daemon has a feature; one that does not know the question has none.
async fn supports(connection: &Connection, feature: i32) -> Result<bool, CallError> {
    match connection.call::<_, i32>(Procedure::ConnectSupportsFeature, &feature).await {
        Ok(supported) => Ok(supported != 0),
        Err(CallError::Refused { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}
