//! `hypervisors/NAME/domains`: what each domain uses, as a list and as a Table, and who may see it.

use c5c3_api::Hypervisor;
use fleet_simulator::model::Fault;
use http::Request;
use serde_json::Value;

use crate::fixture::{Ground, condition, seen};

const PATH: &str = "/apis/hypervisor.c5c3.io/v1/hypervisors/host-1/domains";

async fn get(client: &kube::Client, path: &str, accept: &str) -> Result<Value, kube::Error> {
    let request = Request::get(path).header("accept", accept).body(Vec::new()).unwrap();
    client.request(request).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_domains_of_a_host_tell_what_they_use() {
    let ground = Ground::new(1).await;
    let server = ground.serve().await;
    let connected = |found: &Hypervisor| {
        condition(&found.status.as_ref().unwrap().conditions, "LibvirtConnected").0 == "True"
    };
    seen(&server.all::<Hypervisor>(), "host-1", connected).await;
    let host = ground.fleet.host(0).unwrap();
    let stopped = host.read(|state| *state.domains.keys().next().unwrap());
    assert!(host.stop(stopped));

    let list = get(&server.client, PATH, "application/json").await.unwrap();
    assert_eq!((&list["kind"], &list["apiVersion"]), (&"DomainList".into(), &"hypervisor.c5c3.io/v1".into()));
    assert_eq!(
        (&list["sources"][0]["name"], &list["sources"][0]["state"]),
        (&"libvirt".into(), &"Connected".into())
    );
    let items = list["items"].as_array().unwrap();
    let of = |id: &str| items.iter().find(|item| item["id"] == id).unwrap();
    let runs = items.iter().find(|item| item["active"] == true).unwrap();
    assert_eq!((&runs["state"], &runs["stateReason"]), (&"running".into(), &"booted".into()));
    // The simulator lets each virtual CPU be busy a tenth of the time.
    let expected = runs["vcpus"].as_f64().unwrap() / 10.0;
    assert!((runs["cpus"].as_f64().unwrap() - expected).abs() < expected / 2.0, "{runs}");
    assert!(
        runs["memoryKiB"].as_u64().is_some() && runs["receivedBytesPerSecond"].as_u64().is_some(),
        "{runs}"
    );
    let off = of(&stopped.to_string());
    assert_eq!((&off["state"], off.get("cpus")), (&"shut off".into(), None), "no usage is not a usage of 0");

    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    let table = get(&server.client, PATH, accept).await.unwrap();
    assert_eq!(table["kind"], "Table");
    let columns = table["columnDefinitions"].as_array().unwrap();
    for row in table["rows"].as_array().unwrap() {
        assert_eq!(row["cells"].as_array().unwrap().len(), columns.len(), "{row}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_libvirt_leaves_the_last_list_and_says_so_and_a_host_that_is_not_there_has_none() {
    let ground = Ground::new(1).await;
    let server = ground.serve().await;
    let state = |wanted: &'static str| {
        move |found: &Hypervisor| {
            condition(&found.status.as_ref().unwrap().conditions, "LibvirtConnected").0 == wanted
        }
    };
    seen(&server.all::<Hypervisor>(), "host-1", state("True")).await;
    ground.fleet.host(0).unwrap().set_faults(|faults| faults.libvirt = Fault::Refuse);
    seen(&server.all::<Hypervisor>(), "host-1", state("False")).await;
    let list = get(&server.client, PATH, "application/json").await.unwrap();
    assert_eq!(list["sources"][0]["state"], "Unreachable");
    assert_eq!(list["items"].as_array().unwrap().len(), 2);
    assert_eq!(list["items"][0].get("cpus"), None);

    let elsewhere = PATH.replace("host-1", "host-9");
    let error = get(&server.client, &elsewhere, "application/json").await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 404));
    server.stop().await;
}
