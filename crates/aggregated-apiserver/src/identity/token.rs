//! Identity from a bearer token, by asking the cluster with a TokenReview.
//!
//! Answers are remembered for ten seconds under a digest of the token; the token itself is kept nowhere. When the cluster gives
//! no answer, the client is told to try again: it may well be who it says.

use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec};
use kube::api::PostParams;
use kube::{Api, Client};
use sha2::{Digest as _, Sha256};

use super::{AuthenticationError, Authenticator, PeerCertificates, User};
use crate::answers::{Answers, delivered};
use crate::recall::Recall;
use crate::together::Together;

const LIFETIME: Duration = Duration::from_secs(10);
const TIMEOUT: Duration = Duration::from_secs(10);
const CAPACITY: usize = 4096;

/// Believes tokens that the cluster believes.
#[derive(Debug)]
pub struct TokenReviewAuthenticator {
    api: Api<TokenReview>,
    known: Recall<[u8; 32], Option<User>>,
    asked: Together<[u8; 32], Result<Option<User>, String>>,
    timeout: Duration,
    answers: Answers,
}

impl TokenReviewAuthenticator {
    /// Asks through a client that may create TokenReviews.
    pub fn new(client: Client) -> Self {
        Self::with_timeout(client, TIMEOUT)
    }

    /// The same with another time to wait for an answer.
    pub fn with_timeout(client: Client, timeout: Duration) -> Self {
        Self {
            api: Api::all(client),
            known: Recall::new(CAPACITY),
            asked: Together::new(),
            timeout,
            answers: Answers::new("TokenReview"),
        }
    }

    async fn review(&self, token: &str) -> Result<Option<User>, AuthenticationError> {
        let digest: [u8; 32] = Sha256::digest(token).into();
        let user = match self.known.get(&digest, Instant::now()) {
            Some(user) => user,
            None => {
                let (api, timeout, token) = (self.api.clone(), self.timeout, token.to_owned());
                let asking = move || ask(api, token, timeout).boxed();
                let answer = self.asked.ask(&digest, asking).await;
                let answer = answer.unwrap_or_else(|| Err("the question was lost".to_owned()));
                let user = answer
                    .map_err(AuthenticationError::NoAnswer)
                    .inspect_err(|error| self.answers.missing(error))?;
                self.answers.present();
                self.known.put(digest, user.clone(), LIFETIME, Instant::now());
                user
            }
        };
        user.map(Some).ok_or_else(|| AuthenticationError::Refused("token is not believed".to_owned()))
    }
}

async fn ask(api: Api<TokenReview>, token: String, timeout: Duration) -> Result<Option<User>, String> {
    let spec = TokenReviewSpec { token: Some(token), audiences: None };
    let review = TokenReview { spec, ..TokenReview::default() };
    let answer = delivered(timeout, || async { api.create(&PostParams::default(), &review).await })
        .await
        .ok_or("TokenReview was not answered in time")?
        .map_err(|error| format!("TokenReview: {error}"))?;
    let status = answer.status.unwrap_or_default();
    if !status.authenticated.unwrap_or_default() {
        return Ok(None);
    }
    let user = status.user.unwrap_or_default();
    Ok(Some(User {
        name: user.username.unwrap_or_default(),
        uid: user.uid.unwrap_or_default(),
        groups: user.groups.unwrap_or_default(),
        extra: user.extra.unwrap_or_default(),
    }))
}

impl Authenticator for TokenReviewAuthenticator {
    fn authenticate<'a>(
        &'a self,
        headers: &'a HeaderMap,
        _: &'a PeerCertificates,
    ) -> BoxFuture<'a, Result<Option<User>, AuthenticationError>> {
        match bearer(headers) {
            Some(token) => self.review(token).boxed(),
            None => std::future::ready(Ok(None)).boxed(),
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bearer_tokens_are_looked_at() {
        let token = |value: &str| {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, value.parse().unwrap())]);
            bearer(&headers).map(str::to_owned)
        };
        assert_eq!(token("Bearer abc"), Some("abc".into()));
        assert_eq!(token("bearer  abc "), Some("abc".into()));
        for other in ["Basic abc", "Bearer", "Bearer ", "abc"] {
            assert_eq!(token(other), None, "{other}");
        }
        assert_eq!(bearer(&HeaderMap::new()), None);
    }
}
