//! The inventory, told of things and asked what the world shall see.

use std::time::Duration;

use c5c3_api::SourceState;
use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Inventory, Publication, Resource, Rules, Urgency};
use crate::configuration::{HostAddress, HostRules, Namespaces, Reach};
use crate::merge::Incarnation;
use crate::merge::tests::scene::{self, RUNNING, Scene, at};
use crate::sources::observation::Observation;
use crate::sources::picture::{JobKind, JobPicture, LibvirtPicture, NodePicture};
use crate::sources::report::{HostObserved, Report};

fn inventory(follow_nodes: bool) -> Inventory {
    Inventory::new(Rules {
        hosts: HostRules::default(),
        namespaces: Namespaces::default(),
        migrations_kept: Duration::from_secs(100),
        follow_nodes,
    })
}

fn incarnation(of: &str) -> Incarnation {
    Incarnation { of: of.to_owned(), created: at(10) }
}

/// Two hosts that are seen.
fn two_hosts() -> Inventory {
    let mut inventory = inventory(false);
    for host in ["a", "b"] {
        inventory.add_host(host, incarnation(host));
    }
    inventory.publications(at(1_000));
    inventory
}

fn tell(inventory: &mut Inventory, host: &str, observed: HostObserved) {
    inventory.take(Report::Host { host: host.to_owned(), observed });
}

fn tell_libvirt(inventory: &mut Inventory, host: &str, picture: LibvirtPicture, now: Timestamp) {
    tell(inventory, host, HostObserved::Libvirt(Observation::fresh(picture, now)));
}

/// Kind, name and whether watchers are told, of all that is shown; a withdrawal is `None`.
fn seen(publications: &[Publication]) -> Vec<(Resource, String, Option<Urgency>)> {
    let brief = |publication: &Publication| match publication {
        Publication::Show { resource, urgency, object, .. } => {
            (*resource, object["metadata"]["name"].as_str().unwrap().to_owned(), Some(*urgency))
        }
        Publication::Withdraw { resource, name, .. } => (*resource, name.clone(), None),
    };
    let mut list: Vec<_> = publications.iter().map(brief).collect();
    list.sort_by(|left, right| (left.0, &left.1).cmp(&(right.0, &right.1)));
    list
}

fn changes(publications: &[Publication]) -> Vec<(Resource, String)> {
    let told = seen(publications).into_iter().filter(|(_, _, urgency)| *urgency != Some(Urgency::Quiet));
    told.map(|(resource, name, _)| (resource, name)).collect()
}

