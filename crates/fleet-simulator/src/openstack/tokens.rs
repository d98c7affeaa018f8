//! Tokens that Keystone gave: who holds one, until when.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

/// How many tokens are kept; expired ones go first.
const KEPT: usize = 10_000;

/// All tokens that still count.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    issued: Mutex<HashMap<String, Issued>>,
}

#[derive(Debug)]
struct Issued {
    expires: Instant,
    epoch: u64,
    requests: u64,
}

impl Tokens {
    /// A new token.
    pub(super) fn issue(&self, lifetime: Duration, epoch: u64) -> String {
        let token = format!("gAAAAA{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let now = Instant::now();
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        if issued.len() >= KEPT {
            issued.retain(|_, token| token.expires > now);
        }
        issued.insert(token.clone(), Issued { expires: now + lifetime, epoch, requests: 0 });
        token
    }

    /// Takes a token for one request: whether it is good in this epoch and has not served `most` requests yet.
    pub(super) fn take(&self, token: &str, epoch: u64, most: Option<u64>) -> bool {
        let mut issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(token) = issued.get_mut(token) else { return false };
        let good = token.expires > Instant::now()
            && token.epoch == epoch
            && most.is_none_or(|most| token.requests < most);
        token.requests += 1;
        good
    }
}
