//! A server that somebody creates in Nova becomes an instance of its host in a watch that is already open.

use std::process;

use anyhow::Result;
use c5c3_e2e::cloud::Cloud;
use c5c3_e2e::patience::{LATER, SOON};
use c5c3_e2e::watch::Watch;

use crate::domains::instance;
use crate::product::on_the_rig;

#[test]
fn a_server_created_in_nova_shows_up_in_the_open_watch_and_goes_when_it_is_deleted() -> Result<()> {
    on_the_rig(|product| {
        let host = "node-2";
        let watch = Watch::events(&product.kubectl, &["hv"])?;
        watch.wait(SOON, "the host as it is", |event| event.object["metadata"]["name"] == host)?;

        let name = format!("e2e-{}", process::id());
        let mut server = Cloud::of(&product.rig).create_server(&name, "rig-a", host)?;
        let seen = watch.wait(LATER, "the new server, running", |event| {
            instance(event, host, "id", &server.id).is_some_and(|found| found["active"] == true)
        })?;
        let found = instance(&seen.item, host, "id", &server.id);
        println!("server {} is {}", server.id, found.map(ToString::to_string).unwrap_or_default());

        server.delete()?;
        watch.wait(LATER, "the host without the server", |event| {
            event.object["metadata"]["name"] == host && instance(event, host, "id", &server.id).is_none()
        })?;
        Ok(())
    })
}
