//! What an object, a list and an event look like in the representation that a client asked for.
//!
//! JSON objects are copied as they were published. Metadata is a slice of the same bytes. Table rows are made of cells
//! that were computed when the object was published; only ages are written at the time of asking.

pub(crate) mod cells;
mod duration;
mod items;
mod table;

pub(crate) use self::items::{MetaVersion, Representation};
pub(crate) use self::table::IncludeObject;
