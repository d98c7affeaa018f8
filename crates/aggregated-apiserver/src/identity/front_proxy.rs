//! The headers in which the front proxy says for whom it asks.

use std::collections::BTreeMap;

use http::HeaderMap;

use super::{AuthenticationError, User};
use crate::request::percent;

/// Names of the front proxy's headers, in any case. Of several names, the first that is there counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontProxyHeaders {
    /// User name.
    pub user: Vec<String>,
    /// UID.
    pub uid: Vec<String>,
    /// Groups, one a header; all names count.
    pub group: Vec<String>,
    /// Beginnings of headers with extra information; all count.
    pub extra_prefix: Vec<String>,
}

impl Default for FrontProxyHeaders {
    fn default() -> Self {
        Self {
            user: vec!["X-Remote-User".to_owned()],
            uid: vec!["X-Remote-Uid".to_owned()],
            group: vec!["X-Remote-Group".to_owned()],
            extra_prefix: vec!["X-Remote-Extra-".to_owned()],
        }
    }
}

impl FrontProxyHeaders {
    /// The user that trusted headers name, if they name one.
    pub(crate) fn user(&self, headers: &HeaderMap) -> Result<Option<User>, AuthenticationError> {
        let first = |names: &[String]| -> Result<String, AuthenticationError> {
            for name in names {
                if let Some(value) = headers.get(name.as_str()) {
                    let value = text(name, value)?;
                    if !value.is_empty() {
                        return Ok(value.to_owned());
                    }
                }
            }
            Ok(String::new())
        };
        let name = first(&self.user)?;
        if name.is_empty() {
            return Ok(None);
        }
        let mut groups = Vec::new();
        for header in &self.group {
            for value in headers.get_all(header.as_str()) {
                groups.push(text(header, value)?.to_owned());
            }
        }
        Ok(Some(User { name, uid: first(&self.uid)?, groups, extra: self.extra(headers)? }))
    }

    fn extra(&self, headers: &HeaderMap) -> Result<BTreeMap<String, Vec<String>>, AuthenticationError> {
        let mut extra = BTreeMap::<String, Vec<String>>::new();
        for prefix in &self.extra_prefix {
            let prefix = prefix.to_ascii_lowercase();
            for (name, value) in headers {
                // Header names are lower-case already.
                let Some(key) = name.as_str().strip_prefix(prefix.as_str()) else { continue };
                let key =
                    percent::decode(key).map(|key| key.to_lowercase()).unwrap_or_else(|_| key.to_owned());
                extra.entry(key).or_default().push(text(name.as_str(), value)?.to_owned());
            }
        }
        Ok(extra)
    }
}

fn text<'a>(name: &str, value: &'a http::HeaderValue) -> Result<&'a str, AuthenticationError> {
    std::str::from_utf8(value.as_bytes()).map_err(|_| AuthenticationError::Header(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_bytes(value.as_bytes()).unwrap(),
            );
        }
        map
    }

    // covers: C18 A4
    #[test]
    fn all_headers_are_read() {
        let user = FrontProxyHeaders::default()
            .user(&headers(&[
                ("X-Remote-User", "jürgen"),
                ("X-Remote-Uid", "u-1"),
                ("X-Remote-Group", "a"),
                ("X-Remote-Group", "b, c"),
                ("X-Remote-Extra-Example.org%2FScopes", "one"),
                ("X-Remote-Extra-example.org%2fscopes", "two"),
                ("X-Remote-Extra-odd%zz", "three"),
            ]))
            .unwrap()
            .unwrap();
        assert_eq!(user.name, "jürgen");
        assert_eq!(user.uid, "u-1");
        assert_eq!(user.groups, ["a", "b, c"]);
        assert_eq!(user.extra["example.org/scopes"], ["one", "two"]);
        assert_eq!(user.extra["odd%zz"], ["three"]);
    }

    #[test]
    fn without_a_name_there_is_no_user() {
        let none = FrontProxyHeaders::default().user(&headers(&[("X-Remote-Group", "system:masters")]));
        assert_eq!(none.unwrap(), None);
    }

    #[test]
    fn other_header_names_can_be_configured() {
        let names =
            FrontProxyHeaders { user: vec!["X-First".into(), "X-Second".into()], ..Default::default() };
        let user = names.user(&headers(&[("x-second", "b"), ("X-Remote-User", "a")])).unwrap().unwrap();
        assert_eq!(user.name, "b");
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let mut map = HeaderMap::new();
        map.insert("x-remote-user", HeaderValue::from_bytes(b"\xff\xfe").unwrap());
        assert!(FrontProxyHeaders::default().user(&map).is_err());
    }
}
