//! c5c3-apiserver: hypervisors, evictions, migrations and OVS nodes as live Kubernetes resources.

use std::process::ExitCode;

use c5c3_apiserver::command;

#[tokio::main]
async fn main() -> ExitCode {
    // kube, the server and the clouds all use this one; rustls refuses to guess between two.
    if rustls::crypto::aws_lc_rs::default_provider().install_default().is_err() {
        eprintln!("c5c3-apiserver: another TLS provider is installed already");
        return ExitCode::FAILURE;
    }
    command::run().await
}
