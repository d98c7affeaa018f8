//! The store in a real kube-apiserver: the suite by two instances, and what only a cluster can do to it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use c5c3_apiserver::intent::{DefinitionError, IntentKey, IntentStore, KubernetesStore, StoreDefinition};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client, Config};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

use super::super::suite::{self, Stage, spec};

/// Access to the cluster of the rig.
pub(super) async fn configuration() -> Option<Config> {
    let Some(file) = std::env::var_os("C5C3_RIG_KUBECONFIG").map(PathBuf::from) else {
        println!("skipped: C5C3_RIG_KUBECONFIG is not set; run tests/rig/up");
        return None;
    };
    let kubeconfig = Kubeconfig::read_from(file).unwrap();
    Some(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap())
}

pub(super) async fn client() -> Option<Client> {
    Some(Client::try_from(configuration().await?).unwrap())
}

/// A store that ends with the guard.
async fn open(client: &Client) -> (Arc<KubernetesStore>, DropGuard) {
    let end = CancellationToken::new();
    let store = KubernetesStore::open(client, &TaskTracker::new(), end.clone()).await.unwrap();
    (Arc::new(store), end.drop_guard())
}

pub(super) fn prefix() -> String {
    format!("t{}", &uuid::Uuid::new_v4().simple().to_string()[..10])
}

