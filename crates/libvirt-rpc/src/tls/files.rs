//! Certificates and key of this side, from PEM files that may be replaced at any time.
//!
//! Certificates are short-lived where somebody renews them, and connections are long-lived: so the files are looked at for each
//! new connection, and read again when they have changed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use thiserror::Error;

/// Where certificates and key are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TlsFiles {
    ca: PathBuf,
    /// Certificate chain and key.
    identity: Option<(PathBuf, PathBuf)>,
}

impl TlsFiles {
    /// With the certificates of the authorities that may sign a server's, and a certificate chain and key of this side.
    pub fn new(ca: impl Into<PathBuf>, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        Self { ca: ca.into(), identity: Some((certificate.into(), key.into())) }
    }

    /// Without a certificate of this side, which few daemons accept.
    pub fn anonymous(ca: impl Into<PathBuf>) -> Self {
        Self { ca: ca.into(), identity: None }
    }

    /// Where libvirt's own clients look when they run as root.
    pub fn of_libvirt() -> Self {
        Self::new(
            "/etc/pki/CA/cacert.pem",
            "/etc/pki/libvirt/clientcert.pem",
            "/etc/pki/libvirt/private/clientkey.pem",
        )
    }

    fn all(&self) -> impl Iterator<Item = &Path> {
        let identity = self.identity.iter().flat_map(|(certificate, key)| [certificate, key]);
        [&self.ca].into_iter().chain(identity).map(PathBuf::as_path)
    }
}

/// Why certificates or key cannot be used. The path is always that of the file to look at.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TlsFilesError {
    /// A file cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file holds no PEM of the wanted kind.
    #[error("{path} holds no {wanted} in PEM")]
    Pem {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        wanted: &'static str,
        /// Why.
        #[source]
        source: super::Source,
    },
    /// Certificate and key do not belong together, or are of a kind nobody uses.
    #[error("certificate {certificate} and key {key} cannot be used")]
    Identity {
        /// The certificate.
        certificate: PathBuf,
        /// The key.
        key: PathBuf,
        /// Why.
        #[source]
        source: super::Source,
    },
    /// TLS itself cannot be set up.
    #[error("TLS cannot be set up")]
    Setup(#[source] super::Source),
}

/// This side of TLS: what files say, or a configuration of the caller's. Clones share what was read.
#[derive(Debug, Clone)]
pub struct TlsClient {
    origin: Arc<Origin>,
}

#[derive(Debug)]
enum Origin {
    Files { files: TlsFiles, read: Mutex<Option<Read>> },
    Given(Arc<ClientConfig>),
}

/// What was read, and the moments the files were changed before that.
#[derive(Debug)]
struct Read {
    changed: Vec<SystemTime>,
    config: Arc<ClientConfig>,
}

impl TlsClient {
    /// From files, which are read at once so that a mistake is found now.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn from_files(files: TlsFiles) -> Result<Self, TlsFilesError> {
        let client = Self::of_files(files);
        client.config().map(|_| client)
    }

    /// From files that are read with the first connection.
    pub fn of_files(files: TlsFiles) -> Self {
        Self { origin: Arc::new(Origin::Files { files, read: Mutex::new(None) }) }
    }

    /// From a configuration of the caller's, for keys in hardware and the like.
    pub fn from_config(config: Arc<ClientConfig>) -> Self {
        Self { origin: Arc::new(Origin::Given(config)) }
    }

    /// The configuration for the next connection.
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, TlsFilesError> {
        let (files, read) = match &*self.origin {
            Origin::Given(config) => return Ok(Arc::clone(config)),
            Origin::Files { files, read } => (files, read),
        };
        // Before they are read: a change meanwhile is then seen the next time.
        let changed: Vec<SystemTime> = files.all().map(changed).collect::<Result<_, _>>()?;
        let mut read = read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = read.as_ref().filter(|known| known.changed == changed) {
            return Ok(Arc::clone(&known.config));
        }
        let config = Arc::new(load(files)?);
        *read = Some(Read { changed, config: Arc::clone(&config) });
        Ok(config)
    }
}

