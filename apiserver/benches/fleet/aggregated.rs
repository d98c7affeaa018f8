//! The same through the kube-apiserver of a rig, where there is one and nobody else has registered a server with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use c5c3_apiserver::configuration::{Kubernetes, ServingCertificate};
use c5c3_apiserver::simulation::{Certificates, standalone};
use kube::config::Kubeconfig;

use crate::measure::{self, Measured, Plan};
use crate::server::{self, Child};
use crate::simulator;

/// The registration, taken back when dropped.
struct Registration {
    script: PathBuf,
    /// With which the server asks kube-apiserver.
    kubeconfig: PathBuf,
}

/// Measures, or says why not.
pub(crate) async fn through_kube_apiserver(plan: &Plan) -> Option<Measured> {
    let (Some(kubeconfig), Some(pki)) = (path("C5C3_RIG_KUBECONFIG"), path("C5C3_RIG_PKI")) else {
        eprintln!(
            "not through kube-apiserver: C5C3_RIG_KUBECONFIG and C5C3_RIG_PKI are not set, tests/rig/up sets them"
        );
        return None;
    };
    let client = server::client(Kubeconfig::read_from(&kubeconfig).unwrap()).await;
    let service = http::Request::get("/apis/apiregistration.k8s.io/v1/apiservices/v1.hypervisor.c5c3.io");
    if client.request_text(service.body(Vec::new()).unwrap()).await.is_ok() {
        eprintln!("not through kube-apiserver: another server is registered there");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut fleet = plan.simulate(folder.path());
    let simulator::Written { hosts, openstack } = fleet.written.clone();
    let certificates = Certificates::make(folder.path()).unwrap();
    let port = server::free_port().await;
    let registration = Registration::of(port);
    let mut configuration = standalone(folder.path(), &certificates, hosts, openstack, port);
    configuration.standalone = None;
    configuration.kubernetes =
        Some(Kubernetes { kubeconfig: Some(registration.kubeconfig.clone()), node_label: String::new() });
    configuration.serving = ServingCertificate { certificate: pki.join("agg.crt"), key: pki.join("agg.key") };
    let mut child = Child::start(folder.path(), &configuration);
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    child.must_run();
    Some(measure::measure("through kube-apiserver", plan, &mut fleet, &child, client).await)
}

fn path(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

impl Registration {
    fn of(port: u16) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/rig/register-apiserver");
        let output = Command::new(&script).arg(port.to_string()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let kubeconfig = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
        Self { script, kubeconfig }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        match Command::new(&self.script).arg("--remove").status() {
            Ok(status) if status.success() => {}
            other => eprintln!("the registration could not be taken back: {other:?}"),
        }
    }
}
