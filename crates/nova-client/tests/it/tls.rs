//! Keystone, Nova and Placement behind TLS with a private certificate authority.

use std::path::PathBuf;
use std::sync::Arc;

use nova_client::Cloud;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::peer::{Peer, Simulated, quick};

/// A TLS front before a simulated cloud.
struct Front {
    peer: Peer,
    ca_file: PathBuf,
    _simulated: Simulated,
    _folder: TempDir,
    server: JoinHandle<()>,
}

impl Drop for Front {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Front {
    async fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()])
            .unwrap()
            .signed_by(&key, &authority)
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let ca_file = folder.path().join("ca.crt");
        std::fs::write(&ca_file, authority.pem()).unwrap();
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )
            .unwrap();
        let simulated = Simulated::new(2, 1).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server =
            tokio::spawn(forward(listener, TlsAcceptor::from(Arc::new(config)), simulated.address.clone()));
        let peer = simulated.peer.altered(|text| {
            let fixed = format!(
                "    region_name: RegionOne\n    compute_endpoint_override: https://{address}/compute/v2.1\n    \
                 placement_endpoint_override: https://{address}/placement\n"
            );
            let text = text.replace("    region_name: RegionOne\n", &fixed);
            text.replace(&format!("http://{}", simulated.address), &format!("https://{address}"))
        });
        Self { peer, ca_file, _simulated: simulated, _folder: folder, server }
    }
}

async fn forward(listener: TcpListener, acceptor: TlsAcceptor, to: String) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let (acceptor, to) = (acceptor.clone(), to.clone());
        tokio::spawn(async move {
            // A client that does not trust us breaks the handshake: that is what one test is about.
            let Ok(mut outside) = acceptor.accept(stream).await else { return };
            let mut inside = TcpStream::connect(to).await.unwrap();
            let _ = copy_bidirectional(&mut outside, &mut inside).await;
        });
    }
}

#[tokio::test]
async fn a_private_authority_is_trusted_by_its_file() {
    let front = Front::new().await;
    for name in ["rig", "rig-appcred"] {
        let options = front.peer.options(name).with_limits(quick()).with_ca_file(&front.ca_file);
        let cloud = Cloud::connect(options).await.unwrap();
        assert_eq!(cloud.hypervisors().await.unwrap().len(), 2);
        assert_eq!(cloud.resource_providers().await.unwrap().len(), 2);
    }
}

#[tokio::test]
async fn an_unknown_authority_is_told() {
    let front = Front::new().await;
    let error = Cloud::connect(front.peer.options("rig").with_limits(quick())).await.unwrap_err();
    let told = error.report();
    assert!(told.contains("certificate") && !error.is_unauthorized(), "{told}");
}

#[tokio::test]
async fn a_missing_or_empty_ca_file_is_told_by_its_path() {
    let front = Front::new().await;
    let missing = front.ca_file.with_file_name("nosuch.crt");
    let options = front.peer.options("rig").with_limits(quick()).with_ca_file(&missing);
    let error = Cloud::connect(options).await.unwrap_err();
    assert!(error.report().contains("nosuch.crt"), "{}", error.report());
    assert!(!error.is_unavailable() && !error.is_unauthorized());
}
