//! The serving certificate, and its replacement while the server runs.
//!
//! Files are compared by content, so that it does not matter how they are replaced (a Secret volume swaps a link). A pair that
//! does not fit together is not adopted: the old one stays until the new one is complete. Certificates of clients are
//! only proven to be owned here; who issued them is decided for each request, by what is believed then.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use rustls::crypto::CryptoProvider;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{DigitallySignedStruct, DistinguishedName, ServerConfig, SignatureScheme};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use tracing::{info, warn};

/// The certificate to serve with.
#[derive(Debug)]
pub struct TlsConfig {
    source: Option<Files>,
    current: Arc<Current>,
    reload: Duration,
}

#[derive(Debug)]
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// Why a certificate cannot be served with.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("reading {path}")]
    Read {
        /// Which one.
        path: String,
        /// What is wrong.
        #[source]
        source: std::io::Error,
    },
    /// The certificate is not PEM.
    #[error("serving certificate: reading PEM")]
    Certificate {
        /// What is wrong.
        #[source]
        source: rustls_pki_types::pem::Error,
    },
    /// The private key is not PEM.
    #[error("serving key: reading PEM")]
    Key {
        /// What is wrong.
        #[source]
        source: rustls_pki_types::pem::Error,
    },
    /// The two do not fit together, or cannot be used.
    #[error("serving certificate and key are not usable together")]
    Pair {
        /// What is wrong.
        #[source]
        source: rustls::Error,
    },
}

impl TlsConfig {
    /// From two PEM files, read again every ten seconds.
    pub fn from_files(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Result<Self, TlsError> {
        let files = Files { certificate: certificate.into(), key: key.into() };
        let (certificate, key) = files.read()?;
        let current = Current::new(&certificate, &key)?;
        Ok(Self { source: Some(files), current: Arc::new(current), reload: Duration::from_secs(10) })
    }

    /// From PEM text, for ever.
    pub fn from_pem(certificate: &str, key: &str) -> Result<Self, TlsError> {
        let current = Current::new(certificate.as_bytes(), key.as_bytes())?;
        Ok(Self { source: None, current: Arc::new(current), reload: Duration::MAX })
    }

    /// The same, read again after other times.
    #[must_use]
    pub fn reloaded_every(mut self, interval: Duration) -> Self {
        self.reload = interval;
        self
    }

    pub(super) fn server_config(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let any = Arc::new(AnyClient { provider: provider.clone() });
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|source| TlsError::Pair { source })?
            .with_client_cert_verifier(any)
            .with_cert_resolver(self.current.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    /// Follows the files. Never ends.
    pub(super) async fn follow(&self) {
        let Some(files) = &self.source else { return std::future::pending().await };
        let mut last_fault = String::new();
        loop {
            tokio::time::sleep(self.reload).await;
            let pair = files.read().and_then(|(certificate, key)| self.current.adopt(&certificate, &key));
            match pair {
                Ok(adopted) => {
                    last_fault.clear();
                    if adopted {
                        info!("serving certificate replaced");
                    }
                }
                Err(error) => {
                    let fault = error.to_string();
                    if fault != last_fault {
                        warn!(
                            error = &error as &dyn std::error::Error,
                            "new serving certificate is not usable"
                        );
                    }
                    last_fault = fault;
                }
            }
        }
    }
}

impl Files {
    fn read(&self) -> Result<(Vec<u8>, Vec<u8>), TlsError> {
        let read = |path: &PathBuf| {
            std::fs::read(path).map_err(|source| TlsError::Read { path: path.display().to_string(), source })
        };
        Ok((read(&self.certificate)?, read(&self.key)?))
    }
}

struct Current {
    pair: ArcSwap<Pair>,
}

struct Pair {
    certificate: Vec<u8>,
    key: Vec<u8>,
    certified: Arc<CertifiedKey>,
}

impl Current {
    fn new(certificate: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        Ok(Self { pair: ArcSwap::from_pointee(pair(certificate, key)?) })
    }

    fn adopt(&self, certificate: &[u8], key: &[u8]) -> Result<bool, TlsError> {
        let old = self.pair.load();
        if old.certificate == certificate && old.key == key {
            return Ok(false);
        }
        self.pair.store(Arc::new(pair(certificate, key)?));
        Ok(true)
    }
}

fn pair(certificate: &[u8], key: &[u8]) -> Result<Pair, TlsError> {
    let chain = CertificateDer::pem_slice_iter(certificate)
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| TlsError::Certificate { source })?;
    let private = PrivateKeyDer::from_pem_slice(key).map_err(|source| TlsError::Key { source })?;
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let certified =
        CertifiedKey::from_der(chain, private, &provider).map_err(|source| TlsError::Pair { source })?;
    Ok(Pair { certificate: certificate.to_vec(), key: key.to_vec(), certified: Arc::new(certified) })
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.pair.load().certified.clone())
    }
}

impl fmt::Debug for Current {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Current").finish_non_exhaustive()
    }
}

/// Lets every client in that owns the certificate it shows, and those that show none.
#[derive(Debug)]
struct AnyClient {
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for AnyClient {
    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<rustls::client::danger::HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
