//! Random histories, step by step against the very libraries that kube-apiserver uses (structured-merge-diff v6.4.0, apimachinery v0.36.3).
//!
//! `tests/oracle` is a small program on those libraries; `data/oracle.jsonl` is what it printed for some seeds. With `SSA_ORACLE` naming the program, built
//! (`go build -o /tmp/oracle .`), more seeds than those are played, from `SSA_ORACLE_SEED` on.

use std::process::Command;

use serde_json::{Value, json};
use server_side_apply::{Schema, apply, update};

use crate::laws::manager;

const LONG_AGO: &str = "2020-01-01T00:00:00Z";
const NOW: &str = "2021-01-01T00:00:00Z";

fn schema() -> Schema {
    let schema = Schema::new(&serde_json::from_str(include_str!("../data/schema.json")).unwrap()).unwrap();
    schema.with_kind("Host").with_reset("", &[&["status"]])
}

/// Plays one history and stops at the first difference, as all that follows would differ too.
fn play(schema: &Schema, history: &Value) -> Result<usize, String> {
    let mut live: Option<Value> = None;
    let steps = history["steps"].as_array().unwrap();
    for (number, step) in steps.iter().enumerate() {
        age(&mut live);
        let who = manager(step["manager"].as_str().unwrap());
        let (body, now) = (&step["body"], NOW.parse().unwrap());
        let outcome = match step["op"].as_str().unwrap() {
            "update" => Ok(update(schema, live.as_ref(), body, &who, now)),
            op => apply(schema, live.as_ref(), body, &who, op == "force", now)
                .map(|applied| applied.object)
                .map_err(|error| error.to_string()),
        };
        let wrong = |what: &str, theirs: &Value, ours: &Value| {
            Err(format!(
                "seed {} step {number} ({} by {}): {what}\nlive   {}\nbody   {body}\ntheirs {theirs}\nours   {ours}",
                history["seed"],
                step["op"],
                who.name,
                live.as_ref().unwrap_or(&Value::Null)
            ))
        };
        match (&outcome, step.get("error")) {
            (Err(ours), Some(theirs)) if lines(ours) == lines(theirs.as_str().unwrap()) => {}
            (Err(ours), _) => {
                return wrong("refused", step.get("error").unwrap_or(&step["object"]), &json!(ours));
            }
            (Ok(ours), Some(theirs)) => return wrong("not refused", theirs, ours),
            (Ok(ours), None) => {
                let mut ours = ours.clone();
                ours["metadata"]["uid"] = step["object"]["metadata"]["uid"].clone();
                if ours != step["object"] {
                    return wrong("another object", &step["object"], &ours);
                }
                live = Some(ours);
            }
        }
    }
    Ok(steps.len())
}

/// Several type errors come in the order of a Go map, which is none.
fn lines(message: &str) -> Vec<&str> {
    let mut lines: Vec<_> = message.lines().collect();
    lines.sort_unstable();
    lines
}

/// Makes all times those of long ago, and orders the entries as a server would have stored them then.
fn age(live: &mut Option<Value>) {
    let Some(entries) =
        live.as_mut().and_then(|live| live["metadata"].get_mut("managedFields")?.as_array_mut())
    else {
        return;
    };
    for entry in entries.iter_mut().filter(|entry| entry.get("time").is_some()) {
        entry["time"] = json!(LONG_AGO);
    }
    entries.sort_by_key(|entry| {
        ["operation", "time", "manager"].map(|field| entry[field].as_str().unwrap_or_default().to_owned())
    });
}

fn play_all(histories: &str) -> usize {
    let schema = schema();
    let outcomes: Vec<_> =
        histories.lines().map(|line| play(&schema, &serde_json::from_str(line).unwrap())).collect();
    let differ: Vec<_> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    assert!(
        differ.is_empty(),
        "{} of {} histories differ, the first:\n{}",
        differ.len(),
        outcomes.len(),
        differ[0]
    );
    outcomes.into_iter().flatten().sum()
}

#[test]
fn recorded_histories_go_as_in_the_libraries_of_kube_apiserver() {
    assert_eq!(play_all(include_str!("../data/oracle.jsonl")), 618);
}

#[test]
fn fresh_histories_go_as_in_the_libraries_of_kube_apiserver() {
    let Ok(program) = std::env::var("SSA_ORACLE") else {
        println!("skipped: SSA_ORACLE is not set; build tests/oracle with go and name it");
        return;
    };
    let seed = std::env::var("SSA_ORACLE_SEED").unwrap_or_else(|_| "1000".into());
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/schema.json");
    let output = Command::new(program)
        .args(["-updaters", "-schema", schema, "-seed", &seed, "-count", "500", "-steps", "8"])
        .output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(play_all(&String::from_utf8(output.stdout).unwrap()) > 4000);
}
