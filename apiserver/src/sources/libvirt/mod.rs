//! libvirtd of one host: facts once per connection, domains by event and by refresh, jobs while they run.

mod domains;
mod facts;
mod jobs;
mod session;

use std::time::Duration;

use libvirt_rpc::{Connection, Endpoint, OpenError, OpenOptions};
use tokio_util::sync::CancellationToken;

use super::observation::chain;
use super::report::{HostObserved, RefreshRequests, Reports};
use super::task::{Pause, Trouble, Voice};
use super::{Settings, picture::LibvirtPicture};
use c5c3_api::SourceState;

/// How much longer than anybody shows it a job is kept.
const KEPT_LONGER: Duration = Duration::from_secs(60);

/// The libvirt source of one host.
#[derive(Debug)]
pub struct Source {
    voice: Voice<LibvirtPicture>,
    endpoint: String,
    uri: String,
    settings: Settings,
    jobs: jobs::Jobs,
}

impl Source {
    /// A source that is not running yet.
    pub fn new(host: &str, endpoint: &str, uri: String, settings: Settings, reports: Reports) -> Self {
        // Longer than the migration is shown, so that both of its ends are known until it goes.
        let refresh = &settings.refresh;
        let kept = refresh.migrations_kept.duration() + refresh.counters.duration() * 2 + KEPT_LONGER;
        let jobs = jobs::Jobs::new(kept);
        let voice = Voice::new(host, reports, HostObserved::Libvirt);
        Self { voice, endpoint: endpoint.to_owned(), uri, settings, jobs }
    }

    /// Connects, follows, and begins again, until told to end.
    pub async fn run(mut self, mut requests: RefreshRequests, end: CancellationToken) {
        let mut pause = Pause::default();
        loop {
            let trouble = tokio::select! {
                trouble = self.connect_and_follow(&mut requests, &mut pause) => trouble,
                () = end.cancelled() => return,
            };
            self.voice.fail(trouble).await;
            if !pause.wait(&mut requests, &end).await {
                return;
            }
        }
    }

    async fn connect_and_follow(&mut self, requests: &mut RefreshRequests, pause: &mut Pause) -> Trouble {
        let endpoint: Endpoint = match self.endpoint.parse() {
            Ok(endpoint) => endpoint,
            Err(error) => return Trouble { state: SourceState::Unreachable, message: chain(&error) },
        };
        // Not read-only: libvirt refuses domain capabilities to such a connection. Nothing here writes.
        let mut options = OpenOptions::new(self.uri.clone());
        options.connect_timeout = self.settings.refresh.deadline.duration();
        options.call_timeout = self.settings.refresh.deadline.duration();
        let (connection, events) = match self.settings.in_turn(Connection::open(&endpoint, options)).await {
            Ok(opened) => opened,
            Err(error) => return open_trouble(&error),
        };
        pause.reset();
        session::follow(self, connection, events, requests).await
    }
}

fn open_trouble(error: &OpenError) -> Trouble {
    let state = match error {
        OpenError::Timeout { .. } => SourceState::Stale,
        OpenError::AuthUnsupported { .. } | OpenError::AuthRefused { .. } => SourceState::Denied,
        _ => SourceState::Unreachable,
    };
    Trouble { state, message: chain(error) }
}
