//! How many inputs a property test draws: few by default, because it runs at every change; as many as
//! `PROPTEST_CASES` says when somebody wants to know.

use proptest::test_runner::Config;

/// `cases` unless the environment names another number.
pub(crate) fn few(cases: u32) -> Config {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => Config::default(),
        None => Config::with_cases(cases),
    }
}
