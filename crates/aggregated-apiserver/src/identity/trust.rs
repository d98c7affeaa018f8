//! Which certificate authorities are believed, and for what.
//!
//! Replaced as a whole while the server runs: a certificate is judged by what is known at the time of the request.

use std::fmt;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, UnixTime};

use tracing::warn;

use super::front_proxy::FrontProxyHeaders;

/// One or more certificates that issue client certificates.
#[derive(Clone)]
pub struct CertificateAuthority {
    pem: String,
    verifier: Arc<dyn ClientCertVerifier>,
}

impl CertificateAuthority {
    /// From PEM text with at least one usable certificate. One that cannot be a root is left out: it must not take the others
    /// with it.
    pub fn from_pem(pem: &str) -> Result<Self, TrustError> {
        let mut roots = RootCertStore::empty();
        let mut refused = None;
        for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
            let certificate = certificate.map_err(|source| TrustError::Pem { source })?;
            match roots.add(certificate) {
                Ok(()) => {}
                Err(source) => refused = Some(source),
            }
        }
        match (roots.is_empty(), refused) {
            (true, Some(source)) => return Err(TrustError::Root { source }),
            (true, None) => return Err(TrustError::Empty),
            (false, Some(error)) => warn!(%error, "a certificate of an authority is not usable as a root"),
            (false, None) => {}
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|source| TrustError::Verifier { source })?;
        Ok(Self { pem: pem.to_owned(), verifier })
    }

    /// Whether this authority vouches for a certificate at this moment.
    pub fn vouches_for(&self, chain: &[CertificateDer<'_>]) -> Result<(), rustls::Error> {
        let Some((leaf, intermediates)) = chain.split_first() else {
            return Err(rustls::Error::NoCertificatesPresented);
        };
        self.verifier.verify_client_cert(leaf, intermediates, UnixTime::now()).map(|_| ())
    }
}

impl PartialEq for CertificateAuthority {
    fn eq(&self, other: &Self) -> bool {
        self.pem == other.pem
    }
}

impl fmt::Debug for CertificateAuthority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CertificateAuthority").finish_non_exhaustive()
    }
}

/// The proxy whose headers are believed.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontProxy {
    /// Who issues its certificate.
    pub authority: CertificateAuthority,
    /// Common names it may have; empty allows any.
    pub allowed_names: Vec<String>,
    /// Names of its headers.
    pub headers: FrontProxyHeaders,
}

/// Everything that is believed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trust {
    /// Issues certificates of users.
    pub clients: Option<CertificateAuthority>,
    /// Speaks for users.
    pub front_proxy: Option<FrontProxy>,
}

impl Trust {
    /// Only client certificates of one authority.
    pub fn clients_of(pem: &str) -> Result<Self, TrustError> {
        Ok(Self { clients: Some(CertificateAuthority::from_pem(pem)?), front_proxy: None })
    }
}

/// Why a certificate authority cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The text is not PEM.
    #[error("certificate authority: reading PEM")]
    Pem {
        /// What is wrong.
        #[source]
        source: rustls_pki_types::pem::Error,
    },
    /// None of the certificates can be a root.
    #[error("certificate authority: not usable as a root")]
    Root {
        /// What is wrong.
        #[source]
        source: rustls::Error,
    },
    /// There is no certificate in the text.
    #[error("certificate authority: no certificate found")]
    Empty,
    /// The verifier cannot be built.
    #[error("certificate authority: building the verifier")]
    Verifier {
        /// What is wrong.
        #[source]
        source: rustls::server::VerifierBuilderError,
    },
}
