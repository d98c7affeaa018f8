//! Staying connected: opens, asks for events, and begins again after every end.
//!
//! A daemon forgets whom it told what when a connection ends, and what happens meanwhile is told to nobody. So each new connection
//! asks for its events first and is then handed out with the word that everything is to be read anew
//! ([`Followed::Opened`]); the same is said when events were lost ([`Followed::Missed`]). Between the two, events are all there is to
//! know.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::{
    CallError, CloseReason, Connection, Connector, Event, EventKind, Events, OpenError, OpenOptions,
};

/// What [`Follower::next`] has to tell.
#[derive(Debug)]
#[non_exhaustive]
pub enum Followed {
    /// There is a new connection, and its events come from now on. Whatever was known may have changed: list everything.
    Opened {
        /// To ask with.
        connection: Connection,
        /// Events that this daemon or driver does not send; what they would tell must be asked for.
        refused: Vec<EventKind>,
    },
    /// Something happened.
    Event(Event),
    /// Events are missing here: list everything.
    Missed {
        /// How many.
        count: u64,
    },
    /// There is no connection. The next try comes after the pause.
    Away {
        /// Why.
        reason: AwayReason,
        /// How long until the next try.
        pause: Duration,
    },
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AwayReason {
    /// It could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It was open, and events could not be asked for.
    #[error("events cannot be asked for")]
    Register(#[source] CallError),
    /// It was open, and ended.
    #[error(transparent)]
    Closed(CloseReason),
}

/// Follows one daemon, through all its connections.
///
/// ```no_run
/// # async fn follow() -> Result<(), Box<dyn std::error::Error>> {
/// use libvirt_rpc::{DomainFilter, Endpoint, EventKind, Followed, Follower, OpenOptions};
///
/// let endpoint: Endpoint = "tcp://10.0.0.11:16509".parse()?;
/// let mut follower = Follower::new(endpoint, OpenOptions::default(), [EventKind::Lifecycle]);
/// loop {
///     match follower.next().await {
///         Followed::Opened { connection, .. } => {
///             println!("{} domains", connection.list_all_domains(DomainFilter::NONE).await?.len());
///         }
///         other => println!("{other:?}"),
///     }
/// }
/// # }
/// ```
pub struct Follower {
    connector: Arc<dyn Connector>,
    options: OpenOptions,
    kinds: Vec<EventKind>,
    pauses: Pauses,
    state: State,
}

enum State {
    Opening(Opening),
    Open(Connection, Events),
    Pausing(Pin<Box<Sleep>>),
}

type Opening = Pin<Box<dyn Future<Output = Result<Opened, AwayReason>> + Send>>;
type Opened = (Connection, Events, Vec<EventKind>);

/// Pauses that grow while nothing comes of the tries, each spread over half of itself so that many followers do not come at once.
#[derive(Debug, Clone, Copy)]
struct Pauses {
    first: Duration,
    longest: Duration,
    next: Duration,
    /// When the connection that is open now was opened.
    opened: Option<Instant>,
}

impl Follower {
    /// Begins when it is first asked for [`Follower::next`].
    pub fn new(
        connector: impl Connector + 'static,
        options: OpenOptions,
        kinds: impl IntoIterator<Item = EventKind>,
    ) -> Self {
        let (first, longest) = (Duration::from_millis(500), Duration::from_secs(30));
        let mut follower = Self {
            connector: Arc::new(connector),
            options,
            kinds: kinds.into_iter().collect(),
            pauses: Pauses { first, longest, next: first, opened: None },
            state: State::Pausing(Box::pin(tokio::time::sleep(Duration::ZERO))),
        };
        follower.state = State::Opening(follower.open());
        follower
    }

    /// With other pauses between tries: from `first`, doubled each time, up to `longest`.
    #[must_use]
    pub fn with_pauses(mut self, first: Duration, longest: Duration) -> Self {
        self.pauses = Pauses { first, longest, next: first, opened: None };
        self
    }

    /// What is new. Safe to cancel: nothing that was under way is begun anew.
    pub async fn next(&mut self) -> Followed {
        loop {
            match &mut self.state {
                State::Pausing(pause) => {
                    pause.as_mut().await;
                    self.state = State::Opening(self.open());
                }
                State::Opening(opening) => match opening.as_mut().await {
                    Ok((connection, events, refused)) => {
                        self.pauses.opened = Some(Instant::now());
                        self.state = State::Open(connection.clone(), events);
                        return Followed::Opened { connection, refused };
                    }
                    Err(reason) => return self.away(reason),
                },
                State::Open(connection, events) => match events.next().await {
                    Some(Event::Lost { count }) => return Followed::Missed { count },
                    Some(event) => return Followed::Event(event),
                    None => {
                        let reason = connection.closed().await;
                        return self.away(AwayReason::Closed(reason));
                    }
                },
            }
        }
    }

    fn open(&self) -> Opening {
        let (connector, options) = (Arc::clone(&self.connector), self.options.clone());
        let kinds = self.kinds.clone();
        Box::pin(async move {
            let (connection, events) = Connection::open(&*connector, options).await?;
            let refused = connection.register_events(&kinds).await.map_err(AwayReason::Register)?;
            Ok((connection, events, refused))
        })
    }

    fn away(&mut self, reason: AwayReason) -> Followed {
        let pause = self.pauses.take();
        self.state = State::Pausing(Box::pin(tokio::time::sleep(pause)));
        Followed::Away { reason, pause }
    }
}

impl Pauses {
    /// The next pause. A connection that lasted longer than the longest pause was a good one: then they begin anew.
    fn take(&mut self) -> Duration {
        if self.opened.take().is_some_and(|opened| opened.elapsed() >= self.longest) {
            self.next = self.first;
        }
        let whole = self.next.min(self.longest);
        self.next = whole.saturating_mul(2);
        let [random, ..] = uuid::Uuid::new_v4().into_bytes();
        whole.mul_f64(1.0 - f64::from(random) / 512.0)
    }
}

impl fmt::Debug for Follower {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Opening(_) => "opening",
            State::Open(..) => "open",
            State::Pausing(_) => "pausing",
        };
        out.debug_struct("Follower")
            .field("peer", &self.connector.peer())
            .field("state", &state)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_until_a_connection_lasts() {
        let mut pauses = Pauses { first: seconds(1), longest: seconds(4), next: seconds(1), opened: None };
        for whole in [1, 2, 4, 4] {
            let pause = pauses.take();
            assert!(pause > seconds(whole) / 2 && pause <= seconds(whole), "{pause:?} of {whole}");
        }
        pauses.opened = Some(Instant::now());
        assert!(pauses.take() > seconds(2), "one that ends at once is no good one");
        pauses.opened = Some(Instant::now());
        tokio::time::advance(seconds(5)).await;
        assert!(pauses.take() <= seconds(1));
    }
}
