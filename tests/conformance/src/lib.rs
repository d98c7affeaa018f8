//! What the conformance tests are made of: a stage on which clients that nobody here wrote meet the product.
//!
//! ```text
//!  simulated fleet ─► replica 0 ┐                      ┌─► kube-apiserver (real) ◄── kubectl, client-go, controller-runtime,
//!  (this process)  └► replica 1 ┴─► balancer ◄─registered                            kube-rs, Helm, Argo CD's cache, Flux
//!                        ▲            ▲                                                 │
//!                        └──── stage ─┴──────────── "kill a replica", "start a domain" ◄┘
//! ```
//!
//! A client program directs the stage: it says what shall happen, the stage does it and says what is true now, and the client compares that
//! with what it sees. [mod@reference] writes down which rule is proven by which test.

#![expect(clippy::indexing_slicing, reason = "of JSON values, where a field that is absent reads as null")]

pub mod balancer;
pub mod curl;
pub mod fleet;
pub mod program;
pub mod reference;
pub mod replica;
pub mod stage;
