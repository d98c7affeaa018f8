//! Our side: the machinery with the product's definition of a Hypervisor, in a process of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aggregated_apiserver::{
    ApiServer, CertificateAuthenticator, ClientAuthorityFile, Collection, CollectionOptions, GroupAuthorizer,
    TlsConfig, VersionClock,
};
use c5c3_apiserver::resources::definition;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Arguments;
use crate::client::Target;
use crate::measure::Server;
use crate::objects;
use crate::process;

/// The child process and how it is told what to do.
pub(crate) struct Ours {
    child: Child,
    lines: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
    target: Target,
    empty: f64,
    _folder: tempfile::TempDir,
}

impl Ours {
    pub(crate) async fn start(arguments: &Arguments) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [authority, certificate, key] = certificates(folder.path());
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--objects", &arguments.objects.to_string(), "--serve"])
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let address = heard(&mut lines.1).parse().unwrap();
        let empty = process::memory(child.id());
        writeln!(lines.0, "fill").unwrap();
        assert_eq!(heard(&mut lines.1), "filled");
        let target = Target { address, authority, certificate, key };
        Self { child, lines: Mutex::new(lines), target, empty, _folder: folder }
    }
}

impl Server for Ours {
    fn target(&self) -> &Target {
        &self.target
    }

    fn processes(&self) -> Vec<(&'static str, u32)> {
        vec![("c5c3-apiserver", self.child.id())]
    }

    fn empty(&self) -> f64 {
        self.empty
    }

    fn change(&self, rate: u32, seconds: u32) -> BoxFuture<'_, usize> {
        let made = tokio::task::block_in_place(|| {
            let mut lines = self.lines.lock().unwrap();
            writeln!(lines.0, "change {rate} {seconds}").unwrap();
            heard(&mut lines.1).parse().unwrap()
        });
        std::future::ready(made).boxed()
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn heard(from: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    assert!(!line.is_empty(), "our server ended");
    line.trim().to_owned()
}

/// An authority, and one certificate for server and client: files of the authority, the certificate, the key.
fn certificates(folder: &Path) -> [PathBuf; 3] {
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap();
    let mut parameters = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    parameters.distinguished_name.push(DnType::CommonName, "bench");
    parameters.distinguished_name.push(DnType::OrganizationName, "readers");
    parameters.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    let key = KeyPair::generate().unwrap();
    let certificate = parameters.signed_by(&key, &authority).unwrap();
    let write = |name: &str, pem: String| {
        let path = folder.join(name);
        std::fs::write(&path, pem).unwrap();
        path
    };
    [
        write("ca.crt", authority.pem()),
        write("tls.crt", certificate.pem()),
        write("tls.key", key.serialize_pem()),
    ]
}

/// The child: serves, and does what it reads from standard input.
pub(crate) async fn serve(folder: &Path, count: usize) {
    let clock = Arc::new(VersionClock::new(0));
    let definition = definition(&c5c3_api::hypervisor::KIND);
    let hypervisors = Collection::new(definition, clock, CollectionOptions::default()).unwrap();
    let authority = ClientAuthorityFile::open(folder.join("ca.crt")).unwrap();
    let server = ApiServer::builder()
        .collection(hypervisors.clone())
        .authenticator(Arc::new(CertificateAuthenticator::new(authority.trust().clone())))
        .authorizer(Arc::new(GroupAuthorizer::new("readers", "admins")))
        .build()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    let tls = TlsConfig::from_files(folder.join("tls.crt"), folder.join("tls.key")).unwrap();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            let line = line.unwrap();
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["fill"] => {
                    (0..count).for_each(|number| publish(&hypervisors, number));
                    println!("filled");
                }
                ["change", rate, seconds] => {
                    let made = change(&hypervisors, count, rate.parse().unwrap(), seconds.parse().unwrap());
                    println!("{made}");
                }
                other => panic!("{other:?}"),
            }
        }
        std::process::exit(0);
    });
    server.serve(listener, tls, CancellationToken::new()).await.unwrap();
}

fn publish(hypervisors: &Collection, number: usize) {
    let mut object = objects::hypervisor(number);
    let uid = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, objects::name(number).as_bytes());
    object["metadata"]["uid"] = json!(uid);
    object["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
    hypervisors.publish(object).unwrap();
}

fn change(hypervisors: &Collection, count: usize, rate: u32, seconds: u32) -> usize {
    let start = std::time::Instant::now();
    let total = rate * seconds;
    for number in 0..total {
        let due = start + Duration::from_secs(1) * number / rate;
        std::thread::sleep(due.saturating_duration_since(std::time::Instant::now()));
        publish(hypervisors, number as usize * 31 % count);
    }
    total as usize
}
