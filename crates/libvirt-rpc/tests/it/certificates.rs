//! An authority, a daemon's certificate, a wrong one and a client's, for simulated daemons.

use std::path::PathBuf;
use std::sync::Arc;

use fleet_simulator::libvirt::Tls;
use libvirt_rpc::{TlsClient, TlsFiles};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tempfile::TempDir;

/// Whether a simulated daemon refuses a wrong client within the handshake, as some do, or afterwards by its verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checks {
    InHandshake,
    Never,
}

/// Everything that is needed for TLS in tests; the files go with it.
#[derive(Debug)]
pub(crate) struct Certificates {
    folder: TempDir,
    authority: CertifiedIssuer<'static, KeyPair>,
}

impl Certificates {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "tests");
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.crt"), authority.pem()).unwrap();
        Self { folder, authority }
    }

    /// What a daemon at 127.0.0.1 shows, and a certificate that is for another name.
    pub(crate) fn daemon(&self, checks: Checks) -> Tls {
        Tls { config: self.server("127.0.0.1", checks), wrong: self.server("elsewhere.example", checks) }
    }

    fn server(&self, name: &str, checks: Checks) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let certificate =
            CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &self.authority).unwrap();
        let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.der().clone()).unwrap();
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::new(default_provider()));
        let builder = match checks {
            Checks::InHandshake => builder.with_client_cert_verifier(verifier.build().unwrap()),
            Checks::Never => builder.with_no_client_auth(),
        };
        let secret = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        Arc::new(builder.with_single_cert(vec![certificate.der().clone()], secret).unwrap())
    }

    /// A client with a certificate of this authority.
    pub(crate) fn client(&self) -> TlsClient {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(["client".to_owned()]).unwrap();
        let certificate = certificate.signed_by(&key, &self.authority).unwrap();
        let (certificate_file, key_file) = (self.file("client.crt"), self.file("client.key"));
        std::fs::write(&certificate_file, certificate.pem()).unwrap();
        std::fs::write(&key_file, key.serialize_pem()).unwrap();
        TlsClient::from_files(TlsFiles::new(self.file("ca.crt"), certificate_file, key_file)).unwrap()
    }

    /// A client that trusts this authority and has no certificate.
    pub(crate) fn anonymous_client(&self) -> TlsClient {
        TlsClient::from_files(TlsFiles::anonymous(self.file("ca.crt"))).unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}
