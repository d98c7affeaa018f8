//! Resource versions: decimal numbers from a hybrid logical clock.
//!
//! A version is microseconds since 1970, shifted left, with its origin in the low bits: the replica's slot, and a number that
//! each process draws when it starts. It grows on every change of one process even when the wall clock steps back, two
//! replicas never issue the same one, and versions of different replicas compare by time, as far as their clocks agree.
//! The process number tells a version of this process from one that the same replica issued before it was restarted,
//! which says nothing here, however its clock was set. Nothing has to be stored for any of that.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bits that hold the replica's slot.
const SLOT_BITS: u32 = 4;
/// Bits below them that hold the number of the process.
const PROCESS_BITS: u32 = 6;
/// All low bits. Versions stay below 2^63, which some clients take for the largest, until the year 2255.
const ORIGIN_BITS: u32 = SLOT_BITS + PROCESS_BITS;

/// A version of an object or a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceVersion(u64);

impl ResourceVersion {
    /// The version of a moment on a replica, by its process number 0.
    pub fn from_parts(micros: u64, slot: u8) -> Self {
        Self::of(micros, origin(slot, 0))
    }

    fn of(micros: u64, origin: u64) -> Self {
        Self(micros.min(u64::MAX >> ORIGIN_BITS) << ORIGIN_BITS | origin)
    }

    /// As a number.
    pub fn get(self) -> u64 {
        self.0
    }

    /// Microseconds since 1970.
    pub fn micros(self) -> u64 {
        self.0 >> ORIGIN_BITS
    }

    /// The replica that issued it.
    pub fn slot(self) -> u8 {
        u8::try_from(self.origin() >> PROCESS_BITS).unwrap_or_default()
    }

    /// The number of the process, among those of its replica, that issued it.
    pub fn process(self) -> u8 {
        u8::try_from(self.origin() & ((1 << PROCESS_BITS) - 1)).unwrap_or_default()
    }

    /// Replica and process.
    fn origin(self) -> u64 {
        self.0 & ((1 << ORIGIN_BITS) - 1)
    }

    /// The smallest version that is at most `duration` older.
    #[must_use]
    pub fn rewound(self, duration: Duration) -> Self {
        Self::from_parts(self.micros().saturating_sub(micros(duration)), 0)
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a resource version: expected a decimal number")]
pub struct ParseVersionError(pub String);

impl FromStr for ResourceVersion {
    type Err = ParseVersionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = digits.then(|| text.parse().ok()).flatten();
        number.map(Self).ok_or_else(|| ParseVersionError(text.to_owned()))
    }
}

type Now = dyn Fn() -> u64 + Send + Sync;

/// Low bits of versions. Slots beyond the last wrap around.
fn origin(slot: u8, process: u8) -> u64 {
    ((u64::from(slot) % (1 << SLOT_BITS)) << PROCESS_BITS) | (u64::from(process) % (1 << PROCESS_BITS))
}

/// Whose a version is, as seen by a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Issuer {
    /// This process.
    Own,
    /// This replica, before the process was started.
    Gone,
    /// Another replica.
    Other,
}

/// Issues versions. One clock serves all collections of a process.
pub struct VersionClock {
    origin: u64,
    last: AtomicU64,
    now: Arc<Now>,
}

impl VersionClock {
    /// Slots that there are: 0 to 15.
    pub const SLOTS: u8 = 1 << SLOT_BITS;

    /// A clock for the replica of this slot. Replicas that run at the same time must have different slots.
    pub fn new(slot: u8) -> Self {
        let system = || {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            micros(since)
        };
        Self::with_time(slot, system).of_process(uuid::Uuid::new_v4().as_bytes()[0])
    }

    /// A clock that reads the given microseconds since 1970, of process number 0.
    pub fn with_time(slot: u8, now: impl Fn() -> u64 + Send + Sync + 'static) -> Self {
        Self { origin: origin(slot, 0), last: AtomicU64::new(0), now: Arc::new(now) }
    }

    /// The same of another process number, of which there are 64.
    #[must_use]
    pub fn of_process(self, number: u8) -> Self {
        Self { origin: origin(self.slot(), number), ..self }
    }

    /// The slot of this replica.
    pub fn slot(&self) -> u8 {
        ResourceVersion(self.origin).slot()
    }

    /// Whether this very process issued a version.
    pub fn issued(&self, version: ResourceVersion) -> bool {
        self.issuer(version) == Issuer::Own
    }

    pub(crate) fn issuer(&self, version: ResourceVersion) -> Issuer {
        if version.origin() == self.origin {
            Issuer::Own
        } else if version.slot() == self.slot() {
            Issuer::Gone
        } else {
            Issuer::Other
        }
    }

    /// A version greater than every one that this clock has shown.
    pub fn next(&self) -> ResourceVersion {
        self.advance(1)
    }

    /// A version not smaller than any that this clock has shown; whatever [`next`](Self::next) issues later is greater.
    pub fn read(&self) -> ResourceVersion {
        self.advance(0)
    }

