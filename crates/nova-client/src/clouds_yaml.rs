//! One cloud of a `clouds.yaml`, the file that every OpenStack client reads.
//!
//! Read here rather than by the SDK so that a mistake is told by line or by key, and never by quoting the file: parsers
//! put the offending value into their message, and in this file that may be a password.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use thiserror::Error;

use crate::credentials::{Credentials, Domain, Identity, PasswordCredentials, SecretString};
use crate::options::{CloudEntry, Interface};

/// Why a `clouds.yaml` cannot be used. No variant holds a value of the file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CloudsYamlError {
    /// The file cannot be read.
    #[error("read the file")]
    Read(#[source] std::io::Error),
    /// The file is not YAML.
    #[error("not valid YAML at line {line}, column {column}")]
    Syntax {
        /// Line, from 1; 0 when it is not known.
        line: u64,
        /// Column, from 1; 0 when it is not known.
        column: u64,
    },
    /// A key that must be there is not.
    #[error("`{key}` is missing{hint}")]
    Missing {
        /// The whole path of the key.
        key: String,
        /// What would help, beginning with a separator; may be empty.
        hint: String,
    },
    /// A value has the wrong type.
    #[error("`{key}` must be {expected}")]
    WrongType {
        /// The whole path of the key.
        key: String,
        /// What it must be.
        expected: &'static str,
    },
    /// The file asks for something that this program does not do.
    #[error("`{key}` asks for something that is not supported; {instead}")]
    Unsupported {
        /// The whole path of the key.
        key: String,
        /// What to do instead.
        instead: &'static str,
    },
}

type Result<T> = std::result::Result<T, CloudsYamlError>;

/// A mapping of the file together with where it is.
struct Section<'a> {
    path: String,
    keys: &'a Map<String, Value>,
}

/// Reads one cloud.
pub(crate) fn read(path: &Path, cloud: &str) -> Result<CloudEntry> {
    parse(&std::fs::read_to_string(path).map_err(CloudsYamlError::Read)?, cloud)
}

fn parse(text: &str, cloud: &str) -> Result<CloudEntry> {
    let document: Value = serde_saphyr::from_str(text).map_err(|error| {
        let place = error.location();
        let (line, column) = place.map_or((0, 0), |place| (place.line(), place.column()));
        CloudsYamlError::Syntax { line, column }
    })?;
    let file = Section::of("", &document)?;
    let clouds = file.section("clouds")?;
    let entry = clouds.section(cloud).map_err(|error| match error {
        CloudsYamlError::Missing { key, .. } => CloudsYamlError::Missing { key, hint: clouds.offered() },
        other => other,
    })?;
    entry.cloud()
}

impl<'a> Section<'a> {
    fn of(path: impl Into<String>, value: &'a Value) -> Result<Self> {
        let path = path.into();
        match value {
            Value::Object(keys) => Ok(Self { path, keys }),
            _ if path.is_empty() => {
                Err(CloudsYamlError::WrongType { key: "(the file)".to_owned(), expected: "a mapping" })
            }
            _ => Err(CloudsYamlError::WrongType { key: path, expected: "a mapping" }),
        }
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn missing(&self, key: &str, hint: &str) -> CloudsYamlError {
        CloudsYamlError::Missing { key: self.path_of(key), hint: hint.to_owned() }
    }

    fn unsupported(&self, key: &str, instead: &'static str) -> CloudsYamlError {
        CloudsYamlError::Unsupported { key: self.path_of(key), instead }
    }

    /// The names of the clouds, to show beside a name that is not among them.
    fn offered(&self) -> String {
        let names: Vec<&str> = self.keys.keys().map(String::as_str).collect();
        format!(" (the file has: {})", names.join(", "))
    }

    fn section(&self, key: &str) -> Result<Self> {
        let value = self.keys.get(key).ok_or_else(|| self.missing(key, ""))?;
        Self::of(self.path_of(key), value)
    }

    fn text(&self, key: &str) -> Result<Option<String>> {
        match self.keys.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(CloudsYamlError::WrongType {
                key: self.path_of(key),
                expected: "a text (put it in quotes)",
            }),
        }
    }

