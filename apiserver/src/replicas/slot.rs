//! Which slot a replica takes: a decision about Leases and a clock value, nothing else.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;

use super::ledger::Statement;
use super::terms::{annotation, lease_name, slot_of};
use aggregated_apiserver::VersionClock;

/// How long a Lease holds without being renewed.
pub(super) const DURATION: i32 = 15;
/// How much clocks of machines may differ before a slot is taken from somebody who lives. Even then only their writes end.
const SKEW: SignedDuration = SignedDuration::from_secs(30);

/// What to do to get a slot.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Choice {
    /// Nobody ever had it: create the Lease.
    Create(u8),
    /// It is free: take its Lease over.
    Take(u8, Box<Lease>),
    /// All are held.
    Wait,
}

/// The slot to take: one that nobody ever had, or the one that has been free for the longest.
pub(super) fn choose(leases: &[Lease], now: Timestamp) -> Choice {
    let known: BTreeMap<u8, &Lease> =
        leases.iter().filter_map(|lease| Some((slot_of(lease)?, lease))).collect();
    // Released ones first: their holders are gone for certain.
    let free = known.iter().filter(|(_, lease)| is_free(lease, now));
    let oldest = free.min_by_key(|(slot, lease)| (is_held(lease), renewed(lease), **slot));
    let unused = (0..VersionClock::SLOTS).find(|slot| !known.contains_key(slot));
    match (oldest, unused) {
        (Some((slot, lease)), None) => Choice::Take(*slot, Box::new((*lease).clone())),
        (Some((slot, lease)), _) if !is_held(lease) => Choice::Take(*slot, Box::new((*lease).clone())),
        (_, Some(slot)) => Choice::Create(slot),
        (None, None) => Choice::Wait,
    }
}

fn is_held(lease: &Lease) -> bool {
    lease
        .spec
        .as_ref()
        .and_then(|spec| spec.holder_identity.as_deref())
        .is_some_and(|holder| !holder.is_empty())
}

fn renewed(lease: &Lease) -> Timestamp {
    let renewed = lease.spec.as_ref().and_then(|spec| spec.renew_time.as_ref());
    renewed.map_or(Timestamp::UNIX_EPOCH, |time| time.0)
}

fn is_free(lease: &Lease, now: Timestamp) -> bool {
    let duration = lease.spec.as_ref().and_then(|spec| spec.lease_duration_seconds).unwrap_or(DURATION);
    !is_held(lease) || now.duration_since(renewed(lease)) > SignedDuration::from_secs(duration.into()) + SKEW
}

/// The Lease as it is when we hold the slot. `earlier` is what it was: ours, to be renewed, or somebody's, to be taken over.
pub(super) fn held(
    slot: u8,
    earlier: Option<&Lease>,
    holder: &str,
    statements: &[Statement],
    now: Timestamp,
) -> Lease {
    let mut lease = earlier.cloned().unwrap_or_default();
    let before = lease.spec.take().unwrap_or_default();
    let is_ours = before.holder_identity.as_deref() == Some(holder);
    // A Lease that was deleted and made again starts anywhere: the last holder's number is not known any more.
    let anywhere = || holder.bytes().map(i32::from).sum::<i32>();
    let transitions = before.lease_transitions.unwrap_or_else(anywhere);
    lease.metadata.name = Some(lease_name(slot));
    lease.metadata.annotations.get_or_insert_default().extend([annotation(statements)]);
    lease.spec = Some(LeaseSpec {
        holder_identity: Some(holder.to_owned()),
        lease_duration_seconds: Some(DURATION),
        renew_time: Some(MicroTime(now)),
        acquire_time: if is_ours { before.acquire_time } else { Some(MicroTime(now)) },
        // Counted up with each holder, so that no two have the same process number.
        lease_transitions: Some(if is_ours { transitions } else { transitions.wrapping_add(1).max(0) }),
        ..LeaseSpec::default()
    });
    lease
}

#[cfg(test)]
mod tests {
    use super::super::terms::{process_of, term};
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn lease(slot: u8, holder: &str, renewed: i64) -> Lease {
        held(slot, None, holder, &[], at(renewed))
    }

    #[test]
    fn the_first_replica_takes_the_first_slot_and_the_next_one_the_next() {
        assert_eq!(choose(&[], at(0)), Choice::Create(0));
        assert_eq!(choose(&[lease(0, "a", 100)], at(101)), Choice::Create(1));
        // One that is only late keeps its slot as long as there are others.
        assert_eq!(choose(&[lease(0, "a", 100)], at(9_000)), Choice::Create(1));
    }

    #[test]
    fn a_released_slot_is_taken_again_by_another_process_number() {
        let released = lease(0, "", 100);
        assert_eq!(
            choose(std::slice::from_ref(&released), at(101)),
            Choice::Take(0, Box::new(released.clone()))
        );
        let taken = held(0, Some(&released), "b", &[], at(101));
        let (before, after) = (term(&released).unwrap().process, term(&taken).unwrap().process);
        assert_ne!(before, after);
        assert_eq!(
            term(&held(0, Some(&taken), "b", &[], at(102))).unwrap().process,
            after,
            "renewing is no change"
        );
    }

    #[test]
    fn of_sixteen_slots_the_one_that_expired_first_is_taken_and_none_that_is_held() {
        let mut all: Vec<Lease> = (0..16).map(|slot| lease(slot, "a", 1_000 + i64::from(slot))).collect();
        assert_eq!(choose(&all, at(1_010)), Choice::Wait);
        assert_eq!(choose(&all, at(1_046)), Choice::Take(0, Box::new(all[0].clone())));
        all[5] = lease(5, "a", 900);
        assert_eq!(choose(&all, at(1_046)), Choice::Take(5, Box::new(all[5].clone())));
        all[7] = lease(7, "", 1_046);
        assert_eq!(choose(&all, at(1_046)), Choice::Take(7, Box::new(all[7].clone())));
    }

    #[test]
    fn statements_are_read_as_they_were_written() {
        let said = [
            Statement { after: 1_764_000_000_000_000, through: 41 },
            Statement { after: 1_764_000_000_000_009, through: 57 },
        ];
        let lease = held(3, None, "a", &said, at(1));
        let term = term(&lease).unwrap();
        assert_eq!((term.slot, term.statements), (3, said.to_vec()));
        assert_eq!(term.process, process_of(i32::from(b'a') + 1));
    }
}
