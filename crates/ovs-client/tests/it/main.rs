//! One suite for every switch: the simulator's, and the real daemons of the rig when it is up.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop where it is"
)]

mod faults;
mod flows;
mod hostile;
mod peer;
mod relay;
mod scratch;
mod scripted;
mod sockets;
mod switch;
mod wire;
