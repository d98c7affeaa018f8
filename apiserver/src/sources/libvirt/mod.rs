//! libvirtd of one host: facts once per connection, domains by event and by refresh, jobs while they run.

mod access;
mod domains;
mod facts;
mod inspection;
mod inspectors;
mod jobs;
mod session;

pub use self::inspection::{AbortError, Inspector, Usage, Usages};
pub use self::inspectors::Inspectors;

use std::time::Duration;

use libvirt_rpc::{Connection, OpenError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

pub use access::Access;

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
    access: Access,
    settings: Settings,
    jobs: jobs::Jobs,
    asked: mpsc::Receiver<inspection::Asked>,
}

impl Source {
    /// A source that is not running yet, and the way to ask it about its domains.
    pub fn new(host: &str, access: Access, settings: Settings, reports: Reports) -> (Self, Inspector) {
        // Longer than the migration is shown, so that both of its ends are known until it goes.
        let refresh = &settings.refresh;
        let kept = refresh.migrations_kept.duration() + refresh.counters.duration() * 2 + KEPT_LONGER;
        let jobs = jobs::Jobs::new(kept);
        let voice =
            Voice::new(c5c3_api::source::name::LIBVIRT, host, &settings, reports, HostObserved::Libvirt);
        let (inspector, asked) = Inspector::new(voice.follow());
        (Self { voice, access, settings, jobs, asked }, inspector)
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
        let (connector, mut options) = match (self.access.connector(), self.access.options().await) {
            (Ok(connector), Ok(options)) => (connector, options),
            (Err(trouble), _) | (_, Err(trouble)) => return trouble,
        };
        options.connect_timeout = self.settings.refresh.deadline.duration();
        options.call_timeout = self.settings.refresh.deadline.duration();
        let (connection, events) = match self.settings.in_turn(Connection::open(&*connector, options)).await {
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
        error if error.is_denied() => SourceState::Denied,
        _ => SourceState::Unreachable,
    };
    Trouble { state, message: chain(error) }
}
