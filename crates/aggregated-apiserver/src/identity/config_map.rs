//! What the cluster tells its aggregated servers to believe: `kube-system/extension-apiserver-authentication`.
//!
//! Any key may be absent. While kube-apiserver is away, what was read last stays in force.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use futures::{StreamExt as _, pin_mut};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::answers::delivered;

use super::{CertificateAuthority, FrontProxy, FrontProxyHeaders, Trust, TrustError};

const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";
/// How long to wait for a cluster.
const PATIENCE: Duration = Duration::from_secs(60);

/// The ConfigMap as read, and kept up to date.
#[derive(Debug)]
pub struct AuthenticationConfigMap {
    api: Api<ConfigMap>,
    trust: Arc<ArcSwap<Trust>>,
}

/// Why the ConfigMap cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigMapError {
    /// It cannot be read.
    #[error("reading ConfigMap {NAMESPACE}/{NAME}")]
    Read {
        /// What is wrong.
        #[source]
        source: Box<kube::Error>,
    },
    /// Nobody answered.
    #[error("ConfigMap {NAMESPACE}/{NAME} was not answered for within a minute")]
    Timeout,
    /// A list in it is not a JSON array of strings.
    #[error("ConfigMap {NAMESPACE}/{NAME}: key {key}: not a JSON array of strings")]
    List {
        /// Which key.
        key: &'static str,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
    /// An authority in it cannot be used.
    #[error("ConfigMap {NAMESPACE}/{NAME}: key {key}")]
    Authority {
        /// Which key.
        key: &'static str,
        /// What is wrong.
        #[source]
        source: TrustError,
    },
}

impl AuthenticationConfigMap {
    /// Reads nothing yet: until [`read`](Self::read) or [`follow`](Self::follow) succeeded, nobody is believed.
    pub fn new(client: Client) -> Self {
        Self { api: Api::namespaced(client, NAMESPACE), trust: Arc::default() }
    }

    /// What is believed at the moment.
    pub fn trust(&self) -> &Arc<ArcSwap<Trust>> {
        &self.trust
    }

    /// Reads it once. A cluster that cannot be reached, or is not ready, is asked again for a minute: it may be restarting.
    pub async fn read(&self) -> Result<(), ConfigMapError> {
        let map = delivered(PATIENCE, || async { self.api.get(NAME).await })
            .await
            .ok_or(ConfigMapError::Timeout)?
            .map_err(|source| ConfigMapError::Read { source: Box::new(source) })?;
        self.adopt(&map)
    }

    /// Follows it until stopped.
    pub async fn follow(&self, stop: CancellationToken) {
        let only = watcher::Config::default().fields(&format!("metadata.name={NAME}"));
        let maps = watcher(self.api.clone(), only).default_backoff().applied_objects();
        pin_mut!(maps);
        loop {
            let next = tokio::select! {
                () = stop.cancelled() => return,
                next = maps.next() => next,
            };
            match next {
                Some(Ok(map)) => {
                    if let Err(error) = self.adopt(&map) {
                        warn!(
                            error = &error as &dyn std::error::Error,
                            "authentication configuration is not usable"
                        );
                    }
                }
                Some(Err(error)) => {
                    warn!(
                        error = &error as &dyn std::error::Error,
                        "authentication configuration cannot be watched"
                    );
                }
                None => return,
            }
        }
    }

    fn adopt(&self, map: &ConfigMap) -> Result<(), ConfigMapError> {
        let trust = parse(map)?;
        if **self.trust.load() != trust {
            info!(
                clients = trust.clients.is_some(),
                front_proxy = trust.front_proxy.is_some(),
                "authentication configuration adopted"
            );
            self.trust.store(Arc::new(trust));
        }
        Ok(())
    }
}

fn parse(map: &ConfigMap) -> Result<Trust, ConfigMapError> {
    let value = |key: &str| map.data.as_ref().and_then(|data| data.get(key)).map(String::as_str);
    let list = |key: &'static str, default: &[String]| match value(key) {
        None | Some("") => Ok(default.to_vec()),
        Some(json) => serde_json::from_str(json).map_err(|source| ConfigMapError::List { key, source }),
    };
    let authority = |key: &'static str| match value(key).filter(|pem| !pem.trim().is_empty()) {
        None => Ok(None),
        Some(pem) => CertificateAuthority::from_pem(pem)
            .map(Some)
            .map_err(|source| ConfigMapError::Authority { key, source }),
    };
    let usual = FrontProxyHeaders::default();
    let front_proxy = match authority("requestheader-client-ca-file")? {
        None => None,
        Some(authority) => Some(FrontProxy {
            authority,
            allowed_names: list("requestheader-allowed-names", &[])?,
            headers: FrontProxyHeaders {
                user: list("requestheader-username-headers", &usual.user)?,
                // A cluster that does not name this header does not keep clients from sending it.
                uid: list("requestheader-uid-headers", &[])?,
                group: list("requestheader-group-headers", &usual.group)?,
                extra_prefix: list("requestheader-extra-headers-prefix", &usual.extra_prefix)?,
            },
        }),
    };
    Ok(Trust { clients: authority("client-ca-file")?, front_proxy })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn map(pairs: &[(&str, &str)]) -> ConfigMap {
        let data: BTreeMap<_, _> = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        ConfigMap { data: Some(data), ..ConfigMap::default() }
    }

    // covers: C18
    #[test]
    fn request_header_keys_alone_suffice() {
        let pem = crate::testing::authority("front").pem();
        let trust = parse(&map(&[
            ("requestheader-client-ca-file", &pem),
            ("requestheader-allowed-names", r#"["front-proxy-client"]"#),
            ("requestheader-username-headers", r#"["X-User"]"#),
        ]))
        .unwrap();
        assert!(trust.clients.is_none());
        let proxy = trust.front_proxy.unwrap();
        assert_eq!(proxy.allowed_names, ["front-proxy-client"]);
        assert_eq!(proxy.headers.user, ["X-User"]);
        assert_eq!(proxy.headers.group, ["X-Remote-Group"]);
        assert!(proxy.headers.uid.is_empty(), "only a cluster that names it sets it");
    }

    #[test]
    fn an_empty_map_believes_nobody() {
        assert_eq!(parse(&ConfigMap::default()).unwrap(), Trust::default());
    }

    #[test]
    fn faults_name_their_key() {
        let bad = parse(&map(&[("client-ca-file", "nonsense")])).unwrap_err();
        assert!(matches!(bad, ConfigMapError::Authority { key: "client-ca-file", .. }));
        let pem = crate::testing::authority("front").pem();
        let bad = parse(&map(&[
            ("requestheader-client-ca-file", &pem),
            ("requestheader-allowed-names", "front-proxy-client"),
        ]));
        assert!(matches!(bad, Err(ConfigMapError::List { key: "requestheader-allowed-names", .. })));
    }
}
