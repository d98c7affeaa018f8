//! What needs a real kube-apiserver: the store in it, slots by Leases, and two servers on both.

mod slots;
mod store;
mod two_replicas;
