//! The rule and its proof: whatever replicas do and whenever Leases arrive, a write that is accepted was made by somebody
//! who had seen the newest intent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use aggregated_apiserver::{ResourceVersion, VersionClock};
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use proptest::prelude::*;

use super::ledger::Ledger;
use super::slot::held;
use super::terms::{Term, process_of, slot_of, term};

/// What may happen.
#[derive(Debug, Clone)]
enum Step {
    /// Somebody writes the record, whatever they had read.
    Write,
    /// A replica hears of the store's writes up to the present.
    Hear(usize),
    /// A replica publishes the object, as it knows it.
    Publish(usize),
    /// A replica renews its Lease.
    Renew(usize),
    /// The other replica hears of that Lease.
    Learn(usize),
    /// A replica ends without a word, and another process takes its slot; the old one goes on serving for a while.
    Restart(usize),
    /// A process that lost its slot publishes once more, as it knows the object.
    Ghost(usize),
    /// Clocks move, backwards too.
    Clock(usize, i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let replica = 0_usize..2;
    let step = prop_oneof![
        2 => Just(Step::Write),
        3 => replica.clone().prop_map(Step::Hear),
        4 => replica.clone().prop_map(Step::Publish),
        3 => replica.clone().prop_map(Step::Renew),
        3 => replica.clone().prop_map(Step::Learn),
        1 => replica.clone().prop_map(Step::Restart),
        1 => replica.clone().prop_map(Step::Ghost),
        1 => (replica, -50_i64..200).prop_map(|(replica, by)| Step::Clock(replica, by)),
    ];
    proptest::collection::vec(step, 1..120)
}

struct Process {
    clock: Arc<VersionClock>,
    ledger: Ledger,
    /// Revision of the record that it has applied.
    applied: u64,
}

struct Replica {
    slot: u8,
    holders: u32,
    time: Arc<AtomicU64>,
    process: Process,
    ghost: Option<Process>,
    lease: Lease,
}

fn process(slot: u8, number: u8, time: &Arc<AtomicU64>) -> Process {
    let time = Arc::clone(time);
    let clock = VersionClock::with_time(slot, move || time.load(Ordering::Relaxed)).of_process(number);
    let clock = Arc::new(clock);
    Process { ledger: Ledger::new(Arc::clone(&clock)), clock, applied: 0 }
}

impl Replica {
    fn new(slot: u8) -> Self {
        let time = Arc::new(AtomicU64::new(1_000));
        let lease = held(slot, None, "0", &[], Timestamp::UNIX_EPOCH);
        let number = term(&lease).unwrap().process;
        Self { slot, holders: 0, process: process(slot, number, &time), time, ghost: None, lease }
    }

    fn renew(&mut self) {
        let holder = self.holders.to_string();
        let statements = self.process.ledger.statements();
        self.lease = held(self.slot, Some(&self.lease), &holder, &statements, Timestamp::UNIX_EPOCH);
    }

    fn restart(&mut self) {
        self.holders += 1;
        let holder = self.holders.to_string();
        self.lease = held(self.slot, Some(&self.lease), &holder, &[], Timestamp::UNIX_EPOCH);
        let number = term(&self.lease).unwrap().process;
        let old = std::mem::replace(&mut self.process, process(self.slot, number, &self.time));
        self.ghost = Some(old);
    }
}

/// A version that a client may hold, and the revision of the record that it showed.
type Shown = (ResourceVersion, u64);

/// Plays the steps. Whenever a proof is accepted, what was shown has to be the newest.
fn play(steps: &[Step]) -> Result<usize, TestCaseError> {
    let mut replicas = [Replica::new(0), Replica::new(1)];
    // What each replica has learned of the other's Lease.
    let mut learned: [Option<Term>; 2] = [None, None];
    let (mut revision, mut proofs) = (1_u64, 0);
    let mut shown: Vec<Shown> = Vec::new();
    for step in steps {
        match step {
            Step::Write => revision += 1,
            Step::Hear(at) => {
                let process = &mut replicas[*at].process;
                process.applied = revision;
                process.ledger.applied(revision);
            }
            Step::Publish(at) => {
                let process = &replicas[*at].process;
                shown.push((process.clock.next(), process.applied));
            }
            Step::Renew(at) => replicas[*at].renew(),
            Step::Learn(from) => learned[1 - *from] = term(&replicas[*from].lease),
            Step::Restart(at) => replicas[*at].restart(),
            Step::Ghost(at) => {
                if let Some(ghost) = &replicas[*at].ghost {
                    shown.push((ghost.clock.next(), ghost.applied));
                }
            }
            Step::Clock(at, by) => {
                let time = &replicas[*at].time;
                time.store(time.load(Ordering::Relaxed).saturating_add_signed(*by), Ordering::Relaxed);
            }
        }
        for (writer, term) in learned.iter().enumerate() {
            let Some(term) = term else { continue };
            for (version, saw) in shown.iter().filter(|(version, _)| usize::from(version.slot()) != writer) {
                if term.had_applied(*version, revision) {
                    prop_assert_eq!(*saw, revision, "{} showed {} and was believed", version, saw);
                    proofs += 1;
                }
            }
        }
    }
    Ok(proofs)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whoever_is_believed_had_seen_the_newest_intent(steps in steps()) {
        play(&steps)?;
    }
}

#[test]
fn whoever_had_seen_it_is_believed_once_the_lease_is_heard() {
    let seen = [Step::Hear(0), Step::Publish(0), Step::Renew(0), Step::Learn(0)];
    assert_eq!(play(&seen).unwrap(), 1);
    // Also if other things are published later, and not if intent has changed since.
    let later = [&seen[..], &[Step::Publish(0), Step::Renew(0), Step::Learn(0)]].concat();
    assert!(play(&later).unwrap() > 1);
    let changed = [&[Step::Hear(0), Step::Publish(0), Step::Write], &seen[2..]].concat();
    assert_eq!(play(&changed).unwrap(), 0);
    let unheard = [Step::Publish(0), Step::Hear(0), Step::Renew(0), Step::Learn(0)];
    assert_eq!(play(&unheard).unwrap(), 0, "published before it had heard");
}

#[test]
fn a_process_that_lost_its_slot_is_not_believed() {
    let mut replica = Replica::new(0);
    replica.restart();
    let ghost = replica.ghost.as_ref().unwrap().clock.next();
    replica.process.ledger.applied(9);
    replica.renew();
    let term = term(&replica.lease).unwrap();
    assert_eq!(slot_of(&replica.lease), Some(0));
    assert!(!term.had_applied(ghost, 1));
    replica.time.store(5_000, Ordering::Relaxed);
    assert!(term.had_applied(replica.process.clock.next(), 9));
    assert!(!term.had_applied(replica.ghost.unwrap().clock.next(), 1), "also when it goes on");
    assert_ne!(process_of(63), process_of(64));
}
