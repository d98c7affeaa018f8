//! ovsdb-server of one host: rows by monitor, counters by refresh.
//!
//! The database says when a member of a bond loses its link, but not what the bond makes of it: that is asked of
//! ovs-vswitchd, by the source that is hinted at such a change.

use c5c3_api::SourceState;
use ovs_client::Endpoint;
use ovs_client::ovsdb::{Closed, Error, Options};
use ovs_client::switch::{Bond, LinkState, Port, SwitchView};
use tokio::time::{MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use crate::sources::Settings;
use crate::sources::observation::chain;
use crate::sources::picture::SwitchPicture;
use crate::sources::report::{HostObserved, RefreshHandle, RefreshRequests, Reports, with_waiting};
use crate::sources::task::{Pause, Trouble, Voice};

/// The OVSDB source of one host.
#[derive(Debug)]
pub struct Source {
    voice: Voice<SwitchPicture>,
    endpoint: String,
    settings: Settings,
    daemons: Option<RefreshHandle>,
}

/// What the database says of the bonds: how each is set up, and the link of each member.
type BondLinks = Vec<(Bond, Vec<(String, Option<LinkState>)>)>;

impl Source {
    /// A source that is not running yet. `daemons` is the source that knows which members a bond uses.
    pub fn new(
        host: &str,
        endpoint: &str,
        settings: Settings,
        reports: Reports,
        daemons: Option<RefreshHandle>,
    ) -> Self {
        Self {
            voice: Voice::new(c5c3_api::source::name::OVSDB, host, &settings, reports, HostObserved::Switch),
            endpoint: endpoint.to_owned(),
            settings,
            daemons,
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
        let view = match self.settings.in_turn(SwitchView::open(&endpoint, &options)).await {
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
        // Between two slow ticks only who asks for this host sees counters, and whoever asks has them read first.
        let refresh = &self.settings.refresh;
        let every = refresh.slow_tick.duration().max(refresh.counters.duration());
        let mut refresh = interval_at(self.settings.first_refresh(every), every);
        refresh.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut asked = Vec::new();
        let mut bonds = bond_links(&view.switch());
        loop {
            let switch = view.switch();
            let now = bond_links(&switch);
            if now != bonds
                && let Some(daemons) = &self.daemons
            {
                daemons.hint();
            }
            bonds = now;
            self.voice.say(switch).await;
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

fn bond_links(switch: &SwitchPicture) -> BondLinks {
    let links = |port: &Port| {
        let members = port.interfaces.iter().map(|member| (member.name.clone(), member.link_state));
        Some((port.bond.clone()?, members.collect()))
    };
    switch.ports().filter_map(links).collect()
}

fn trouble(error: &Error) -> Trouble {
    let state = match error {
        // Whichever is noticed first: a question without an answer, or a probe without an echo.
        Error::Deadline { .. } | Error::Closed { reason: Closed::Silent(_), .. } => SourceState::Stale,
        _ => SourceState::Unreachable,
    };
    Trouble { state, message: chain(error) }
}
