//! Who logs in. Secrets are [`SecretString`]s, whose `Debug` shows nothing.

use openstack_sdk::config::Auth;
pub use secrecy::SecretString;

/// What Keystone is given to prove who we are.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Credentials {
    /// A user with a password, and the project to act in.
    Password(PasswordCredentials),
    /// An application credential, which brings its own user, project and roles.
    ApplicationCredential {
        /// Its id.
        id: String,
        /// Its secret, shown once when it was made.
        secret: SecretString,
    },
}

/// A user with a password, and the project to act in.
#[derive(Debug, Clone)]
pub struct PasswordCredentials {
    /// The user.
    pub user: Identity,
    /// The password.
    pub password: SecretString,
    /// The project. Nova's operator calls need one in which the user is admin.
    pub project: Identity,
}

/// A user or a project: by id, or by a name that is unique in a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// By id.
    Id(String),
    /// By name in a domain.
    Name {
        /// The name.
        name: String,
        /// Where the name is unique.
        domain: Domain,
    },
}

/// A Keystone domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Domain {
    /// By id, e.g. `default`.
    Id(String),
    /// By name, e.g. `Default`.
    Name(String),
}

impl Credentials {
    /// The SDK's name of the way to log in.
    pub(crate) fn auth_type(&self) -> &'static str {
        match self {
            Self::Password(_) => "v3password",
            Self::ApplicationCredential { .. } => "v3applicationcredential",
        }
    }

    /// The SDK's form. An application credential must not carry a scope: Keystone refuses it with 401 then.
    pub(crate) fn to_auth(&self) -> Auth {
        match self {
            Self::ApplicationCredential { id, secret } => Auth {
                application_credential_id: Some(id.clone()),
                application_credential_secret: Some(secret.clone()),
                ..Auth::default()
            },
            Self::Password(password) => password.to_auth(),
        }
    }
}

impl PasswordCredentials {
    fn to_auth(&self) -> Auth {
        let (user_id, username, user_domain) = self.user.parts();
        let (project_id, project_name, project_domain) = self.project.parts();
        let (user_domain_id, user_domain_name) = Domain::parts(user_domain);
        let (project_domain_id, project_domain_name) = Domain::parts(project_domain);
        Auth {
            user_id,
            username,
            user_domain_id,
            user_domain_name,
            password: Some(self.password.clone()),
            project_id,
            project_name,
            project_domain_id,
            project_domain_name,
            ..Auth::default()
        }
    }
}

impl Identity {
    fn parts(&self) -> (Option<String>, Option<String>, Option<&Domain>) {
        match self {
            Self::Id(id) => (Some(id.clone()), None, None),
            Self::Name { name, domain } => (None, Some(name.clone()), Some(domain)),
        }
    }
}

impl Domain {
    fn parts(domain: Option<&Self>) -> (Option<String>, Option<String>) {
        match domain {
            Some(Self::Id(id)) => (Some(id.clone()), None),
            Some(Self::Name(name)) => (None, Some(name.clone())),
            None => (None, None),
        }
    }
}
