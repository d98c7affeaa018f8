//! End-to-end tests of the whole product on the rig of real peers.
