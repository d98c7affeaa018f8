//! `<sysinfo>`: what the firmware says about itself and the machine.

use super::XmlError;
use super::document::{self, children, find};

/// The part of a system information document that tells which machine this is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SysInfo {
    /// Vendor of the firmware.
    pub bios_vendor: Option<String>,
    /// Version of the firmware.
    pub bios_version: Option<String>,
    /// Date of the firmware as it says it, often `MM/DD/YYYY`.
    pub bios_date: Option<String>,
    /// Maker of the machine.
    pub system_manufacturer: Option<String>,
    /// Name of the product.
    pub system_product: Option<String>,
    /// Version of the product.
    pub system_version: Option<String>,
    /// Serial number.
    pub system_serial: Option<String>,
    /// UUID of the machine.
    pub system_uuid: Option<String>,
}

impl SysInfo {
    /// Reads the document.
    ///
    /// ```
    /// use libvirt_rpc::xml::SysInfo;
    /// let text = "<sysinfo type='smbios'><system><entry name='product'>R740</entry></system></sysinfo>";
    /// assert_eq!(SysInfo::parse(text).unwrap().system_product.as_deref(), Some("R740"));
    /// ```
    ///
    /// # Errors
    /// When the text is no such document.
    pub fn parse(text: &str) -> Result<Self, XmlError> {
        let document = document::parse(text, "sysinfo")?;
        let root = document.root_element();
        let entry = |section: &str, name: &str| {
            let section = find(root, &[section])?;
            let entry = children(section, "entry").find(|entry| entry.attribute("name") == Some(name))?;
            // Makers who have nothing to say leave blanks.
            let text = entry.text()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        Ok(Self {
            bios_vendor: entry("bios", "vendor"),
            bios_version: entry("bios", "version"),
            bios_date: entry("bios", "date"),
            system_manufacturer: entry("system", "manufacturer"),
            system_product: entry("system", "product"),
            system_version: entry("system", "version"),
            system_serial: entry("system", "serial"),
            system_uuid: entry("system", "uuid"),
        })
    }
}
