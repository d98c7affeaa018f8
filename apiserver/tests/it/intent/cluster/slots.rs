//! Slots by Leases in a real kube-apiserver: who gets which, what others hear, and what happens to one that is cut off.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use aggregated_apiserver::{ObjectKey, Replicas as _, Revision, VersionClock};
use c5c3_apiserver::replicas::{Ledger, Seat, SlotError, Standing, Terms, listen, take_seat};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::store::{client, configuration, cut_by, prefix, until};

async fn namespace(client: &Client) -> String {
    let name = prefix();
    let namespace = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    Api::<Namespace>::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();
    name
}

/// A replica, as far as it is a slot and a clock.
struct Replica {
    seat: Arc<Seat>,
    clock: Arc<VersionClock>,
    ledger: Arc<Ledger>,
    end: CancellationToken,
    keeping: JoinHandle<Result<(), SlotError>>,
}

async fn replica(client: &Client, namespace: &str, holder: &str) -> Replica {
    let seat = Arc::new(take_seat(client, namespace, holder).await.unwrap());
    let clock = Arc::new(VersionClock::new(seat.slot()).of_process(seat.process()));
    let ledger = Arc::new(Ledger::new(Arc::clone(&clock)));
    let end = CancellationToken::new();
    let keeping = tokio::spawn(Arc::clone(&seat).keep(Arc::clone(&ledger), end.clone()));
    Replica { seat, clock, ledger, end, keeping }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_replica_has_a_slot_and_hears_how_far_the_others_have_read() {
    let Some(client) = client().await else { return };
    let namespace = namespace(&client).await;
    // Both at once: they do not get the same.
    let (one, other) = tokio::join!(replica(&client, &namespace, "a"), replica(&client, &namespace, "b"));
    let mut slots = [one.seat.slot(), other.seat.slot()];
    slots.sort_unstable();
    assert_eq!(slots, [0, 1]);
    let (terms, listening) = (Arc::new(Terms::default()), CancellationToken::new());
    tokio::spawn(listen(client.clone(), namespace.clone(), Arc::clone(&terms), listening.clone()));
    let key = ObjectKey::cluster("host-1");
    let believed =
        |version, revision: u64| terms.had_applied(version, &key, &Revision::new(&revision.to_string()));
    let before = one.clock.next();
    one.ledger.applied(41);
    let after = one.clock.next();
    until("the statement", async || believed(after, 41).then_some(())).await;
    assert!(believed(after, 7) && !believed(after, 42), "through 41, and no further");
    assert!(!believed(before, 41), "issued before");
    assert!(!believed(other.clock.next(), 1), "the other has stated nothing");

    // A slot that was given back is taken by another process, and what the earlier one issued says nothing any more.
    let slot = one.seat.slot();
    one.end.cancel();
    one.keeping.await.unwrap().unwrap();
    let again = replica(&client, &namespace, "c").await;
    assert_eq!(again.seat.slot(), slot);
    assert_ne!(again.seat.process(), one.seat.process());
    again.ledger.applied(50);
    let newest = again.clock.next();
    until("the statement of the next one", async || believed(newest, 50).then_some(())).await;
    assert!(!believed(one.clock.next(), 41), "it may go on, but nobody believes it");
    for replica in [other, again] {
        replica.end.cancel();
        replica.keeping.await.unwrap().unwrap();
    }
    listening.cancel();
    Api::<Namespace>::all(client).delete(&namespace, &DeleteParams::default()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_is_cut_off_stops_writing_and_comes_back_unless_its_slot_was_taken() {
    let Some(mut configuration) = configuration().await else { return };
    let direct = Client::try_from(configuration.clone()).unwrap();
    let namespace = namespace(&direct).await;
    let (door, end) = (Arc::new(AtomicBool::new(true)), CancellationToken::new());
    let target = configuration.cluster_url.authority().unwrap().to_string();
    let port = cut_by(target, Arc::clone(&door), end.clone()).await;
    configuration.cluster_url = format!("https://127.0.0.1:{port}/").parse().unwrap();
    let replica = replica(&Client::try_from(configuration).unwrap(), &namespace, "a").await;
    let mut standing = replica.seat.standing();
    assert_eq!(*standing.borrow(), Standing::Held);
    door.store(false, Ordering::SeqCst);
    standing.wait_for(|standing| matches!(standing, Standing::Adrift(_))).await.unwrap();
    door.store(true, Ordering::SeqCst);
    standing.wait_for(|standing| *standing == Standing::Held).await.unwrap();

    // Cut off again; this time somebody takes the slot meanwhile.
    door.store(false, Ordering::SeqCst);
    let leases: Api<Lease> = Api::namespaced(direct.clone(), &namespace);
    let name = format!("c5c3-apiserver-slot-{}", replica.seat.slot());
    let taken = json!({"spec": {"holderIdentity": "b", "leaseTransitions": 9}});
    leases.patch(&name, &PatchParams::default(), &Patch::Merge(taken)).await.unwrap();
    door.store(true, Ordering::SeqCst);
    let lost = replica.keeping.await.unwrap().unwrap_err();
    assert!(matches!(&lost, SlotError::Lost { holder, .. } if holder == "b"), "{lost:?}");
    assert!(matches!(&*standing.borrow(), Standing::Adrift(_)));
    end.cancel();
    Api::<Namespace>::all(direct).delete(&namespace, &DeleteParams::default()).await.unwrap();
}
