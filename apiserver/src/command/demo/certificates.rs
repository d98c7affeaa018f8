//! Certificates of the demo: a CA, the server's certificate, and an administrator's in a kubeconfig.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};

use crate::command::Failure;

/// Group of the demo's administrator.
pub(super) const ADMIN_GROUP: &str = "c5c3:admins";

/// Paths of the files, and what the kubeconfig needs of them.
pub(super) struct Certificates {
    /// The CA.
    pub(super) authority: PathBuf,
    /// The server's certificate.
    pub(super) serving: PathBuf,
    /// The server's key.
    pub(super) serving_key: PathBuf,
    authority_pem: String,
    admin_pem: String,
    admin_key_pem: String,
}

/// Makes them anew in `folder`/pki.
pub(super) fn make(folder: &Path) -> Result<Certificates, Failure> {
    let pki = folder.join("pki");
    std::fs::create_dir_all(&pki).map_err(|error| Failure::other(&error))?;
    let authority = authority().map_err(|error| Failure::other(&error))?;
    let (serving, serving_key) = leaf(
        &authority,
        "c5c3-apiserver",
        None,
        &["localhost", "127.0.0.1"],
        ExtendedKeyUsagePurpose::ServerAuth,
    )
    .map_err(|error| Failure::other(&error))?;
    let (admin, admin_key) =
        leaf(&authority, "demo-admin", Some(ADMIN_GROUP), &[], ExtendedKeyUsagePurpose::ClientAuth)
            .map_err(|error| Failure::other(&error))?;
    let write = |name: &str, text: &str| -> Result<PathBuf, Failure> {
        let file = pki.join(name);
        std::fs::write(&file, text).map_err(|error| Failure::other(&error))?;
        Ok(file)
    };
    Ok(Certificates {
        authority: write("ca.crt", &authority.pem())?,
        serving: write("tls.crt", &serving)?,
        serving_key: write("tls.key", &serving_key)?,
        authority_pem: authority.pem(),
        admin_pem: admin,
        admin_key_pem: admin_key,
    })
}

fn authority() -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "c5c3 demo CA");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}

fn leaf(
    authority: &CertifiedIssuer<'_, KeyPair>,
    name: &str,
    group: Option<&str>,
    addresses: &[&str],
    usage: ExtendedKeyUsagePurpose,
) -> Result<(String, String), rcgen::Error> {
    let addresses: Vec<String> = addresses.iter().map(|address| (*address).to_owned()).collect();
    let mut params = CertificateParams::new(addresses)?;
    params.distinguished_name.push(DnType::CommonName, name);
    if let Some(group) = group {
        params.distinguished_name.push(DnType::OrganizationName, group);
    }
    params.extended_key_usages = vec![usage];
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, authority)?;
    Ok((certificate.pem(), key.serialize_pem()))
}

impl Certificates {
    /// Writes a kubeconfig for the administrator.
    pub(super) fn write_kubeconfig(&self, file: &Path, server: SocketAddr) -> Result<(), Failure> {
        let encoded = |pem: &str| STANDARD.encode(pem);
        let document = serde_json::json!({
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "demo",
            "contexts": [{"name": "demo", "context": {"cluster": "demo", "user": "demo-admin"}}],
            "clusters": [{"name": "demo", "cluster": {
                "server": format!("https://{server}"),
                "certificate-authority-data": encoded(&self.authority_pem),
            }}],
            "users": [{"name": "demo-admin", "user": {
                "client-certificate-data": encoded(&self.admin_pem),
                "client-key-data": encoded(&self.admin_key_pem),
            }}],
        });
        // JSON is YAML.
        std::fs::write(file, format!("{document:#}\n")).map_err(|error| Failure::other(&error))
    }
}
