//! `<capabilities>`: what the host is made of.

use super::XmlError;
use super::document::{self, children, element_memory_kib, find, text};

/// The part of a capabilities document that tells about the host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Capabilities {
    /// UUID of the host, as the daemon was told or read from the firmware.
    pub host_uuid: Option<String>,
    /// Architecture of the CPUs: `x86_64`, `aarch64` …
    pub arch: Option<String>,
    /// Model of the CPUs in libvirt's words.
    pub cpu_model: Option<String>,
    /// Vendor of the CPUs.
    pub cpu_vendor: Option<String>,
    /// NUMA cells in the order of the document; empty where the daemon knows no topology.
    pub cells: Vec<NumaCell>,
}

/// A NUMA cell of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NumaCell {
    /// Number of the cell.
    pub id: u64,
    /// Memory in KiB.
    pub memory_kib: Option<u64>,
    /// Logical CPUs.
    pub cpus: Option<u64>,
}

impl Capabilities {
    /// Reads the document.
    ///
    /// ```
    /// use libvirt_rpc::xml::Capabilities;
    /// let text = "<capabilities><host><cpu><arch>x86_64</arch></cpu><topology><cells num='1'><cell id='0'>\
    ///     <memory unit='KiB'>4096</memory><cpus num='2'/></cell></cells></topology></host></capabilities>";
    /// let capabilities = Capabilities::parse(text).unwrap();
    /// assert_eq!((capabilities.memory_kib(), capabilities.cpus()), (Some(4096), Some(2)));
    /// ```
    ///
    /// # Errors
    /// When the text is no such document.
    pub fn parse(text_of_document: &str) -> Result<Self, XmlError> {
        let document = document::parse(text_of_document, "capabilities")?;
        let root = document.root_element();
        let Some(host) = find(root, &["host"]) else { return Ok(Self::default()) };
        let cells = find(host, &["topology", "cells"]);
        Ok(Self {
            host_uuid: text(host, &["uuid"]),
            arch: text(host, &["cpu", "arch"]),
            cpu_model: text(host, &["cpu", "model"]),
            cpu_vendor: text(host, &["cpu", "vendor"]),
            cells: cells.map(|cells| children(cells, "cell").filter_map(cell).collect()).unwrap_or_default(),
        })
    }

    /// Memory of all cells in KiB; absent when a cell does not tell.
    pub fn memory_kib(&self) -> Option<u64> {
        self.sum(|cell| cell.memory_kib)
    }

    /// CPUs of all cells; absent when a cell does not tell.
    pub fn cpus(&self) -> Option<u64> {
        self.sum(|cell| cell.cpus)
    }

    fn sum(&self, number: impl Fn(&NumaCell) -> Option<u64>) -> Option<u64> {
        if self.cells.is_empty() {
            return None;
        }
        self.cells.iter().try_fold(0_u64, |sum, cell| sum.checked_add(number(cell)?))
    }
}

fn cell(node: roxmltree::Node<'_, '_>) -> Option<NumaCell> {
    let id = node.attribute("id")?.parse().ok()?;
    let cpus = find(node, &["cpus"]);
    Some(NumaCell {
        id,
        memory_kib: find(node, &["memory"]).and_then(element_memory_kib),
        cpus: cpus.and_then(|cpus| cpus.attribute("num")?.parse().ok()),
    })
}