    /// How far in the future a version is; zero for the past and the present.
    pub fn ahead(&self, version: ResourceVersion) -> Duration {
        Duration::from_micros(version.micros().saturating_sub(self.read().micros()))
    }

    fn advance(&self, step: u64) -> ResourceVersion {
        let now = (self.now)();
        let mut last = self.last.load(Ordering::Acquire);
        loop {
            let micros = now.max(last.saturating_add(step));
            match self.last.compare_exchange_weak(last, micros, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return ResourceVersion::of(micros, self.origin),
                Err(seen) => last = seen,
            }
        }
    }
}

impl fmt::Debug for VersionClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("VersionClock")
            .field("slot", &self.slot())
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;

    use super::*;

    fn clock_over(times: Vec<u64>, slot: u8) -> VersionClock {
        let times = Mutex::new(times.into_iter().cycle().take(10_000).collect::<Vec<_>>());
        VersionClock::with_time(slot, move || times.lock().unwrap().pop().unwrap_or(1))
    }

    proptest! {
        // covers: C3
        #[test]
        fn versions_grow_whatever_the_wall_clock_does(
            times in proptest::collection::vec(0u64..1 << 52, 1..40),
            slot in 0u8..16,
            steps in proptest::collection::vec(any::<bool>(), 1..80),
        ) {
            let clock = clock_over(times, slot);
            let mut last = clock.read();
            for issue in steps {
                let version = if issue { clock.next() } else { clock.read() };
                let grown = if issue { version > last } else { version >= last };
                prop_assert!(grown);
                prop_assert_eq!(version.slot(), slot);
                last = version;
            }
        }

        #[test]
        fn replicas_never_issue_the_same_version(
            time in 1u64..1 << 52, one in 0u8..16, other in 0u8..16, processes: (u8, u8), count in 1usize..40,
        ) {
            prop_assume!(one != other);
            let first = VersionClock::with_time(one, move || time).of_process(processes.0);
            let second = VersionClock::with_time(other, move || time).of_process(processes.1);
            let issued: Vec<_> = (0..count).map(|_| first.next()).collect();
            for _ in 0..count {
                prop_assert!(!issued.contains(&second.next()));
            }
        }

        #[test]
        fn text_and_version_round_trip(micros in 0u64..1 << 52, slot in 0u8..16) {
            let version = ResourceVersion::from_parts(micros, slot);
            prop_assert_eq!(version.to_string().parse::<ResourceVersion>().unwrap(), version);
            prop_assert_eq!((version.micros(), version.slot()), (micros, slot));
        }

        /// Whatever their slots and processes are, the later of two versions is the greater one.
        // covers: C3
        #[test]
        fn versions_of_all_replicas_compare_by_time(
            early in 0u64..1 << 52, pause in 1u64..1 << 40, slots: (u8, u8), processes: (u8, u8),
        ) {
            let at = |slot, process, time| {
                VersionClock::with_time(slot, move || time).of_process(process).next()
            };
            let (first, then) = (at(slots.0, processes.0, early), at(slots.1, processes.1, early + 1 + pause));
            prop_assert!(first < then);
        }

        #[test]
        fn a_version_tells_who_issued_it(time in 1u64..1 << 52, slot in 0u8..16, process in 0u8..64, other in 1u8..16) {
            let clock = VersionClock::with_time(slot, move || time).of_process(process);
            let issued = clock.next();
            prop_assert!(clock.issued(issued));
            let restarted = VersionClock::with_time(slot, move || time).of_process(process + 1);
            prop_assert_eq!(restarted.issuer(issued), Issuer::Gone);
            let replica = VersionClock::with_time(slot + other, move || time).of_process(process);
            prop_assert_eq!(replica.issuer(issued), Issuer::Other);
        }

        #[test]
        fn a_rewound_version_is_not_greater(micros in 0u64..1 << 52, slot in 0u8..16, back in 0u64..1 << 40) {
            let version = ResourceVersion::from_parts(micros, slot);
            prop_assert!(version.rewound(Duration::from_micros(back)) <= version);
        }
    }

    /// Some clients take versions for signed numbers of 64 bits.
    #[test]
    fn versions_of_the_next_two_centuries_fit_into_63_bits() {
        let year_2250 = 280 * 365 * 24 * 3600 * 1_000_000;
        let version = VersionClock::with_time(15, move || year_2250).of_process(63).next();
        assert!(version.get() < 1 << 63);
    }

    // covers: L4
    #[test]
    fn text_that_is_no_number_is_refused() {
        for text in ["", "-1", "+1", "1.0", "abc", "99999999999999999999999"] {
            assert!(text.parse::<ResourceVersion>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn threads_never_see_the_same_version() {
        let clock = VersionClock::with_time(3, || 77);
        let mut all: Vec<_> = std::thread::scope(|scope| {
            let workers: Vec<_> =
                (0..4).map(|_| scope.spawn(|| (0..1000).map(|_| clock.next()).collect::<Vec<_>>())).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 4000);
    }
}
