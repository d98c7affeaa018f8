//! What writing costs: server-side apply and merge patch of Evictions, here on the embedded store and on custom resources of a
//! cluster, and as a CRD of the same schema in kube-apiserver. The same client, one run after the other, on one machine.
//!
//! `cargo bench -p c5c3-apiserver --no-default-features --bench writing`, with the `rig.env` of `tests/rig/up kube` sourced. Prints a
//! table in Markdown; docs/benchmarks.md keeps what was measured when. Ours is asked directly, not through kube-apiserver.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark that cannot go on ends"
)]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use c5c3_apiserver::configuration::load;
use c5c3_apiserver::wiring::{self, Running};
use futures::StreamExt as _;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Objects that are written.
const OBJECTS: usize = 200;
/// Writes of one measurement.
const WRITES: usize = 1000;
/// Group of the CRD: another than ours, so that both can be there.
const GROUP: &str = "writing.example.com";

#[tokio::main]
async fn main() {
    let Some(rig) = Rig::from_environment() else {
        println!(
            "skipped: C5C3_RIG_KUBECONFIG, C5C3_RIG_PKI or C5C3_RIG_STATE is not set; run tests/rig/up kube"
        );
        return;
    };
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let mut table =
        "| server | what | at once | per second | p50 ms | p99 ms |\n|---|---|---|---|---|---|\n".to_owned();
    let folder = tempfile::tempdir().unwrap();
    let standalone = format!(
        "standalone: {{clientCa: {}/ca.crt, adminGroup: 'system:masters'}}\nintent: {{file: {}/intent.redb}}\n",
        rig.pki.display(),
        folder.path().display()
    );
    let cluster = format!(
        "kubernetes: {{kubeconfig: {}/kube/c5c3-apiserver.kubeconfig}}\nintent: {{kubernetes: {{}}}}\n",
        rig.state.display()
    );
    for (name, more) in [("c5c3, embedded store", standalone), ("c5c3, custom resources", cluster)] {
        let (running, end) = ours(&rig, folder.path(), &more).await;
        let client = client(&rig, &format!("https://{}", running.address())).await;
        measured(&mut table, name, &client, "hypervisor.c5c3.io").await;
        end.cancel();
        running.ended().await.unwrap();
    }
    let kubeconfig = Kubeconfig::read_from(&rig.kubeconfig).unwrap();
    let url = kubeconfig.clusters[0].cluster.as_ref().unwrap().server.clone().unwrap();
    let client = client(&rig, &url).await;
    define(&client).await;
    measured(&mut table, "CRD in kube-apiserver", &client, GROUP).await;
    println!("{OBJECTS} Evictions, {WRITES} writes each, each of them a change\n\n{table}");
}

struct Rig {
    kubeconfig: PathBuf,
    pki: PathBuf,
    state: PathBuf,
}

impl Rig {
    fn from_environment() -> Option<Self> {
        let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
        Some(Self {
            kubeconfig: path("C5C3_RIG_KUBECONFIG")?,
            pki: path("C5C3_RIG_PKI")?,
            state: path("C5C3_RIG_STATE")?,
        })
    }
}

/// The product, in this process, without a source.
async fn ours(rig: &Rig, folder: &Path, more: &str) -> (Running, CancellationToken) {
    let pki = rig.pki.display();
    let file = folder.join("server.yaml");
    let text =
        format!("listen: 127.0.0.1:0\nserving: {{certificate: {pki}/agg.crt, key: {pki}/agg.key}}\n{more}");
    std::fs::write(&file, text).unwrap();
    let end = CancellationToken::new();
    let running = wiring::start(load(&file).unwrap(), end.clone()).await.unwrap();
    while !running.is_ready() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    (running, end)
}

