//! The kinds as they are served: from their definition in `c5c3-api` to the machinery's.

mod definition;
mod shelves;

pub use self::definition::definition;
pub use self::shelves::{ShelfError, Shelves};