pub(super) async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..600 {
        if let Some(found) = look().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("not within 30 s: {what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_in_the_cluster_does_what_every_store_does_by_two_instances() {
    let Some(client) = client().await else { return };
    StoreDefinition::install(&client).await.unwrap();
    // Installing it again is no change.
    StoreDefinition::install(&client).await.unwrap();
    let ((one, _one), (other, _other)) = (open(&client).await, open(&client).await);
    let stage = Stage { one, other, prefix: prefix() };
    suite::run(&stage).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_instance_sees_everything_and_what_others_do_with_kubectl() {
    let Some(client) = client().await else { return };
    StoreDefinition::install(&client).await.unwrap();
    let (first, first_end) = open(&client).await;
    let key = IntentKey::cluster("Hypervisor", &prefix());
    let stored = first.put(&key, None, spec(&key, 1)).await.unwrap();
    drop((first, first_end));
    let (second, _end) = open(&client).await;
    assert!(second.snapshot().await.unwrap().records.contains(&stored));
    let mut changes = second.changes();
    let resource = ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk("storage.c5c3.io", "v1", "Intent"),
        "intents",
    );
    let intents: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let name = format!("hypervisor.c.{}", key.name);
    // Nobody can turn a record into that of another object.
    let other = json!({"spec": {"name": "other"}});
    let refused = intents.patch(&name, &PatchParams::default(), &Patch::Merge(other)).await.unwrap_err();
    assert!(refused.to_string().contains("cannot be changed"), "{refused}");
    let edit = json!({"spec": {"object": {"spec": {"number": 7}}}});
    intents.patch(&name, &PatchParams::default(), &Patch::Merge(edit)).await.unwrap();
    let change =
        until("the edit", async || changes.recv().await.ok().filter(|change| change.key == key)).await;
    let edited = change.record.unwrap();
    assert_eq!(edited.spec(), &json!({"number": 7}));
    let conflict = second.put(&key, Some(&stored.version), spec(&key, 2)).await.unwrap_err();
    assert_eq!(conflict.status(), 409);
    assert!(conflict.to_string().contains(edited.version.as_str()), "{conflict}");
    intents.delete(&name, &DeleteParams::default()).await.unwrap();
    let change =
        until("the deletion", async || changes.recv().await.ok().filter(|change| change.key == key)).await;
    assert_eq!(change.record, None);
    assert!(change.revision > edited.version.revision().unwrap());
}

/// Passes connections on to the cluster while it may.
pub(super) async fn cut_by(target: String, open: Arc<AtomicBool>, end: CancellationToken) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let accepted =
                tokio::select! { accepted = listener.accept() => accepted, () = end.cancelled() => return };
            let (mut near, _) = accepted.unwrap();
            if !open.load(Ordering::SeqCst) {
                continue;
            }
            let (target, open) = (target.clone(), Arc::clone(&open));
            tokio::spawn(async move {
                let mut far = TcpStream::connect(&target).await.unwrap();
                let cut = async {
                    while open.load(Ordering::SeqCst) {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                };
                tokio::select! { _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}, () = cut => {} }
            });
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_cluster_is_away_writes_say_so_and_reads_go_on() {
    let Some(mut configuration) = configuration().await else { return };
    let direct = Client::try_from(configuration.clone()).unwrap();
    StoreDefinition::install(&direct).await.unwrap();
    let target = configuration.cluster_url.authority().unwrap().to_string();
    let (open_door, end) = (Arc::new(AtomicBool::new(true)), CancellationToken::new());
    let _end = end.clone().drop_guard();
    let port = cut_by(target, Arc::clone(&open_door), end).await;
    configuration.cluster_url = format!("https://127.0.0.1:{port}/").parse().unwrap();
    let ((store, _a), (other, _b)) =
        (open(&Client::try_from(configuration).unwrap()).await, open(&direct).await);
    let (kept, gone) = (IntentKey::cluster("Eviction", &prefix()), IntentKey::cluster("Eviction", &prefix()));
    let first = store.put(&kept, None, spec(&kept, 1)).await.unwrap();
    let doomed = store.put(&gone, None, spec(&gone, 1)).await.unwrap();
    let knows =
        async |store: &KubernetesStore, record: &_| store.snapshot().await.unwrap().records.contains(record);
    until("both records", async || {
        (knows(&store, &first).await && knows(&store, &doomed).await).then_some(())
    })
    .await;

    open_door.store(false, Ordering::SeqCst);
    let away = store.put(&kept, Some(&first.version), spec(&kept, 2)).await.unwrap_err();
    assert!([503, 504].contains(&away.status()), "{away:?}");
    assert!(store.get(&kept).await.is_err_and(|error| error.status() == 503));
    let known = store.snapshot().await.unwrap().records;
    assert!(known.iter().any(|record| record.key == kept), "what is known stays known");
    until("that it is silent", async || store.silence()).await;
    // Meanwhile others write. The write that got no answer may have been stored: that is what 504 says.
    let found = other.get(&kept).await.unwrap().unwrap();
    assert!(found == first || away.status() == 504, "{away:?}");
    let second = other.put(&kept, Some(&found.version), spec(&kept, 3)).await.unwrap();
    other.remove(&gone, &doomed.version).await.unwrap();
    let mut changes = store.changes();

    open_door.store(true, Ordering::SeqCst);
    let mut told = Vec::new();
    while told.len() < 2 {
        let change = until("a change", async || changes.recv().await.ok()).await;
        let is_ours = [&kept, &gone].contains(&&change.key) && change.record.as_ref() != Some(&found);
        told.extend(is_ours.then_some((change.key, change.record)));
    }
    told.sort_by_key(|(key, _)| *key != kept);
    assert_eq!(told, [(kept.clone(), Some(second.clone())), (gone, None)]);
    until("that it is heard again", async || store.silence().is_none().then_some(())).await;
    store.remove(&kept, &second.version).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_may_not_install_the_kind_is_told_what_to_do() {
    let Some(mut configuration) = configuration().await else { return };
    let pki = PathBuf::from(std::env::var_os("C5C3_RIG_PKI").unwrap());
    let text = |name: &str| std::fs::read_to_string(pki.join(name)).unwrap();
    configuration.auth_info = serde_json::from_value(json!({
        "client-certificate": pki.join("nobody.crt"), "client-key": pki.join("nobody.key"),
    }))
    .unwrap();
    assert!(text("nobody.crt").contains("CERTIFICATE"));
    let nobody = Client::try_from(configuration).unwrap();
    let error = StoreDefinition::install(&nobody).await.unwrap_err();
    assert!(matches!(error, DefinitionError::Forbidden(_)), "{error:?}");
    assert!(error.to_string().contains("intent.kubernetes.install"), "{error}");
    let refused =
        KubernetesStore::open(&nobody, &TaskTracker::new(), CancellationToken::new()).await.unwrap_err();
    let why = std::error::Error::source(&refused).unwrap().to_string();
    assert!(why.contains("nobody"), "{why}");
}

/// The definition in the cluster is ours: its schema keeps objects as they are and refuses what is no record.
#[tokio::test(flavor = "multi_thread")]
async fn the_definition_has_columns_for_people() {
    let Some(client) = client().await else { return };
    StoreDefinition::install(&client).await.unwrap();
    let definitions: Api<CustomResourceDefinition> = Api::all(client);
    let found = definitions.get("intents.storage.c5c3.io").await.unwrap();
    let version = &found.spec.versions[0];
    let columns = version.additional_printer_columns.as_ref().unwrap();
    assert_eq!(
        columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
        ["Kind", "Namespace", "For", "Generation", "Age"]
    );
    assert_eq!(found.spec.scope, "Cluster");
}
