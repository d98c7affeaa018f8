//! Asking the cluster with a SubjectAccessReview.
//!
//! Answers are remembered for ten seconds, errors never. A question that gets no answer in time is an error, not a refusal:
//! the client is told to try again.

use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};

use super::{AccessTarget, Attributes, AuthorizationError, Authorizer, Decision};
use crate::answers::Answers;
use crate::identity::User;
use crate::recall::Recall;

const LIFETIME: Duration = Duration::from_secs(10);
const TIMEOUT: Duration = Duration::from_secs(10);
const CAPACITY: usize = 8192;

/// Decides as the cluster does.
#[derive(Debug)]
pub struct SubjectAccessReviewAuthorizer {
    api: Api<SubjectAccessReview>,
    decisions: Recall<(User, Attributes), Decision>,
    allowed_for: Duration,
    denied_for: Duration,
    timeout: Duration,
    answers: Answers,
}

impl SubjectAccessReviewAuthorizer {
    /// Asks through a client that may create SubjectAccessReviews.
    pub fn new(client: Client) -> Self {
        Self::with_times(client, LIFETIME, LIFETIME, TIMEOUT)
    }

    /// The same with other times.
    pub fn with_times(
        client: Client,
        allowed_for: Duration,
        denied_for: Duration,
        timeout: Duration,
    ) -> Self {
        Self {
            api: Api::all(client),
            decisions: Recall::new(CAPACITY),
            allowed_for,
            denied_for,
            timeout,
            answers: Answers::new("SubjectAccessReview"),
        }
    }

    async fn decide(&self, user: &User, attributes: &Attributes) -> Result<Decision, AuthorizationError> {
        let key = (user.clone(), attributes.clone());
        if let Some(decision) = self.decisions.get(&key, Instant::now()) {
            return Ok(decision);
        }
        let decision = match self.ask(user, attributes).await {
            Ok(decision) => decision,
            Err(error) => {
                self.answers.missing(&error);
                return Err(error);
            }
        };
        self.answers.present();
        let lifetime = match decision {
            Decision::Allowed => self.allowed_for,
            Decision::Denied(_) => self.denied_for,
        };
        self.decisions.put(key, decision.clone(), lifetime, Instant::now());
        Ok(decision)
    }

    async fn ask(&self, user: &User, attributes: &Attributes) -> Result<Decision, AuthorizationError> {
        let review = review(user, attributes);
        let parameters = PostParams::default();
        let answer = tokio::time::timeout(self.timeout, self.api.create(&parameters, &review))
            .await
            .map_err(|_| AuthorizationError::Timeout { seconds: self.timeout.as_secs() })?
            .map_err(|source| AuthorizationError::Review { source: Box::new(source) })?;
        let status = answer.status.unwrap_or_default();
        if let (false, Some(error)) =
            (status.allowed, status.evaluation_error.filter(|error| !error.is_empty()))
        {
            return Err(AuthorizationError::Other(error));
        }
        Ok(if status.allowed && !status.denied.unwrap_or_default() {
            Decision::Allowed
        } else {
            Decision::Denied(status.reason.unwrap_or_default())
        })
    }
}

impl Authorizer for SubjectAccessReviewAuthorizer {
    fn authorize<'a>(
        &'a self,
        user: &'a User,
        attributes: &'a Attributes,
    ) -> BoxFuture<'a, Result<Decision, AuthorizationError>> {
        self.decide(user, attributes).boxed()
    }
}

fn review(user: &User, attributes: &Attributes) -> SubjectAccessReview {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let mut spec = SubjectAccessReviewSpec {
        user: Some(user.name.clone()),
        uid: some(&user.uid),
        groups: Some(user.groups.clone()),
        extra: Some(user.extra.clone()).filter(|extra| !extra.is_empty()),
        ..SubjectAccessReviewSpec::default()
    };
    match &attributes.target {
        AccessTarget::Path(path) => {
            spec.non_resource_attributes =
                Some(NonResourceAttributes { path: Some(path.clone()), verb: Some(attributes.verb.clone()) });
        }
        AccessTarget::Resource { group, version, resource, subresource, namespace, name } => {
            spec.resource_attributes = Some(ResourceAttributes {
                group: Some(group.clone()),
                version: Some(version.clone()),
                resource: Some(resource.clone()),
                subresource: some(subresource),
                namespace: some(namespace),
                name: some(name),
                verb: Some(attributes.verb.clone()),
                ..ResourceAttributes::default()
            });
        }
    }
    SubjectAccessReview { spec, ..SubjectAccessReview::default() }
}
