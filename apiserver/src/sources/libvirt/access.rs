//! From configuration to a connection that may be made: certificates, name and password, both read anew each time.

use std::path::PathBuf;

use c5c3_api::SourceState;
use libvirt_rpc::{Connector, Credentials, Endpoint, OpenOptions, TlsClient, TlsEndpoint, TlsFiles};

use crate::configuration::{LibvirtSasl, LibvirtTls, Reach};
use crate::sources::observation::chain;
use crate::sources::task::{Settings, Trouble};

/// What libvirtd opens where the configuration names nothing else.
const URI: &str = "qemu:///system";

/// How one host's libvirtd is reached.
#[derive(Debug)]
pub struct Access {
    endpoint: String,
    uri: String,
    tls: Option<(TlsClient, Option<String>)>,
    sasl: Option<LibvirtSasl>,
}

/// A file that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the password in {path}")]
struct NoPassword {
    path: PathBuf,
    #[source]
    source: std::io::Error,
}

impl Access {
    /// What `reach` says; `None` when libvirtd is not to be reached.
    pub fn new(reach: &Reach, settings: &Settings) -> Option<Self> {
        let client = |tls: &LibvirtTls| {
            let files = match tls.identity() {
                Some((certificate, key)) => TlsFiles::new(&tls.ca, certificate, key),
                None => TlsFiles::anonymous(&tls.ca),
            };
            (settings.tls_client(files), tls.server_name.clone())
        };
        Some(Self {
            endpoint: reach.libvirt.clone()?,
            uri: reach.libvirt_uri.clone().unwrap_or_else(|| URI.to_owned()),
            tls: reach.libvirt_tls.as_ref().map(client),
            sasl: reach.libvirt_sasl.clone(),
        })
    }

    /// What connects.
    pub(super) fn connector(&self) -> Result<Box<dyn Connector>, Trouble> {
        let endpoint: Endpoint = self
            .endpoint
            .parse()
            .map_err(|error| Trouble { state: SourceState::Unreachable, message: chain(&error) })?;
        Ok(match (endpoint, &self.tls) {
            (Endpoint::Tls { host, port }, Some((client, name))) => {
                let endpoint = TlsEndpoint::new(host, port, client.clone());
                Box::new(match name {
                    Some(name) => endpoint.with_server_name(name),
                    None => endpoint,
                })
            }
            (endpoint, _) => Box::new(endpoint),
        })
    }

    /// What is opened, and as whom.
    pub(super) async fn options(&self) -> Result<OpenOptions, Trouble> {
        // Not read-only: libvirt refuses domain capabilities to such a connection. Nothing here writes.
        let options = OpenOptions::new(self.uri.clone());
        let Some(sasl) = &self.sasl else { return Ok(options) };
        let path = &sasl.password_file;
        let password = tokio::fs::read_to_string(path).await.map_err(|source| {
            let error = NoPassword { path: path.clone(), source };
            Trouble { state: SourceState::Denied, message: chain(&error) }
        })?;
        let credentials = Credentials::new(&sasl.user, password.trim_end_matches(['\r', '\n']));
        Ok(options.with_credentials(if sasl.plain_without_encryption {
            credentials.allow_plain_without_encryption()
        } else {
            credentials
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::Refresh;

    fn access(reach: &Reach) -> Access {
        Access::new(reach, &Settings::new(Refresh::default())).unwrap()
    }

    #[tokio::test]
    async fn a_password_that_cannot_be_read_is_denied_and_named() {
        let sasl = LibvirtSasl {
            user: "observer".into(),
            password_file: "/nonexistent/password".into(),
            plain_without_encryption: false,
        };
        let libvirt = Some("tcp://h".into());
        let trouble = access(&Reach { libvirt, libvirt_sasl: Some(sasl), ..Reach::default() });
        let trouble = trouble.options().await.unwrap_err();
        assert!(matches!(trouble.state, SourceState::Denied));
        assert!(trouble.message.starts_with("cannot read the password in /nonexistent/password: "));
    }

    #[test]
    fn only_tls_is_private_without_a_socket_of_this_machine() {
        let tls =
            LibvirtTls { ca: "/ca".into(), certificate: None, key: None, server_name: Some("node-1".into()) };
        let by = |endpoint: &str| {
            let reach =
                Reach { libvirt: Some(endpoint.into()), libvirt_tls: Some(tls.clone()), ..Reach::default() };
            access(&reach).connector().map(|connector| (connector.peer(), connector.is_private()))
        };
        assert_eq!(by("tls://10.0.0.1").unwrap(), ("tls://10.0.0.1:16514".to_owned(), true));
        assert_eq!(by("tcp://10.0.0.1").unwrap(), ("tcp://10.0.0.1:16509".to_owned(), false));
        assert!(by("10.0.0.1").unwrap_err().message.contains("unknown scheme"));
    }
}
