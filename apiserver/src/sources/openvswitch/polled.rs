//! A source that is asked again and again, because it announces nothing: the loop that the polled sources share.

use std::future::Future;

use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use crate::sources::Settings;
use crate::sources::report::RefreshRequests;
use crate::sources::task::{Trouble, Voice};

/// Asks at each refresh and whenever somebody wants a fresh value, until told to end.
pub(super) async fn poll<T, Asked>(
    mut voice: Voice<T>,
    settings: &Settings,
    mut requests: RefreshRequests,
    end: CancellationToken,
    ask: impl Fn() -> Asked,
) where
    Asked: Future<Output = Result<T, Trouble>>,
{
    let mut refresh = interval(settings.refresh.counters.duration());
    refresh.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut asked: Vec<oneshot::Sender<()>> = Vec::new();
    loop {
        tokio::select! {
            _ = refresh.tick() => {}
            Some(request) = requests.recv() => {
                asked.push(request);
                while let Ok(request) = requests.try_recv() {
                    asked.push(request);
                }
                refresh.reset();
            }
            () = end.cancelled() => return,
        }
        match ask().await {
            Ok(value) => voice.say(value).await,
            Err(trouble) => voice.fail(trouble).await,
        }
        for request in asked.drain(..) {
            // Whoever asked may have given up.
            let _ = request.send(());
        }
    }
}
