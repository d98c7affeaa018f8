//! The bounded queue between the reader of a connection and whoever follows its events.
//!
//! The reader never waits: what finds no room is counted, and the count stands in the queue where the hole is, so that a
//! slow follower delays no reply and still knows that it has to list again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::Event;

/// The events of a connection, in order. Ends after the connection does.
#[derive(Debug)]
pub struct Events {
    queue: Arc<EventQueue>,
}

/// Both ends share it; one reader fills, one [`Events`] drains.
#[derive(Debug)]
pub(crate) struct EventQueue {
    capacity: usize,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Event>,
    /// Events since the last one in `events` that found no room.
    lost: u64,
    closed: bool,
    abandoned: bool,
}

impl Events {
    /// The next event, or `None` when the connection is closed and all events were taken. Safe to cancel.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            {
                let mut state = self.queue.lock();
                if let Some(event) = state.pop() {
                    return Some(event);
                }
                if state.closed {
                    return None;
                }
            }
            // A change since the look above left a permit, so this does not sleep over it.
            self.queue.changed.notified().await;
        }
    }

    /// The next event, if one is there.
    pub fn try_next(&mut self) -> Option<Event> {
        self.queue.lock().pop()
    }
}

impl Drop for Events {
    /// Nobody listens any more: what comes is dropped.
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.abandoned = true;
        state.events = VecDeque::new();
    }
}

impl EventQueue {
    /// A queue for that many events.
    pub(crate) fn new(capacity: usize) -> (Arc<Self>, Events) {
        let queue = Self { capacity: capacity.max(1), state: Mutex::default(), changed: Notify::new() };
        let queue = Arc::new(queue);
        (Arc::clone(&queue), Events { queue })
    }

    /// Adds an event, or counts it as lost.
    pub(crate) fn push(&self, event: Event) {
        let mut state = self.lock();
        if state.abandoned {
            return;
        }
        let needed = if state.lost > 0 { 2 } else { 1 };
        if state.events.len() + needed > self.capacity.max(2) {
            state.lost += 1;
        } else {
            state.mark_lost();
            state.events.push_back(event);
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Counts an event that could not be read.
    pub(crate) fn push_lost(&self) {
        self.lock().lost += 1;
        self.changed.notify_one();
    }

    /// No more events will come.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// Events that wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().events.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn mark_lost(&mut self) {
        if self.lost > 0 {
            self.events.push_back(Event::Lost { count: std::mem::take(&mut self.lost) });
        }
    }

    fn pop(&mut self) -> Option<Event> {
        if self.events.is_empty() {
            self.mark_lost();
        }
        self.events.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closing(reason: i32) -> Event {
        Event::ConnectionClosing { reason }
    }

    #[tokio::test]
    async fn what_finds_no_room_is_counted_where_the_hole_is() {
        let (queue, mut events) = EventQueue::new(3);
        (0..10).for_each(|reason| queue.push(closing(reason)));
        for reason in 0..3 {
            assert_eq!(events.next().await, Some(closing(reason)));
        }
        assert_eq!(events.next().await, Some(Event::Lost { count: 7 }));
        queue.push(closing(10));
        queue.close();
        assert_eq!(events.next().await, Some(closing(10)));
        assert_eq!(events.next().await, None);
    }

    #[tokio::test]
    async fn the_hole_stays_before_what_came_after_it() {
        let (queue, mut events) = EventQueue::new(2);
        (0..4).for_each(|reason| queue.push(closing(reason)));
        assert_eq!(events.next().await, Some(closing(0)));
        assert_eq!(events.next().await, Some(closing(1)));
        queue.push(closing(4));
        assert_eq!(events.next().await, Some(Event::Lost { count: 2 }));
        assert_eq!(events.next().await, Some(closing(4)));
    }

    #[tokio::test]
    async fn waiting_ends_when_the_connection_does() {
        let (queue, mut events) = EventQueue::new(2);
        let waiting = tokio::spawn(async move { events.next().await });
        tokio::task::yield_now().await;
        queue.close();
        assert_eq!(waiting.await.unwrap(), None);
    }

    #[test]
    fn events_nobody_listens_to_are_not_kept() {
        let (queue, events) = EventQueue::new(2);
        queue.push(closing(0));
        drop(events);
        queue.push(closing(1));
        assert_eq!(queue.len(), 0);
    }
}
