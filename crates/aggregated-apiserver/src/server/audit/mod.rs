//! Who did what: one line of JSON for each request.
//!
//! Lines are written by a thread of their own behind a bounded queue. A log that cannot keep up, or cannot be written, loses
//! lines and counts them; it never delays a request. Probes of health are not logged.

mod event;
mod file;

use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use serde_json::Value;
use tracing::error;

pub(crate) use self::event::Audited;

use self::file::ReopenedFile;

const QUEUE: usize = 8192;
const QUEUE_BYTES: u64 = 64 << 20;

/// How much of a request is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuditLevel {
    /// Nothing.
    None,
    /// Who, what, when, from where, and the code of the answer.
    #[default]
    Metadata,
    /// The same, and the object or patch that the client sent.
    Request,
}

impl AuditLevel {
    /// As in an audit event.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Metadata => "Metadata",
            Self::Request => "Request",
        }
    }
}

/// Where audit events go. Clones are the same log.
#[derive(Clone)]
pub struct AuditLog {
    queue: SyncSender<Message>,
    lost: Arc<AtomicU64>,
    /// Bytes in the queue.
    waiting: Arc<AtomicU64>,
    reads: AuditLevel,
    writes: AuditLevel,
}

enum Message {
    Line(String),
    /// Everything before this has been written when the sender hears of it.
    Mark(SyncSender<()>),
}

impl AuditLog {
    /// Writes to a pipe, standard output …, from a thread that ends when the log is dropped.
    pub fn new(writer: impl Write + Send + 'static) -> std::io::Result<Self> {
        let (sender, queue) = sync_channel(QUEUE);
        let lost = Arc::<AtomicU64>::default();
        let waiting = Arc::<AtomicU64>::default();
        let (missed, taken) = (lost.clone(), waiting.clone());
        let thread = std::thread::Builder::new().name("audit-log".to_owned());
        thread.spawn(move || write(&queue, writer, &missed, &taken))?;
        let level = AuditLevel::default();
        Ok(Self { queue: sender, lost, waiting, reads: level, writes: level })
    }

    /// Appends to a file. When the file is moved away or removed, a new one is begun under its name.
    pub fn to_file(path: impl Into<PathBuf>) -> std::io::Result<Self> {
        Self::new(ReopenedFile::open(path.into())?)
    }

    /// The same log with other levels than Metadata: for get, list and watch, and for everything else.
    #[must_use]
    pub fn levels(mut self, reads: AuditLevel, writes: AuditLevel) -> Self {
        (self.reads, self.writes) = (reads, writes);
        self
    }

    /// How many events were lost because they could not be written, or not in time.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Waits until everything logged so far has been written. False when that took longer than `patience`.
    pub fn flush(&self, patience: Duration) -> bool {
        let (done, heard) = sync_channel(1);
        let start = std::time::Instant::now();
        let mut mark = Message::Mark(done);
        loop {
            match self.queue.try_send(mark) {
                Ok(()) => break,
                Err(std::sync::mpsc::TrySendError::Full(back)) if start.elapsed() < patience => mark = back,
                Err(_) => return false,
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        heard.recv_timeout(patience.saturating_sub(start.elapsed())).is_ok()
    }

    /// How much is to be logged of a request with this verb.
    pub(crate) fn level(&self, verb: &str) -> AuditLevel {
        if ["get", "list", "watch"].contains(&verb) { self.reads } else { self.writes }
    }

    pub(crate) fn record(&self, event: &Value) {
        let line = event.to_string();
        let bytes = line.len() as u64;
        if self.waiting.fetch_add(bytes, Ordering::Relaxed) > QUEUE_BYTES
            || self.queue.try_send(Message::Line(line)).is_err()
        {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AuditLog").field("lost", &self.lost()).finish_non_exhaustive()
    }
}

fn write(queue: &Receiver<Message>, mut writer: impl Write, lost: &AtomicU64, waiting: &AtomicU64) {
    let mut failing = false;
    while let Ok(first) = queue.recv() {
        let (mut text, mut lines, mut marks) = (String::new(), 0, Vec::new());
        // At most a queue full at a time: who writes faster than this reads must not keep it from writing, nor grow the batch.
        for message in std::iter::once(first).chain(queue.try_iter().take(QUEUE)) {
            match message {
                Message::Line(line) => {
                    waiting.fetch_sub(line.len() as u64, Ordering::Relaxed);
                    text.push_str(&line);
                    text.push('\n');
                    lines += 1;
                }
                Message::Mark(mark) => marks.push(mark),
            }
        }
        match writer.write_all(text.as_bytes()).and_then(|()| writer.flush()) {
            Ok(()) => failing = false,
            Err(error) => {
                lost.fetch_add(lines, Ordering::Relaxed);
                if !failing {
                    error!(error = &error as &dyn std::error::Error, "audit log cannot be written");
                }
                failing = true;
            }
        }
        for mark in marks {
            // Whoever asked may have given up.
            let _ = mark.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;

    /// Takes nothing while it is locked.
    struct Locked(Arc<Mutex<Vec<u8>>>);

    impl Write for Locked {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_log_that_cannot_keep_up_loses_lines_counts_them_and_delays_nobody() {
        let written = Arc::new(Mutex::new(Vec::new()));
        let log = AuditLog::new(Locked(written.clone())).unwrap();
        let hindered = written.lock().unwrap();
        let total = 4 * QUEUE as u64;
        for number in 0..total {
            log.record(&json!(number));
        }
        assert!(log.lost() >= total - 2 * QUEUE as u64 - 2, "{}", log.lost());
        assert!(!log.flush(Duration::from_millis(20)));
        drop(hindered);
        assert!(log.flush(Duration::from_secs(10)));
        let lines = written.lock().unwrap().iter().filter(|byte| **byte == b'\n').count() as u64;
        assert_eq!(lines + log.lost(), total, "every event is either written or counted");
    }

    #[test]
    fn what_cannot_be_written_is_counted() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let log = AuditLog::new(full).unwrap();
        for _ in 0..3 {
            log.record(&json!({}));
            assert!(log.flush(Duration::from_secs(10)));
        }
        assert_eq!(log.lost(), 3);
    }

    #[test]
    fn a_file_that_was_moved_away_is_begun_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (path, moved) = (folder.path().join("audit.log"), folder.path().join("audit.log.1"));
        let log = AuditLog::to_file(&path).unwrap();
        let say = |number: i32| {
            log.record(&json!(number));
            assert!(log.flush(Duration::from_secs(10)));
        };
        say(1);
        std::fs::rename(&path, &moved).unwrap();
        say(2);
        std::fs::remove_file(&path).unwrap();
        say(3);
        drop(AuditLog::to_file(&path).unwrap());
        say(4);
        let text = |path| std::fs::read_to_string(path).unwrap();
        assert_eq!((text(&moved).as_str(), text(&path).as_str()), ("1\n", "3\n4\n"));
    }
}
