//! Laws of a collection.
