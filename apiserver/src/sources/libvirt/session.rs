//! One connection to libvirtd: registered, read whole, then followed.
//!
//! Registration comes before the first reading, so that nothing can happen between the two unseen.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use c5c3_api::SourceState;
use futures::future::OptionFuture;
use jiff::Timestamp;
use libvirt_rpc::{
    CallError, CloseReason, Connection, DomainRef, Event, EventKind, Events, LifecycleEvent, ResumedDetail,
    StartedDetail, StoppedDetail, SuspendedDetail,
};
use tokio::time::{MissedTickBehavior, interval, interval_at, sleep_until};
use uuid::Uuid;

use super::domains::{Depth, Depths};
use super::inspection::Inspection;
use super::{Source, domains, facts};
use crate::sources::observation::chain;
use crate::sources::picture::{JobKind, LibvirtPicture};
use crate::sources::report::{RefreshRequests, with_waiting};
use crate::sources::task::Trouble;

/// Events worth following; a daemon or driver without one of them is read by refresh alone.
const EVENTS: &[EventKind] =
    &[EventKind::Lifecycle, EventKind::IoErrorReason, EventKind::MigrationIteration, EventKind::JobCompleted];

/// How often the job of a migrating domain is asked for.
const JOB_POLL: Duration = Duration::from_secs(1);

/// Follows a connection until it fails, and says how.
pub(super) async fn follow(
    source: &mut Source,
    connection: Connection,
    events: Events,
    requests: &mut RefreshRequests,
) -> Trouble {
    let mut session = Session { connection, events, picture: LibvirtPicture::default() };
    match session.run(source, requests).await {
        Ok(reason) => Trouble { state: SourceState::Unreachable, message: chain(&reason) },
        Err(error) => call_trouble(&error),
    }
}

struct Session {
    connection: Connection,
    events: Events,
    picture: LibvirtPicture,
}

impl Session {
    async fn run(
        &mut self,
        source: &mut Source,
        requests: &mut RefreshRequests,
    ) -> Result<CloseReason, CallError> {
        let refused = self.connection.register_events(EVENTS).await?;
        if !refused.is_empty() {
            tracing::info!(
                host = source.voice.host(),
                ?refused,
                "daemon has no such events: read by refresh alone"
            );
        }
        self.picture = source.settings.in_turn(facts::read(&self.connection, &source.settings)).await?;
        self.read_domains(Depth::Whole).await?;
        self.say(source).await;

        let every = source.settings.refresh.counters.duration();
        let mut refresh = interval_at(source.settings.first_refresh(every), every);
        refresh.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut depth = Depths::of(&source.settings.refresh);
        let mut jobs = interval(JOB_POLL);
        jobs.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut inspection = Inspection::default();
        loop {
            let mut asked = Vec::new();
            let polling = !source.jobs.to_poll().is_empty();
            let inspect: OptionFuture<_> = inspection.due().map(sleep_until).into();
            tokio::select! {
                event = self.events.next() => match event {
                    Some(event) => self.happened(event, source).await?,
                    None => return Ok(self.connection.closed().await),
                },
                _ = refresh.tick() => self.read_domains(depth.next()).await?,
                Some(request) = requests.recv() => {
                    asked = with_waiting(request, requests);
                    self.read_domains(depth.next()).await?;
                    refresh.reset();
                }
                _ = jobs.tick(), if polling => self.poll_jobs(source).await?,
                Some(asked) = source.asked.recv() => {
                    inspection.ask(&self.connection, asked).await?;
                    continue;
                }
                Some(()) = inspect => {
                    inspection.tell(&self.connection).await?;
                    continue;
                }
            }
            self.say(source).await;
            source.voice.answer(asked).await;
        }
    }

    async fn say(&mut self, source: &mut Source) {
        self.picture.jobs = source.jobs.current(Timestamp::now());
        source.voice.say(self.picture.clone()).await;
    }

    /// Takes an event and all others that are waiting, then reads the domains they name, each once.
    async fn happened(&mut self, first: Event, source: &mut Source) -> Result<(), CallError> {
        let mut named: BTreeSet<Uuid> = BTreeSet::new();
        let mut lost = false;
        let mut next = Some(first);
        while let Some(event) = next {
            lost |= matches!(event, Event::Lost { .. });
            self.note_jobs(&event, source);
            named.extend(event.domain().map(|domain| domain.uuid));
            next = self.events.try_next();
        }
        if lost {
            return self.read_domains(Depth::Whole).await;
        }
        for uuid in named {
            self.read_domain(uuid).await?;
        }
        Ok(())
    }

    fn note_jobs(&self, event: &Event, source: &mut Source) {
        let now = Timestamp::now();
        match event {
            Event::MigrationIteration { domain, .. } => source.jobs.suspect(domain.uuid),
            Event::JobCompleted { domain, job } => source.jobs.completed(domain.uuid, job.into(), now),
            Event::Lifecycle { domain, event } => match event {
                LifecycleEvent::Started(StartedDetail::Migrated) => source.jobs.suspect(domain.uuid),
                LifecycleEvent::Suspended(SuspendedDetail::Migrated) => source.jobs.suspect(domain.uuid),
                LifecycleEvent::Resumed(ResumedDetail::Migrated) => {
                    source.jobs.end(domain.uuid, JobKind::Completed, Some(super::jobs::INCOMING), now);
                }
                LifecycleEvent::Stopped(StoppedDetail::Migrated) => {
                    source.jobs.end(domain.uuid, JobKind::Completed, Some(super::jobs::OUTGOING), now);
                }
                // Going on here, or gone in another way, in mid-migration: it did not succeed.
                LifecycleEvent::Resumed(_) | LifecycleEvent::Stopped(_) => {
                    source.jobs.end(domain.uuid, JobKind::Failed, None, now);
                }
                _ => {}
            },
            _ => {}
        }
    }

    async fn poll_jobs(&mut self, source: &mut Source) -> Result<(), CallError> {
        for uuid in source.jobs.to_poll() {
            match self.connection.job_stats(&DomainRef::from(uuid)).await {
                Ok(stats) => source.jobs.polled(uuid, (&stats).into(), Timestamp::now()),
                Err(error) if error.is_no_domain() || error.is_operation_invalid() => {
                    // Gone from here. If it left by migration, the event has said so or will.
                    source.jobs.end(uuid, JobKind::Completed, None, Timestamp::now());
                }
                Err(error) if error.remote().is_some() => {
                    tracing::debug!(domain = %uuid, error = %chain(&error), "job could not be read");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn read_domains(&mut self, depth: Depth) -> Result<(), CallError> {
        self.picture.domains = domains::read_all(&self.connection, depth, &self.picture.domains).await?;
        Ok(())
    }

    async fn read_domain(&mut self, uuid: Uuid) -> Result<(), CallError> {
        let earlier = self.picture.domains.get(&uuid);
        let told = domains::read_one(&self.connection, uuid, earlier).await?;
        if told.as_ref() != earlier {
            let domains = Arc::make_mut(&mut self.picture.domains);
            match told {
                Some(picture) => domains.insert(uuid, picture),
                None => domains.remove(&uuid),
            };
        }
        Ok(())
    }
}

fn call_trouble(error: &CallError) -> Trouble {
    let denied = error.remote().is_some_and(libvirt_rpc::RemoteError::is_denied);
    let state = match error {
        CallError::Timeout { .. } => SourceState::Stale,
        _ if denied => SourceState::Denied,
        _ => SourceState::Unreachable,
    };
    Trouble { state, message: chain(error) }
}
