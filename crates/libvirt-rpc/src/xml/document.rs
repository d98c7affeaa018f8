//! What all documents share: the size limit, finding children, reading numbers with units.

use roxmltree::{Document, Node};
use thiserror::Error;

/// Longest document that is read: the longest string of the protocol.
pub const DOCUMENT_MAX: usize = crate::wire::STRING_MAX;

/// Deepest nesting that is read. Long chains of disk images make the deepest real documents, 200 at most; the parser
/// recurses, so without a limit a hostile document would end the process by its stack.
pub(super) const DEPTH_MAX: usize = 256;

/// Most nodes of a document; a capabilities document of a large host has some ten thousand.
const NODES_MAX: u32 = 500_000;

/// Text that is not the document it should be.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum XmlError {
    /// The text is too long.
    #[error("a document of {0} bytes is above the limit of {DOCUMENT_MAX}")]
    TooLong(usize),
    /// Elements are nested too deeply.
    #[error("elements are nested more than {DEPTH_MAX} deep")]
    TooDeep,
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
    if !is_shallow(text.as_bytes()) {
        return Err(XmlError::TooDeep);
    }
    let options = roxmltree::ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX };
    let document = Document::parse_with_options(text, options).map_err(XmlError::Malformed)?;
    let found = document.root_element().tag_name().name();
    if found == expected {
        Ok(document)
    } else {
        Err(XmlError::WrongRoot { found: found.to_owned(), expected })
    }
}

/// Whether no element is nested deeper than [`DEPTH_MAX`], up to the point where a parser would stop.
fn is_shallow(mut rest: &[u8]) -> bool {
    let mut depth = 0_usize;
    while let Some(tag) = after(rest, b"<") {
        let skipped = match tag {
            [b'!', b'-', b'-', comment @ ..] => after(comment, b"-->"),
            [b'!', b'[', section @ ..] => after(section, b"]]>"),
            [b'?', instruction @ ..] => after(instruction, b"?>"),
            // A document type: refused by the parser before anything that follows it.
            [b'!', ..] => None,
            [b'/', closing @ ..] => {
                depth = depth.saturating_sub(1);
                Some(closing)
            }
            _ => after_tag(tag).map(|(is_empty, rest)| {
                depth += usize::from(!is_empty);
                rest
            }),
        };
        if depth > DEPTH_MAX {
            return false;
        }
        match skipped {
            Some(skipped) => rest = skipped,
            None => return true,
        }
    }
    true
}

/// What follows the first `mark`.
fn after<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let place = bytes.windows(mark.len()).position(|window| window == mark)?;
    bytes.get(place + mark.len()..)
}

/// What follows the end of a start tag, and whether the tag was an empty element's.
fn after_tag(tag: &[u8]) -> Option<(bool, &[u8])> {
    let mut quote = None;
    let mut previous = 0;
    for (place, byte) in tag.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return tag.get(place + 1..).map(|rest| (previous == b'/', rest)),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
        previous = *byte;
    }
    None
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
    fn depth_is_counted_as_a_parser_sees_it() {
        let nested = |depth| format!("{}{}", "<a b='/>'>".repeat(depth), "</a>".repeat(depth));
        assert!(parse(&nested(DEPTH_MAX), "a").is_ok());
        assert!(matches!(parse(&nested(DEPTH_MAX + 1), "a"), Err(XmlError::TooDeep)));
        let siblings =
            format!("<a>{}</a>", "<b c='>'/><!-- <d> --><![CDATA[<e>]]><?f <g>?>".repeat(DEPTH_MAX));
        assert!(parse(&siblings, "a").is_ok());
        let hidden = format!("<a>{}", "<a><!-- </a> -->".repeat(DEPTH_MAX + 1));
        assert!(matches!(parse(&hidden, "a"), Err(XmlError::TooDeep)));
    }

    #[test]
    fn another_document_is_told_by_name() {
        let error = parse("<domain/>", "capabilities").unwrap_err();
        assert_eq!(error.to_string(), "the document is a <domain>, not a <capabilities>");
        assert!(matches!(parse("<capabilities>", "capabilities"), Err(XmlError::Malformed(_))));
    }
}
