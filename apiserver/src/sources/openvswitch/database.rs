//! ovsdb-server of one host: rows by monitor, counters by refresh.

use c5c3_api::SourceState;
use ovs_client::Endpoint;
use ovs_client::ovsdb::{Error, Options};
use ovs_client::switch::SwitchView;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use crate::sources::Settings;
use crate::sources::observation::chain;
use crate::sources::picture::SwitchPicture;
use crate::sources::report::{HostObserved, RefreshRequests, Reports, with_waiting};
use crate::sources::task::{Pause, Trouble, Voice};

/// The OVSDB source of one host.
#[derive(Debug)]
pub struct Source {
    voice: Voice<SwitchPicture>,
    endpoint: String,
    settings: Settings,
}

impl Source {
    /// A source that is not running yet.
    pub fn new(host: &str, endpoint: &str, settings: Settings, reports: Reports) -> Self {
        Self {
            voice: Voice::new(host, reports, HostObserved::Switch),
            endpoint: endpoint.to_owned(),
            settings,
        }
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
        let deadline = self.settings.refresh.deadline.duration();
        let options =
            Options { connect_deadline: deadline, request_deadline: deadline, ..Options::default() };
        let view = match SwitchView::open(&endpoint, &options).await {
            Ok(view) => view,
            Err(error) => return trouble(&error),
        };
        pause.reset();
        match self.follow(&view, requests).await {
            Ok(never) => match never {},
            Err(error) => trouble(&error),
        }
    }

    async fn follow(
        &mut self,
        view: &SwitchView,
        requests: &mut RefreshRequests,
    ) -> Result<std::convert::Infallible, Error> {
        let every = self.settings.refresh.counters.duration();
        let mut refresh = interval_at(Instant::now() + every, every);
        refresh.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut asked = Vec::new();
        loop {
            self.voice.say(view.switch()).await;
            self.voice.answer(std::mem::take(&mut asked)).await;
            tokio::select! {
                changes = view.changed() => drop(changes?),
                _ = refresh.tick() => view.read_counters().await?,
                Some(request) = requests.recv() => {
                    asked = with_waiting(request, requests);
                    view.read_counters().await?;
                    refresh.reset();
                }
            }
        }
    }
}

fn trouble(error: &Error) -> Trouble {
    let state = match error {
        Error::Deadline { .. } => SourceState::Stale,
        _ => SourceState::Unreachable,
    };
    Trouble { state, message: chain(error) }
}
