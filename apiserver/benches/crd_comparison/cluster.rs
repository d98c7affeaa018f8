//! The other side: the same objects as a CRD in the kube-apiserver of a rig.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use http_body_util::BodyExt as _;
use hyper::Method;
use kube::config::Kubeconfig;
use serde_json::{Value, json};

use crate::Arguments;
use crate::client::{Connection, Target};
use crate::measure::{LIST, Server};
use crate::objects::{self, CHANGED};
use crate::process;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// Writes under way at one time while objects are made.
const AT_ONCE: usize = 32;

pub(crate) struct Cluster {
    target: Target,
    connection: Connection,
    objects: usize,
    server: u32,
    store: u32,
    empty: f64,
}

impl Cluster {
    /// Makes the CRD and all objects.
    pub(crate) async fn from_environment(arguments: &Arguments) -> Option<Self> {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let kubeconfig = Kubeconfig::read_from(variable("C5C3_RIG_KUBECONFIG")?).unwrap();
        let pki = variable("C5C3_RIG_PKI")?;
        let daemons = variable("C5C3_RIG_STATE")?.join("daemons");
        let url = kubeconfig.clusters[0].cluster.as_ref().unwrap().server.clone().unwrap();
        let target = Target {
            address: url.trim_start_matches("https://").trim_end_matches('/').parse().unwrap(),
            authority: pki.join("ca.crt"),
            certificate: pki.join("admin.crt"),
            key: pki.join("admin.key"),
        };
        let pid = |name: &str| {
            let text = std::fs::read_to_string(daemons.join(name)).unwrap();
            text.split_whitespace().next().unwrap().parse().unwrap()
        };
        let (server, store) = (pid("kube-apiserver"), pid("etcd"));
        let connection = target.connect().await;
        let empty = process::memory(server);
        let cluster = Self { target, connection, objects: arguments.objects, server, store, empty };
        cluster.define().await;
        cluster.fill().await;
        Some(cluster)
    }

    async fn define(&self) {
        let mut definition = c5c3_api::schema::custom_resource_definition(&c5c3_api::hypervisor::KIND);
        for version in definition["spec"]["versions"].as_array_mut().unwrap() {
            // Status is part of the object here, so that one write makes it.
            version.as_object_mut().unwrap().remove("subresources");
        }
        self.write(Method::POST, DEFINITIONS, "application/json", &definition).await;
        let start = Instant::now();
        while !self.connection.send(Method::GET, LIST, &[], Bytes::new()).await.status().is_success() {
            assert!(start.elapsed() < Duration::from_secs(60), "the CRD is not served");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn fill(&self) {
        let writes = futures::stream::iter(0..self.objects).map(|number| async move {
            let mut object = objects::hypervisor(number);
            object["apiVersion"] = json!("hypervisor.c5c3.io/v1");
            object["kind"] = json!("Hypervisor");
            self.write(Method::POST, LIST, "application/json", &object).await;
            // Nobody's fields are remembered, so that both servers hold the same bytes.
            let path = format!("{LIST}/{}", objects::name(number));
            let forget = json!([{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]);
            self.write(Method::PATCH, &path, "application/json-patch+json", &forget).await;
        });
        writes.buffer_unordered(AT_ONCE).collect::<Vec<()>>().await;
    }

    async fn write(&self, method: Method, path: &str, content_type: &str, body: &Value) {
        let headers = [("content-type", content_type)];
        let answer = self.connection.send(method, path, &headers, body.to_string()).await;
        let good = answer.status().is_success();
        let said = answer.into_body().collect().await.unwrap().to_bytes();
        assert!(good, "{path}: {said:?}");
    }

    /// Removes the CRD with its objects.
    pub(crate) async fn clear(&self) {
        let path = format!("{DEFINITIONS}/hypervisors.hypervisor.c5c3.io");
        self.write(Method::DELETE, &path, "application/json", &json!({})).await;
    }
}

impl Server for Cluster {
    fn target(&self) -> &Target {
        &self.target
    }

    fn processes(&self) -> Vec<(&'static str, u32)> {
        vec![("kube-apiserver", self.server), ("etcd", self.store)]
    }

    fn empty(&self) -> f64 {
        self.empty
    }

    fn change(&self, rate: u32, seconds: u32) -> BoxFuture<'_, usize> {
        async move {
            let total = rate * seconds;
            let start = tokio::time::Instant::now();
            let made = Arc::new(AtomicUsize::new(0));
            let writes = futures::stream::iter(0..total).map(|number| {
                let made = made.clone();
                async move {
                    tokio::time::sleep_until(start + Duration::from_secs(1) * number / rate).await;
                    let path = format!("{LIST}/{}", objects::name(number as usize * 31 % self.objects));
                    let change = json!({"metadata": {"annotations": {CHANGED: objects::now().to_string()}}});
                    self.write(Method::PATCH, &path, "application/merge-patch+json", &change).await;
                    made.fetch_add(1, Ordering::SeqCst);
                }
            });
            writes.buffer_unordered(200).collect::<Vec<()>>().await;
            made.load(Ordering::SeqCst)
        }
        .boxed()
    }
}
