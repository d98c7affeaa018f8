//! The embedded store: the suite, and that a file written by the first release is read.

use std::sync::Arc;

use c5c3_apiserver::intent::{EmbeddedStore, IntentStore};

use super::suite::{self, Stage};

#[tokio::test(flavor = "multi_thread")]
async fn the_embedded_store_does_what_every_store_does() {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(EmbeddedStore::open(&folder.path().join("intent.redb")).unwrap());
    let other = Arc::clone(&store) as Arc<dyn IntentStore>;
    suite::run(&Stage { one: store, other, prefix: "s".to_owned() }).await;
    let memory = Arc::new(EmbeddedStore::in_memory().unwrap());
    let other = Arc::clone(&memory) as Arc<dyn IntentStore>;
    suite::run(&Stage { one: memory, other, prefix: "s".to_owned() }).await;
}
