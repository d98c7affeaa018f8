//! How to reach a cloud: where Keystone is, who logs in, which endpoints to take, how long to wait.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Url;

use crate::clouds_yaml::{self, CloudsYamlError};
use crate::credentials::Credentials;
use crate::error::Error;

/// How to reach a cloud.
///
/// ```
/// use nova_client::{CloudOptions, Credentials, Interface};
///
/// let credentials = Credentials::ApplicationCredential { id: "15b5".to_owned(), secret: "s3cret".into() };
/// let options = CloudOptions::new("https://keystone.example/v3", credentials)
///     .with_region("RegionOne")
///     .with_interface(Interface::Internal);
/// assert!(!format!("{options:?}").contains("s3cret"));
/// ```
#[derive(Debug, Clone)]
pub struct CloudOptions {
    source: Source,
    region: Option<String>,
    interface: Option<Interface>,
    ca_file: Option<PathBuf>,
    limits: Limits,
}

/// Where the credentials come from.
#[derive(Debug, Clone)]
enum Source {
    Explicit(Box<CloudEntry>),
    CloudsYaml { path: PathBuf, cloud: String },
}

/// What one cloud's configuration says.
#[derive(Clone)]
pub(crate) struct CloudEntry {
    pub(crate) auth_url: String,
    pub(crate) credentials: Credentials,
    pub(crate) region: Option<String>,
    pub(crate) interface: Interface,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) verify: bool,
    pub(crate) compute_url: Option<String>,
    pub(crate) placement_url: Option<String>,
}

/// Which of an endpoint's addresses to take from the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interface {
    /// For everybody.
    #[default]
    Public,
    /// For services of the cloud itself.
    Internal,
    /// For operators; most services have none.
    Admin,
}

/// How long to wait, how often to try, how much to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// For a TCP and TLS connection.
    pub connect: Duration,
    /// For one request and its whole answer, and for one login.
    pub attempt: Duration,
    /// For an operation with all its pages and repetitions.
    pub operation: Duration,
    /// How often a read is sent at most when the service is away.
    pub attempts: u32,
    /// The largest answer, in bytes after decompression.
    pub answer_bytes: usize,
    /// Rows per page. Nova cuts it to its own maximum (1000 unless changed).
    pub page_rows: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            attempt: Duration::from_secs(10),
            operation: Duration::from_secs(30),
            attempts: 3,
            answer_bytes: 64 * 1024 * 1024,
            page_rows: 1000,
        }
    }
}

impl CloudOptions {
    /// A cloud by the URL of its Keystone (with or without `/v3`) and explicit credentials.
    pub fn new(auth_url: impl Into<String>, credentials: Credentials) -> Self {
        let entry = CloudEntry {
            auth_url: auth_url.into(),
            credentials,
            region: None,
            interface: Interface::Public,
            ca_file: None,
            verify: true,
            compute_url: None,
            placement_url: None,
        };
        Self::of(Source::Explicit(Box::new(entry)))
    }

    /// A cloud by its name in a `clouds.yaml`. The file is read now, to tell mistakes at once, and again at every login,
    /// so that a rotated secret is taken up without a restart.
    pub fn from_clouds_yaml(path: impl AsRef<Path>, cloud: &str) -> Result<Self, Error> {
        let options =
            Self::of(Source::CloudsYaml { path: path.as_ref().to_owned(), cloud: cloud.to_owned() });
        options.resolve()?;
        Ok(options)
    }

    fn of(source: Source) -> Self {
        Self { source, region: None, interface: None, ca_file: None, limits: Limits::default() }
    }

    /// Takes endpoints of this region; without one, of the first region in the catalog that has the service.
    #[must_use]
    pub fn with_region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// Takes endpoints of this interface.
    #[must_use]
    pub fn with_interface(mut self, interface: Interface) -> Self {
        self.interface = Some(interface);
        self
    }

    /// Trusts the certificates of this PEM file besides those of the system.
    #[must_use]
    pub fn with_ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.ca_file = Some(path.into());
        self
    }

    /// Waits, tries and takes no more than this.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What is in force now; reads `clouds.yaml` again when there is one.
    pub(crate) fn resolve(&self) -> Result<CloudEntry, Error> {
        let mut entry = match &self.source {
            Source::Explicit(entry) => CloudEntry::clone(entry),
            Source::CloudsYaml { path, cloud } => {
                let wrong = |source: CloudsYamlError| Error::ReadCloudsYaml {
                    path: path.clone(),
                    cloud: cloud.clone(),
                    source,
                };
                clouds_yaml::read(path, cloud).map_err(wrong)?
            }
        };
        entry.region = self.region.clone().or(entry.region);
        entry.interface = self.interface.unwrap_or(entry.interface);
        entry.ca_file = self.ca_file.clone().or(entry.ca_file);
        Ok(entry)
    }
}

impl CloudEntry {
    /// The URL of Keystone, to be shown: without what somebody may have written before its `@`.
    pub(crate) fn auth_url_to_show(&self) -> String {
        match Url::parse(&self.auth_url) {
            Ok(mut url) if self.auth_url_has_user() => {
                // Neither fails for a URL that has a user.
                let _ = url.set_username("");
                let _ = url.set_password(None);
                url.to_string()
            }
            _ => self.auth_url.clone(),
        }
    }

    pub(crate) fn auth_url_has_user(&self) -> bool {
        Url::parse(&self.auth_url).is_ok_and(|url| !url.username().is_empty() || url.password().is_some())
    }
}

impl fmt::Debug for CloudEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CloudEntry")
            .field("auth_url", &self.auth_url_to_show())
            .field("credentials", &self.credentials)
            .field("region", &self.region)
            .field("interface", &self.interface)
            .field("ca_file", &self.ca_file)
            .field("verify", &self.verify)
            .finish_non_exhaustive()
    }
}

impl Interface {
    /// The name in the catalog.
    pub fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Internal => "internal",
            Self::Admin => "admin",
        }
    }

    /// By its name, also in the old spelling (`publicURL`).
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        match name.strip_suffix("URL").unwrap_or(name) {
            "public" => Some(Self::Public),
            "internal" => Some(Self::Internal),
            "admin" => Some(Self::Admin),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_the_url_of_keystone_is_not_shown() {
        let credentials =
            || Credentials::ApplicationCredential { id: "id".to_owned(), secret: "s3cret".into() };
        let options = CloudOptions::new("https://admin:hunter2@keystone.example:5000/v3", credentials());
        let entry = options.resolve().unwrap();
        assert!(entry.auth_url_has_user());
        assert_eq!(entry.auth_url_to_show(), "https://keystone.example:5000/v3");
        let shown = format!("{options:?}");
        assert!(!shown.contains("hunter2") && !shown.contains("s3cret"), "{shown}");
        let plain = CloudOptions::new("https://keystone.example:5000/v3", credentials()).resolve().unwrap();
        assert!(!plain.auth_url_has_user());
    }
}
