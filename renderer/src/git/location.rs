//! Where a repository is, in whatever spelling, and who we are there.

use std::fmt;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::GitError;

/// A repository.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Location {
    /// A bare repository on this machine; made when it does not exist.
    Directory(PathBuf),
    /// A repository behind `http`, `https`, `ssh` or `file`, reached through a local cache.
    Remote {
        /// Address.
        url: String,
        /// Folder of caches; one repository in it per address.
        cache: PathBuf,
    },
}

/// Who we are to a server. The password is read when it is needed, so that it may be renewed at any time.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Credentials {
    /// User name.
    pub username: Option<String>,
    /// File with the password or token.
    pub password_file: Option<PathBuf>,
    /// File with an SSH private key.
    pub ssh_key_file: Option<PathBuf>,
}

impl Location {
    /// Takes an address or a path. `cache` is used for addresses only.
    #[must_use]
    pub fn parse(text: &str, cache: PathBuf) -> Self {
        let scp_like =
            text.split_once(':').is_some_and(|(host, _)| host.contains('@') && !host.contains('/'));
        if text.contains("://") || scp_like {
            Self::Remote { url: text.to_owned(), cache }
        } else {
            Self::Directory(PathBuf::from(text))
        }
    }

    /// Checks that this build speaks the protocol.
    pub(super) fn check_protocol(&self) -> Result<(), GitError> {
        let Self::Remote { url, .. } = self else {
            return Ok(());
        };
        let scheme = url.split_once("://").map_or("ssh", |(scheme, _)| scheme);
        let feature = match scheme {
            "https" if !cfg!(feature = "https") => "https",
            "ssh" if !cfg!(feature = "ssh") => "ssh",
            _ => return Ok(()),
        };
        Err(GitError::Protocol { location: self.to_string(), feature })
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => write!(formatter, "{}", path.display()),
            Self::Remote { url, .. } => formatter.write_str(&without_user(url)),
        }
    }
}

/// An address without user name and password.
fn without_user(url: &str) -> String {
    match url.split_once("://") {
        None => url.split_once('@').map_or(url, |(_, rest)| rest).to_owned(),
        Some((scheme, rest)) => {
            let (authority, path) =
                rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            path.map_or_else(|| format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
        }
    }
}

/// One name for all spellings of one address: case of the host, default ports, a slash or `.git` at the end, scp-like ssh.
pub(super) fn cache_name(url: &str) -> String {
    let bare = without_user(url);
    let (scheme, rest) = match bare.split_once("://") {
        Some((scheme, rest)) => (scheme.to_ascii_lowercase(), rest.to_owned()),
        None => ("ssh".to_owned(), bare.replacen(':', "/", 1)),
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest.as_str(), ""));
    let default_port = match scheme.as_str() {
        "https" => ":443",
        "http" => ":80",
        "ssh" => ":22",
        _ => "",
    };
    let host = host.to_ascii_lowercase();
    let host = if default_port.is_empty() {
        host.as_str()
    } else {
        host.strip_suffix(default_port).unwrap_or(&host)
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    let digest = Sha256::digest(format!("{scheme}://{host}/{path}"));
    let mut name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    name.push_str(".git");
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_address_share_a_cache() {
        let https = [
            "https://h.example/o/r",
            "https://H.example/o/r.git",
            "https://h.example:443/o/r/",
            "https://u:p@h.example/o/r",
        ];
        let ssh = ["ssh://git@h.example/o/r", "git@h.example:o/r.git", "ssh://h.example:22/o/r"];
        for group in [&https[..], &ssh[..]] {
            for url in group {
                assert_eq!(cache_name(url), cache_name(group[0]), "{url}");
            }
        }
        assert_ne!(cache_name(https[0]), cache_name(ssh[0]));
        assert_ne!(cache_name(https[0]), cache_name("https://h.example/o/s"));
    }

    #[test]
    fn a_shown_address_has_no_password() {
        let location = Location::parse("https://user:hunter2@h.example/o/r.git", PathBuf::new());
        assert_eq!(location.to_string(), "https://h.example/o/r.git");
        assert_eq!(Location::parse("git@h:o/r", PathBuf::new()).to_string(), "h:o/r");
    }

    #[test]
    fn a_path_is_not_taken_for_an_address() {
        assert!(matches!(Location::parse("demo/topology.git", PathBuf::new()), Location::Directory(_)));
        assert!(matches!(Location::parse("./a:b", PathBuf::new()), Location::Directory(_)));
        assert!(matches!(Location::parse("git@h:o/r", PathBuf::new()), Location::Remote { .. }));
    }
}
