//! The last paragraph of a field's description says where its value comes from.
//!
//! It stands in the doc comment, `Source: …` for what is observed and `Set by: …` for what is wanted, so that
//! `kubectl explain` shows it and the reference page can make a column of it.

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin<'a> {
    /// It is observed there.
    Source(&'a str),
    /// They want it.
    SetBy(&'a str),
}

impl<'a> Origin<'a> {
    /// The origin that this paragraph names, if it does.
    pub(crate) fn in_paragraph(paragraph: &'a str) -> Option<Self> {
        let text = |rest: &'a str| rest.trim().trim_end_matches('.');
        match (paragraph.strip_prefix("Source: "), paragraph.strip_prefix("Set by: ")) {
            (Some(source), _) => Some(Self::Source(text(source))),
            (_, Some(people)) => Some(Self::SetBy(text(people))),
            _ => None,
        }
    }

    /// A description, split into what it says and where the value comes from.
    pub(crate) fn split(description: &'a str) -> (&'a str, Option<Self>) {
        let (before, last) = description.rsplit_once("\n\n").unwrap_or(("", description));
        match Self::in_paragraph(last) {
            Some(origin) => (before, Some(origin)),
            None => (description, None),
        }
    }

    /// Where it comes from, as text.
    pub(crate) const fn text(self) -> &'a str {
        match self {
            Self::Source(text) | Self::SetBy(text) => text,
        }
    }
}
