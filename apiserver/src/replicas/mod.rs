//! Several replicas on one intent store: each holds a slot, and tells the others how far it had read when.
//!
//! ```text
//!  inventory ── applied through N ──► Ledger ── (W, N) ──► Lease of this slot ──► cluster
//!  Leases of all slots ── watch ──► Terms ── had_applied? ──► write path
//! ```
//!
//! A version says which slot issued it, and which of the processes that held the slot. A statement (W, N) of that process says:
//! every version greater than W was issued after I had applied the store through N. So a write that shows version V is
//! known to come from somebody who had seen revision R of the record if V's process has a statement with W < V and R ≤ N.
//!
//! Nothing of this depends on clocks that agree or on leases that expire in time: a process number is used by one holder
//! of a slot, and taking a slot over is a compare-and-swap. Expiry only decides when a slot may be taken.

mod guarded;
mod lease;
mod ledger;
mod slot;
mod terms;

#[cfg(test)]
mod tests;

pub use self::guarded::Guarded;
pub use self::lease::{Seat, SlotError, Standing, listen, take_seat};
pub use self::ledger::Ledger;
pub use self::terms::Terms;
