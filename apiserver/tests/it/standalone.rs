//! A server without a cluster: who is let in, what is written down of it, and how both change while it runs.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use c5c3_api::Hypervisor;
use c5c3_apiserver::configuration::{Audit, Configuration, Level, Standalone};
use http::{Method, Request};
use kube::api::{Api, Patch, PatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use serde_json::{Value, json};

use crate::fixture::{Ground, Server, Watch, seen};

const HYPERVISORS: &str = "/apis/hypervisor.c5c3.io/v1/hypervisors";

/// An authority that signs certificates of people.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Self {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap())
    }

    /// A client with a certificate of this authority.
    async fn client(&self, ground: &Ground, server: SocketAddr, name: &str, group: &str) -> Client {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = rcgen::DistinguishedName::new();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.distinguished_name.push(DnType::OrganizationName, group);
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.0).unwrap();
        let files = ground.path().join(format!("{name}-{}", uuid_like(&certificate.pem())));
        std::fs::create_dir(&files).unwrap();
        let write = |name: &str, text: String| {
            let path = files.join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let user = json!({
            "client-certificate": write("tls.crt", certificate.pem()),
            "client-key": write("tls.key", key.serialize_pem()),
        });
        client(ground, server, &user).await
    }
}

/// Enough of a certificate to tell folders apart.
fn uuid_like(pem: &str) -> String {
    pem.chars().rev().filter(char::is_ascii_alphanumeric).skip(20).take(16).collect()
}

