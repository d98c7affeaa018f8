//! `/livez`, `/readyz` and `/healthz`.
//!
//! Readiness is a set of latches, each opened by the part of the program that it names. A backend is never one of them:
//! an API that shows honestly that a backend is away is ready.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http::StatusCode;

/// The latches of a program. Clones are the same set.
#[derive(Clone, Debug, Default)]
pub struct Readiness {
    latches: Arc<Mutex<Vec<Latch>>>,
}

/// One condition of readiness, not fulfilled at first. Clones are the same latch.
#[derive(Clone, Debug)]
pub struct Latch {
    name: Arc<str>,
    open: Arc<AtomicBool>,
}

impl Readiness {
    /// No latches: ready.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new latch, or the one of this name. The name is a path segment of `/readyz/NAME`.
    pub fn latch(&self, name: &str) -> Latch {
        let mut latches = self.latches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = latches.iter().find(|latch| &*latch.name == name) {
            return known.clone();
        }
        let latch = Latch { name: name.into(), open: Arc::default() };
        latches.push(latch.clone());
        latch
    }

    /// True when every latch is open.
    pub fn is_ready(&self) -> bool {
        self.checks().iter().all(|(_, open)| *open)
    }

    fn checks(&self) -> Vec<(String, bool)> {
        let latches = self.latches.lock().unwrap_or_else(PoisonError::into_inner);
        latches.iter().map(|latch| (latch.name.to_string(), latch.is_open())).collect()
    }
}

impl Latch {
    /// The condition is fulfilled.
    pub fn open(&self) {
        self.open.store(true, Ordering::Release);
    }

    /// The condition is not fulfilled any more.
    pub fn close(&self) {
        self.open.store(false, Ordering::Release);
    }

    /// Whether it is fulfilled.
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }
}

/// Answers of the three paths.
#[derive(Debug)]
pub(crate) struct Health {
    readiness: Readiness,
    shutdown: Latch,
}

impl Health {
    pub(crate) fn new(readiness: Readiness) -> Self {
        let shutdown = Latch { name: "shutdown".into(), open: Arc::new(AtomicBool::new(true)) };
        Self { readiness, shutdown }
    }

    /// From now on the server is not ready.
    pub(crate) fn announce_shutdown(&self) {
        self.shutdown.close();
    }

    /// The answer for a path, if it is one of health.
    pub(crate) fn answer(
        &self,
        path: &str,
        verbose: bool,
        excluded: &[&str],
    ) -> Option<(StatusCode, String)> {
        let mut parts = path.trim_start_matches('/').splitn(2, '/');
        let endpoint = parts.next()?;
        let mut checks = vec![("ping".to_owned(), true)];
        match endpoint {
            "livez" | "healthz" => {}
            "readyz" => {
                checks.extend(self.readiness.checks());
                checks.push((self.shutdown.name.to_string(), self.shutdown.is_open()));
            }
            _ => return None,
        }
        if let Some(name) = parts.next().filter(|name| !name.is_empty()) {
            let (_, open) = checks.into_iter().find(|(known, _)| known == name)?;
            return Some(if open { (StatusCode::OK, "ok".to_owned()) } else { failed(name) });
        }
        let mut listing = String::new();
        let mut good = true;
        for (name, open) in &checks {
            if excluded.contains(&name.as_str()) {
                listing.push_str(&format!("[+]{name} excluded: ok\n"));
            } else if *open {
                listing.push_str(&format!("[+]{name} ok\n"));
            } else {
                good = false;
                listing.push_str(&format!("[-]{name} failed: not fulfilled\n"));
            }
        }
        Some(match (good, verbose) {
            (true, false) => (StatusCode::OK, "ok".to_owned()),
            (true, true) => (StatusCode::OK, format!("{listing}{endpoint} check passed\n")),
            (false, _) => (StatusCode::INTERNAL_SERVER_ERROR, format!("{listing}{endpoint} check failed\n")),
        })
    }
}

fn failed(name: &str) -> (StatusCode, String) {
    (StatusCode::INTERNAL_SERVER_ERROR, format!("[-]{name} failed: not fulfilled\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_when_every_latch_is_open_and_not_after_the_announcement() {
        let readiness = Readiness::new();
        let latch = readiness.latch("nodes");
        let health = Health::new(readiness.clone());
        let code = |path: &str| health.answer(path, false, &[]).unwrap().0.as_u16();
        assert_eq!(
            (code("/livez"), code("/readyz"), code("/readyz/nodes"), code("/readyz/ping")),
            (200, 500, 500, 200)
        );
        latch.open();
        assert_eq!((code("/readyz"), code("/readyz/nodes")), (200, 200));
        assert!(readiness.is_ready());
        health.announce_shutdown();
        assert_eq!((code("/livez"), code("/readyz"), code("/readyz/shutdown")), (200, 500, 500));
    }

    #[test]
    fn verbose_names_each_check_and_some_can_be_left_out() {
        let readiness = Readiness::new();
        readiness.latch("nodes");
        let health = Health::new(readiness);
        let (code, text) = health.answer("/readyz", true, &[]).unwrap();
        assert_eq!(code, 500);
        assert_eq!(text, "[+]ping ok\n[-]nodes failed: not fulfilled\n[+]shutdown ok\nreadyz check failed\n");
        let (code, text) = health.answer("/readyz", true, &["nodes"]).unwrap();
        assert_eq!(code, 200);
        assert_eq!(text, "[+]ping ok\n[+]nodes excluded: ok\n[+]shutdown ok\nreadyz check passed\n");
        assert!(health.answer("/readyz/unknown", false, &[]).is_none());
        assert!(health.answer("/metrics", false, &[]).is_none());
    }
}
