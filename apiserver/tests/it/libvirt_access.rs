//! libvirt by TLS, with a name and a password: what the configuration says is done, and what is refused is said.

use std::sync::Arc;

use c5c3_api::Hypervisor;
use c5c3_apiserver::configuration::{LibvirtSasl, LibvirtTls};
use fleet_simulator::libvirt::{Accounts, Listener, Tls, serve};
use fleet_simulator::model::Fault;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpListener;

use crate::fixture::{Ground, Watch, condition, seen};

const PASSWORD: &str = "pencil, sharp";

fn server(certificate: CertificateDer<'static>, key: PrivateKeyDer<'static>) -> Arc<ServerConfig> {
    let builder = ServerConfig::builder().with_no_client_auth();
    Arc::new(builder.with_single_cert(vec![certificate], key).unwrap())
}

/// The ground's own certificate, and one that nobody trusts.
fn tls(ground: &Ground) -> Tls {
    let certificate = CertificateDer::from_pem_file(ground.certificates.serving()).unwrap();
    let key = PrivateKeyDer::from_pem_file(ground.certificates.serving_key()).unwrap();
    let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let other_key = PrivateKeyDer::try_from(other.signing_key.serialize_der()).unwrap();
    Tls { config: server(certificate, key), wrong: server(other.cert.der().clone(), other_key) }
}

fn libvirt(hypervisor: &Hypervisor) -> (String, String, String) {
    condition(&hypervisor.status.as_ref().unwrap().conditions, "LibvirtConnected")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_libvirtd_with_tls_and_a_password_is_read_and_its_refusals_are_told() {
    let ground = Ground::new(1).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let accounts = Accounts {
        mechanisms: "SCRAM-SHA-256".to_owned(),
        user: "observer".to_owned(),
        password: PASSWORD.to_owned(),
    };
    let listener = Listener::from(listener).with_tls(tls(&ground)).with_accounts(accounts);
    let host = Arc::clone(ground.fleet.host(0).unwrap());
    let serving = tokio::spawn(serve(Arc::clone(&host), listener));
    let password_file = ground.path().join("password");
    std::fs::write(&password_file, format!("{PASSWORD}\n")).unwrap();

    let mut configuration = ground.configuration();
    let reach = &mut configuration.hosts.known.get_mut("host-1").unwrap().reach;
    reach.libvirt = Some(format!("tls://127.0.0.1:{port}"));
    reach.libvirt_tls = Some(LibvirtTls {
        ca: ground.certificates.authority().to_owned(),
        certificate: None,
        key: None,
        server_name: None,
    });
    reach.libvirt_sasl = Some(LibvirtSasl {
        user: "observer".to_owned(),
        password_file: password_file.clone(),
        plain_without_encryption: false,
    });
    let server = ground.serve_with(configuration).await;
    let hypervisors = server.all::<Hypervisor>();
    seen(&hypervisors, "host-1", |found| libvirt(found).0 == "True").await;
    let mut watch = Watch::open(&hypervisors).await;

    // The daemon comes back as somebody else.
    let set = |fault| host.set_faults(|faults| faults.libvirt = fault);
    set(Fault::Refuse);
    watch.until("host-1", |found| libvirt(found).1 == "Unreachable").await;
    set(Fault::WrongCertificate);
    let away = watch
        .until("host-1", |found| libvirt(found).2.contains("the server's certificate is not trusted"))
        .await;
    assert_eq!((libvirt(&away).0.as_str(), libvirt(&away).1.as_str()), ("False", "Denied"));
    assert_eq!(away.status.unwrap().num_instances, Some(2), "last values stay");

    // And then as itself, and our password is another than it was.
    std::fs::write(&password_file, "pencil, blunt\n").unwrap();
    set(Fault::None);
    let away = watch.until("host-1", |found| libvirt(found).2.contains("refused the authentication")).await;
    assert_eq!(libvirt(&away).1, "Denied");

    // The file is read at each try.
    std::fs::write(&password_file, PASSWORD).unwrap();
    watch.until("host-1", |found| libvirt(found).0 == "True").await;
    server.stop().await;
    serving.abort();
}
