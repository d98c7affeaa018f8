//! Daemons and drivers that lack calls: the next best call is taken, and what is lacking is asked for once.

use libvirt_rpc::wire::{List, Procedure, encode};
use libvirt_rpc::{
    DomainInfo, DomainRef, DomainState, JobKind, JobStats, RunningReason, StatsFlags, StatsGroups,
    TypedParams,
};

use crate::scripted::{Peer, opened};
use crate::target;

fn domain() -> DomainRef {
    DomainRef { name: "guest".to_owned(), uuid: uuid::Uuid::from_u128(7), id: Some(1) }
}

/// Answers everything that comes until the client is gone: lists one domain, knows its state and info, and lacks the rest, by a driver's
/// word or by an old daemon's. Gives the calls it refused.
async fn old_daemon(mut peer: Peer, lacks: &[Procedure], code: i32) -> Vec<Procedure> {
    let mut refused = Vec::new();
    loop {
        let Some(call) = peer.call_or_end().await else { return refused };
        let procedure = Procedure::from_raw(call.procedure);
        match procedure {
            _ if lacks.contains(&procedure) => {
                refused.push(procedure);
                let said = match code {
                    3 => "this function is not supported by the connection driver: x".to_owned(),
                    _ => format!("unknown procedure: {}", call.procedure),
                };
                peer.refuse(&call, code, &said).await;
            }
            Procedure::ConnectListAllDomains => {
                peer.reply(&call, &encode(&(List::<_, 16_384>(vec![domain()]), 1_u32))).await;
            }
            Procedure::DomainGetState => peer.reply(&call, &encode(&(1, 1))).await,
            Procedure::DomainGetInfo => {
                peer.reply(&call, &encode(&DomainInfo::new(1, 2048, 1024, 2, 5_000))).await;
            }
            Procedure::DomainGetJobInfo => {
                let mut payload = encode(&2_i32);
                payload.extend((1..=11_u64).flat_map(|number| encode(&number)));
                peer.reply(&call, &payload).await;
            }
            other => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn bulk_statistics_are_put_together_from_single_calls() {
    let (connection, _events, peer) = opened().await;
    let serving = tokio::spawn(old_daemon(peer, &[Procedure::ConnectGetAllDomainStats], 3));
    for _ in 0..3 {
        let stats = connection.all_domain_stats(&[], StatsGroups::NONE, StatsFlags::NOWAIT).await.unwrap();
        assert_eq!(stats.len(), 1);
        assert_eq!(stats[0].state(), Some(DomainState::Running(RunningReason::Booted)));
        assert_eq!((stats[0].vcpus(), stats[0].memory_kib()), (Some(2), Some(1024)));
        assert_eq!((stats[0].max_memory_kib(), stats[0].cpu_time_ns()), (Some(2048), Some(5_000)));
    }
    let state_alone =
        connection.all_domain_stats(&[domain()], StatsGroups::STATE, StatsFlags::NONE).await.unwrap();
    assert_eq!(state_alone[0].vcpus(), None);
    assert_eq!(connection.lacking(), [Procedure::ConnectGetAllDomainStats]);
    drop(connection);
    assert_eq!(serving.await.unwrap(), [Procedure::ConnectGetAllDomainStats], "asked for once");
}

#[tokio::test]
async fn a_job_is_told_by_the_older_call() {
    let (connection, _events, peer) = opened().await;
    let serving = tokio::spawn(old_daemon(peer, &[Procedure::DomainGetJobStats], 39));
    for _ in 0..2 {
        let job: JobStats = connection.job_stats(&domain()).await.unwrap();
        assert_eq!(
            (job.kind, job.time_elapsed_ms(), job.memory_total()),
            (JobKind::Unbounded, Some(1), Some(6))
        );
    }
    drop(connection);
    assert_eq!(serving.await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_state_is_told_by_the_older_call() {
    let (connection, _events, peer) = opened().await;
    let serving = tokio::spawn(old_daemon(peer, &[Procedure::DomainGetState], 39));
    for _ in 0..2 {
        let state = connection.domain_state(&domain()).await.unwrap();
        assert_eq!(state, DomainState::Running(RunningReason::Unknown));
    }
    drop(connection);
    assert_eq!(serving.await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_answer_too_large_for_a_frame_is_fetched_in_parts() {
    let (connection, _events, mut peer) = opened().await;
    let serving = async {
        let call = peer.call().await;
        assert_eq!(call.procedure, Procedure::ConnectGetAllDomainStats.raw());
        peer.refuse(&call, 39, "Unable to encode message payload").await;
        let call = peer.call().await;
        assert_eq!(call.procedure, Procedure::ConnectListAllDomains.raw());
        peer.reply(&call, &encode(&(List::<_, 16_384>(vec![domain()]), 1_u32))).await;
        let call = peer.call().await;
        let record = (domain(), List::<(String, libvirt_rpc::TypedValue), 4>(Vec::new()));
        peer.reply(&call, &encode(&List::<_, 16_384>(vec![record]))).await;
    };
    let (stats, ()) =
        tokio::join!(connection.all_domain_stats(&[], StatsGroups::NONE, StatsFlags::NOWAIT), serving);
    let stats = stats.unwrap();
    assert_eq!((stats.len(), &stats[0].params), (1, &TypedParams::default()));
    assert_eq!(connection.lacking(), []);
}

/// The test driver is such a driver.
#[tokio::test]
async fn a_real_driver_without_jobs_says_so_once() {
    for target in target::rig_test_driver().await {
        let (connection, _events) = target.open().await;
        let domain = connection.list_all_domains(libvirt_rpc::DomainFilter::ACTIVE).await.unwrap().remove(0);
        let before = connection.counters().frames;
        for _ in 0..3 {
            assert!(connection.job_stats(&domain).await.unwrap_err().is_unsupported());
        }
        assert_eq!(connection.counters().frames - before, 2, "one answer for each of the two calls");
        assert_eq!(connection.lacking(), [Procedure::DomainGetJobInfo, Procedure::DomainGetJobStats]);
    }
}
