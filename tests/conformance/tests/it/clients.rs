//! Programs on client-go and controller-runtime, in the oldest and the newest release that we answer for, with the list streamed and not.

use std::time::Duration;

use anyhow::Result;
use c5c3_conformance::program::go_test;

use crate::turns::on_the_stage;

/// A program restarts replicas several times.
const LIMIT: Duration = Duration::from_secs(300);

fn runs(binary: &str, test: &str, streaming: &str) -> Result<()> {
    on_the_stage(|stage| {
        let told = go_test(stage, binary, test, &[("KUBE_FEATURE_WatchListClient", streaming)], LIMIT)?;
        println!("{told}");
        Ok(())
    })
}

fn writes(binary: &str, test: &str) -> Result<()> {
    on_the_stage(|stage| {
        println!("{}", go_test(stage, binary, test, &[], LIMIT)?);
        Ok(())
    })
}

/// One module for each release, with the same tests.
macro_rules! release {
    ($name:ident, $binary:literal) => {
        mod $name {
            use super::*;

            #[test]
            fn informers_that_stream_their_lists() -> Result<()> {
                runs($binary, "TestInformers", "true")
            }

            #[test]
            fn informers_that_list_first() -> Result<()> {
                runs($binary, "TestInformers", "false")
            }

            #[test]
            fn a_watch_that_retries() -> Result<()> {
                runs($binary, "TestRetryWatcher", "true")
            }

            #[test]
            fn lists_in_pages() -> Result<()> {
                runs($binary, "TestPager", "true")
            }

            #[test]
            fn discovery_in_both_ways() -> Result<()> {
                runs($binary, "TestDiscovery", "true")
            }

            #[test]
            fn openapi_documents() -> Result<()> {
                runs($binary, "TestOpenAPI", "true")
            }

            #[test]
            fn the_cache_of_controller_runtime_that_streams() -> Result<()> {
                runs($binary, "TestControllerRuntimeCache", "true")
            }

            #[test]
            fn the_cache_of_controller_runtime_that_lists() -> Result<()> {
                runs($binary, "TestControllerRuntimeCache", "false")
            }

            #[test]
            fn the_client_of_controller_runtime() -> Result<()> {
                runs($binary, "TestControllerRuntimeClient", "true")
            }

            #[test]
            fn apply_by_controller_runtime() -> Result<()> {
                writes($binary, "TestApply")
            }

            #[test]
            fn ten_writers_at_one_object() -> Result<()> {
                writes($binary, "TestTenWriters")
            }

            #[test]
            fn the_life_of_an_eviction() -> Result<()> {
                writes($binary, "TestEvictionLives")
            }
        }
    };
}

release!(oldest, "oldest");
release!(newest, "newest");

#[test]
fn the_cluster_cache_of_argo_cd() -> Result<()> {
    runs("gitops", "TestClusterCache", "false")
}
