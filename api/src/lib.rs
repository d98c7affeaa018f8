//! The kinds of the C5C3 hypervisor cluster: types, schemas, printer columns, validation, topology documents.

pub mod topology;
