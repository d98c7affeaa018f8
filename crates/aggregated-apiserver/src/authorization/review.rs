//! Asking the cluster with a SubjectAccessReview.
//!
//! Answers are remembered for ten seconds, errors never; those who want to know the same at the same time share one question.
//! A question that cannot be delivered is asked again, for as long as the client can wait: kube-apiserver may be restarting.
//! One that gets no answer in time is an error, not a refusal: the client is told to try again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};

use super::{AccessTarget, Attributes, AuthorizationError, Authorizer, Decision};
use crate::answers::{Answers, delivered};
use crate::identity::User;
use crate::recall::Recall;
use crate::together::Together;

const LIFETIME: Duration = Duration::from_secs(10);
const TIMEOUT: Duration = Duration::from_secs(10);
const CAPACITY: usize = 8192;

/// Decides as the cluster does.
#[derive(Debug)]
pub struct SubjectAccessReviewAuthorizer {
    api: Api<SubjectAccessReview>,
    decisions: Recall<(User, Attributes), Decision>,
    asked: Together<(User, Attributes), Result<Decision, Arc<AuthorizationError>>>,
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
            asked: Together::new(),
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
        let (api, timeout, review) = (self.api.clone(), self.timeout, review(user, attributes));
        let asking = move || async move { ask(api, review, timeout).await.map_err(Arc::new) }.boxed();
        let decision = match self.asked.ask(&key, asking).await {
            Some(Ok(decision)) => decision,
            Some(Err(error)) => {
                self.answers.missing(&error);
                return Err(AuthorizationError::Shared(error));
            }
            None => return Err(AuthorizationError::Other("the question was lost".to_owned())),
        };
        self.answers.present();
        let lifetime = match decision {
            Decision::Allowed => self.allowed_for,
            Decision::Denied(_) => self.denied_for,
        };
        self.decisions.put(key, decision.clone(), lifetime, Instant::now());
        Ok(decision)
    }
}

async fn ask(
    api: Api<SubjectAccessReview>,
    review: SubjectAccessReview,
    timeout: Duration,
) -> Result<Decision, AuthorizationError> {
    let answer = delivered(timeout, || async { api.create(&PostParams::default(), &review).await })
        .await
        .ok_or(AuthorizationError::Timeout { seconds: timeout.as_secs() })?
        .map_err(|source| AuthorizationError::Review { source: Box::new(source) })?;
    let status = answer.status.unwrap_or_default();
    if let (false, Some(error)) = (status.allowed, status.evaluation_error.filter(|error| !error.is_empty()))
    {
        return Err(AuthorizationError::Other(error));
    }
    Ok(if status.allowed && !status.denied.unwrap_or_default() {
        Decision::Allowed
    } else {
        Decision::Denied(status.reason.unwrap_or_default())
    })
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
