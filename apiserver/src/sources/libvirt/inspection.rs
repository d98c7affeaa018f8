//! What is asked of a host's connection by others: what its domains use, and that a job ends.
//!
//! Usages are rates, from the difference of two readings.
//!
//! Nobody looks at them all the time, so they are not read all the time. Who asks first waits a second for the second
//! reading; who asks again within a while gets the rates since the time before.

use std::collections::BTreeMap;
use std::time::Duration;

use libvirt_rpc::wire::Procedure;
use libvirt_rpc::{BulkRecord, CallError, Connection, DomainRef, StatsFlags, StatsGroups};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use uuid::Uuid;

use crate::sources::observation::{Observation, chain};
use crate::sources::picture::LibvirtPicture;

/// The least time between two readings that a rate is made of.
const APART: Duration = Duration::from_secs(1);
/// A reading that is older says nothing about now.
const OLD: Duration = Duration::from_secs(60);
/// How many may wait for the same readings.
const WAITING: usize = 64;

/// What a domain uses. Absent is what the driver does not tell, or what there is only one reading of.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Processors that it keeps busy.
    pub cpus: Option<f64>,
    /// Bytes per second that its disks read.
    pub disk_read: Option<f64>,
    /// Bytes per second that its disks write.
    pub disk_written: Option<f64>,
    /// Bytes per second that its interfaces receive.
    pub received: Option<f64>,
    /// Bytes per second that its interfaces send.
    pub sent: Option<f64>,
}

/// What domains use, by UUID.
pub type Usages = BTreeMap<Uuid, Usage>;

/// What somebody wants of the connection to a host.
#[derive(Debug)]
pub(super) enum Asked {
    /// What its domains use.
    Usages(oneshot::Sender<Usages>),
    /// That the running job of a domain ends.
    Abort(Uuid, oneshot::Sender<Result<(), AbortError>>),
}

/// Why a job was not aborted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AbortError {
    /// The domain is not there, or nothing is done with it.
    #[error("no job of the domain is running on this host")]
    NoJob,
    /// libvirtd does not want to.
    #[error("libvirt refuses: {0}")]
    Refused(String),
    /// libvirtd does not answer, so it is not known whether the job goes on.
    #[error("libvirt does not answer: {0}")]
    Away(String),
}

/// The way to ask the libvirt source of one host.
#[derive(Debug, Clone)]
pub struct Inspector {
    ask: mpsc::Sender<Asked>,
    last: watch::Receiver<Observation<LibvirtPicture>>,
}

impl Inspector {
    pub(super) fn new(last: watch::Receiver<Observation<LibvirtPicture>>) -> (Self, mpsc::Receiver<Asked>) {
        let (ask, asked) = mpsc::channel(WAITING);
        (Self { ask, last }, asked)
    }

    /// What libvirt said last.
    pub fn last(&self) -> Observation<LibvirtPicture> {
        self.last.borrow().clone()
    }

    /// What domains use now; `None` when libvirt does not say in time.
    pub async fn usages(&self, within: Duration) -> Option<Usages> {
        let (asked, told) = oneshot::channel();
        self.ask.try_send(Asked::Usages(asked)).ok()?;
        tokio::time::timeout(within, told).await.ok()?.ok()
    }

    /// Has the running job of a domain aborted; done when libvirtd has accepted that.
    ///
    /// # Errors
    /// When there is no such job, libvirtd refuses, or it cannot be asked within that time.
    pub async fn abort_job(&self, domain: Uuid, within: Duration) -> Result<(), AbortError> {
        let away = |why: &str| AbortError::Away(self.last().message().unwrap_or(why).to_owned());
        if !self.last().is_connected() {
            return Err(away("there is no connection"));
        }
        let (done, told) = oneshot::channel();
        if self.ask.try_send(Asked::Abort(domain, done)).is_err() {
            return Err(away("too many ask at the same time"));
        }
        match tokio::time::timeout(within, told).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(away("the connection was lost")),
            Err(_) => Err(away("no answer in time")),
        }
    }
}

/// Sums of a domain's counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counters {
    cpu_ns: Option<u64>,
    disk_read: Option<u64>,
    disk_written: Option<u64>,
    received: Option<u64>,
    sent: Option<u64>,
}

/// The readings of one connection, and who waits for the next.
#[derive(Debug, Default)]
pub(super) struct Inspection {
    reading: Option<(Instant, BTreeMap<Uuid, Counters>)>,
    waiting: Vec<oneshot::Sender<Usages>>,
}

impl Inspection {
    /// When the next reading is due; `None` while nobody waits.
    pub(super) fn due(&self) -> Option<Instant> {
        let (read, _) = self.reading.as_ref()?;
        (!self.waiting.is_empty()).then(|| *read + APART)
    }

