//! An async client for the RPC protocol of libvirt: no C library, no threads of its own.
//!
//! ```text
//!  Endpoint ─┐                  ┌──────── one task per connection ────────┐
//!  (unix,    ├─ Connector ─────►│ bytes ─► frames ─┬─ replies, by serial ─┼─► Connection (Clone): calls
//!  TCP, TLS) │   a byte stream, │                  ├─ events, bounded ────┼─► Events
//!  relay ────┘   authentication │ frames ◄─ calls  └─ keepalive, answered │
//!                               └─────────────────────────────────────────┘
//!                                                     documents ─► xml: Capabilities, DomainCapabilities, SysInfo
//!  Follower: opens, registers, opens again after every end, and says when to list everything
//! ```
//!
//! What it promises:
//! * every call has a deadline, every queue a bound, every count from the peer a limit;
//! * no reply waits for a slow follower of events; what the follower missed it is told ([`Event::Lost`]);
//! * a dead peer is noticed by keepalive, and [`Connection::closed`] says why a connection ended;
//! * nothing a peer sends makes it panic or allocate beyond the protocol's limits.
//!
//! One connection at a time is a [`Connection`]; [`Follower`] is one daemon through all its connections. What a daemon or a driver
//! lacks is asked for once; where there is an older call it is taken ([`Connection::lacking`]).
//!
//! ```no_run
//! # async fn follow() -> Result<(), Box<dyn std::error::Error>> {
//! use libvirt_rpc::{Connection, DomainFilter, Endpoint, EventKind, OpenOptions};
//!
//! let endpoint: Endpoint = "tcp://10.0.0.11:16509".parse()?;
//! let (connection, mut events) = Connection::open(&endpoint, OpenOptions::new("qemu:///system")).await?;
//! connection.register_event(EventKind::Lifecycle).await?;
//! for domain in connection.list_all_domains(DomainFilter::NONE).await? {
//!     println!("{domain}: {}", connection.domain_state(&domain).await?);
//! }
//! while let Some(event) = events.next().await {
//!     println!("{event:?}");
//! }
//! println!("ended: {}", connection.closed().await);
//! # Ok(())
//! # }
//! ```

mod bulk_stats;
mod connection;
mod connector;
mod device;
mod domain;
mod domain_state;
mod endpoint;
mod error;
mod event;
mod event_queue;
mod follow;
mod host;
mod job;
mod lifecycle;
mod raw_enum;
mod sasl;
mod sockets;
#[cfg(feature = "tls")]
mod tls;
mod typed_params;
mod version;
pub mod wire;
pub mod xml;

pub use bulk_stats::{BulkRecord, BulkRecords, BulkStats, BulkValue};
pub use connection::{
    CallbackId, Connection, Counters, DomainFilter, MigrateFlags, MigrateParams, OpenOptions, StatsFlags,
    StatsGroups, XmlFlags,
};
pub use connector::{ConnectError, Connecting, Connector, Stream};
pub use device::{BlockInfo, BlockStats, DiskError, InterfaceStats};
pub use domain::{DomainInfo, DomainRef, DomainStats};
pub use domain_state::{CrashedReason, DomainState, PausedReason, RunningReason, ShutOffReason};
pub use endpoint::{DEFAULT_TCP_PORT, DEFAULT_TLS_PORT, Endpoint, EndpointError};
pub use error::{CallError, CloseReason, ErrorCode, OpenError, RemoteError};
pub use event::{AgentState, Event, EventKind, IoErrorAction};
pub use event_queue::Events;
pub use follow::{AwayReason, Followed, Follower};
pub use host::NodeInfo;
pub use job::{JobKind, JobOperation, JobStats};
pub use lifecycle::{
    DefinedDetail, LifecycleEvent, ResumedDetail, StartedDetail, StoppedDetail, SuspendedDetail,
};
pub use sasl::{Credentials, SaslError};
#[cfg(feature = "tls")]
pub use tls::{TlsClient, TlsEndpoint, TlsError, TlsFiles, TlsFilesError};
pub use typed_params::{TypedParams, TypedValue};
pub use version::Version;