fn object(publications: &[Publication], wanted: Resource, name: &str) -> Value {
    let found = publications.iter().find_map(|publication| match publication {
        Publication::Show { resource, object, .. }
            if *resource == wanted && object["metadata"]["name"] == name =>
        {
            Some(object.clone())
        }
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no {wanted:?} {name}"))
}

fn findings(publications: &[Publication], host: &str) -> Vec<String> {
    let object = object(publications, Resource::Hypervisor, host);
    let list = object["status"]["findings"].as_array().cloned().unwrap_or_default();
    list.iter().map(|finding| finding["type"].as_str().unwrap().to_owned()).collect()
}

fn source_state(object: &Value, name: &str) -> String {
    let sources = object["status"]["sources"].as_array().unwrap();
    let source = sources.iter().find(|source| source["name"] == name).unwrap();
    source["state"].as_str().unwrap().to_owned()
}

fn job(operation: i32, kind: JobKind, started: i64, ended: Option<i64>, processed: u64) -> JobPicture {
    JobPicture {
        kind,
        operation: Some(operation),
        started: at(started),
        ended: ended.map(at),
        error: None,
        numbers: [("memory_processed".to_owned(), processed)].into(),
    }
}

fn migrating(job: JobPicture) -> LibvirtPicture {
    LibvirtPicture { jobs: [(RUNNING, job)].into(), ..scene::libvirt() }
}

#[test]
fn a_host_appears_at_once_and_is_withdrawn_when_nobody_wants_it() {
    let mut inventory = inventory(false);
    inventory.add_host("a", incarnation("x"));
    let first = inventory.publications(at(1_000));
    let (host, node) = ((Resource::Hypervisor, "a".to_owned()), (Resource::OvsNode, "a".to_owned()));
    assert_eq!(changes(&first), [host.clone(), node.clone()]);
    assert_eq!(inventory.publications(at(1_001)), [], "nothing has happened since");
    inventory.remove_host("a");
    assert_eq!(changes(&inventory.publications(at(1_002))), [host, node]);
    tell_libvirt(&mut inventory, "a", scene::libvirt(), at(1_003));
    assert_eq!(inventory.publications(at(1_003)), [], "a report that comes too late brings nobody back");
}

#[test]
fn many_objects_are_published_a_few_at_a_time_and_each_once() {
    let mut inventory = inventory(false);
    for number in 0..10 {
        inventory.add_host(&format!("host-{number}"), incarnation("x"));
    }
    let mut slices = Vec::new();
    while inventory.has_news() {
        slices.push(changes(&inventory.next_publications(8, at(1_000))));
    }
    assert_eq!(slices.iter().map(Vec::len).collect::<Vec<_>>(), [8, 8, 4]);
    let mut all: Vec<_> = slices.into_iter().flatten().collect();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 20);
}

#[test]
fn another_incarnation_is_another_object() {
    let mut inventory = inventory(false);
    let mut uid = |of: &str| {
        inventory.add_host("a", incarnation(of));
        let shown = inventory.publications(at(1_000));
        assert_eq!(changes(&shown).len(), 2);
        object(&shown, Resource::Hypervisor, "a")["metadata"]["uid"].clone()
    };
    assert_ne!(uid("first"), uid("second"));
}

#[test]
fn ages_are_quiet_and_values_are_not() {
    let mut inventory = two_hosts();
    tell_libvirt(&mut inventory, "a", scene::libvirt(), at(1_001));
    assert_eq!(changes(&inventory.publications(at(1_001))), [(Resource::Hypervisor, "a".to_owned())]);
    tell_libvirt(&mut inventory, "a", scene::libvirt(), at(1_002));
    let heartbeat = inventory.publications(at(1_002));
    assert_eq!(changes(&heartbeat), []);
    let shown = object(&heartbeat, Resource::Hypervisor, "a");
    assert!(shown.to_string().contains("1970-01-01T00:16:42Z"), "whoever asks sees the newest age: {shown}");
    tell_libvirt(&mut inventory, "a", LibvirtPicture::default(), at(1_003));
    assert_eq!(changes(&inventory.publications(at(1_003))), [(Resource::Hypervisor, "a".to_owned())]);
}

#[test]
fn counters_wake_watchers_at_the_slow_tick_only_and_only_when_they_moved() {
    let mut inventory = two_hosts();
    let count = |inventory: &mut Inventory, packets: i64, now: i64| {
        let mut switch = scene::switch();
        let port = &mut switch.bridges[0].ports[0].interfaces[0];
        port.statistics.as_mut().unwrap().insert("rx_packets".to_owned(), packets);
        tell(inventory, "a", HostObserved::Switch(Observation::fresh(switch, at(now))));
        changes(&inventory.publications(at(now)))
    };
    assert!(!count(&mut inventory, 1, 1_001).is_empty(), "the first rows are news");
    assert_eq!(count(&mut inventory, 50, 1_002), []);
    let slow = inventory.slow_publications("a", at(1_003));
    assert_eq!(changes(&slow), [(Resource::OvsNode, "a".to_owned())]);
    assert_eq!(count(&mut inventory, 50, 1_004), []);
    assert_eq!(changes(&inventory.slow_publications("a", at(1_005))), [], "only an age has moved");
}

#[test]
fn a_source_that_fails_and_comes_back_is_told_once_each_way() {
    let mut inventory = two_hosts();
    let host = || vec![(Resource::Hypervisor, "a".to_owned())];
    tell_libvirt(&mut inventory, "a", scene::libvirt(), at(1_001));
    inventory.publications(at(1_001));
    let last = Observation::fresh(scene::libvirt(), at(1_001));
    for (now, told) in [(1_002, host()), (1_003, vec![]), (1_004, vec![])] {
        let failed = last.failed(SourceState::Unreachable, "connection refused", at(now));
        tell(&mut inventory, "a", HostObserved::Libvirt(failed));
        assert_eq!(changes(&inventory.publications(at(now))), told, "{now}");
    }
    tell_libvirt(&mut inventory, "a", scene::libvirt(), at(1_005));
    assert_eq!(changes(&inventory.publications(at(1_005))), host());
}

#[test]
fn a_task_that_is_started_anew_and_fails_does_not_take_the_last_value_away() {
    let mut inventory = two_hosts();
    tell_libvirt(&mut inventory, "a", scene::libvirt(), at(1_001));
    let failed = Observation::default().failed(SourceState::Unreachable, "connection refused", at(1_002));
    tell(&mut inventory, "a", HostObserved::Libvirt(failed));
    let shown = object(&inventory.publications(at(1_002)), Resource::Hypervisor, "a");
    assert_eq!(shown["status"]["numInstances"], 2);
    assert_eq!(source_state(&shown, "libvirt"), "Unreachable");
}

#[test]
fn a_domain_on_two_hosts_is_found_on_both_unless_it_has_just_moved() {
    let mut inventory = two_hosts();
    tell_libvirt(&mut inventory, "a", scene::libvirt(), at(1_001));
    assert_eq!(findings(&inventory.publications(at(1_001)), "a"), [""; 0]);
    tell_libvirt(&mut inventory, "b", scene::libvirt(), at(1_002));
    let both = inventory.publications(at(1_002));
    assert_eq!(findings(&both, "a"), ["RunningOnTwoHosts"]);
    assert_eq!(findings(&both, "b"), ["RunningOnTwoHosts"]);

    let arriving = |ended| migrating(job(4, JobKind::Completed, 1_003, ended, 1));
    tell_libvirt(&mut inventory, "b", arriving(None), at(1_003));
    inventory.touch_all();
    let moving = inventory.publications(at(1_003));
    assert_eq!((findings(&moving, "a"), findings(&moving, "b")), (vec![], vec![]));
    tell_libvirt(&mut inventory, "b", arriving(Some(1_004)), at(1_004));
    inventory.touch_all();
    assert_eq!(findings(&inventory.publications(at(1_010)), "a"), [""; 0], "the other host may not know yet");
    inventory.touch_all();
    assert_eq!(findings(&inventory.publications(at(1_020)), "a"), ["RunningOnTwoHosts"]);
}

#[test]
fn what_a_silent_host_said_last_is_no_proof_that_a_domain_runs_twice() {
    let mut inventory = two_hosts();
    let last = Observation::fresh(scene::libvirt(), at(1_001));
    tell(&mut inventory, "a", HostObserved::Libvirt(last.failed(SourceState::Stale, "no answer", at(1_001))));
    tell_libvirt(&mut inventory, "b", scene::libvirt(), at(1_002));
    let shown = inventory.publications(at(1_002));
    assert_eq!((findings(&shown, "a"), findings(&shown, "b")), (vec![], vec![]));
}

#[test]
fn progress_of_a_migration_is_told_each_time_and_its_end_goes_by_itself() {
    let mut inventory = two_hosts();
    let name = RUNNING.to_string();
    for (now, processed) in [(1_001, 10), (1_002, 2_000), (1_003, 900_000)] {
        let picture = migrating(job(5, JobKind::Unbounded, 1_000, None, processed));
        tell_libvirt(&mut inventory, "a", picture, at(now));
        let told = changes(&inventory.publications(at(now)));
        assert!(told.contains(&(Resource::Migration, name.clone())), "{now}: {told:?}");
    }
    let uid = |inventory: &mut Inventory, picture: LibvirtPicture, host: &str, now: i64| {
        tell_libvirt(inventory, host, picture, at(now));
        object(&inventory.publications(at(now)), Resource::Migration, &name)["metadata"]["uid"].clone()
    };
    let arriving = migrating(job(4, JobKind::Unbounded, 1_002, None, 0));
    let known = uid(&mut inventory, arriving, "b", 1_004);
    let ended = |operation| migrating(job(operation, JobKind::Completed, 1_000, Some(1_010), 1 << 30));
    assert_eq!(uid(&mut inventory, ended(5), "a", 1_010), known);
    assert_eq!(uid(&mut inventory, ended(4), "b", 1_011), known);

    inventory.touch_expired(at(1_109));
    assert_eq!(inventory.publications(at(1_109)), []);
    inventory.touch_expired(at(1_110));
    let gone = inventory.publications(at(1_110));
    assert_eq!(seen(&gone), [(Resource::Migration, name.clone(), None)]);
    inventory.touch_all();
    tell_libvirt(&mut inventory, "a", ended(5), at(1_111));
    let after = changes(&inventory.publications(at(1_111)));
    assert!(after.iter().all(|(resource, _)| *resource != Resource::Migration), "{after:?}");
}

#[test]
fn a_node_that_is_not_there_is_disabled_once_all_nodes_are_known() {
    let mut inventory = inventory(true);
    inventory.take_intent("a", Some(scene::wish("Hypervisor", "a", json!({"skipTests": true}))));
    for (name, incarnation) in inventory.declared_only() {
        inventory.add_host(&name, incarnation);
    }
    let shown = object(&inventory.publications(at(1_000)), Resource::Hypervisor, "a");
    assert_eq!(source_state(&shown, "node"), "Connecting");
    inventory.nodes_complete();
    let shown = object(&inventory.publications(at(1_001)), Resource::Hypervisor, "a");
    assert_eq!(source_state(&shown, "node"), "Disabled");
    assert_eq!(
        (&shown["spec"]["skipTests"], &shown["metadata"]["ownerReferences"]),
        (&json!(true), &Value::Null)
    );
}

#[test]
fn a_host_is_wanted_by_its_node_its_configuration_or_somebodys_intent() {
    let rules =
        HostRules { known: [("listed".to_owned(), HostAddress::default())].into(), ..HostRules::default() };
    let mut inventory = Inventory::new(Rules {
        hosts: rules,
        namespaces: Namespaces::default(),
        migrations_kept: Duration::from_secs(1),
        follow_nodes: true,
    });
    inventory.add_host("n", incarnation("n"));
    assert!(inventory.is_configured("listed") && !inventory.has_node("n"));
    tell(&mut inventory, "n", HostObserved::Node(Observation::fresh(NodePicture::default(), at(1))));
    assert!(inventory.has_node("n"));
    inventory.take_intent("w", Some(scene::wish("Hypervisor", "w", json!({}))));
    assert_eq!(inventory.declared("w").unwrap().of, Uuid::from_u128(77).to_string());
    inventory.take_intent("w", None);
    assert_eq!(inventory.declared("w"), None);
}

#[test]
fn sources_that_are_not_read_are_disabled_and_later_ones_are_being_connected_to() {
    let mut inventory = two_hosts();
    let mut state = |reach: Reach| {
        inventory.expect_sources("a", &reach);
        let shown = inventory.publications(at(1_001));
        let switch = source_state(&object(&shown, Resource::OvsNode, "a"), "ovsdb");
        (source_state(&object(&shown, Resource::Hypervisor, "a"), "libvirt"), switch)
    };
    let libvirt = Reach { libvirt: Some("tcp://h:1".to_owned()), ..Reach::default() };
    assert_eq!(state(libvirt), ("Connecting".to_owned(), "Disabled".to_owned()));
    let switch = Reach { ovsdb: Some("tcp:h:1".to_owned()), ..Reach::default() };
    assert_eq!(state(switch), ("Disabled".to_owned(), "Connecting".to_owned()));
}

#[test]
fn an_eviction_follows_its_host_quietly_and_the_cloud_touches_all() {
    let mut inventory = two_hosts();
    let eviction = || vec![(Resource::Eviction, "e".to_owned())];
    inventory
        .take_eviction("e", Some(scene::wish("Eviction", "e", json!({"hypervisor": "a", "reason": "x"}))));
    assert_eq!(changes(&inventory.publications(at(1_000))), eviction());
    for (now, told) in [(1_001, true), (1_002, false)] {
        tell_libvirt(&mut inventory, "a", scene::libvirt(), at(now));
        let publications = inventory.publications(at(now));
        let changed = changes(&publications).contains(&eviction()[0]);
        assert_eq!(changed, told, "a heartbeat of the host wakes nobody who watches its eviction");
        object(&publications, Resource::Eviction, "e");
    }
    inventory.slow_publications("a", at(1_003));
    assert_eq!(changes(&inventory.publications(at(1_003))), []);
    let compute = Scene::healthy().compute;
    inventory.take(Report::Compute(compute.clone()));
    assert!(changes(&inventory.publications(at(1_004))).contains(&eviction()[0]));
    inventory.take(Report::Compute(compute));
    assert_eq!(inventory.publications(at(1_005)), [], "the same again touches nothing");
    inventory.take_eviction("e", None);
    assert_eq!(seen(&inventory.publications(at(1_006))), [(Resource::Eviction, "e".to_owned(), None)]);
}
