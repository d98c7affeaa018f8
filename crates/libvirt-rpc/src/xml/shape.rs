//! Looks at the shape of a document before a parser does.
//!
//! The parser recurses over nested elements, compares each attribute with all others of its element, and copies the
//! namespaces in scope for each element that declares one. A hostile document of a megabyte could so end the process by
//! its stack, or keep it busy for minutes. No real document comes near these limits.

/// Deepest nesting. The deepest real documents are chains of disk images, 200 at most.
const DEPTH_MAX: usize = 256;
/// Most attributes of one element.
const ATTRIBUTES_MAX: usize = 256;
/// Most namespace declarations of a document.
const NAMESPACES_MAX: usize = 1024;

/// Says what a document has too much of, up to the point where a parser would stop.
pub(super) fn check(text: &[u8]) -> Result<(), &'static str> {
    if text.windows(5).filter(|window| window == b"xmlns").take(NAMESPACES_MAX + 1).count() > NAMESPACES_MAX {
        return Err("namespaces");
    }
    let mut rest = text;
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
            _ => {
                let tag = StartTag::read(tag);
                if tag.attributes > ATTRIBUTES_MAX {
                    return Err("attributes of one element");
                }
                depth += usize::from(!tag.is_empty);
                tag.rest
            }
        };
        if depth > DEPTH_MAX {
            return Err("nested elements");
        }
        match skipped {
            Some(skipped) => rest = skipped,
            None => break,
        }
    }
    Ok(())
}

/// What follows the first `mark`.
fn after<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let place = bytes.windows(mark.len()).position(|window| window == mark)?;
    bytes.get(place + mark.len()..)
}

/// A start tag, or the tag of an empty element.
struct StartTag<'a> {
    attributes: usize,
    is_empty: bool,
    /// What follows it, if it ends.
    rest: Option<&'a [u8]>,
}

impl<'a> StartTag<'a> {
    fn read(tag: &'a [u8]) -> Self {
        let mut quote = None;
        let mut attributes = 0;
        let mut previous = 0;
        for (place, byte) in tag.iter().enumerate() {
            match (quote, byte) {
                (None, b'>') => {
                    return Self { attributes, is_empty: previous == b'/', rest: tag.get(place + 1..) };
                }
                (None, b'"' | b'\'') => quote = Some(byte),
                (Some(open), _) if open == byte => {
                    quote = None;
                    attributes += 1;
                }
                _ => {}
            }
            previous = *byte;
        }
        Self { attributes, is_empty: false, rest: None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::document::parse;
    use super::*;

    #[test]
    fn depth_is_counted_as_a_parser_sees_it() {
        let nested = |depth| format!("{}{}", "<a b='/>'>".repeat(depth), "</a>".repeat(depth));
        assert_eq!(check(nested(DEPTH_MAX).as_bytes()), Ok(()));
        assert!(parse(&nested(DEPTH_MAX), "a").is_ok(), "the stack bears what the check lets through");
        assert_eq!(check(nested(DEPTH_MAX + 1).as_bytes()), Err("nested elements"));
        let siblings =
            format!("<a>{}</a>", "<b c='>'/><!-- <d> --><![CDATA[<e>]]><?f <g>?>".repeat(DEPTH_MAX));
        assert!(parse(&siblings, "a").is_ok());
        let hidden = format!("<a>{}", "<a><!-- </a> -->".repeat(DEPTH_MAX + 1));
        assert_eq!(check(hidden.as_bytes()), Err("nested elements"));
    }

    #[test]
    fn attributes_and_namespaces_are_counted() {
        let attributes: String = (0..=ATTRIBUTES_MAX).map(|number| format!(" a{number}='\"'")).collect();
        assert_eq!(check(format!("<a{attributes}/>").as_bytes()), Err("attributes of one element"));
        assert_eq!(check(format!("<a{attributes}").as_bytes()), Err("attributes of one element"));
        let namespaces = "<a xmlns:b='c'/>".repeat(NAMESPACES_MAX + 1);
        assert_eq!(check(format!("<a>{namespaces}</a>").as_bytes()), Err("namespaces"));
    }
}
