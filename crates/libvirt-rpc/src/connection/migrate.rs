//! Migration from daemon to daemon: this side only asks the source, and waits.

use super::{Connection, MigrateFlags};
use crate::wire::{List, Opaque, Procedure};
use crate::{CallError, DomainRef, TypedParams, TypedValue};

/// Most parameters of a migration.
const PARAMS_MAX: usize = 64;
/// Largest cookie of a migration.
const COOKIE_MAX: usize = 4_194_304;

/// What a migration may be told, by libvirt's own names. What is not set the daemon decides.
///
/// ```
/// use libvirt_rpc::MigrateParams;
/// let params = MigrateParams::default().bandwidth(100).uri("tcp://10.0.0.12");
/// assert_eq!(params.0.get_u64("bandwidth"), Some(100));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MigrateParams(pub TypedParams);

impl MigrateParams {
    /// Most to send, in MiB per second.
    #[must_use]
    pub fn bandwidth(self, mib_per_second: u64) -> Self {
        self.with("bandwidth", TypedValue::Ulong(mib_per_second))
    }

    /// Where memory is sent to, when that is not the destination's host name: `tcp://10.0.0.12`.
    #[must_use]
    pub fn uri(self, uri: impl Into<String>) -> Self {
        self.with("migrate_uri", TypedValue::Text(uri.into()))
    }

    /// Name of the domain at the destination.
    #[must_use]
    pub fn destination_name(self, name: impl Into<String>) -> Self {
        self.with("destination_name", TypedValue::Text(name.into()))
    }

    /// XML of the domain at the destination, with other paths of disks and the like.
    #[must_use]
    pub fn destination_xml(self, xml: impl Into<String>) -> Self {
        self.with("destination_xml", TypedValue::Text(xml.into()))
    }

    /// Any parameter.
    #[must_use]
    pub fn with(mut self, name: &str, value: TypedValue) -> Self {
        self.0.0.push((name.to_owned(), value));
        self
    }
}

impl Connection {
    /// Moves a domain to another daemon and waits until it is there. `destination` is a URI in the words of the source's daemon:
    /// `qemu+tcp://10.0.0.12/system`, `qemu+tls://node-2/system`.
    ///
    /// The deadline of this handle must be as long as the migration may take ([`Connection::with_call_timeout`]). A call that is
    /// given up, or a connection that ends, does not end the migration: [`Connection::abort_job`] does.
    ///
    /// # Errors
    /// See [`CallError`]; refused with the reason when the migration failed or was aborted.
    pub async fn migrate_peer_to_peer(
        &self,
        domain: &DomainRef,
        destination: &str,
        params: &MigrateParams,
        flags: MigrateFlags,
    ) -> Result<(), CallError> {
        let flags = flags | MigrateFlags::PEER_TO_PEER;
        let params: List<_, PARAMS_MAX> = List(params.0.0.clone());
        let arguments =
            (domain.clone(), Some(destination.to_owned()), params, Opaque::<COOKIE_MAX>::default(), flags.0);
        let outcome = self.call(Procedure::DomainMigratePerform3Params, &arguments).await;
        // The cookie is for whoever does the other phases; from daemon to daemon there are none.
        outcome.map(|_cookie: Opaque<COOKIE_MAX>| ())
    }
}