fn changed(path: &Path) -> Result<SystemTime, TlsFilesError> {
    let modified = fs::metadata(path).and_then(|data| data.modified());
    modified.map_err(|source| TlsFilesError::Read { path: path.to_owned(), source })
}

fn load(files: &TlsFiles) -> Result<ClientConfig, TlsFilesError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(&files.ca)? {
        roots.add(certificate).map_err(|error| pem_error(&files.ca, "CA certificate", error))?;
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsFilesError::Setup(error.into()))?
        .with_root_certificates(roots);
    match &files.identity {
        Some((certificate, key)) => {
            let chain = certificates(certificate)?;
            let secret =
                PrivateKeyDer::from_pem_file(key).map_err(|error| pem_or_read(key, "private key", error))?;
            builder.with_client_auth_cert(chain, secret).map_err(|error| TlsFilesError::Identity {
                certificate: certificate.clone(),
                key: key.clone(),
                source: error.into(),
            })
        }
        None => Ok(builder.with_no_client_auth()),
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsFilesError> {
    const WANTED: &str = "certificate";
    let wrong = |error| pem_or_read(path, WANTED, error);
    let found: Vec<_> =
        CertificateDer::pem_file_iter(path).map_err(wrong)?.collect::<Result<_, _>>().map_err(wrong)?;
    if found.is_empty() { Err(pem_error(path, WANTED, pem::Error::NoItemsFound)) } else { Ok(found) }
}

fn pem_or_read(path: &Path, wanted: &'static str, error: pem::Error) -> TlsFilesError {
    match error {
        pem::Error::Io(source) => TlsFilesError::Read { path: path.to_owned(), source },
        other => pem_error(path, wanted, other),
    }
}

fn pem_error(path: &Path, wanted: &'static str, source: impl Into<super::Source>) -> TlsFilesError {
    TlsFilesError::Pem { path: path.to_owned(), wanted, source: source.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A CA certificate and, signed by nobody, a key.
    fn written(folder: &Path, name: &str) -> (PathBuf, PathBuf) {
        let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
        let (certificate, key) = (folder.join(format!("{name}.crt")), folder.join(format!("{name}.key")));
        fs::write(&certificate, made.cert.pem()).unwrap();
        fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        (certificate, key)
    }

    #[test]
    fn files_are_read_again_when_they_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = written(folder.path(), "a");
        let client = TlsClient::from_files(TlsFiles::new(&certificate, &certificate, &key)).unwrap();
        let first = client.config().unwrap();
        assert!(Arc::ptr_eq(&first, &client.clone().config().unwrap()), "nothing changed");
        let later = SystemTime::now() + std::time::Duration::from_secs(5);
        fs::File::options().write(true).open(&key).unwrap().set_modified(later).unwrap();
        assert!(!Arc::ptr_eq(&first, &client.config().unwrap()));
    }

    #[test]
    fn a_file_that_cannot_be_used_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = written(folder.path(), "a");
        let (_, foreign) = written(folder.path(), "b");
        let missing = folder.path().join("missing");
        let refused = |files| TlsClient::from_files(files).unwrap_err().to_string();
        let said = refused(TlsFiles::anonymous(&missing));
        assert_eq!(said, format!("cannot read {}", missing.display()));
        let said = refused(TlsFiles::anonymous(&key));
        assert_eq!(said, format!("{} holds no certificate in PEM", key.display()));
        let said = refused(TlsFiles::new(&certificate, &certificate, &certificate));
        assert_eq!(said, format!("{} holds no private key in PEM", certificate.display()));
        assert!(refused(TlsFiles::new(&certificate, &certificate, &foreign)).ends_with("cannot be used"));
    }
}
