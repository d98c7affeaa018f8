//! Every rule of a Hypervisor's spec, each as a row: what is asked, and what is answered.

use proptest::prelude::*;

use super::super::{AggregateGroup, TraitGroup};
use super::*;

const UUID: &str = "7d3a2f0e-6b50-4c2f-9d6e-6b1b0f6f2a11";

fn spec(change: impl FnOnce(&mut HypervisorSpec)) -> HypervisorSpec {
    let mut spec = HypervisorSpec::default();
    change(&mut spec);
    spec
}

fn in_maintenance(maintenance: Maintenance) -> HypervisorSpec {
    spec(|spec| spec.maintenance = Some(maintenance))
}

fn in_group(trait_: Option<&str>, aggregate: Option<(&str, &str)>) -> HypervisorSpec {
    let trait_ = trait_.map(|name| TraitGroup { name: name.into() });
    let aggregate = aggregate.map(|(name, uuid)| AggregateGroup {
        name: name.into(),
        uuid: uuid.into(),
        ..AggregateGroup::default()
    });
    spec(|spec| spec.groups = vec![Group { trait_, aggregate }])
}

fn with_ratio(ratio: f64) -> HypervisorSpec {
    spec(|spec| spec.overcommit = [("cpu".to_owned(), ratio)].into())
}

