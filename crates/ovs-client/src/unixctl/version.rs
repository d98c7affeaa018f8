//! What `version` answers: `ovs-vswitchd (Open vSwitch) 3.1.0` or `ovn-controller 23.03.1` with a second line.

use std::fmt;

/// Name and version of a running daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramVersion {
    /// e.g. `ovs-vswitchd`.
    pub program: String,
    /// e.g. `3.1.0`.
    pub version: String,
    /// Version of the Open vSwitch library in a daemon of OVN.
    pub library: Option<String>,
}

/// Why a text is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the answer to version: {0:?}")]
pub struct VersionError(String);

impl ProgramVersion {
    /// Reads the text.
    ///
    /// ```
    /// use ovs_client::unixctl::ProgramVersion;
    ///
    /// let version = ProgramVersion::parse(b"ovs-vswitchd (Open vSwitch) 3.1.0\n")?;
    /// assert_eq!((version.program.as_str(), version.version.as_str()), ("ovs-vswitchd", "3.1.0"));
    /// # Ok::<(), ovs_client::unixctl::VersionError>(())
    /// ```
    pub fn parse(text: &[u8]) -> Result<Self, VersionError> {
        let text = String::from_utf8_lossy(text);
        let mut lines = text.lines();
        let read = || -> Option<Self> {
            let first = lines.next()?;
            let (program, rest) = first.split_once(' ')?;
            let version = rest.split_whitespace().next_back()?;
            let numbered = version.starts_with(|first: char| first.is_ascii_digit());
            let library = lines
                .find_map(|line| line.strip_prefix("Open vSwitch Library "))
                .map(|text| text.trim().to_owned());
            numbered.then(|| Self { program: program.to_owned(), version: version.to_owned(), library })
        };
        let mut read = read;
        read().ok_or_else(|| VersionError(text.chars().take(80).collect()))
    }
}

impl fmt::Display for ProgramVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.program, self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_answers_of_real_daemons_are_read() {
        let ovn = ProgramVersion::parse(b"ovn-controller 23.03.1\nOpen vSwitch Library 3.1.0\n").unwrap();
        assert_eq!(
            (ovn.program.as_str(), ovn.version.as_str(), ovn.library.as_deref()),
            ("ovn-controller", "23.03.1", Some("3.1.0"))
        );
        let server = ProgramVersion::parse(b"ovsdb-server (Open vSwitch) 3.4.1\n").unwrap();
        assert_eq!(
            (server.program.as_str(), server.version.as_str(), server.library),
            ("ovsdb-server", "3.4.1", None)
        );
    }

    #[test]
    fn other_texts_are_no_versions() {
        for text in ["", "\n", "ovs-vswitchd", "connected\n", "no such command"] {
            assert!(ProgramVersion::parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(crate::property::few(64))]

        #[test]
        fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = ProgramVersion::parse(&text);
        }
    }
}
