//! Who may ask and who decides: from the hosting cluster, or from a CA file and two groups.

use std::sync::Arc;

use aggregated_apiserver::{
    AuthenticationConfigMap, Authenticator, Authorizer, CertificateAuthenticator, ClientAuthorityFile,
    GroupAuthorizer, SubjectAccessReviewAuthorizer, TokenReviewAuthenticator, Trust,
};
use arc_swap::ArcSwap;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::WiringError;
use crate::configuration::{Kubernetes, Standalone};

/// Identity and permission.
pub(super) struct Access {
    pub(super) authenticators: Vec<Arc<dyn Authenticator>>,
    pub(super) authorizer: Arc<dyn Authorizer>,
}

/// Access as the hosting cluster rules it; the ConfigMap is followed from now on.
pub(super) async fn of_cluster(
    client: &Client,
    tasks: &TaskTracker,
    end: &CancellationToken,
) -> Result<Access, WiringError> {
    let config_map = Arc::new(AuthenticationConfigMap::new(client.clone()));
    config_map.read().await.map_err(WiringError::Authentication)?;
    let trust = Arc::clone(config_map.trust());
    let stop = end.child_token();
    tasks.spawn(async move { config_map.follow(stop).await });
    // Whoever comes directly, past the front proxy, may show a token of the cluster.
    let mut authenticators = authenticators(trust);
    authenticators.push(Arc::new(TokenReviewAuthenticator::new(client.clone())));
    Ok(Access { authenticators, authorizer: Arc::new(SubjectAccessReviewAuthorizer::new(client.clone())) })
}

/// Access by client certificate, without a cluster; the file of the CA is followed from now on.
pub(super) fn standalone(
    rules: &Standalone,
    tasks: &TaskTracker,
    end: &CancellationToken,
) -> Result<Access, WiringError> {
    let authority = ClientAuthorityFile::open(&rules.client_ca).map_err(WiringError::ClientCa)?;
    let trust = Arc::clone(authority.trust());
    let stop = end.child_token();
    tasks.spawn(async move { authority.follow(stop).await });
    Ok(Access {
        authenticators: authenticators(trust),
        authorizer: Arc::new(GroupAuthorizer::new(rules.reader_group.clone(), rules.admin_group.clone())),
    })
}

fn authenticators(trust: Arc<ArcSwap<Trust>>) -> Vec<Arc<dyn Authenticator>> {
    vec![Arc::new(CertificateAuthenticator::new(trust))]
}

/// A client of the hosting cluster.
///
/// # Errors
/// When the kubeconfig, or the pod's service account, cannot be used.
pub async fn client(kubernetes: &Kubernetes) -> Result<Client, WiringError> {
    let from = match &kubernetes.kubeconfig {
        Some(file) => format!("kubeconfig {}", file.display()),
        None => "service account".to_owned(),
    };
    let refuse = |source: Box<dyn std::error::Error + Send + Sync>| WiringError::Kubeconfig {
        from: from.clone(),
        source,
    };
    let config = match &kubernetes.kubeconfig {
        Some(file) => {
            let kubeconfig = Kubeconfig::read_from(file).map_err(|error| refuse(Box::new(error)))?;
            Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
                .await
                .map_err(|error| refuse(Box::new(error)))?
        }
        None => Config::incluster().map_err(|error| refuse(Box::new(error)))?,
    };
    Client::try_from(config).map_err(|error| refuse(Box::new(error)))
}

/// Nobody may do anything.
pub(super) fn nobody() -> Access {
    Access {
        authenticators: Vec::new(),
        authorizer: Arc::new(GroupAuthorizer::new("system:masters", "system:masters")),
    }
}
