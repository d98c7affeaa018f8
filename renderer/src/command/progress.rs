//! A word to a person who waits: only on a terminal, only after a second, never into the output.

use std::io::IsTerminal as _;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How long nothing is said.
const PATIENCE: Duration = Duration::from_secs(1);

/// Speaks until it is dropped.
#[derive(Debug)]
pub(super) struct Progress {
    _done: Option<Sender<()>>,
}

impl Progress {
    /// Starts to wait, and then to speak, when standard error is a terminal.
    pub(super) fn start(what: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { _done: None };
        }
        let (done, waiting) = channel::<()>();
        let speak = move || {
            let mut seconds = 0_u64;
            while waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                seconds += PATIENCE.as_secs();
                eprint!("\r{what}: {seconds} s");
            }
            if seconds > 0 {
                eprintln!();
            }
        };
        // Without a thread there is no progress to see, and nothing else is missing.
        let _silent = std::thread::Builder::new().name("progress".to_owned()).spawn(speak);
        Self { _done: Some(done) }
    }
}
