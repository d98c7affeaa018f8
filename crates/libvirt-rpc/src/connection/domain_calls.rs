//! Calls about domains.

use super::{Connection, DomainFilter, XmlFlags};
use crate::wire::{List, Procedure};
use crate::{CallError, DomainInfo, DomainRef, DomainState};

/// Most domains in one list.
pub(super) const DOMAINS_MAX: usize = 16_384;

impl Connection {
    /// All domains that pass the filter, active and inactive for [`DomainFilter::NONE`].
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn list_all_domains(&self, filter: DomainFilter) -> Result<Vec<DomainRef>, CallError> {
        let (List(domains), _count): (List<DomainRef, DOMAINS_MAX>, u32) =
            self.call(Procedure::ConnectListAllDomains, &(1, filter.0)).await?;
        Ok(domains)
    }

    /// The domain of that UUID.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_no_domain`] when there is none.
    pub async fn lookup_by_uuid(&self, uuid: uuid::Uuid) -> Result<DomainRef, CallError> {
        self.call(Procedure::DomainLookupByUuid, &uuid).await
    }

    /// The domain of that name.
    ///
    /// # Errors
    /// See [`CallError`]; [`CallError::is_no_domain`] when there is none.
    pub async fn lookup_by_name(&self, name: &str) -> Result<DomainRef, CallError> {
        self.call(Procedure::DomainLookupByName, &name.to_owned()).await
    }

    /// State and reason. Never waits for a busy domain, unless the daemon has only the older call, which also knows no reason.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn domain_state(&self, domain: &DomainRef) -> Result<DomainState, CallError> {
        match self.call(Procedure::DomainGetState, &(domain.clone(), 0_u32)).await {
            Ok((state, reason)) => Ok(DomainState::from_raw(state, reason)),
            Err(error) if error.is_unsupported() => {
                self.domain_info(domain).await.map(|info| DomainState::from_raw(info.state, 0))
            }
            Err(error) => Err(error),
        }
    }

    /// Size and CPU time. Waits for a busy domain, up to the daemon's 30 s.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn domain_info(&self, domain: &DomainRef) -> Result<DomainInfo, CallError> {
        self.call(Procedure::DomainGetInfo, domain).await
    }

    /// The domain's XML; [`xml::DomainXml`](crate::xml::DomainXml) reads it.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn domain_xml(&self, domain: &DomainRef, flags: XmlFlags) -> Result<String, CallError> {
        self.call(Procedure::DomainGetXmlDesc, &(domain.clone(), flags.0)).await
    }

    /// Starts a domain that exists only while it runs.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn create_transient(&self, xml: &str) -> Result<DomainRef, CallError> {
        self.call(Procedure::DomainCreateXml, &(xml.to_owned(), 0_u32)).await
    }

    /// Stops a domain at once.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn destroy(&self, domain: &DomainRef) -> Result<(), CallError> {
        self.call(Procedure::DomainDestroy, domain).await
    }

    /// Pauses a domain.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn suspend(&self, domain: &DomainRef) -> Result<(), CallError> {
        self.call(Procedure::DomainSuspend, domain).await
    }

    /// Resumes a domain.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn resume(&self, domain: &DomainRef) -> Result<(), CallError> {
        self.call(Procedure::DomainResume, domain).await
    }
}
