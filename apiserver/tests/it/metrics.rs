//! The metrics that there are and those that the reference lists are the same.

use std::collections::BTreeSet;

use c5c3_api::Hypervisor;

use crate::fixture::{Ground, Watch, seen};

const REFERENCE: &str = include_str!("../../../docs/reference/metrics.md");

/// Names in the first column of the tables.
fn documented() -> BTreeSet<String> {
    let rows = REFERENCE.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(name, _)| name.to_owned()).collect()
}

/// Names that are told once there is something to tell: those of the list.
fn at_times() -> BTreeSet<String> {
    let items = REFERENCE.lines().filter_map(|line| line.strip_prefix("- `")?.split_once('`'));
    items.map(|(name, _)| name.to_owned()).collect()
}

fn exposed(text: &str) -> BTreeSet<String> {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    types
        .map(|(name, type_)| if type_ == "counter" { format!("{name}_total") } else { name.to_owned() })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_lists_every_metric_and_no_other() {
    let ground = Ground::new(1).await;
    let server = ground.serve().await;
    let hypervisors = server.all::<Hypervisor>();
    seen(&hypervisors, "host-1", |found| found.status.as_ref().unwrap().num_instances.is_some()).await;
    let _watch = Watch::open(&hypervisors).await;
    // Families show once they have a value; the hosts by source are counted each second.
    let text = loop {
        let request = http::Request::get("/metrics").body(Vec::new()).unwrap();
        let text = server.client.request_text(request).await.unwrap();
        if text.contains(r#"c5c3_sources{source="libvirt",state="Connected"} 1"#) {
            break text;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    assert_eq!(&exposed(&text) - &at_times(), documented());
    assert!(text.contains(r#"kube_customresource_hypervisor_num_instances{name="host-1""#), "{text}");
    server.stop().await;
}
