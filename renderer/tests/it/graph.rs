//! The graph: every step once, each after what it waits for, in every format.

use c5c3_renderer::{Plan, Source, load, plan, validate};

use crate::command::Bench;
use crate::sample::SAMPLES;

fn planned(text: &str) -> Plan {
    plan(&validate(&load(&[Source::new("topology.yaml", text)]).unwrap()).unwrap())
}

#[test]
fn a_step_comes_in_a_later_wave_than_all_it_waits_for() {
    for (sample, text) in SAMPLES {
        let plan = planned(text);
        let waves = plan.waves();
        let wave_of = |name: &str| waves.iter().position(|wave| wave.iter().any(|layer| layer.name == name));
        assert_eq!(waves.iter().map(Vec::len).sum::<usize>(), plan.layers.len());
        for layer in &plan.layers {
            for dependency in &layer.depends_on {
                assert!(
                    wave_of(dependency).unwrap() < wave_of(&layer.name).unwrap(),
                    "{sample}: {dependency} before {}",
                    layer.name
                );
            }
        }
    }
}

/// What upstream leaves open: its operators need kinds that nothing says must be there before.
#[test]
fn the_two_undeclared_dependencies_are_declared() {
    let plan = planned(SAMPLES[2].1);
    let after = |name: &str| &plan.layers.iter().find(|layer| layer.name == name).unwrap().depends_on;
    assert!(
        after("platform-operators").contains(&"k-orc".to_owned()),
        "c5c3-operator needs the kinds of K-ORC"
    );
    for operator in ["rabbitmq-cluster-operator", "messaging-topology-operator"] {
        assert!(
            after(operator).contains(&"platform-foundation".to_owned()),
            "{operator} needs the kinds of cert-manager"
        );
    }
}

#[test]
fn every_format_shows_every_step() {
    let bench = Bench::new(SAMPLES[2].1);
    let plan = planned(SAMPLES[2].1);
    for format in ["waves", "dot", "mermaid", "svg"] {
        let (code, out, err) = bench.run(&["graph", "topology.yaml", "--format", format]);
        assert_eq!(code, 0, "{err}");
        for layer in &plan.layers {
            assert!(out.contains(&layer.name), "{format} lacks {}", layer.name);
        }
    }
    let (code, out, _) = bench.run(&["graph", "topology.yaml", "--output", "json"]);
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, document["waves"].as_array().unwrap().len()), (0, plan.waves().len()));
    assert!(document["ports"].as_array().unwrap().iter().any(|port| port["ports"] == "50000-50063/tcp"));
}