async fn client(rig: &Rig, url: &str) -> Client {
    let pki = rig.pki.display();
    let kubeconfig: Kubeconfig = serde_json::from_value(json!({
        "clusters": [{"name": "c", "cluster": {"server": url, "certificate-authority": format!("{pki}/ca.crt")}}],
        "users": [{"name": "u", "user": {"client-certificate": format!("{pki}/admin.crt"), "client-key": format!("{pki}/admin.key")}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }))
    .unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

/// The same kind as a CRD, until it is served.
async fn define(client: &Client) {
    let mut definition = c5c3_api::schema::custom_resource_definition(&c5c3_api::eviction::KIND);
    definition["metadata"]["name"] = json!(format!("evictions.{GROUP}"));
    definition["spec"]["group"] = json!(GROUP);
    let kind = ApiResource {
        group: "apiextensions.k8s.io".into(),
        version: "v1".into(),
        api_version: "apiextensions.k8s.io/v1".into(),
        kind: "CustomResourceDefinition".into(),
        plural: "customresourcedefinitions".into(),
    };
    let definitions: Api<DynamicObject> = Api::all_with(client.clone(), &kind);
    let parameters = PatchParams::apply("bench").force();
    definitions.patch(&format!("evictions.{GROUP}"), &parameters, &Patch::Apply(definition)).await.unwrap();
    while evictions(client, GROUP).list(&Default::default()).await.is_err() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn evictions(client: &Client, group: &str) -> Api<DynamicObject> {
    let kind = ApiResource {
        group: group.into(),
        version: "v1".into(),
        api_version: format!("{group}/v1"),
        kind: "Eviction".into(),
        plural: "evictions".into(),
    };
    Api::all_with(client.clone(), &kind)
}

fn name(number: usize) -> String {
    format!("bench-{}", number % OBJECTS)
}

fn applied(group: &str, number: usize, reason: usize) -> Value {
    json!({
        "apiVersion": format!("{group}/v1"), "kind": "Eviction", "metadata": {"name": name(number)},
        "spec": {"hypervisor": format!("host-{}", number % OBJECTS), "reason": format!("reason {reason}")},
    })
}

async fn measured(table: &mut String, server: &str, client: &Client, group: &str) {
    let api = evictions(client, group);
    let apply = PatchParams::apply("bench");
    let created = Instant::now();
    for number in 0..OBJECTS {
        api.patch(&name(number), &apply, &Patch::Apply(applied(group, number, 0))).await.unwrap();
    }
    println!("{server}: {OBJECTS} created in {:?}", created.elapsed());
    let mut round = 0;
    for at_once in [1, 16] {
        for what in ["apply", "merge patch"] {
            round += 1;
            let writes = (0..WRITES).map(|number| {
                let (api, apply) = (api.clone(), apply.clone());
                let reason = round * WRITES + number;
                async move {
                    let began = Instant::now();
                    let outcome = if what == "apply" {
                        api.patch(&name(number), &apply, &Patch::Apply(applied(group, number, reason))).await
                    } else {
                        let patch = json!({"spec": {"reason": format!("reason {reason}")}});
                        api.patch(&name(number), &PatchParams::default(), &Patch::Merge(patch)).await
                    };
                    // A merge patch takes the field from the applier; it is given back before the next apply.
                    outcome.unwrap_or_else(|error| panic!("{server} {what}: {error}"));
                    began.elapsed()
                }
            });
            let began = Instant::now();
            let mut times: Vec<Duration> =
                futures::stream::iter(writes).buffer_unordered(at_once).collect().await;
            let rate = WRITES as f64 / began.elapsed().as_secs_f64();
            times.sort_unstable();
            let part = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
            writeln!(
                table,
                "| {server} | {what} | {at_once} | {rate:.0} | {:.1} | {:.1} |",
                part(0.5),
                part(0.99)
            )
            .unwrap();
            if what == "merge patch" {
                let forced = apply.clone().force();
                for number in 0..OBJECTS {
                    api.patch(&name(number), &forced, &Patch::Apply(applied(group, number, 0)))
                        .await
                        .unwrap();
                }
            }
        }
    }
    for number in 0..OBJECTS {
        api.delete(&name(number), &DeleteParams::default()).await.unwrap();
    }
}
