//! Texts that the contract writes as `unknown` while nobody has said them.
//!
//! In Rust such a text is `None`; on the wire it is the word that existing dashboards show and compare with.

use serde::{Deserialize, Deserializer, Serializer};

/// The word.
pub(crate) const UNKNOWN: &str = "unknown";

#[expect(clippy::ref_option, reason = "the signature that serde's `with` calls")]
pub(crate) fn serialize<S: Serializer>(text: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text.as_deref().unwrap_or(UNKNOWN))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.filter(|text| text != UNKNOWN))
}
