//! A source that is asked again and again, because it announces nothing: the loop that the polled sources share.

use std::convert::Infallible;
use std::future::Future;

use tokio::time::{MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use crate::sources::Settings;
use crate::sources::report::{RefreshRequests, with_waiting};
use crate::sources::task::{Trouble, Voice};

/// Asks at each refresh and whenever somebody wants a fresh value, until told to end.
pub(super) async fn poll<T, Asked>(
    voice: Voice<T>,
    settings: &Settings,
    requests: RefreshRequests,
    end: CancellationToken,
    ask: impl Fn() -> Asked,
) where
    T: PartialEq,
    Asked: Future<Output = Result<T, Trouble>>,
{
    tokio::select! {
        never = poll_on(voice, settings, requests, ask) => match never {},
        () = end.cancelled() => {}
    }
}

async fn poll_on<T, Asked>(
    mut voice: Voice<T>,
    settings: &Settings,
    mut requests: RefreshRequests,
    ask: impl Fn() -> Asked,
) -> Infallible
where
    T: PartialEq,
    Asked: Future<Output = Result<T, Trouble>>,
{
    let every = settings.refresh.counters.duration();
    let mut refresh = interval_at(settings.first_refresh(every), every);
    refresh.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tell(&mut voice, settings.in_turn(ask()).await).await;
    loop {
        let asked = tokio::select! {
            _ = refresh.tick() => Vec::new(),
            Some(request) = requests.recv() => {
                refresh.reset();
                with_waiting(request, &mut requests)
            }
        };
        tell(&mut voice, ask().await).await;
        voice.answer(asked).await;
    }
}

async fn tell<T: PartialEq>(voice: &mut Voice<T>, answer: Result<T, Trouble>) {
    match answer {
        Ok(value) => voice.say(value).await,
        Err(trouble) => voice.fail(trouble).await,
    }
}
