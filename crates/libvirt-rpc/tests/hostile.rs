//! A million hostile inputs each for values, frames and events: no panic, and no allocation beyond a multiple of the input.
//!
//! Random bytes fail at the first count. So each case begins as what a daemon would send and is then damaged: counts and lengths
//! become extreme, bytes flip, ends are cut off or put on. A binary of its own, because it counts what the whole process allocates.
//! `LIBVIRT_RPC_HOSTILE_CASES` sets another number of cases; `LIBVIRT_RPC_HOSTILE_SEED` another beginning.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail by panicking")]

use std::alloc::System;

use libvirt_rpc::wire::{
    DecodeError, FRAME_MAX, HEADER_BYTES, Header, LENGTH_BYTES, List, MessageKind, NumberedChars, Opaque,
    Procedure, SaslData, SmallInt, WireError, Xdr, decode, encode, encode_frame, parse_frame,
};
use libvirt_rpc::{
    BlockInfo, BlockStats, BulkStats, DiskError, DomainInfo, DomainRef, Event, InterfaceStats, JobKind,
    JobStats, NodeInfo, TypedParams, TypedValue,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use uuid::Uuid;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CASES: u64 = 1_000_000;
/// A value in memory is larger than on the wire, vectors grow by doubling, and what is no UTF-8 becomes three bytes.
const BYTES_PER_INPUT_BYTE: usize = 48;
/// For the smallest inputs.
const BYTES_ANYWAY: usize = 1024;

/// Numbers that break counts, lengths and signs.
const EXTREMES: [u32; 14] =
    [0, 1, 2, 3, 7, 8, 64, 255, 16_384, 16_385, 4_194_304, 4_194_305, 0x7fff_ffff, 0xffff_ffff];

/// SplitMix64: fast and good enough to spread cases.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, or 0.
    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap()
    }

    /// Damages what is in `case`, one to three times; once in eight cases not at all.
    fn damage(&mut self, case: &mut Vec<u8>) {
        if self.below(8) == 0 {
            return;
        }
        for _ in 0..=self.below(3) {
            let place = self.below(case.len());
            match self.below(6) {
                0 if !case.is_empty() => case[place] ^= 1 << self.below(8),
                1 | 2 if case.len() >= 4 => {
                    let place = place.min(case.len() - 4) & !3;
                    let extreme = EXTREMES[self.below(EXTREMES.len())];
                    case[place..place + 4].copy_from_slice(&extreme.to_be_bytes());
                }
                3 => case.truncate(place),
                4 => case.extend_from_slice(&self.next().to_be_bytes()),
                _ => case.drain(..place.min(8)).for_each(drop),
            }
        }
    }
}

/// Whether bytes were read well.
type Read = Box<dyn Fn(&[u8]) -> bool>;

/// A kind of input: what it is when whole, and how it is read.
struct Kind {
    whole: Vec<u8>,
    read: Read,
    read_well: u64,
    refused: u64,
}

impl Kind {
    fn new(whole: Vec<u8>, read: impl Fn(&[u8]) -> bool + 'static) -> Self {
        assert!(read(&whole), "what is whole is read: {whole:?}");
        Self { whole, read: Box::new(read), read_well: 0, refused: 0 }
    }

    fn value<T: Xdr + 'static>(value: &T) -> Self {
        Self::new(encode(value), |bytes| decode::<T>(bytes).is_ok())
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |value| value.parse().unwrap())
}

fn torture(what: &str, mut kinds: Vec<Kind>, also: impl Fn(&[u8])) {
    let cases = setting("LIBVIRT_RPC_HOSTILE_CASES", CASES);
    let mut chance = Chance(setting("LIBVIRT_RPC_HOSTILE_SEED", 1));
    let mut case = Vec::with_capacity(4096);
    let mut most = 0;
    for number in 0..cases {
        let index = chance.below(kinds.len());
        let kind = &mut kinds[index];
        case.clear();
        case.extend_from_slice(&kind.whole);
        chance.damage(&mut case);
        let region = Region::new(ALLOCATOR);
        let well = (kind.read)(&case);
        also(&case);
        let used = region.change();
        let allocated = used.bytes_allocated + usize::try_from(used.bytes_reallocated).unwrap_or(0);
        assert!(
            allocated <= BYTES_PER_INPUT_BYTE * case.len() + BYTES_ANYWAY,
            "{what} {number}: {allocated} bytes allocated for {}: {case:?}",
            case.len()
        );
        most = most.max(allocated);
        *(if well { &mut kind.read_well } else { &mut kind.refused }) += 1;
    }
    let (well, refused): (u64, u64) =
        kinds.iter().fold((0, 0), |(well, refused), kind| (well + kind.read_well, refused + kind.refused));
    println!("{cases} {what}: {well} read, {refused} refused, at most {most} bytes allocated for one");
    if cases >= 10_000 {
        // Otherwise the damage was none, or there was nothing but damage.
        assert!(kinds.iter().all(|kind| kind.read_well > 0), "{what}");
        assert!(well > cases / 10 && refused > cases / 10, "{what}");
    }
}

fn domain() -> DomainRef {
    DomainRef { name: "instance-00000001".to_owned(), uuid: Uuid::from_u128(7), id: Some(3) }
}

fn params() -> Vec<(String, TypedValue)> {
    let values = [
        TypedValue::Int(5),
        TypedValue::Uint(5),
        TypedValue::Long(-5),
        TypedValue::Ulong(5),
        TypedValue::Double(0.5),
        TypedValue::Boolean(true),
        TypedValue::Text("text".to_owned()),
    ];
    values.into_iter().enumerate().map(|(number, value)| (format!("field.{number}"), value)).collect()
}

