//! An open watch: a `kubectl get … -w`, or another program that tells as things happen, read while it runs.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde_json::{Deserializer, Value};

use crate::kubectl::Kubectl;

/// Something that the watch printed, and when.
#[derive(Debug)]
pub struct Seen<Item> {
    /// When it was read.
    pub at: Instant,
    /// What was read.
    pub item: Item,
}

/// A program that watches. Ended when dropped.
#[derive(Debug)]
pub struct Watch<Item> {
    child: Child,
    seen: Receiver<Seen<Item>>,
    line: String,
}

/// A watch event: what happened, and the object after it.
#[derive(Debug)]
pub struct Event {
    /// `ADDED`, `MODIFIED`, `DELETED`, `ERROR`.
    pub type_: String,
    /// The object.
    pub object: Value,
}

impl Watch<String> {
    /// Watches the table as a person would: `kubectl get … -w`.
    ///
    /// # Errors
    /// When kubectl cannot be started.
    pub fn table(kubectl: &Kubectl, arguments: &[&str]) -> Result<Self> {
        Self::lines(kubectl.command(&[&["get"], arguments, &["--watch"]].concat()))
    }

    /// Reads a program line by line.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn lines(command: Command) -> Result<Self> {
        Self::open(command, |output, tell| {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if !tell(line) {
                    return;
                }
            }
        })
    }
}

impl Watch<Event> {
    /// Watches the events as a program would.
    ///
    /// # Errors
    /// When kubectl cannot be started.
    pub fn events(kubectl: &Kubectl, arguments: &[&str]) -> Result<Self> {
        let watching = ["--watch", "--output-watch-events", "-o", "json"];
        let command = kubectl.command(&[&["get"], arguments, &watching].concat());
        Self::open(command, |output, tell| {
            for mut event in Deserializer::from_reader(output).into_iter::<Value>().map_while(Result::ok) {
                let type_ = event["type"].as_str().unwrap_or_default().to_owned();
                if !tell(Event { type_, object: event["object"].take() }) {
                    return;
                }
            }
        })
    }
}

impl<Item: Send + std::fmt::Debug + 'static> Watch<Item> {
    fn open(
        mut command: Command,
        read: impl FnOnce(Box<dyn Read + Send>, &dyn Fn(Item) -> bool) + Send + 'static,
    ) -> Result<Self> {
        let line = crate::program::line(&command);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .with_context(|| format!("`{line}` cannot be started"))?;
        let output = child.stdout.take().context("the program has no output")?;
        let (sender, seen) = channel();
        thread::spawn(move || {
            read(Box::new(output), &|item| sender.send(Seen { at: Instant::now(), item }).is_ok());
        });
        Ok(Self { child, seen, line })
    }

    /// Waits for the first thing that `is_it` accepts; what came before it is passed over.
    ///
    /// # Errors
    /// When it does not come within `limit`, or the watch ends first.
    pub fn wait(
        &self,
        limit: Duration,
        what: &str,
        mut is_it: impl FnMut(&Item) -> bool,
    ) -> Result<Seen<Item>> {
        let deadline = Instant::now() + limit;
        let mut passed = 0_usize;
        let mut last = None;
        loop {
            match self.seen.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(seen) if is_it(&seen.item) => return Ok(seen),
                Ok(seen) => {
                    passed += 1;
                    last = Some(seen.item);
                }
                Err(RecvTimeoutError::Timeout) => bail!(
                    "`{}`: {what}: not within {} s; {passed} other events, last {}",
                    self.line,
                    limit.as_secs(),
                    last.map_or_else(String::new, |item| format!("{item:.2000?}")),
                ),
                Err(RecvTimeoutError::Disconnected) => {
                    bail!("`{}`: {what}: the watch ended after {passed} other events", self.line)
                }
            }
        }
    }
}

impl<Item> Drop for Watch<Item> {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
