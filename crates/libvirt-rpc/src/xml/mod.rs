//! Reads the documents that daemons send: capabilities, domain capabilities, system information, domains.
//!
//! Pure, and total on any input: a document is bounded in size and shape, what is missing is absent, what is
//! malformed is absent or an [`XmlError`], never a zero.

mod capabilities;
mod document;
mod domain;
mod domain_capabilities;
mod shape;
mod sysinfo;

pub use capabilities::{Capabilities, NumaCell};
pub use document::{DOCUMENT_MAX, XmlError};
pub use domain::{DomainXml, GuestCell};
pub use domain_capabilities::DomainCapabilities;
pub use sysinfo::SysInfo;
