//! Authorization without a cluster: one group may read, one may do everything.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::{Attributes, AuthorizationError, Authorizer, Decision};
use crate::identity::User;

/// Allows members of one group to read and of another everything.
#[derive(Clone, Debug)]
pub struct GroupAuthorizer {
    readers: String,
    admins: String,
}

impl GroupAuthorizer {
    /// With the names of the two groups.
    pub fn new(readers: impl Into<String>, admins: impl Into<String>) -> Self {
        Self { readers: readers.into(), admins: admins.into() }
    }

    fn decide(&self, user: &User, attributes: &Attributes) -> Decision {
        let reads = ["get", "list", "watch"].contains(&attributes.verb.as_str());
        if user.is_in(&self.admins) || (reads && user.is_in(&self.readers)) {
            Decision::Allowed
        } else {
            let needed = if reads { &self.readers } else { &self.admins };
            Decision::Denied(format!("not a member of the group {needed:?}"))
        }
    }
}

impl Authorizer for GroupAuthorizer {
    /// An authority of clients that is also a cluster's must not bring that cluster's administrators along.
    fn knows_masters(&self) -> bool {
        false
    }

    fn authorize<'a>(
        &'a self,
        user: &'a User,
        attributes: &'a Attributes,
    ) -> BoxFuture<'a, Result<Decision, AuthorizationError>> {
        std::future::ready(Ok(self.decide(user, attributes))).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authorization::AccessTarget;

    #[test]
    fn readers_read_and_admins_do_everything() {
        let authorizer = GroupAuthorizer::new("readers", "admins");
        let user = |group: &str| User { groups: vec![group.into()], ..User::default() };
        let wants =
            |verb: &str| Attributes { verb: verb.into(), target: AccessTarget::Path("/metrics".into()) };
        for verb in ["get", "list", "watch"] {
            assert_eq!(authorizer.decide(&user("readers"), &wants(verb)), Decision::Allowed);
            assert_eq!(authorizer.decide(&user("admins"), &wants(verb)), Decision::Allowed);
            assert!(matches!(authorizer.decide(&user("others"), &wants(verb)), Decision::Denied(_)));
        }
        for verb in ["create", "update", "patch", "delete", "deletecollection", "post"] {
            assert!(matches!(authorizer.decide(&user("readers"), &wants(verb)), Decision::Denied(_)));
            assert_eq!(authorizer.decide(&user("admins"), &wants(verb)), Decision::Allowed);
        }
    }
}
