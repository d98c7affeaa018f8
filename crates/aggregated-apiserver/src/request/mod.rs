//! Understanding a request: path and verb, query, options, and what representation is wanted.

pub(crate) mod accept;
pub(crate) mod info;
pub(crate) mod options;
pub(crate) mod percent;
pub(crate) mod query;
