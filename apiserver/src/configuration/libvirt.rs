//! How libvirtd is to be convinced: certificates for TLS, a name and a password for SASL. Secrets by path, read at each connection.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Certificates for a `tls://` endpoint. `{name}` in a path or in the server's name is the host's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LibvirtTls {
    /// Authorities that sign the daemons' certificates.
    pub ca: PathBuf,
    /// The server's own certificate; absent, together with the key, for daemons that want none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// Its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
    /// Name that the daemon's certificate is for; absent: the endpoint's host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
}

/// Name and password for daemons that want them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct LibvirtSasl {
    /// User name.
    pub user: String,
    /// File with the password; an end of line after it does not belong to it.
    pub password_file: PathBuf,
    /// Send the password as it is even where others can read it, to daemons that offer nothing better.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plain_without_encryption: bool,
}

impl LibvirtTls {
    /// Certificate and key, if both are given.
    pub fn identity(&self) -> Option<(&PathBuf, &PathBuf)> {
        self.certificate.as_ref().zip(self.key.as_ref())
    }

    /// Whether one of certificate and key is missing.
    pub(super) fn is_half(&self) -> bool {
        self.certificate.is_some() != self.key.is_some()
    }

    /// With the host's name put in.
    pub(super) fn of(&self, name: &str) -> Self {
        let path = |path: &PathBuf| PathBuf::from(path.to_string_lossy().replace("{name}", name));
        Self {
            ca: path(&self.ca),
            certificate: self.certificate.as_ref().map(path),
            key: self.key.as_ref().map(path),
            server_name: self.server_name.as_ref().map(|server| server.replace("{name}", name)),
        }
    }
}
