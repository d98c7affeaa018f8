//! Calls about the host and the daemon.

use super::Connection;
use crate::wire::Procedure;
use crate::{CallError, NodeInfo, Version};

impl Connection {
    /// Version of the libvirt library that the daemon runs.
    ///
    /// # Errors
    /// See [`CallError`], as for every call.
    pub async fn lib_version(&self) -> Result<Version, CallError> {
        self.call(Procedure::ConnectGetLibVersion, &()).await.map(Version::from_raw)
    }

    /// Version of the hypervisor: of QEMU for the QEMU driver.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn hypervisor_version(&self) -> Result<Version, CallError> {
        self.call(Procedure::ConnectGetVersion, &()).await.map(Version::from_raw)
    }

    /// Name of the driver: `QEMU`, `CH`, `TEST` …
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn driver_type(&self) -> Result<String, CallError> {
        self.call(Procedure::ConnectGetType, &()).await
    }

    /// Host name as the daemon sees it.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn hostname(&self) -> Result<String, CallError> {
        self.call(Procedure::ConnectGetHostname, &()).await
    }

    /// URI of the driver that was opened.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn uri(&self) -> Result<String, CallError> {
        self.call(Procedure::ConnectGetUri, &()).await
    }

    /// CPUs and memory of the host.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn node_info(&self) -> Result<NodeInfo, CallError> {
        self.call(Procedure::NodeGetInfo, &()).await
    }

    /// The capabilities document; [`xml::Capabilities`](crate::xml::Capabilities) reads it.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn capabilities(&self) -> Result<String, CallError> {
        self.call(Procedure::ConnectGetCapabilities, &()).await
    }

    /// What domains can have here, for the default emulator, architecture, machine and virtualization type;
    /// [`xml::DomainCapabilities`](crate::xml::DomainCapabilities) reads it.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn domain_capabilities(&self) -> Result<String, CallError> {
        self.domain_capabilities_of(None, None, None, None).await
    }

    /// What domains can have here, for that emulator, architecture, machine and virtualization type.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn domain_capabilities_of(
        &self,
        emulator: Option<&str>,
        arch: Option<&str>,
        machine: Option<&str>,
        virt_type: Option<&str>,
    ) -> Result<String, CallError> {
        let text = |value: Option<&str>| value.map(str::to_owned);
        let arguments = (text(emulator), text(arch), text(machine), text(virt_type), 0_u32);
        self.call(Procedure::ConnectGetDomainCapabilities, &arguments).await
    }

    /// The firmware's tables; [`xml::SysInfo`](crate::xml::SysInfo) reads it. Error 67 where the host has none.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn sysinfo(&self) -> Result<String, CallError> {
        self.call(Procedure::ConnectGetSysinfo, &0_u32).await
    }
}
