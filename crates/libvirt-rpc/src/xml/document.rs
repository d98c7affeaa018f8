//! What all documents share: the size limit, finding children, reading numbers with units.

use roxmltree::{Document, Node};
use thiserror::Error;

use super::shape;

/// Longest document that is read: the longest string of the protocol.
pub const DOCUMENT_MAX: usize = crate::wire::STRING_MAX;

/// Most nodes of a document; a capabilities document of a large host has some ten thousand.
const NODES_MAX: u32 = 500_000;

/// Text that is not the document it should be.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum XmlError {
    /// The text is too long.
    #[error("a document of {0} bytes is above the limit of {DOCUMENT_MAX}")]
    TooLong(usize),
    /// The document is well within its size and would still cost too much to read.
    #[error("the document has too many {0}")]
    TooComplex(&'static str),
    /// The text is no XML.
    #[error("the document is not well-formed")]
    Malformed(#[source] roxmltree::Error),
    /// It is another document.
    #[error("the document is a <{found}>, not a <{expected}>")]
    WrongRoot {
        /// Its root element.
        found: String,
        /// The root element it should have.
        expected: &'static str,
    },
}

/// Parses text whose root element is `expected`.
pub(super) fn parse<'a>(text: &'a str, expected: &'static str) -> Result<Document<'a>, XmlError> {
    if text.len() > DOCUMENT_MAX {
        return Err(XmlError::TooLong(text.len()));
    }
    shape::check(text.as_bytes()).map_err(XmlError::TooComplex)?;
    let options = roxmltree::ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX };
    let document = Document::parse_with_options(text, options).map_err(XmlError::Malformed)?;
    let found = document.root_element().tag_name().name();
    if found == expected {
        Ok(document)
    } else {
        Err(XmlError::WrongRoot { found: found.to_owned(), expected })
    }
}

/// Element children of that name.
pub(super) fn children<'a, 'input: 'a>(
    node: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

/// The first element reached by going down those names.
pub(super) fn find<'a, 'input>(node: Node<'a, 'input>, path: &[&str]) -> Option<Node<'a, 'input>> {
    path.iter().try_fold(node, |node, name| node.children().find(|child| child.has_tag_name(*name)))
}

/// The text of the element reached by going down those names, without blanks around it; absent when empty.
pub(super) fn text(node: Node<'_, '_>, path: &[&str]) -> Option<String> {
    let text = find(node, path)?.text()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The text of an element as a number.
pub(super) fn number(node: Node<'_, '_>) -> Option<u64> {
    node.text()?.trim().parse().ok()
}

/// An amount of memory in KiB; libvirt's units, KiB where none is given.
pub(super) fn memory_kib(amount: u64, unit: Option<&str>) -> Option<u64> {
    let bytes_per_unit: u128 = match unit.unwrap_or("KiB") {
        "b" | "bytes" => 1,
        "KB" => 1_000,
        "k" | "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "M" | "MiB" => 1 << 20,
        "GB" => 1_000_000_000,
        "G" | "GiB" => 1 << 30,
        "TB" => 1_000_000_000_000,
        "T" | "TiB" => 1 << 40,
        "PB" => 1_000_000_000_000_000,
        "P" | "PiB" => 1 << 50,
        "EB" => 1_000_000_000_000_000_000,
        "E" | "EiB" => 1 << 60,
        _ => return None,
    };
    u64::try_from(u128::from(amount).checked_mul(bytes_per_unit)? / 1024).ok()
}

/// The memory that an element says, by its text and its `unit`.
pub(super) fn element_memory_kib(node: Node<'_, '_>) -> Option<u64> {
    memory_kib(number(node)?, node.attribute("unit"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_every_unit() {
        assert_eq!(memory_kib(2048, None), Some(2048));
        assert_eq!(memory_kib(2, Some("GiB")), Some(2 * 1024 * 1024));
        assert_eq!(memory_kib(2048, Some("b")), Some(2));
        assert_eq!(memory_kib(1, Some("furlong")), None);
        assert_eq!(memory_kib(u64::MAX, Some("EiB")), None);
    }

    #[test]
    fn another_document_is_told_by_name() {
        let error = parse("<domain/>", "capabilities").unwrap_err();
        assert_eq!(error.to_string(), "the document is a <domain>, not a <capabilities>");
        assert!(matches!(parse("<capabilities>", "capabilities"), Err(XmlError::Malformed(_))));
    }
}
