//! The examples run.

#[path = "../../examples/commit.rs"]
mod commit;
#[path = "../../examples/steps.rs"]
mod steps;

#[test]
fn each_step_can_be_used_alone() {
    steps::main().unwrap();
}

#[test]
fn a_document_in_memory_becomes_a_commit() {
    commit::main().unwrap();
}
