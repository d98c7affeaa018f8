//! What the host boots: operating system, kernel, firmware, machine.
//!
//! libvirt does not tell most of it. Where no source does, a field is absent; nothing is guessed.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::unknown;

/// Operating system, kernel, firmware and machine of the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatingSystem {
    /// Version of Garden Linux.
    ///
    /// Source: `GARDENLINUX_VERSION` in the host's /etc/os-release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Variant of the operating system.
    ///
    /// Source: `VARIANT_ID` in the host's /etc/os-release.
    #[serde(default, rename = "variantID", skip_serializing_if = "Option::is_none")]
    pub variant_id: Option<String>,
    /// Name and version for people.
    ///
    /// Source: `PRETTY_NAME` in the host's /etc/os-release; else the Node's `osImage`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pretty_version: Option<String>,
    /// Name of the kernel, such as `Linux`.
    ///
    /// Source: uname of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_name: Option<String>,
    /// Release of the kernel.
    ///
    /// Source: uname of the host; else the Node's `kernelVersion`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_release: Option<String>,
    /// Build of the kernel.
    ///
    /// Source: uname of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_version: Option<String>,
    /// Parameters that the kernel was started with, as they are.
    ///
    /// Source: /proc/cmdline of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_command_line: Option<String>,
    /// Maker of the machine.
    ///
    /// Source: libvirt sysinfo (SMBIOS); hostname1 of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware_vendor: Option<String>,
    /// Model of the machine.
    ///
    /// Source: libvirt sysinfo (SMBIOS); hostname1 of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware_model: Option<String>,
    /// Serial number of the machine.
    ///
    /// Source: libvirt sysinfo (SMBIOS); hostname1 of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware_serial: Option<String>,
    /// Version of the firmware.
    ///
    /// Source: libvirt sysinfo (SMBIOS); hostname1 of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware_version: Option<String>,
    /// Maker of the firmware.
    ///
    /// Source: libvirt sysinfo (SMBIOS); hostname1 of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware_vendor: Option<String>,
    /// Date of the firmware.
    ///
    /// Source: libvirt sysinfo (SMBIOS); hostname1 of the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware_date: Option<Time>,
    /// Commit that Garden Linux was built from.
    ///
    /// Source: `GARDENLINUX_COMMIT_ID_LONG` in the host's /etc/os-release.
    #[serde(default, rename = "gardenLinuxCommitID", skip_serializing_if = "Option::is_none")]
    pub garden_linux_commit_id: Option<String>,
    /// Features that Garden Linux was built with.
    ///
    /// Source: `GARDENLINUX_FEATURES` in the host's /etc/os-release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub garden_linux_features: Option<Vec<String>>,
}

/// Update of the operating system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UpdateStatus {
    /// Whether an update runs.
    ///
    /// Source: systemd-sysupdate units of the host.
    pub in_progress: bool,
    /// Version that was installed last.
    ///
    /// Source: systemd-sysupdate units of the host.
    #[serde(with = "unknown")]
    #[schemars(with = "String")]
    pub installed: Option<String>,
    /// How many more times an update is tried.
    ///
    /// Source: the node agent.
    pub retry: i64,
}

impl Default for UpdateStatus {
    fn default() -> Self {
        Self { in_progress: false, installed: None, retry: 3 }
    }
}
