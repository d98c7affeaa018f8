//! Findings: each is found, says where to look, and is not found where all is well.

use std::collections::BTreeMap;
use std::sync::Arc;

use c5c3_api::{Finding, FindingType, Severity, SourceState};
use uuid::Uuid;

use super::scene::{RUNNING, STOPPED, Scene, at};
use crate::sources::observation::Observation;
use crate::sources::picture::ServersPicture;

const OTHER: Uuid = Uuid::from_u128(9);

fn findings(scene: &Scene) -> Vec<Finding> {
    scene.hypervisor().status.unwrap().findings
}

/// The one finding, which has to say what it is about and where to look.
fn only(scene: &Scene, type_: FindingType, subject: &str) -> Finding {
    let mut list = findings(scene);
    assert_eq!(list.len(), 1, "{list:?}");
    let finding = list.remove(0);
    assert_eq!((finding.type_, finding.subject.as_str()), (type_, subject));
    let advice = ["Look at", "stop one", "Neutron binds"];
    assert!(advice.iter().any(|words| finding.message.contains(words)), "{}", finding.message);
    assert!(!finding.sources.is_empty());
    finding
}

fn with_state(state: i32, reason: i32) -> Scene {
    Scene::healthy().with_libvirt(|libvirt| {
        let domain = Arc::make_mut(&mut libvirt.domains).get_mut(&RUNNING).unwrap();
        (domain.state, domain.reason) = (state, reason);
    })
}

fn compared(picture: ServersPicture) -> Scene {
    let mut scene = Scene::healthy();
    scene.servers = Observation::fresh(picture, at(999));
    scene
}

#[test]
fn nothing_is_found_where_all_is_well() {
    assert_eq!(findings(&Scene::healthy()), []);
    assert_eq!(findings(&compared(ServersPicture::default())), []);
}

#[test]
fn a_domain_without_a_server() {
    let scene = compared(ServersPicture { without_server: [RUNNING].into(), ..ServersPicture::default() });
    only(&scene, FindingType::DomainWithoutServer, &RUNNING.to_string());
}

#[test]
fn a_server_without_a_domain() {
    let without_domain = BTreeMap::from([(OTHER, "ACTIVE".to_owned())]);
    let scene = compared(ServersPicture { without_domain, ..ServersPicture::default() });
    let finding = only(&scene, FindingType::ServerWithoutDomain, &OTHER.to_string());
    assert!(finding.message.contains("ACTIVE"));
}

#[test]
fn a_domain_on_another_host_than_its_server() {
    let elsewhere = BTreeMap::from([(RUNNING, "host-7".to_owned())]);
    let finding = only(
        &compared(ServersPicture { elsewhere, ..ServersPicture::default() }),
        FindingType::WrongHost,
        &RUNNING.to_string(),
    );
    assert!(finding.message.contains("host-7"));
}

#[test]
fn a_comparison_is_worth_only_what_still_is_so() {
    let picture = ServersPicture {
        without_domain: BTreeMap::from([(RUNNING, "ACTIVE".to_owned())]),
        without_server: [OTHER].into(),
        elsewhere: BTreeMap::from([(OTHER, "host-7".to_owned())]),
    };
    assert_eq!(findings(&compared(picture)), [], "the domain has come, the others have gone since");
    let mut silent =
        compared(ServersPicture { without_server: [RUNNING].into(), ..ServersPicture::default() });
    silent.libvirt = silent.libvirt.failed(SourceState::Stale, "no answer", at(1_000));
    assert!(findings(&silent).iter().all(|finding| finding.type_ != FindingType::DomainWithoutServer));
}

#[test]
fn a_domain_on_two_hosts() {
    let mut scene = Scene::healthy();
    scene.active_elsewhere = BTreeMap::from([(RUNNING, vec!["host-2".to_owned()])]);
    let finding = only(&scene, FindingType::RunningOnTwoHosts, &RUNNING.to_string());
    assert_eq!(finding.severity, Severity::Critical);
}

#[test]
fn a_service_that_is_up_while_libvirt_is_away() {
    let mut scene = Scene::healthy();
    scene.libvirt = scene.libvirt.failed(SourceState::Unreachable, "connection refused", at(1_000));
    let finding = only(&scene, FindingType::ServiceUpLibvirtAway, "host-1");
    assert!(finding.message.contains("connection refused"));
}

#[test]
fn a_libvirtd_that_calls_the_host_by_another_name() {
    let scene = Scene::healthy().with_libvirt(|libvirt| libvirt.hostname = Some("host-9.cloud".to_owned()));
    only(&scene, FindingType::NameMismatch, "host-9.cloud");
    let qualified =
        Scene::healthy().with_libvirt(|libvirt| libvirt.hostname = Some("host-1.cloud".to_owned()));
    assert_eq!(findings(&qualified), [], "a domain behind the name is no other name");
}

#[test]
fn a_domain_that_stands_still_because_a_disk_failed() {
    let finding = only(&with_state(3, 5), FindingType::PausedByIoError, &RUNNING.to_string());
    assert_eq!(finding.severity, Severity::Critical);
    assert_eq!(findings(&with_state(3, 1)), [], "somebody paused it");
}

#[test]
fn a_post_copy_migration_that_broke() {
    for (state, reason) in [(3, 13), (1, 11)] {
        only(&with_state(state, reason), FindingType::PostcopyFailed, &RUNNING.to_string());
    }
}

#[test]
fn a_finding_keeps_its_beginning() {
    let scene = with_state(3, 5);
    let before = scene.hypervisor().status.unwrap();
    let mut later = with_state(3, 5);
    later.now = at(2_000);
    let after = crate::merge::hypervisor(&later.view(), &later.cloud(), Some(&before)).status.unwrap();
    assert_eq!(after.findings[0].since, before.findings[0].since);
    assert!(!after.findings.iter().any(|finding| finding.subject == STOPPED.to_string()));
}
