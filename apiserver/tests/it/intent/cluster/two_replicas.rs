//! Two servers on one store in a real cluster: what was read from one is written through the other, and never over what was
//! not seen.

use std::path::PathBuf;
use std::time::Duration;

use c5c3_api::Eviction;
use c5c3_apiserver::configuration::{Configuration, Intent, IntentInKubernetes, Kubernetes};
use c5c3_apiserver::wiring::{self, Running};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::api::{Api, DeleteParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config, ResourceExt as _};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::store::{client, prefix, until};
use crate::fixture::Ground;

/// One of the replicas, and a client of it alone.
struct Replica {
    running: Running,
    evictions: Api<Eviction>,
    end: CancellationToken,
}

/// A token of somebody who may do everything, in a namespace of this test.
async fn administrator(cluster: &Client, namespace: &str) -> String {
    let make = |value| serde_json::from_value(value).unwrap();
    let parameters = PostParams::default();
    let all: Api<Namespace> = Api::all(cluster.clone());
    all.create(&parameters, &make(json!({"metadata": {"name": namespace}}))).await.unwrap();
    let accounts: Api<ServiceAccount> = Api::namespaced(cluster.clone(), namespace);
    let account = serde_json::from_value(json!({"metadata": {"name": "writer"}})).unwrap();
    accounts.create(&parameters, &account).await.unwrap();
    let binding = json!({
        "metadata": {"name": namespace},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "writer", "namespace": namespace}],
    });
    let bindings: Api<ClusterRoleBinding> = Api::all(cluster.clone());
    bindings.create(&parameters, &serde_json::from_value(binding).unwrap()).await.unwrap();
    let request = TokenRequest { spec: TokenRequestSpec::default(), ..TokenRequest::default() };
    let token = accounts.create_token_request("writer", &parameters, &request).await.unwrap();
    token.status.unwrap().token
}

async fn replica(ground: &Ground, configuration: Configuration, token: &str) -> Replica {
    let end = CancellationToken::new();
    let running = wiring::start(configuration, end.clone()).await.unwrap();
    let mut kubeconfig: serde_json::Value = ground.certificates.kubeconfig(running.address());
    kubeconfig["users"][0]["user"] = json!({ "token": token });
    let kubeconfig: Kubeconfig = serde_json::from_value(kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    let evictions = Api::all(Client::try_from(config).unwrap());
    Replica { running, evictions, end }
}

fn count(eviction: &Eviction) -> u64 {
    eviction.annotations().get("count").and_then(|count| count.parse().ok()).unwrap_or_default()
}

/// Reads from one, counts up, and writes through the other. Whether that was accepted; a conflict is no failure.
async fn count_up(from: &Api<Eviction>, through: &Api<Eviction>, name: &str) -> bool {
    let mut eviction = from.get(name).await.unwrap();
    let next = count(&eviction) + 1;
    eviction.annotations_mut().insert("count".to_owned(), next.to_string());
    match through.replace(name, &PostParams::default(), &eviction).await {
        Ok(_) => true,
        Err(kube::Error::Api(status)) if status.code == 409 => false,
        Err(error) => panic!("{error:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_writers_on_two_replicas_never_overwrite_what_they_have_not_seen() {
    let Some(cluster) = client().await else { return };
    let ground = Ground::new(1).await;
    let namespace = prefix();
    let token = administrator(&cluster, &namespace).await;
    let mut configuration = ground.configuration();
    configuration.standalone = None;
    configuration.kubernetes = Some(Kubernetes {
        kubeconfig: std::env::var_os("C5C3_RIG_KUBECONFIG").map(PathBuf::from),
        node_label: String::new(),
    });
    let intent = IntentInKubernetes { namespace: namespace.clone(), ..IntentInKubernetes::default() };
    configuration.intent = Intent { file: None, kubernetes: Some(intent) };
    let one = replica(&ground, configuration.clone(), &token).await;
    let other = replica(&ground, configuration, &token).await;

    let name = prefix();
    let eviction = json!({
        "apiVersion": "hypervisor.c5c3.io/v1", "kind": "Eviction", "metadata": {"name": name},
        "spec": {"hypervisor": "host-1", "reason": "test"},
    });
    let made = one
        .evictions
        .create(&PostParams::default(), &serde_json::from_value(eviction).unwrap())
        .await
        .unwrap();
    let seen =
        until("the other replica shows it", async || other.evictions.get_opt(&name).await.unwrap()).await;
    assert_eq!((seen.uid(), seen.metadata.generation), (made.uid(), made.metadata.generation));

    // What the other one shows is accepted here as soon as its statement has been heard, which takes moments.
    until("a write across replicas", async || {
        count_up(&other.evictions, &one.evictions, &name).await.then_some(())
    })
    .await;
    // And for as long as nobody changes the intent, however old it is.
    until("the other replica shows the write", async || {
        other.evictions.get(&name).await.ok().filter(|found| count(found) == 1)
    })
    .await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(count_up(&other.evictions, &one.evictions, &name).await, "nobody changed it for two seconds");

    let mut writers = JoinSet::new();
    for writer in 0..10_u32 {
        let (one, other, name) = (one.evictions.clone(), other.evictions.clone(), name.clone());
        writers.spawn(async move {
            let mut accepted = 0_u64;
            let end = tokio::time::Instant::now() + Duration::from_secs(6);
            for turn in writer.. {
                if tokio::time::Instant::now() > end {
                    break;
                }
                let (from, through) = match turn % 4 {
                    0 => (&one, &other),
                    1 => (&other, &one),
                    2 => (&one, &one),
                    _ => (&other, &other),
                };
                accepted += u64::from(count_up(from, through, &name).await);
                // Writers that never pause leave no moment in which a replica could be heard.
                tokio::time::sleep(Duration::from_millis(u64::from(turn * 7 % 90))).await;
            }
            accepted
        });
    }
    let accepted: u64 = writers.join_all().await.into_iter().sum();
    let last = until("both to agree", async || {
        let (here, there) =
            (one.evictions.get(&name).await.unwrap(), other.evictions.get(&name).await.unwrap());
        (count(&here) == count(&there)).then_some(count(&here))
    })
    .await;
    assert_eq!(last, 2 + accepted, "an accepted write was overwritten by somebody who had not seen it");
    assert!(accepted > 2, "{accepted}");
    println!("{accepted} writes accepted on two replicas");

    one.evictions.delete(&name, &DeleteParams::default()).await.unwrap();
    until("its end on the other replica", async || {
        other.evictions.get_opt(&name).await.unwrap().is_none().then_some(())
    })
    .await;
    for replica in [one, other] {
        replica.end.cancel();
        replica.running.ended().await.unwrap();
    }
    let bindings: Api<ClusterRoleBinding> = Api::all(cluster.clone());
    bindings.delete(&namespace, &DeleteParams::default()).await.unwrap();
    Api::<Namespace>::all(cluster).delete(&namespace, &DeleteParams::default()).await.unwrap();
}
