//! Asking once for all who want to know the same at the same time.
//!
//! When a thousand informers of one program come back at once, the cluster is asked one question, not a thousand.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared};

type Answer<V> = Shared<BoxFuture<'static, Option<V>>>;

/// The questions that are under way.
pub(crate) struct Together<K, V> {
    asked: Arc<Mutex<HashMap<K, Answer<V>>>>,
}

impl<K: Hash + Eq + Clone + Send + 'static, V: Clone + Send + Sync + 'static> Together<K, V> {
    pub(crate) fn new() -> Self {
        Self { asked: Arc::default() }
    }

    /// The answer to a question that is under way, or to a new one. `None` only when whoever asked broke down.
    pub(crate) async fn ask(&self, key: &K, answer: impl FnOnce() -> BoxFuture<'static, V>) -> Option<V> {
        let answer = {
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            match asked.get(key) {
                Some(under_way) => under_way.clone(),
                None => {
                    let (all, own, answer) = (self.asked.clone(), key.clone(), answer());
                    // Of its own: who asked first may go away.
                    let task = tokio::spawn(async move {
                        let _forgotten = Forgotten { all, own };
                        answer.await
                    });
                    let shared = async move { task.await.ok() }.boxed().shared();
                    asked.insert(key.clone(), shared.clone());
                    shared
                }
            }
        };
        answer.await
    }
}

/// Takes a question out, whatever becomes of it.
struct Forgotten<K: Hash + Eq, V: Clone> {
    all: Arc<Mutex<HashMap<K, Answer<V>>>>,
    own: K,
}

impl<K: Hash + Eq, V: Clone> Drop for Forgotten<K, V> {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.own);
    }
}

impl<K, V> fmt::Debug for Together<K, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Together").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn one_question_for_all_who_ask_at_the_same_time() {
        let together = &Together::new();
        let questions = Arc::new(AtomicUsize::new(0));
        let ask = |key: &'static str| {
            let questions = questions.clone();
            let answer = move || {
                async move {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    questions.fetch_add(1, Ordering::SeqCst)
                }
                .boxed()
            };
            async move { together.ask(&key, answer).await }
        };
        drop(ask("gone"));
        let answers = futures::join!(ask("a"), ask("a"), ask("b"), ask("a"));
        assert_eq!((answers.0, answers.3), (answers.1, answers.0));
        assert_eq!(questions.load(Ordering::SeqCst), 2);
        ask("a").await;
        assert_eq!(questions.load(Ordering::SeqCst), 3, "an answer is not kept");
    }

    #[tokio::test]
    async fn a_question_that_breaks_down_can_be_asked_again() {
        let together = Together::<_, u8>::new();
        assert_eq!(together.ask(&1, || async { panic!("on purpose") }.boxed()).await, None);
        assert_eq!(together.ask(&1, || async { 7 }.boxed()).await, Some(7));
        assert!(together.asked.lock().unwrap().is_empty());
    }
}
