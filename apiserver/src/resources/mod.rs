//! The kinds as they are served: from their definition in `c5c3-api` to the machinery's.

mod bases;
mod definition;
mod domains;
mod rules;
mod series;
mod shelves;
mod sparse;
mod storage;

pub use self::bases::Bases;
pub use self::definition::definition;
pub use self::domains::Domains;
pub use self::rules::{EvictionRules, HypervisorRules};
pub use self::series::Series;
pub use self::shelves::{ShelfError, Shelves};
pub use self::storage::IntentStorage;
