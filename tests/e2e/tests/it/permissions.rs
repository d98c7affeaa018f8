//! Who may read, as the hosting cluster's RBAC says, through kube-apiserver and without it.

use std::time::Duration;

use anyhow::Result;
use c5c3_e2e::program::{command, run};

use crate::product::{Product, on_the_rig};

/// A user of a group that may view, through kube-apiserver.
#[test]
fn a_viewer_reads_and_a_stranger_does_not() -> Result<()> {
    on_the_rig(|product| {
        let stranger = product.kubectl.acting_as("stranger");
        let complaint = stranger.run(&["get", "hv"])?.failure()?;
        assert!(complaint.contains("Error from server (Forbidden)"), "{complaint}");
        assert!(complaint.contains("User \"stranger\" cannot list resource \"hypervisors\""), "{complaint}");

        let viewer = stranger.with("--as-group=c5c3-viewers");
        for kind in ["hypervisors", "evictions", "migrations", "ovsnodes"] {
            viewer.print(&["get", kind, "-A"])?;
        }
        assert_eq!(
            viewer.print(&["auth", "can-i", "watch", "hypervisors.hypervisor.c5c3.io"])?.trim(),
            "yes"
        );
        let complaint = viewer.run(&["delete", "hv", "node-1"])?.failure()?;
        assert!(complaint.contains("cannot delete resource \"hypervisors\""), "{complaint}");
        Ok(())
    })
}

/// kube-apiserver asks RBAC before it passes a request on; without it, the server asks itself.
#[test]
fn the_server_asks_rbac_itself() -> Result<()> {
    on_the_rig(|product| {
        let nobody = product.server().direct(&product.rig, "nobody");
        let complaint =
            nobody.run(&["get", "--raw", "/apis/hypervisor.c5c3.io/v1/hypervisors"])?.failure()?;
        assert!(complaint.contains("Forbidden"), "{complaint}");
        let viewer = product.server().direct(&product.rig, "viewer");
        assert_eq!(viewer.print(&["get", "hv", "-o", "name"])?.lines().count(), product.rig.hosts.len());
        let complaint = viewer.run(&["delete", "hv", "node-1"])?.failure()?;
        assert!(complaint.contains("Forbidden"), "{complaint}");
        Ok(())
    })
}

/// The HTTP status of a list by somebody with these curl options.
fn status(product: &Product, options: &[&str]) -> Result<String> {
    let url = format!("https://127.0.0.1:{}/apis/hypervisor.c5c3.io/v1/hypervisors", product.server().port());
    let authority = product.rig.pki.join("ca.crt").display().to_string();
    let common = ["-sS", "-o", "/dev/null", "-w", "%{http_code}", "--cacert", &authority, &url];
    run(&mut command("curl", &[&common, options].concat()), Duration::from_secs(30))?.success()
}

#[test]
fn names_in_headers_count_only_from_the_front_proxy() -> Result<()> {
    on_the_rig(|product| {
        let pki = |file: &str| product.rig.pki.join(file).display().to_string();
        let group = ["-H", "X-Remote-User: somebody", "-H", "X-Remote-Group: c5c3-viewers"];
        assert_eq!(status(product, &[])?, "401", "without any identity");
        assert_eq!(status(product, &group)?, "401", "headers alone are anybody's word");
        let (certificate, key) = (pki("nobody.crt"), pki("nobody.key"));
        let nobody = ["--cert", certificate.as_str(), "--key", key.as_str()];
        assert_eq!(status(product, &nobody)?, "403", "a user without rights");
        assert_eq!(status(product, &[&nobody[..], &group].concat())?, "403", "headers of a user");
        let (certificate, key) = (pki("front-proxy-client.crt"), pki("front-proxy-client.key"));
        let proxy = ["--cert", certificate.as_str(), "--key", key.as_str()];
        assert_eq!(status(product, &[&proxy[..], &group].concat())?, "200", "the front proxy for a viewer");
        let stranger = ["-H", "X-Remote-User: somebody"];
        assert_eq!(
            status(product, &[&proxy[..], &stranger].concat())?,
            "403",
            "the front proxy for a stranger"
        );
        Ok(())
    })
}
