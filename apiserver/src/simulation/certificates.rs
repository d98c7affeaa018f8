//! Certificates: a CA, the server's certificate, and an administrator's in a kubeconfig.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use serde_json::Value;

use super::{SimulationError, make_folder, write};

/// Certificates that were made anew, and where they are.
#[derive(Debug)]
pub struct Certificates {
    authority: PathBuf,
    serving: PathBuf,
    serving_key: PathBuf,
    authority_pem: String,
    admin: Pair,
}

/// A certificate and its key in PEM.
#[derive(Debug)]
struct Pair {
    certificate: String,
    key: String,
}

/// What a certificate is for.
struct Subject {
    name: &'static str,
    group: Option<&'static str>,
    addresses: &'static [&'static str],
    usage: ExtendedKeyUsagePurpose,
}

const SERVER: Subject = Subject {
    name: "c5c3-apiserver",
    group: None,
    addresses: &["localhost", "127.0.0.1"],
    usage: ExtendedKeyUsagePurpose::ServerAuth,
};

const ADMIN: Subject = Subject {
    name: "demo-admin",
    group: Some(Certificates::ADMIN_GROUP),
    addresses: &[],
    usage: ExtendedKeyUsagePurpose::ClientAuth,
};

impl Certificates {
    /// Group of the administrator.
    pub const ADMIN_GROUP: &'static str = "c5c3:admins";

    /// Makes them anew in `folder`/pki.
    ///
    /// # Errors
    /// When a certificate cannot be made or written.
    pub fn make(folder: &Path) -> Result<Self, SimulationError> {
        let pki = make_folder(folder.join("pki"))?;
        let authority =
            authority().map_err(|source| SimulationError::Certificate { name: "the authority", source })?;
        let serving = issue(&authority, &SERVER)?;
        let admin = issue(&authority, &ADMIN)?;
        Ok(Self {
            authority: write(pki.join("ca.crt"), &authority.pem())?,
            serving: write(pki.join("tls.crt"), &serving.certificate)?,
            serving_key: write(pki.join("tls.key"), &serving.key)?,
            authority_pem: authority.pem(),
            admin,
        })
    }

    /// File of the CA.
    pub fn authority(&self) -> &Path {
        &self.authority
    }

    /// File of the server's certificate.
    pub fn serving(&self) -> &Path {
        &self.serving
    }

    /// File of the server's key.
    pub fn serving_key(&self) -> &Path {
        &self.serving_key
    }

    /// A kubeconfig for the administrator.
    pub fn kubeconfig(&self, server: SocketAddr) -> Value {
        let encoded = |pem: &str| STANDARD.encode(pem);
        serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "demo",
            "contexts": [{"name": "demo", "context": {"cluster": "demo", "user": ADMIN.name}}],
            "clusters": [{"name": "demo", "cluster": {
                "server": format!("https://{server}"),
                "certificate-authority-data": encoded(&self.authority_pem),
            }}],
            "users": [{"name": ADMIN.name, "user": {
                "client-certificate-data": encoded(&self.admin.certificate),
                "client-key-data": encoded(&self.admin.key),
            }}],
        })
    }

    /// Writes a kubeconfig for the administrator.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write_kubeconfig(&self, file: PathBuf, server: SocketAddr) -> Result<PathBuf, SimulationError> {
        // JSON is YAML.
        write(file, &format!("{:#}\n", self.kubeconfig(server)))
    }
}

fn authority() -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "c5c3 demo CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}

fn issue(authority: &CertifiedIssuer<'_, KeyPair>, subject: &Subject) -> Result<Pair, SimulationError> {
    let make = || {
        let addresses: Vec<String> = subject.addresses.iter().map(|address| (*address).to_owned()).collect();
        let mut params = CertificateParams::new(addresses)?;
        params.distinguished_name.push(DnType::CommonName, subject.name);
        if let Some(group) = subject.group {
            params.distinguished_name.push(DnType::OrganizationName, group);
        }
        params.extended_key_usages = vec![subject.usage.clone()];
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, authority)?;
        Ok(Pair { certificate: certificate.pem(), key: key.serialize_pem() })
    };
    make().map_err(|source| SimulationError::Certificate { name: subject.name, source })
}
