//! The query of a request, with the lenient reading of Kubernetes: unknown parameters are ignored, the first of several counts.

use super::percent::{self, DecodeError};

/// Decoded parameters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    pub(crate) fn parse(text: &str) -> Result<Self, DecodeError> {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((percent::decode_query(name)?, percent::decode_query(value)?))
        });
        Ok(Self { pairs: pairs.collect::<Result<_, _>>()? })
    }

    /// The first value of a parameter.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// All values of a parameter.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether a parameter is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// A switch: absent means nothing, `false` and `0` mean false, anything else means true.
    pub(crate) fn switch(&self, name: &str) -> Option<bool> {
        self.get(name).map(|value| !(value.eq_ignore_ascii_case("false") || value == "0"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_read_leniently() {
        let query = Query::parse("watch&a=1&a=2&b=x%2Cy+z&c=false&d=0&&e=").unwrap();
        assert_eq!(query.switch("watch"), Some(true));
        assert_eq!(query.get("a"), Some("1"));
        assert_eq!(query.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(query.get("b"), Some("x,y z"));
        assert_eq!(
            (query.switch("c"), query.switch("d"), query.switch("e")),
            (Some(false), Some(false), Some(true))
        );
        assert_eq!(query.switch("f"), None);
        assert!(Query::parse("a=%zz").is_err());
    }
}
