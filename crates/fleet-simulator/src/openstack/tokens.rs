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
        issued.insert(token.clone(), Issued { expires: now + lifetime, epoch });
        token
    }

    /// Whether a token is good in this epoch.
    pub(super) fn is_good(&self, token: &str, epoch: u64) -> bool {
        let issued = self.issued.lock().unwrap_or_else(PoisonError::into_inner);
        issued.get(token).is_some_and(|token| token.expires > Instant::now() && token.epoch == epoch)
    }
}
