//! Objects on the wire: `apiVersion` and `kind`, exact names, and nothing where nothing is known.

use c5c3_api::hypervisor::HypervisorStatus;
use c5c3_api::{
    Condition, ConditionStatus, Eviction, FindingType, Hypervisor, Maintenance, Migration, OVSNode,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition as MetaCondition, Time};
use k8s_openapi::{ListableResource, Resource};
use serde_json::{Value, json};

fn time(text: &str) -> Time {
    Time(text.parse().unwrap())
}

#[test]
fn the_traits_of_clients_agree_with_the_kind() {
    fn check<Object: ListableResource>() {
        let kind = c5c3_api::kind(Object::KIND).unwrap();
        assert_eq!(Object::API_VERSION, kind.api_version());
        assert_eq!(Object::GROUP, kind.group);
        assert_eq!(Object::VERSION, kind.version);
        assert_eq!(Object::URL_PATH_SEGMENT, kind.plural);
        assert_eq!(Object::LIST_KIND, kind.list_kind);
    }
    check::<Hypervisor>();
    check::<Eviction>();
    check::<Migration>();
    check::<OVSNode>();
}

#[test]
fn an_object_says_what_it_is() {
    let written = serde_json::to_value(Hypervisor::new("node-1", Default::default())).unwrap();
    assert_eq!(written["apiVersion"], Hypervisor::API_VERSION);
    assert_eq!(written["kind"], "Hypervisor");
    assert_eq!(written["metadata"], json!({"name": "node-1"}));
    assert!(written.get("status").is_none());
}

#[test]
fn an_object_of_another_kind_is_refused() {
    let refused = |document: Value| serde_json::from_value::<Hypervisor>(document).unwrap_err().to_string();
    assert_eq!(refused(json!({"kind": "Eviction"})), r#"kind is "Eviction", not "Hypervisor""#);
    assert_eq!(
        refused(json!({"apiVersion": "kvm.cloud.sap/v1", "kind": "Hypervisor"})),
        r#"apiVersion is "kvm.cloud.sap/v1", not "hypervisor.c5c3.io/v1""#
    );
    serde_json::from_value::<Hypervisor>(json!({"metadata": {"name": "node-1"}})).unwrap();
}

#[test]
fn a_spec_that_must_be_there_must_be_there() {
    serde_json::from_value::<Eviction>(json!({"metadata": {"name": "a"}})).unwrap_err();
    serde_json::from_value::<Migration>(json!({"metadata": {"name": "a"}})).unwrap_err();
    serde_json::from_value::<OVSNode>(json!({"metadata": {"name": "a"}})).unwrap_err();
}

#[test]
fn what_no_source_has_told_is_absent_and_versions_are_unknown() {
    let written = serde_json::to_value(HypervisorStatus::default()).unwrap();
    assert_eq!(written, json!({"libVirtVersion": "unknown", "hypervisorVersion": "unknown"}));
    let read: HypervisorStatus = serde_json::from_value(written).unwrap();
    assert_eq!(read, HypervisorStatus::default());
    let read: HypervisorStatus = serde_json::from_value(json!({})).unwrap();
    assert_eq!(read, HypervisorStatus::default());
}

#[test]
fn none_is_not_the_same_as_nobody_said() {
    let status =
        HypervisorStatus { num_instances: Some(0), instances: Some(Vec::new()), ..Default::default() };
    let written = serde_json::to_value(status).unwrap();
    assert_eq!(written["numInstances"], 0);
    assert_eq!(written["instances"], json!([]));
}

#[test]
fn maintenance_keeps_the_difference_between_absent_and_empty() {
    for (document, maintenance) in [(json!({}), None), (json!({"maintenance": ""}), Some(Maintenance::None))]
    {
        let object: Hypervisor = serde_json::from_value(json!({"spec": document})).unwrap();
        assert_eq!(object.spec.maintenance, maintenance);
        assert_eq!(object.spec.maintenance(), Maintenance::None);
        assert_eq!(
            serde_json::to_value(&object.spec).unwrap().get("maintenance"),
            document.get("maintenance")
        );
    }
    serde_json::from_value::<Hypervisor>(json!({"spec": {"maintenance": "later"}})).unwrap_err();
}

#[test]
fn a_condition_is_a_meta_condition() {
    let condition =
        Condition::new("Ready", ConditionStatus::Unknown, "Stale", "no answer", time("2026-01-01T00:00:00Z"))
            .observed_generation(Some(3));
    let ours = serde_json::to_value(&condition).unwrap();
    assert_eq!(serde_json::to_value(MetaCondition::from(condition)).unwrap(), ours);
}

#[test]
fn a_condition_that_changes_its_status_changes_its_time() {
    let mut conditions = Vec::new();
    for (status, at) in
        [(ConditionStatus::True, "01"), (ConditionStatus::True, "02"), (ConditionStatus::False, "03")]
    {
        let at = time(&format!("2026-01-{at}T00:00:00Z"));
        Condition::set(&mut conditions, Condition::new("Ready", status, "Ready", "", at));
    }
    assert!(Condition::has(&conditions, "Ready", ConditionStatus::False));
    let ready = Condition::find(&conditions, "Ready").unwrap();
    assert_eq!(ready.last_transition_time, time("2026-01-03T00:00:00Z"));
}

#[test]
fn finding_types_are_listed_completely_and_have_a_severity() {
    let schema = c5c3_api::schema::schema(&c5c3_api::hypervisor::KIND);
    let values =
        &schema["properties"]["status"]["properties"]["findings"]["items"]["properties"]["type"]["enum"];
    assert_eq!(&serde_json::to_value(FindingType::ALL).unwrap(), values);
    let finding =
        FindingType::RunningOnTwoHosts.about("0b0b", "on node-1 and node-2", time("2026-01-01T00:00:00Z"));
    assert_eq!(serde_json::to_value(finding).unwrap()["severity"], "Critical");
}
