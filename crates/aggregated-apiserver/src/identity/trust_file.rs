//! The authority of clients from a file, for a server without a cluster.
//!
//! The file is compared by content, like the serving certificate, so it does not matter how it is replaced. Text that
//! is no authority is not adopted: those who are believed stay believed until somebody is named in their place. To change
//! authorities without a refused request, the file holds the old and the new one for a while.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::{Trust, TrustError};

/// A PEM file with the authorities that sign client certificates.
#[derive(Debug)]
pub struct ClientAuthorityFile {
    path: PathBuf,
    trust: Arc<ArcSwap<Trust>>,
    reload: Duration,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AuthorityFileError {
    /// It cannot be read.
    #[error("reading {path}")]
    Read {
        /// Which one.
        path: String,
        /// What is wrong.
        #[source]
        source: std::io::Error,
    },
    /// It holds no authority.
    #[error("{path} holds no usable authority")]
    Authority {
        /// Which one.
        path: String,
        /// What is wrong.
        #[source]
        source: TrustError,
    },
}

impl ClientAuthorityFile {
    /// Reads the file; it is read again every ten seconds by [`follow`](Self::follow).
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, AuthorityFileError> {
        let file = Self { path: path.into(), trust: Arc::default(), reload: Duration::from_secs(10) };
        file.read()?;
        Ok(file)
    }

    /// The same, read again after other times.
    #[must_use]
    pub fn reloaded_every(mut self, interval: Duration) -> Self {
        self.reload = interval;
        self
    }

    /// Who is believed at the moment.
    pub fn trust(&self) -> &Arc<ArcSwap<Trust>> {
        &self.trust
    }

    /// Follows the file until stopped.
    pub async fn follow(&self, stop: CancellationToken) {
        let mut last_fault = String::new();
        while stop.run_until_cancelled(tokio::time::sleep(self.reload)).await.is_some() {
            match self.read() {
                Ok(adopted) => {
                    last_fault.clear();
                    if adopted {
                        info!(path = %self.path.display(), "authority of clients replaced");
                    }
                }
                Err(error) => {
                    let fault = error.to_string();
                    if fault != last_fault {
                        warn!(error = &error as &dyn std::error::Error, "authority of clients is not usable");
                    }
                    last_fault = fault;
                }
            }
        }
    }

    /// True when something else is believed than before.
    fn read(&self) -> Result<bool, AuthorityFileError> {
        let path = || self.path.display().to_string();
        let pem = std::fs::read_to_string(&self.path)
            .map_err(|source| AuthorityFileError::Read { path: path(), source })?;
        let trust = Trust::clients_of(&pem)
            .map_err(|source| AuthorityFileError::Authority { path: path(), source })?;
        let changed = **self.trust.load() != trust;
        if changed {
            self.trust.store(Arc::new(trust));
        }
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_what_is_an_authority_is_adopted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.crt");
        assert!(matches!(ClientAuthorityFile::open(&path), Err(AuthorityFileError::Read { .. })));
        std::fs::write(&path, "nonsense").unwrap();
        assert!(matches!(ClientAuthorityFile::open(&path), Err(AuthorityFileError::Authority { .. })));
        let [old, new] = ["old", "new"].map(|name| crate::testing::authority(name).pem());
        std::fs::write(&path, &old).unwrap();
        let file = Arc::new(ClientAuthorityFile::open(&path).unwrap());
        let believed = |pem: &str| **file.trust().load() == Trust::clients_of(pem).unwrap();
        assert!(believed(&old));
        let stop = CancellationToken::new();
        let following = tokio::spawn({
            let (file, stop) = (file.clone(), stop.clone());
            async move { file.follow(stop).await }
        });
        let wait = || tokio::time::sleep(Duration::from_secs(11));
        std::fs::write(&path, "").unwrap();
        wait().await;
        assert!(believed(&old), "an empty file takes nobody's place");
        std::fs::write(&path, &new).unwrap();
        wait().await;
        assert!(believed(&new));
        stop.cancel();
        following.await.unwrap();
    }
}