    fn needed(&self, key: &str) -> Result<String> {
        self.text(key)?.ok_or_else(|| self.missing(key, ""))
    }

    fn flag(&self, key: &str) -> Result<Option<bool>> {
        match self.keys.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(CloudsYamlError::WrongType { key: self.path_of(key), expected: "true or false" }),
        }
    }

    fn cloud(&self) -> Result<CloudEntry> {
        let auth = self.section("auth")?;
        Ok(CloudEntry {
            auth_url: auth.needed("auth_url")?,
            credentials: self.credentials(&auth)?,
            region: self.text("region_name")?,
            interface: self.interface()?,
            ca_file: self.text("cacert")?.map(PathBuf::from),
            verify: self.flag("verify")?.unwrap_or(true),
            compute_url: self.text("compute_endpoint_override")?,
            placement_url: self.text("placement_endpoint_override")?,
        })
    }

    fn interface(&self) -> Result<Interface> {
        for key in ["interface", "endpoint_type"] {
            if let Some(name) = self.text(key)? {
                let expected = "public, internal or admin";
                return Interface::by_name(&name)
                    .ok_or_else(|| CloudsYamlError::WrongType { key: self.path_of(key), expected });
            }
        }
        Ok(Interface::default())
    }

    /// By `auth_type`, in all the spellings that are about; without one, by what is there.
    fn credentials(&self, auth: &Section<'_>) -> Result<Credentials> {
        let named = self.text("auth_type")?.map(|name| name.replace('_', ""));
        let by_what_is_there = || {
            let has_secret = auth.keys.contains_key("application_credential_secret");
            if has_secret { "v3applicationcredential" } else { "v3password" }.to_owned()
        };
        match named.unwrap_or_else(by_what_is_there).as_str() {
            "v3applicationcredential" | "applicationcredential" => auth.application_credential(),
            "v3password" | "password" => auth.password(),
            _ => Err(self.unsupported("auth_type", "use `password` or `v3applicationcredential`")),
        }
    }

    fn application_credential(&self) -> Result<Credentials> {
        let id = match self.text("application_credential_id")? {
            Some(id) => id,
            None if self.keys.contains_key("application_credential_name") => {
                return Err(
                    self.unsupported("application_credential_name", "give `application_credential_id`")
                );
            }
            None => return Err(self.missing("application_credential_id", "")),
        };
        let secret = SecretString::from(self.needed("application_credential_secret")?);
        Ok(Credentials::ApplicationCredential { id, secret })
    }

    fn password(&self) -> Result<Credentials> {
        let user = self.identity("user_id", "username", "user_domain")?;
        let project = self.identity("project_id", "project_name", "project_domain")?;
        let password = SecretString::from(self.needed("password")?);
        Ok(Credentials::Password(PasswordCredentials { user, password, project }))
    }

    fn identity(&self, id: &str, name: &str, domain: &str) -> Result<Identity> {
        if let Some(id) = self.text(id)? {
            return Ok(Identity::Id(id));
        }
        let name = self.text(name)?.ok_or_else(|| self.missing(name, &format!(" (or give `{id}`)")))?;
        Ok(Identity::Name { name, domain: self.domain(domain)? })
    }

    /// `user_domain_id`, `user_domain_name`, or for both users and projects `domain_id`, `domain_name`.
    fn domain(&self, prefix: &str) -> Result<Domain> {
        if let Some(id) = self.text(&format!("{prefix}_id"))? {
            return Ok(Domain::Id(id));
        }
        if let Some(name) = self.text(&format!("{prefix}_name"))? {
            return Ok(Domain::Name(name));
        }
        if let Some(id) = self.text("domain_id")? {
            return Ok(Domain::Id(id));
        }
        match self.text("domain_name")? {
            Some(name) => Ok(Domain::Name(name)),
            None => Err(self.missing(&format!("{prefix}_name"), &format!(" (or give `{prefix}_id`)"))),
        }
    }
}
