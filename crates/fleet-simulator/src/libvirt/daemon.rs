//! What all sessions of one daemon share: the host, who may come in, where domains can go, and what was set for migrations.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio_rustls::TlsAcceptor;
use uuid::Uuid;

use super::listener::{Stream, Tls};
use super::sasl::Accounts;
use crate::model::{Fault, Host};

/// The byte by which a daemon says that it accepts the client.
const ACCEPTED: u8 = 1;
/// How long a TLS handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// One daemon.
#[derive(Debug)]
pub(super) struct Daemon {
    pub(super) host: Arc<Host>,
    pub(super) tls: Option<Tls>,
    pub(super) accounts: Option<Accounts>,
    pub(super) destinations: BTreeMap<String, Arc<Host>>,
    pub(super) limits: Mutex<BTreeMap<Uuid, Limits>>,
}

/// What migrations of a domain may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) downtime_ms: u64,
    pub(super) mib_per_second: u64,
}

impl Default for Limits {
    /// Those of the QEMU driver.
    fn default() -> Self {
        Self { downtime_ms: 300, mib_per_second: 8_796_093_022_207 }
    }
}

impl Daemon {
    /// One that everybody may talk to.
    pub(super) fn open_to_all(host: Arc<Host>) -> Self {
        Self { host, tls: None, accounts: None, destinations: BTreeMap::new(), limits: Mutex::default() }
    }

    pub(super) fn fault(&self) -> Fault {
        self.host.read(|state| state.faults.libvirt)
    }

    /// Shakes hands and gives the verdict, where TLS is wanted.
    pub(super) async fn secure(&self, stream: Box<dyn Stream>) -> io::Result<Box<dyn Stream>> {
        let Some(tls) = &self.tls else { return Ok(stream) };
        let wrong = self.fault() == Fault::WrongCertificate;
        let config = if wrong { &tls.wrong } else { &tls.config };
        let handshake = TlsAcceptor::from(Arc::clone(config)).accept(stream);
        let mut stream = tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake).await??;
        if self.fault() == Fault::CertificateRejected {
            stream.shutdown().await?;
            return Err(io::Error::other("the client's certificate is rejected, as scripted"));
        }
        stream.write_all(&[ACCEPTED]).await?;
        stream.flush().await?;
        Ok(Box::new(stream))
    }

    pub(super) fn limits(&self, domain: Uuid) -> Limits {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner).get(&domain).copied().unwrap_or_default()
    }

    pub(super) fn set_limits(&self, domain: Uuid, alter: impl FnOnce(&mut Limits)) {
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        alter(limits.entry(domain).or_default());
    }
}
