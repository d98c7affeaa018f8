//! What ovn-controller's `connection-status` answers.
//!
//! No answer at all is an error of the call and never "not connected".

/// Whether ovn-controller reaches the Southbound database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionStatus {
    /// `connected`
    Connected,
    /// `not connected`
    NotConnected,
    /// Anything else, as it came.
    Other(String),
}

impl ConnectionStatus {
    /// Reads the text.
    pub fn parse(text: &[u8]) -> Self {
        match String::from_utf8_lossy(text).trim() {
            "connected" => Self::Connected,
            "not connected" => Self::NotConnected,
            other => Self::Other(other.chars().take(200).collect()),
        }
    }

    /// `None` when the answer is none that we know.
    pub fn is_connected(&self) -> Option<bool> {
        match self {
            Self::Connected => Some(true),
            Self::NotConnected => Some(false),
            Self::Other(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connected_not_connected_and_neither_are_told_apart() {
        let connected = |text: &str| ConnectionStatus::parse(text.as_bytes()).is_connected();
        assert_eq!(connected("connected\n"), Some(true));
        assert_eq!(connected("not connected\n"), Some(false));
        assert_eq!(connected("reconnecting"), None);
        assert_eq!(connected(""), None);
    }
}