    /// Somebody asks.
    pub(super) async fn ask(&mut self, connection: &Connection, asked: Asked) -> Result<(), CallError> {
        match asked {
            Asked::Usages(asked) => self.ask_usages(connection, asked).await,
            Asked::Abort(domain, done) => {
                let answer = connection.abort_job(&DomainRef::from(domain)).await;
                let ended = answer.as_ref().err().filter(|error| error.remote().is_none()).cloned();
                // Whoever asked may have given up.
                let _ = done.send(answer.map_err(|error| abort_error(&error)));
                ended.map_or(Ok(()), Err)
            }
        }
    }

    async fn ask_usages(
        &mut self,
        connection: &Connection,
        asked: oneshot::Sender<Usages>,
    ) -> Result<(), CallError> {
        self.waiting.push(asked);
        if self.reading.as_ref().is_none_or(|(read, _)| read.elapsed() > OLD) {
            self.reading = Some((Instant::now(), read(connection).await?));
        }
        Ok(())
    }

    /// Reads again and tells all who wait.
    pub(super) async fn tell(&mut self, connection: &Connection) -> Result<(), CallError> {
        let (now, counters) = (Instant::now(), read(connection).await?);
        let usages = match &self.reading {
            Some((before, earlier)) => usages(earlier, &counters, now - *before),
            None => counters.keys().map(|uuid| (*uuid, Usage::default())).collect(),
        };
        self.reading = Some((now, counters));
        for asked in self.waiting.drain(..) {
            // Whoever asked may have given up.
            let _ = asked.send(usages.clone());
        }
        Ok(())
    }
}

fn abort_error(error: &CallError) -> AbortError {
    match error.remote() {
        Some(_) if error.is_no_domain() || error.is_operation_invalid() => AbortError::NoJob,
        Some(refusal) => AbortError::Refused(chain(refusal)),
        None => AbortError::Away(chain(error)),
    }
}

async fn read(connection: &Connection) -> Result<BTreeMap<Uuid, Counters>, CallError> {
    let groups = StatsGroups::CPU_TOTAL | StatsGroups::INTERFACE | StatsGroups::BLOCK;
    let reply = match connection.domain_stats(&[], groups, StatsFlags::NOWAIT).await {
        Ok(reply) => reply,
        // No such numbers on this driver: nothing is told, which is not the same as nothing is used.
        Err(error) if error.is_unsupported() => return Ok(BTreeMap::new()),
        Err(error) => return Err(error),
    };
    let counters = reply.records().and_then(|records| {
        records.map(|record| record.map(|record| (record.uuid, Counters::of(&record)))).collect()
    });
    counters.map_err(|source| CallError::Malformed { procedure: Procedure::ConnectGetAllDomainStats, source })
}

impl Counters {
    fn of(record: &BulkRecord<'_>) -> Self {
        let mut counters = Self::default();
        for (name, value) in record.params() {
            let mut parts = name.splitn(3, '.');
            let place = match (parts.next(), parts.next(), parts.next()) {
                (Some("cpu"), Some("time"), None) => &mut counters.cpu_ns,
                (Some("net"), Some(_), Some("rx.bytes")) => &mut counters.received,
                (Some("net"), Some(_), Some("tx.bytes")) => &mut counters.sent,
                (Some("block"), Some(_), Some("rd.bytes")) => &mut counters.disk_read,
                (Some("block"), Some(_), Some("wr.bytes")) => &mut counters.disk_written,
                _ => continue,
            };
            if let Some(count) = value.as_u64() {
                *place = Some(place.unwrap_or_default().saturating_add(count));
            }
        }
        counters
    }
}

/// A counter that went back began anew in between: there is no rate then.
fn usages(earlier: &BTreeMap<Uuid, Counters>, now: &BTreeMap<Uuid, Counters>, apart: Duration) -> Usages {
    #[expect(clippy::cast_precision_loss, reason = "a rate needs no more precision than a double has")]
    let rate = |before: Option<u64>, now: Option<u64>| {
        Some(now?.checked_sub(before?)? as f64 / apart.as_secs_f64().max(f64::MIN_POSITIVE))
    };
    let usage = |(uuid, now): (&Uuid, &Counters)| {
        let before = earlier.get(uuid).copied().unwrap_or_default();
        let usage = Usage {
            cpus: rate(before.cpu_ns, now.cpu_ns).map(|nanoseconds| nanoseconds / 1e9),
            disk_read: rate(before.disk_read, now.disk_read),
            disk_written: rate(before.disk_written, now.disk_written),
            received: rate(before.received, now.received),
            sent: rate(before.sent, now.sent),
        };
        (*uuid, usage)
    };
    now.iter().map(usage).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_needs_two_readings_and_a_counter_that_did_not_go_back() {
        let domain = Uuid::from_u128(1);
        let at = |cpu_ns, received, sent| {
            BTreeMap::from([(domain, Counters { cpu_ns, received, sent, ..Counters::default() })])
        };
        let before = at(Some(1_000_000_000), Some(500), None);
        let now = at(Some(4_000_000_000), Some(100), Some(7));
        let usage = usages(&before, &now, Duration::from_secs(2))[&domain];
        assert_eq!(usage, Usage { cpus: Some(1.5), ..Usage::default() });
        assert_eq!(usages(&BTreeMap::new(), &now, APART)[&domain], Usage::default());
    }
}
