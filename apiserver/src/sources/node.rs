//! Kubernetes Nodes by watch: which hosts there are, with labels, annotations and addresses.

use futures::{StreamExt as _, TryStreamExt as _};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, ResourceExt as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::observation::chain;
use super::picture::NodePicture;

/// What the watch says.
#[derive(Debug)]
pub enum NodeChange {
    /// A Node is there, or has changed.
    Present {
        /// Its name.
        name: String,
        /// What it says.
        node: Box<NodePicture>,
    },
    /// A Node is gone.
    Gone {
        /// Its name.
        name: String,
    },
    /// The names above are all there are: a Node that was not among them is gone.
    Complete {
        /// All names.
        names: Vec<String>,
    },
    /// The watch does not work at the moment.
    Silent {
        /// Why.
        message: String,
    },
}

/// Follows the Nodes with a label until told to end. Silence is reported and retried, with growing pauses.
pub async fn follow(
    client: Client,
    label: String,
    changes: mpsc::Sender<NodeChange>,
    end: CancellationToken,
) {
    let nodes: Api<Node> = Api::all(client);
    let events = watcher(nodes, watcher::Config::default().labels(&label)).default_backoff();
    let mut events = events.into_stream().boxed();
    let mut names: Vec<String> = Vec::new();
    loop {
        let event = tokio::select! {
            event = events.try_next() => event,
            () = end.cancelled() => return,
        };
        let change = match event {
            Ok(Some(watcher::Event::Init)) => {
                names.clear();
                continue;
            }
            Ok(Some(watcher::Event::InitApply(node))) => {
                names.push(node.name_any());
                present(&node)
            }
            Ok(Some(watcher::Event::InitDone)) => NodeChange::Complete { names: std::mem::take(&mut names) },
            Ok(Some(watcher::Event::Apply(node))) => present(&node),
            Ok(Some(watcher::Event::Delete(node))) => NodeChange::Gone { name: node.name_any() },
            Ok(None) => return,
            Err(error) => {
                let message = chain(&error);
                tracing::warn!(error = %message, "Nodes cannot be watched");
                NodeChange::Silent { message }
            }
        };
        if changes.send(change).await.is_err() {
            return;
        }
    }
}

fn present(node: &Node) -> NodeChange {
    NodeChange::Present { name: node.name_any(), node: Box::new(picture(node)) }
}

fn picture(node: &Node) -> NodePicture {
    let status = node.status.as_ref();
    let addresses = status.and_then(|status| status.addresses.as_ref()).into_iter().flatten();
    let internal =
        addresses.filter(|address| address.type_ == "InternalIP").map(|address| address.address.clone());
    let conditions = status.and_then(|status| status.conditions.as_ref()).into_iter().flatten();
    let mut terminating =
        conditions.filter(|condition| condition.type_ == "Terminating" && condition.status == "True");
    let info = status.and_then(|status| status.node_info.as_ref());
    let told = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    NodePicture {
        uid: node.uid().unwrap_or_default(),
        created: node.creation_timestamp().map(|time| time.0).or(Some(Timestamp::UNIX_EPOCH)),
        labels: node.labels().clone(),
        annotations: node.annotations().clone(),
        internal_ip: internal.into_iter().next(),
        kernel_version: info.and_then(|info| told(&info.kernel_version)),
        os_image: info.and_then(|info| told(&info.os_image)),
        terminating: node.metadata.deletion_timestamp.is_some() || terminating.next().is_some(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_node_is_read_with_its_first_internal_address() {
        let node: Node = serde_json::from_value(json!({
            "metadata": {"name": "n", "uid": "u", "labels": {"a": "b"}},
            "status": {
                "addresses": [{"type": "Hostname", "address": "n"}, {"type": "InternalIP", "address": "10.0.0.1"},
                              {"type": "InternalIP", "address": "fd00::1"}],
                "conditions": [{"type": "Terminating", "status": "True"}],
            },
        }))
        .unwrap();
        let picture = picture(&node);
        assert_eq!((picture.uid.as_str(), picture.internal_ip.as_deref()), ("u", Some("10.0.0.1")));
        assert!(picture.terminating);
        assert_eq!(picture.kernel_version, None);
    }
}
