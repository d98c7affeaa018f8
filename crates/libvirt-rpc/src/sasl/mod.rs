//! SASL: proving to a daemon who is asking, by name and password.
//!
//! SCRAM-SHA-256 first: it sends no password and proves the daemon to us, too. PLAIN sends the password, so only where nobody on the
//! way can read it, or where the caller asked for it. Everything else (GSSAPI, DIGEST-MD5 …) is refused by name.

mod scram;

use std::fmt;

use thiserror::Error;

pub(crate) use scram::Scram;

/// Mechanisms of this crate, by the names that daemons offer.
pub(crate) const SCRAM_SHA_256: &str = "SCRAM-SHA-256";
pub(crate) const PLAIN: &str = "PLAIN";

/// Name and password for a daemon that asks for them.
///
/// ```
/// use libvirt_rpc::Credentials;
/// let credentials = Credentials::new("observer", "secret");
/// assert!(!format!("{credentials:?}").contains("secret"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) plain_anywhere: bool,
}

impl Credentials {
    /// Name and password.
    pub fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self { user: user.into(), password: password.into(), plain_anywhere: false }
    }

    /// Lets the password be sent readable for everybody on the way, to daemons that offer nothing better.
    #[must_use]
    pub fn allow_plain_without_encryption(mut self) -> Self {
        self.plain_anywhere = true;
        self
    }

    /// The one message of PLAIN (RFC 4616).
    pub(crate) fn plain(&self) -> Result<Vec<u8>, SaslError> {
        if self.user.contains('\0') || self.password.contains('\0') {
            return Err(SaslError::Credentials);
        }
        Ok(format!("\0{}\0{}", self.user, self.password).into_bytes())
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

/// How to prove it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// By SCRAM-SHA-256.
    Scram,
    /// By PLAIN.
    Plain,
    /// PLAIN would do, but others could read the password.
    PlainExposed,
    /// Nothing of what is offered.
    Nothing,
}

/// The best of what a daemon offers (names with commas between them).
pub(crate) fn choose(offered: &str, credentials: &Credentials, private: bool) -> Choice {
    let offers = |name: &str| offered.split([',', ' ']).any(|one| one.eq_ignore_ascii_case(name));
    if offers(SCRAM_SHA_256) {
        Choice::Scram
    } else if !offers(PLAIN) {
        Choice::Nothing
    } else if private || credentials.plain_anywhere {
        Choice::Plain
    } else {
        Choice::PlainExposed
    }
}

/// A daemon's part of the exchange that is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SaslError {
    /// Name or password holds a character that no mechanism can carry.
    #[error("the user name or the password holds a zero")]
    Credentials,
    /// A message that makes no sense.
    #[error("the daemon's message is malformed: {0}")]
    Malformed(&'static str),
    /// The daemon did not go on from what it was sent: somebody is in between.
    #[error("the daemon's nonce does not begin with ours")]
    Nonce,
    /// Too few for safety or more than is reasonable.
    #[error("{0} iterations are not within 4096 to 1000000")]
    Iterations(u32),
    /// The daemon says no, in SCRAM's words.
    #[error("the daemon says `{0}`")]
    Refused(String),
    /// The daemon does not know the password either: it is another.
    #[error("the daemon could not prove that it knows the password")]
    NotProven,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_that_is_safe_is_chosen() {
        let careful = Credentials::new("user", "pencil");
        let careless = careful.clone().allow_plain_without_encryption();
        let offered = "PLAIN,SCRAM-SHA-256,DIGEST-MD5";
        assert_eq!(choose(offered, &careful, false), Choice::Scram);
        assert_eq!(choose("PLAIN", &careful, true), Choice::Plain);
        assert_eq!(choose("LOGIN,PLAIN", &careful, false), Choice::PlainExposed);
        assert_eq!(choose("PLAIN", &careless, false), Choice::Plain);
        assert_eq!(choose("GSSAPI,SCRAM-SHA-256-PLUS,SCRAM-SHA-1", &careless, true), Choice::Nothing);
        assert_eq!(choose("", &careless, true), Choice::Nothing);
    }

    #[test]
    fn plain_is_one_message() {
        assert_eq!(Credentials::new("user", "pencil").plain().unwrap(), b"\0user\0pencil");
        assert_eq!(Credentials::new("us\0er", "pencil").plain(), Err(SaslError::Credentials));
    }
}
