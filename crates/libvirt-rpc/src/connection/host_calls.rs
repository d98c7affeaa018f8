//! Calls about the host and the daemon.

use super::Connection;
use crate::wire::{List, Procedure};
use crate::{CallError, NodeInfo, Version};

/// Most NUMA cells in one answer.
const CELLS_MAX: usize = 1024;
/// Most numbers about a CPU or about memory.
const NODE_STATS_MAX: usize = 16;
/// For "of all CPUs" and "of all cells".
const OF_ALL: i32 = -1;

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

    /// Free memory of the host in bytes.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn free_memory(&self) -> Result<u64, CallError> {
        self.call(Procedure::NodeGetFreeMemory, &()).await
    }

    /// Free memory in bytes of at most `count` NUMA cells, from cell number `first` on.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn cells_free_memory(&self, first: u32, count: u32) -> Result<Vec<u64>, CallError> {
        let number = |value: u32| i32::try_from(value).unwrap_or(i32::MAX);
        let List(cells): List<u64, CELLS_MAX> =
            self.call(Procedure::NodeGetCellsFreeMemory, &(number(first), number(count))).await?;
        Ok(cells)
    }

    /// Free pages of `size_kib` in one NUMA cell.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn free_pages(&self, cell: u32, size_kib: u32) -> Result<Option<u64>, CallError> {
        let cell = i32::try_from(cell).unwrap_or(i32::MAX);
        let arguments = (List::<u32, CELLS_MAX>(vec![size_kib]), cell, 1_u32, 0_u32);
        let List(counts): List<u64, CELLS_MAX> = self.call(Procedure::NodeGetFreePages, &arguments).await?;
        Ok(counts.first().copied())
    }

    /// What the host's CPUs did so far, in nanoseconds by kind (`user`, `kernel`, `idle`, `iowait`): one CPU's, or all together.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn cpu_stats(&self, cpu: Option<u32>) -> Result<Vec<(String, u64)>, CallError> {
        let cpu = cpu.map_or(OF_ALL, |cpu| i32::try_from(cpu).unwrap_or(i32::MAX));
        // Asked for none, the daemon says how many there are.
        let (_, count): NodeStats = self.call(Procedure::NodeGetCpuStats, &(cpu, 0_i32, 0_u32)).await?;
        let (List(stats), _): NodeStats = self.call(Procedure::NodeGetCpuStats, &(cpu, count, 0_u32)).await?;
        Ok(stats)
    }

    /// The host's memory in KiB by kind (`total`, `free`, `buffers`, `cached`): one NUMA cell's, or all together.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn memory_stats(&self, cell: Option<u32>) -> Result<Vec<(String, u64)>, CallError> {
        let cell = cell.map_or(OF_ALL, |cell| i32::try_from(cell).unwrap_or(i32::MAX));
        let (_, count): NodeStats = self.call(Procedure::NodeGetMemoryStats, &(0_i32, cell, 0_u32)).await?;
        let (List(stats), _): NodeStats =
            self.call(Procedure::NodeGetMemoryStats, &(count, cell, 0_u32)).await?;
        Ok(stats)
    }

    /// Whether nobody on the way to the daemon can read along, as the daemon sees it.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn is_secure(&self) -> Result<bool, CallError> {
        self.call::<_, i32>(Procedure::ConnectIsSecure, &()).await.map(|secure| secure != 0)
    }
}

/// Names with numbers, and how many there are.
type NodeStats = (List<(String, u64), NODE_STATS_MAX>, i32);
