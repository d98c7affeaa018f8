//! The whole server, killed between any two steps while clients write through its API: what they were answered is there.

use std::collections::BTreeMap;
use std::time::Duration;

use c5c3_api::Eviction;
use c5c3_apiserver::simulation::write_configuration;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config, ResourceExt as _};
use serde_json::json;
use tokio::process::{Child, Command};

use crate::fixture::Ground;

const DEATHS: usize = 6;

/// What a client was answered last about an object: there with that generation and UID, or gone.
type Answers = BTreeMap<String, Option<(String, i64)>>;

async fn client(ground: &Ground, port: u16) -> Client {
    let address = format!("127.0.0.1:{port}").parse().unwrap();
    let kubeconfig: Kubeconfig = serde_json::from_value(ground.certificates.kubeconfig(address)).unwrap();
    let options = KubeConfigOptions::default();
    Client::try_from(Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap()).unwrap()
}

fn start(configuration: &std::path::Path) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_c5c3-apiserver"));
    command.args(["serve", "--config", configuration.to_str().unwrap()]).kill_on_drop(true);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap()
}

async fn listed(evictions: &Api<Eviction>) -> Answers {
    for _ in 0..600 {
        if let Ok(list) = evictions.list(&ListParams::default()).await {
            let entry = |found: Eviction| {
                let (uid, generation) = (found.uid().unwrap(), found.metadata.generation.unwrap());
                (found.name_any(), Some((uid, generation)))
            };
            return list.items.into_iter().map(entry).collect();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the server does not answer");
}

/// Creates, changes and deletes until the server dies; notes each answer. What was asked and not answered is in doubt.
async fn write_until_it_dies(evictions: &Api<Eviction>, first: u64, answers: &mut Answers) -> (u64, String) {
    for number in first.. {
        let name = format!("e-{}", number % 7);
        let known = answers.get(&name).cloned().flatten();
        let outcome = match known {
            None => {
                let eviction = serde_json::from_value(json!({
                    "apiVersion": "hypervisor.c5c3.io/v1", "kind": "Eviction", "metadata": {"name": name},
                    "spec": {"hypervisor": "host-1", "reason": format!("reason {number}")},
                }));
                let created = evictions.create(&PostParams::default(), &eviction.unwrap()).await;
                created.map(|made| Some((made.uid().unwrap(), made.metadata.generation.unwrap())))
            }
            Some(_) => evictions.delete(&name, &DeleteParams::default()).await.map(|_| None),
        };
        match outcome {
            Ok(answer) => answers.insert(name, answer),
            Err(kube::Error::Api(status)) => panic!("{status:?}"),
            Err(_) => return (number, name),
        };
    }
    unreachable!("numbers do not end")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_has_lost_nothing_that_it_answered() {
    let ground = Ground::new(1).await;
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut configuration = ground.configuration();
    configuration.listen.set_port(port);
    let file = ground.path().join("killed.yaml");
    write_configuration(file.clone(), &configuration).unwrap();
    let mut answers = Answers::new();
    let (mut number, mut writes) = (0, 0);
    for death in 0..DEATHS {
        let mut server = start(&file);
        // A new client each time: the connections of the last one died with the server.
        let evictions: Api<Eviction> = Api::all(client(&ground, port).await);
        let found = listed(&evictions).await;
        let expected: Answers = answers.clone().into_iter().filter(|(_, answer)| answer.is_some()).collect();
        assert_eq!(found, expected, "after {death} deaths");
        let life = Duration::from_millis(50 + u64::from(uuid::Uuid::new_v4().as_bytes()[0]) * 8);
        let (ended, doubtful) = tokio::select! {
            ended = write_until_it_dies(&evictions, number, &mut answers) => ended,
            () = async {
                tokio::time::sleep(life).await;
                server.kill().await.unwrap();
                std::future::pending::<()>().await;
            } => unreachable!("pending"),
        };
        writes += ended - number;
        number = ended + 1;
        // The write that was not answered may or may not have been stored; the next server says which.
        let mut server = start(&file);
        let evictions: Api<Eviction> = Api::all(client(&ground, port).await);
        let now = listed(&evictions).await;
        answers.insert(doubtful.clone(), now.get(&doubtful).cloned().flatten());
        server.kill().await.unwrap();
    }
    println!("{} deaths, {writes} answered writes", DEATHS * 2);
    assert!(writes > 3, "{writes}");
}