fn said(errors: &[FieldError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn each_rule_says_where_and_what() {
    let manual = r#"spec: Invalid value: maintenanceReason must be non-empty when maintenance is 'manual'"#;
    let one = r#"spec.groups[0]: Invalid value: exactly one group type must be set"#;
    let ratio = r#"spec.overcommit: Invalid value: overcommit ratios must be >= 1.0"#;
    let rows: [(&str, HypervisorSpec, &[&str]); 17] = [
        ("defaults", HypervisorSpec::default(), &[]),
        ("no maintenance, as text", in_maintenance(Maintenance::None), &[]),
        ("auto", in_maintenance(Maintenance::Auto), &[]),
        ("ha", in_maintenance(Maintenance::Ha), &[]),
        ("termination", in_maintenance(Maintenance::Termination), &[]),
        ("manual without a reason", in_maintenance(Maintenance::Manual), &[manual]),
        (
            "manual with an empty reason",
            spec(|spec| {
                spec.maintenance = Some(Maintenance::Manual);
                spec.maintenance_reason = Some(String::new());
            }),
            &[manual],
        ),
        (
            "manual with a reason",
            spec(|spec| {
                spec.maintenance = Some(Maintenance::Manual);
                spec.maintenance_reason = Some("fan".into());
            }),
            &[],
        ),
        ("a trait", in_group(Some("CUSTOM_A"), None), &[]),
        ("an aggregate", in_group(None, Some(("a", UUID))), &[]),
        ("neither", in_group(None, None), &[one]),
        ("both", in_group(Some("CUSTOM_A"), Some(("a", UUID))), &[one]),
        (
            "a trait without a name",
            in_group(Some(""), None),
            &[
                "spec.groups[0].trait.name: Invalid value: \"\": spec.groups[0].trait.name in body should be at least 1 \
                 chars long",
            ],
        ),
        (
            "an aggregate that has neither name nor UUID",
            in_group(None, Some(("", "7d3a2f0e"))),
            &[
                "spec.groups[0].aggregate.name: Invalid value: \"\": spec.groups[0].aggregate.name in body should be at \
                 least 1 chars long",
                "spec.groups[0].aggregate.uuid: Invalid value: \"7d3a2f0e\": spec.groups[0].aggregate.uuid in body should \
                 match \
                 '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'",
            ],
        ),
        ("a ratio of one", with_ratio(1.0), &[]),
        ("a ratio below one", with_ratio(0.99), &[ratio]),
        ("a ratio that is no number", with_ratio(f64::NAN), &[ratio]),
    ];
    for (what, spec, answer) in rows {
        assert_eq!(said(&validate(&spec)), answer, "{what}");
    }
}

#[test]
fn after_termination_there_is_only_ha() {
    let frozen = r#"spec: Invalid value: spec is immutable when maintenance is 'termination'; can only change maintenance to 'ha'"#;
    let reboot = |maintenance| {
        let mut changed = in_maintenance(maintenance);
        changed.reboot = true;
        changed
    };
    let old = in_maintenance(Maintenance::Termination);
    let rows: [(&str, HypervisorSpec, &[&str]); 6] = [
        ("no change", old.clone(), &[]),
        ("ha", in_maintenance(Maintenance::Ha), &[]),
        ("ha and another change", reboot(Maintenance::Ha), &[]),
        ("another change", reboot(Maintenance::Termination), &[frozen]),
        ("back in service", HypervisorSpec::default(), &[frozen]),
        ("auto", in_maintenance(Maintenance::Auto), &[frozen]),
    ];
    for (what, new, answer) in rows {
        assert_eq!(said(&validate_update(&old, &new)), answer, "{what}");
    }
    assert!(validate_update(&HypervisorSpec::default(), &old).is_empty(), "termination can always be set");
}

#[test]
fn a_uuid_has_five_parts_of_hexadecimal_digits() {
    assert!(is_uuid(UUID));
    assert!(is_uuid(&UUID.to_uppercase()));
    for wrong in ["", "-", "----", "7d3a2f0e-6b50-4c2f-9d6e", &format!("{UUID}-"), &UUID.replace('a', "g")] {
        assert!(!is_uuid(wrong), "{wrong:?}");
    }
}

fn any_maintenance() -> impl Strategy<Value = Option<Maintenance>> {
    prop_oneof![
        Just(None),
        Just(Some(Maintenance::None)),
        Just(Some(Maintenance::Manual)),
        Just(Some(Maintenance::Auto)),
        Just(Some(Maintenance::Ha)),
        Just(Some(Maintenance::Termination)),
    ]
}

prop_compose! {
    fn any_group()(trait_ in proptest::option::of(".*"), aggregate in proptest::option::of((".*", ".*"))) -> Group {
        Group {
            trait_: trait_.map(|name| TraitGroup { name }),
            aggregate: aggregate.map(|(name, uuid)| AggregateGroup { name, uuid, ..AggregateGroup::default() }),
        }
    }
}

prop_compose! {
    fn any_spec()(
        maintenance in any_maintenance(),
        maintenance_reason in proptest::option::of(".*"),
        groups in proptest::collection::vec(any_group(), 0..4),
        overcommit in proptest::collection::btree_map(".*", any::<f64>(), 0..4),
        reboot in any::<bool>(),
    ) -> HypervisorSpec {
        HypervisorSpec { maintenance, maintenance_reason, groups, overcommit, reboot, ..HypervisorSpec::default() }
    }
}

proptest! {
    #[test]
    fn any_spec_gets_an_answer_and_no_change_is_never_worse(spec in any_spec()) {
        let errors = validate(&spec);
        prop_assert!(errors.iter().all(|error| error.path.starts_with("spec")));
        prop_assume!(!spec.overcommit.values().any(|ratio| ratio.is_nan()));
        prop_assert_eq!(validate_update(&spec, &spec), errors);
    }

    #[test]
    fn what_an_update_says_contains_what_the_new_spec_says(old in any_spec(), new in any_spec()) {
        let update = validate_update(&old, &new);
        prop_assert!(validate(&new).iter().all(|error| update.contains(error)));
    }

    #[test]
    fn a_spec_survives_being_written_and_read(mut spec in any_spec(), ratio in 0..100_000_u32) {
        // Eighths are exact in text.
        spec.overcommit.values_mut().for_each(|each| *each = f64::from(ratio) / 8.0);
        let text = serde_json::to_string(&spec).unwrap();
        prop_assert_eq!(serde_json::from_str::<HypervisorSpec>(&text).unwrap(), spec);
    }
}
