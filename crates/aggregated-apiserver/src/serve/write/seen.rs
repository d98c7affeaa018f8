//! Whether a writer has seen what is wanted now: optimistic locking on intent instead of on everything.
//!
//! A version that this process gave out shows the present intent if it is not older than the first one that did. A version of another
//! replica does if it is proven that the replica had heard of the present revision when it gave the version out. In
//! doubt the writer has to read again.

use super::Write;
use crate::collection::{ObjectKey, Wanted};
use crate::status::{ApiStatus, Cause};
use crate::version::ResourceVersion;

pub(super) const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

impl Write<'_> {
    /// True if a version shows what is wanted now.
    pub(super) fn has_seen(&self, version: ResourceVersion, key: &ObjectKey, wanted: &Wanted) -> bool {
        let clock = self.request.resource.collection.clock();
        if clock.issued(version) {
            return wanted.since <= version && version <= clock.read();
        }
        self.writing().replicas.had_applied(version, key, &wanted.revision)
    }

    /// Refuses a writer who names a version that does not show what is wanted now.
    pub(super) fn check_seen(&self, text: &str, key: &ObjectKey, wanted: &Wanted) -> Result<(), ApiStatus> {
        let version: ResourceVersion = text
            .parse()
            .map_err(|error| ApiStatus::bad_request(format!("metadata.resourceVersion: {error}")))?;
        if self.has_seen(version, key, wanted) { Ok(()) } else { Err(self.conflict(key, MODIFIED)) }
    }

    /// An update without a version would overwrite what its writer has never seen.
    pub(super) fn version_missing(&self, key: &ObjectKey) -> ApiStatus {
        let definition = self.definition();
        let cause = Cause::invalid("metadata.resourceVersion", 0, "must be specified for an update");
        ApiStatus::invalid(&definition.group, &definition.plural, &key.name, &[cause])
    }
}