fn error() -> WireError {
    WireError {
        code: 42,
        message: Some("Domain not found".to_owned()),
        about_domain: Some(domain()),
        ..WireError::default()
    }
}

fn values() -> Vec<Kind> {
    type Stats = List<(DomainRef, List<(String, TypedValue), 262_144>), 16_384>;
    let stats: Stats = List(vec![(domain(), List(params())), (domain(), List(params()))]);
    vec![
        Kind::value(&"x".repeat(50)),
        Kind::value(&Some("optional".to_owned())),
        Kind::value(&(List::<DomainRef, 16_384>(vec![domain(); 5]), 5_u32)),
        Kind::value(&stats),
        Kind::new(encode(&stats), |bytes| {
            let in_place: BulkStats = decode(bytes).unwrap();
            in_place.records().is_ok_and(|mut records| {
                records.all(|record| record.is_ok_and(|record| record.params().count() < 100))
            })
        }),
        Kind::value(&error()),
        Kind::value(&DomainInfo::new(1, 2048, 1024, 2, 5_000)),
        Kind::value(&NodeInfo { model: "x86_64".to_owned(), memory_kib: 1, cpus: 2, ..NodeInfo::default() }),
        Kind::value(&JobStats::new(JobKind::Unbounded, TypedParams(params()))),
        Kind::value(&List::<i32, 20>(vec![0, 1, 2])),
        Kind::value(&List::<u64, 1024>(vec![1; 8])),
        Kind::value(&(List::<(String, u64), 16>(vec![("user".to_owned(), 1); 4]), 4_i32)),
        Kind::value(&(1, SaslData(Some(b"n,,n=user,r=nonce".to_vec())))),
        Kind::value(&Opaque::<4_194_304>(vec![1; 30])),
        Kind::value(&NumberedChars::<32>("x86_64".to_owned())),
        Kind::value(&SmallInt(5_u8)),
        Kind::value(&BlockInfo { allocation: 1, capacity: 2, physical: 3 }),
        Kind::value(&BlockStats::default()),
        Kind::value(&InterfaceStats::default()),
        Kind::value(&(List::<DiskError, 256>(vec![DiskError { disk: "vda".to_owned(), error: 2 }]), 1_i32)),
        Kind::value(&Header::remote(MessageKind::Reply, 1, 1)),
    ]
}

/// All frames of a buffer, as a connection takes them; whether the buffer was nothing but whole frames.
fn take_frames(mut bytes: &[u8]) -> bool {
    loop {
        match parse_frame(bytes) {
            Ok(Some((_, length))) => {
                assert!((LENGTH_BYTES + HEADER_BYTES..=bytes.len()).contains(&length));
                bytes = &bytes[length..];
            }
            Ok(None) => return bytes.is_empty(),
            Err(_) => return false,
        }
    }
}

fn frames() -> Vec<Kind> {
    let frame = |kind, procedure: Procedure, payload: &[u8]| {
        encode_frame(&Header::remote(kind, procedure.raw(), 1), payload).unwrap()
    };
    let ping = encode_frame(&Header::keepalive(libvirt_rpc::wire::KeepaliveProcedure::Ping), &[]).unwrap();
    let reply = frame(MessageKind::Reply, Procedure::DomainGetState, &encode(&(1, 1)));
    let refusal = frame(MessageKind::Reply, Procedure::DomainGetState, &encode(&error()));
    let event = frame(MessageKind::Message, Procedure::EventLifecycle, &encode(&(1, domain(), 2, 0)));
    let several = [ping.as_slice(), &reply, &event, &refusal].concat();
    [ping, reply, refusal, event, several].into_iter().map(|whole| Kind::new(whole, take_frames)).collect()
}

fn events() -> Vec<Kind> {
    let body = encode(&(1, domain()));
    let event = |procedure: Procedure, rest: Vec<u8>| {
        Kind::new([body.clone(), rest].concat(), move |bytes| Event::parse(procedure.raw(), bytes).is_ok())
    };
    let path = || ("/var/lib/disk".to_owned(), "virtio-disk0".to_owned(), 1);
    vec![
        event(Procedure::EventLifecycle, encode(&(5, 3))),
        event(Procedure::EventReboot, Vec::new()),
        event(Procedure::EventWatchdog, encode(&1)),
        event(Procedure::EventIoError, encode(&path())),
        event(Procedure::EventIoErrorReason, encode(&(path(), "enospc".to_owned()))),
        event(Procedure::EventControlError, Vec::new()),
        event(Procedure::EventDeviceRemoved, encode(&"net0".to_owned())),
        event(Procedure::EventAgentLifecycle, encode(&(1, 1))),
        event(Procedure::EventMigrationIteration, encode(&7)),
        event(Procedure::EventJobCompleted, encode(&List::<_, 64>(params()))),
        Kind::new(encode(&1), |bytes| Event::parse(Procedure::EventConnectionClosed.raw(), bytes).is_ok()),
    ]
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn a_million_hostile_inputs_each_for_values_frames_and_events() {
    torture("values", values(), |_| {});
    torture("frames", frames(), |_| {});
    // Damaged events are also read as another event than they were.
    torture("events", events(), |bytes| {
        let procedure = 316 + bytes.iter().map(|byte| i32::from(*byte)).sum::<i32>() % 60;
        let _: Result<_, DecodeError> = Event::parse(procedure, bytes);
    });
    assert_eq!(parse_frame(&u32::try_from(LENGTH_BYTES + FRAME_MAX).unwrap().to_be_bytes()), Ok(None));
}
