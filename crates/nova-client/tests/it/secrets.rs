//! No secret leaves: not in a log of any crate at any level, not in an error, not in a Debug, not on the disk.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use fleet_simulator::model::Fault;
use nova_client::Cloud;
use tracing_subscriber::fmt::MakeWriter;

use crate::peer::{Simulated, quick};

/// How tokens of the simulator begin.
const TOKEN: &str = "gAAAAA";

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Captured {
    type Writer = Self;

    fn make_writer(&'a self) -> Self::Writer {
        self.clone()
    }
}

/// Files of the SDK's token cache that were written since a moment.
fn token_files_since(moment: SystemTime) -> Vec<std::path::PathBuf> {
    let Some(home) = std::env::var_os("HOME") else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(std::path::Path::new(&home).join(".osc")) else { return Vec::new() };
    let written = |path: &std::path::PathBuf| path.metadata().unwrap().modified().unwrap() > moment;
    entries.map(|entry| entry.unwrap().path()).filter(written).collect()
}

#[tokio::test(flavor = "current_thread")]
async fn no_secret_is_logged_shown_or_stored() {
    let began = SystemTime::now();
    let captured = Captured::default();
    // With one subscriber alive, tracing takes the word of whichever thread meets an event first, and the other tests'
    // threads have none: the event would be off for good. With two it asks both.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(captured.clone())
        .with_ansi(false)
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let cloud = Simulated::new(2, 1).await;
    let mut shown = String::new();
    for name in ["rig", "rig-appcred"] {
        let options = cloud.peer.options(name).with_limits(quick());
        let client = Cloud::connect(options.clone()).await.unwrap();
        client.hypervisors().await.unwrap();
        client.servers_of_host("host-1").await.unwrap();
        cloud.api(|api| api.token_epoch += 1);
        client.resource_providers().await.unwrap();
        cloud.api(|api| {
            api.token_epoch += 1;
            api.identity_fault = Fault::Unavailable;
        });
        let error = client.aggregates().await.unwrap_err();
        cloud.api(|api| api.identity_fault = Fault::None);
        shown.push_str(&format!("{options:?} {options:#?} {client:?} {error:?} {error} {}", error.report()));
    }
    drop(guard);
    let logged = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
    // The capture works: our own words and the SDK's are in it.
    assert!(logged.contains("logged in") && logged.contains("openstack_sdk"), "nothing was captured");
    let who = cloud.fleet.cloud.read(|state| state.credentials.clone());
    for text in [&logged, &shown] {
        for secret in [who.password.as_str(), who.application_credential_secret.as_str(), TOKEN] {
            let place = text.find(secret);
            let around = place.map(|place| text.get(place.saturating_sub(300)..place + 10));
            assert!(place.is_none(), "{secret} is in {around:?}");
        }
    }
    assert_eq!(token_files_since(began), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_mistake_in_clouds_yaml_is_told_by_place_and_not_by_value() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clouds.yaml");
    let told = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let error = nova_client::CloudOptions::from_clouds_yaml(&path, "production").unwrap_err();
        let all = format!("{error:?} {}", error.report());
        assert!(!all.contains("4711"), "{all}");
        let report = error.report();
        report.split_once("clouds.yaml: ").unwrap().1.to_owned()
    };
    assert_eq!(told("clouds:\n  production: [4711"), "not valid YAML at line 2, column 15");
    assert_eq!(told("clouds:\n  staging: {}"), "`clouds.production` is missing (the file has: staging)");
    assert_eq!(told("clouds: 4711"), "`clouds` must be a mapping");
    assert_eq!(told("clouds:\n  production:\n    auth: {}"), "`clouds.production.auth.auth_url` is missing");
    let with = |auth: &str| format!("clouds:\n  production:\n    auth:\n      auth_url: http://k\n{auth}");
    let user = "      username: u\n      user_domain_id: default\n      project_id: p\n";
    assert_eq!(
        told(&with(&format!("{user}      password: 4711"))),
        "`clouds.production.auth.password` must be a text (put it in quotes)"
    );
    assert_eq!(told(&with(user)), "`clouds.production.auth.password` is missing");
    assert_eq!(
        told(&with("      username: u\n      password: '4711'")),
        "`clouds.production.auth.user_domain_name` is missing (or give `user_domain_id`)"
    );
    assert_eq!(
        told(&with("      application_credential_name: n\n      application_credential_secret: '4711'")),
        "`clouds.production.auth.application_credential_name` asks for something that is not supported; \
         give `application_credential_id`"
    );
    assert_eq!(
        told(&format!("{}    auth_type: v3totp\n", with(user))),
        "`clouds.production.auth_type` asks for something that is not supported; \
         use `password` or `v3applicationcredential`"
    );
    assert_eq!(
        told(&format!("{}      password: '4711'\n    interface: outside\n", with(user))),
        "`clouds.production.interface` must be public, internal or admin"
    );
    let missing =
        nova_client::CloudOptions::from_clouds_yaml(folder.path().join("nosuch.yaml"), "production");
    assert!(missing.unwrap_err().report().contains("No such file"));
}