async fn client(ground: &Ground, server: SocketAddr, user: &Value) -> Client {
    let kubeconfig: Kubeconfig = serde_json::from_value(json!({
        "clusters": [{"name": "c", "cluster": {
            "server": format!("https://{server}"), "certificate-authority": ground.certificates.authority(),
        }}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }))
    .unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
    Client::try_from(config).unwrap()
}

/// The code of an answer.
async fn code(client: &Client, method: Method, path: &str) -> u16 {
    let request = Request::builder().method(method).uri(path).body(Vec::new()).unwrap();
    match client.request_text(request).await {
        Ok(_) => 200,
        Err(kube::Error::Api(status)) => status.code,
        Err(other) => panic!("{other}"),
    }
}

/// Serves for the people of these authorities.
fn configuration(ground: &Ground, authorities: &[&Authority]) -> (Configuration, PathBuf) {
    let file = ground.path().join("people.crt");
    let pem: String = authorities.iter().map(|authority| authority.0.pem()).collect();
    std::fs::write(&file, pem).unwrap();
    let mut configuration = ground.configuration();
    configuration.standalone = Some(Standalone {
        client_ca: file.clone(),
        reader_group: "readers".to_owned(),
        admin_group: "admins".to_owned(),
    });
    (configuration, file)
}

async fn serve(ground: &Ground, configuration: Configuration) -> Server {
    let server = ground.serve_with(configuration).await;
    while !server.running.is_ready() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server
}

// covers: C18
#[tokio::test(flavor = "multi_thread")]
async fn readers_read_admins_do_everything_and_all_others_are_refused() {
    let ground = Ground::new(1).await;
    let people = Authority::new("people");
    let (configuration, _) = configuration(&ground, &[&people]);
    let server = serve(&ground, configuration).await;
    let address = server.running.address();
    let reader = people.client(&ground, address, "rita", "readers").await;
    assert_eq!(code(&reader, Method::GET, HYPERVISORS).await, 200);
    assert_eq!(code(&reader, Method::GET, "/metrics").await, 200);
    let object = format!("{HYPERVISORS}/host-1");
    for (method, path) in [
        (Method::DELETE, &object),
        (Method::PATCH, &object),
        (Method::PUT, &object),
        (Method::POST, &HYPERVISORS.to_owned()),
    ] {
        assert_eq!(code(&reader, method.clone(), path).await, 403, "{method}");
    }
    let admin = people.client(&ground, address, "ada", "admins").await;
    assert_eq!(code(&admin, Method::GET, HYPERVISORS).await, 200);
    assert!(![401, 403].contains(&code(&admin, Method::PATCH, &object).await));
    for group in ["somebody", "system:masters", "c5c3:admins"] {
        let other = people.client(&ground, address, "otto", group).await;
        assert_eq!(code(&other, Method::GET, HYPERVISORS).await, 403, "{group}");
        assert_eq!(code(&other, Method::GET, "/apis").await, 200, "discovery is for everybody who is known");
    }
    let stranger = Authority::new("people").client(&ground, address, "rita", "admins").await;
    let nobody = client(&ground, address, &json!({})).await;
    for refused in [&stranger, &nobody, &server.client] {
        assert_eq!(code(refused, Method::GET, HYPERVISORS).await, 401);
        assert_eq!(code(refused, Method::GET, "/apis").await, 401);
    }
    assert_eq!(code(&nobody, Method::GET, "/livez").await, 200);
    server.stop().await;
}

// covers: C16
#[tokio::test(flavor = "multi_thread")]
async fn authorities_change_without_a_refused_request_and_watches_go_on() {
    let ground = Ground::new(1).await;
    let (old, new) = (Authority::new("old"), Authority::new("new"));
    let (configuration, file) = configuration(&ground, &[&old]);
    let server = serve(&ground, configuration).await;
    let address = server.running.address();
    let before = old.client(&ground, address, "rita", "readers").await;
    let after = new.client(&ground, address, "rita", "readers").await;
    assert_eq!(code(&after, Method::GET, HYPERVISORS).await, 401);
    let hypervisors: Api<Hypervisor> = Api::all(before.clone());
    seen(&hypervisors, "host-1", |found| found.status.as_ref().unwrap().num_instances.is_some()).await;
    let mut watch = Watch::open(&hypervisors).await;

    // Both, until everybody has the new one: nobody is refused meanwhile.
    std::fs::write(&file, old.0.pem() + &new.0.pem()).unwrap();
    let start = Instant::now();
    while code(&after, Method::GET, HYPERVISORS).await != 200 {
        assert_eq!(code(&before, Method::GET, HYPERVISORS).await, 200);
        assert!(start.elapsed() < Duration::from_secs(60), "the file is not read again");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    std::fs::write(&file, new.0.pem()).unwrap();
    while code(&before, Method::GET, HYPERVISORS).await != 401 {
        assert_eq!(code(&after, Method::GET, HYPERVISORS).await, 200);
        assert!(start.elapsed() < Duration::from_secs(120), "the old authority is still believed");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // A watch that was allowed to begin goes on.
    ground.fleet.host(0).unwrap().set_faults(|faults| faults.libvirt = fleet_simulator::model::Fault::Refuse);
    watch.until("host-1", |_| true).await;
    server.stop().await;
}

fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_did_what_is_written_down() {
    let ground = Ground::new(1).await;
    let people = Authority::new("people");
    let (mut configuration, _) = configuration(&ground, &[&people]);
    let file = ground.path().join("audit.log");
    configuration.audit = Some(Audit { file: file.clone(), reads: Level::None, writes: Level::Request });
    let server = serve(&ground, configuration).await;
    let address = server.running.address();
    let reader = people.client(&ground, address, "rita", "readers").await;
    let admin = people.client(&ground, address, "ada", "admins").await;
    code(&reader, Method::GET, HYPERVISORS).await;
    code(&reader, Method::DELETE, HYPERVISORS).await;
    let start = Instant::now();
    while lines(&file).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let moved = ground.path().join("audit.log.1");
    std::fs::rename(&file, &moved).unwrap();
    let patch = json!({"spec": {"maintenance": "manual", "maintenanceReason": "written down"}});
    let hypervisors = Api::<Hypervisor>::all(admin);
    hypervisors.patch("host-1", &PatchParams::default(), &Patch::Merge(&patch)).await.unwrap();
    server.stop().await;

    let [refused] = lines(&moved).try_into().unwrap();
    assert_eq!(
        (&refused["verb"], &refused["user"]["username"]),
        (&json!("deletecollection"), &json!("rita"))
    );
    assert_eq!(refused["annotations"]["authorization.k8s.io/decision"], "forbid");
    assert_eq!(refused["responseStatus"]["code"], 403);
    let [patched] = lines(&file).try_into().unwrap();
    assert_eq!((&patched["verb"], &patched["objectRef"]["name"]), (&json!("patch"), &json!("host-1")));
    assert_eq!(patched["user"]["groups"], json!(["admins", "system:authenticated"]));
    assert_eq!((&patched["level"], &patched["requestObject"]), (&json!("Request"), &patch));
    assert_eq!(patched["responseStatus"]["code"], 200);
}
