//! What operators do to the product and to the cluster around it, and what clients notice of it: nothing.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use c5c3_conformance::curl::ask;
use c5c3_conformance::fleet::HOSTS;
use c5c3_conformance::stage::{APISERVICES, Stage};
use c5c3_e2e::kubectl::{condition, names};
use c5c3_e2e::patience::{LATER, SOON, eventually};
use c5c3_e2e::program::{command, run};
use c5c3_e2e::watch::{Event, Watch};

use crate::controllers::restart_daemon;
use crate::turns::on_the_stage;

/// Between two requests of somebody who only reads.
const BEAT: Duration = Duration::from_millis(500);

/// Reads over and over while something is done; gives the answers that were no success, and how many were asked for.
fn reading_meanwhile(stage: &Stage, what: impl FnOnce() -> Result<()>) -> Result<(usize, Vec<String>)> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let (mut asked, mut refused) = (0, Vec::new());
            while !done.load(Ordering::Relaxed) {
                asked += 1;
                for path in ["/apis/hypervisor.c5c3.io/v1", "/apis/hypervisor.c5c3.io/v1/hypervisors"] {
                    match ask(stage, path, &[]) {
                        Ok(answer) if answer.code == 200 => {}
                        Ok(answer) => refused.push(format!("{path}: {} {:.200}", answer.code, answer.body)),
                        Err(error) => refused.push(format!("{path}: {error:#}")),
                    }
                }
                thread::sleep(BEAT);
            }
            (asked, refused)
        });
        let outcome = what();
        done.store(true, Ordering::Relaxed);
        let Ok(read) = reader.join() else { anyhow::bail!("the reader panicked") };
        outcome?;
        Ok(read)
    })
}

/// The APIServices that were told not to be available.
fn unavailable(watches: &[Watch<Event>]) -> Vec<String> {
    let mut found = Vec::new();
    for watch in watches {
        while let Ok(seen) = watch.wait(Duration::from_millis(100), "an event", |_| true) {
            let object = seen.item.object;
            if !condition(&object, "Available").is_ok_and(|(status, ..)| status == "True") {
                found.push(object["status"].to_string());
            }
        }
    }
    found
}

/// covers: C14 C31 A1
#[test]
fn a_rolling_restart_is_not_noticed() -> Result<()> {
    on_the_stage(|stage| {
        let watches = APISERVICES
            .map(|name| Watch::events(&stage.kubectl, &["apiservice", name]))
            .into_iter()
            .collect::<Result<Vec<_>>>()?;
        let (asked, refused) = reading_meanwhile(stage, || stage.roll())?;
        println!("{asked} times two reads during the restart of both replicas");
        ensure!(asked > 5 && refused.is_empty(), "{} of {asked} refused: {refused:#?}", refused.len());
        let told = unavailable(&watches);
        ensure!(told.is_empty(), "not available in between: {told:#?}");
        Ok(())
    })
}

/// covers: C16 A3
#[test]
fn a_new_serving_certificate_is_shown_without_a_restart_and_open_watches_stay() -> Result<()> {
    on_the_stage(|stage| {
        let watch = Watch::events(&stage.kubectl, &["hypervisors"])?;
        watch.wait(SOON, "the list", |event| event.object["metadata"]["name"] == "host-12")?;
        let before = serials(stage)?;
        let (_, refused) = reading_meanwhile(stage, || {
            issue(&stage.rig.pki, &stage.serving())?;
            eventually(SOON, "both replicas show the new certificate", || {
                let now = serials(stage)?;
                ensure!(now.iter().zip(&before).all(|(now, before)| now != before), "{before:?} {now:?}");
                Ok(())
            })
        })?;
        ensure!(refused.is_empty(), "{refused:?}");
        let domain = stage.fleet.start_domain("host-5")?;
        let told = watch.wait(SOON, "a change, on the watch from before", |event| {
            event.object["metadata"]["name"] == "host-5"
                && event.object.to_string().contains(&domain.to_string())
        });
        stage.fleet.stop_domain("host-5", domain)?;
        told.map(drop)
    })
}

/// Serial numbers of the certificates that the replicas show.
fn serials(stage: &Stage) -> Result<Vec<String>> {
    let ports: Vec<u16> = stage.replicas().iter().map(c5c3_e2e::server::Server::port).collect();
    let serial = |port: u16| {
        let script = format!(
            "openssl s_client -connect 127.0.0.1:{port} < /dev/null 2> /dev/null | openssl x509 -noout -serial"
        );
        run(&mut command("bash", &["-c", &script]), SOON)?.success()
    };
    ports.into_iter().map(serial).collect()
}

/// A new certificate for the same names by the same CA, put in place as a Secret volume does: whole files, renamed.
fn issue(pki: &Path, serving: &Path) -> Result<()> {
    let script = "set -e; cd \"$2\"
openssl req -new -newkey rsa:2048 -nodes -keyout next.key -subj /CN=c5c3-apiserver -out next.csr
printf 'subjectAltName=DNS:c5c3-apiserver.c5c3-system.svc,DNS:localhost,IP:127.0.0.1\\nextendedKeyUsage=serverAuth\\n' > next.ext
openssl x509 -req -in next.csr -CA \"$1/ca.crt\" -CAkey \"$1/ca.key\" -set_serial 0x$(openssl rand -hex 8) -days 2 -extfile next.ext -out next.crt
mv next.key tls.key; mv next.crt tls.crt";
    let (pki, serving) = (pki.display().to_string(), serving.display().to_string());
    run(&mut command("bash", &["-c", script, "issue", &pki, &serving]), SOON)?.success().map(drop)
}

/// covers: C34 A1
#[test]
fn a_restart_of_kube_apiserver_is_survived() -> Result<()> {
    on_the_stage(|stage| {
        let pids: Vec<u32> = stage.replicas().iter().map(c5c3_e2e::server::Server::pid).collect();
        restart_daemon(stage, "kube-apiserver")?;
        stage.until_whole()?;
        let list = stage.kubectl.json(&["get", "hypervisors"])?;
        assert_eq!(names(&list).len(), HOSTS);
        let watch = Watch::events(&stage.kubectl, &["hypervisors"])?;
        watch.wait(SOON, "the list", |event| event.object["metadata"]["name"] == "host-12")?;
        let domain = stage.fleet.start_domain("host-6")?;
        let told =
            watch.wait(SOON, "a change", |event| event.object.to_string().contains(&domain.to_string()));
        stage.fleet.stop_domain("host-6", domain)?;
        told?;
        let still: Vec<u32> = stage.replicas().iter().map(c5c3_e2e::server::Server::pid).collect();
        assert_eq!(still, pids, "a replica has ended with kube-apiserver");
        Ok(())
    })
}

/// covers: C15
#[test]
fn without_registration_nothing_of_us_is_left_in_the_way() -> Result<()> {
    on_the_stage(|stage| {
        stage.unregister()?;
        let checked = (|| {
            eventually(LATER, "discovery is whole without us", || {
                let kinds = stage.kubectl.print(&["api-resources", "-o", "name"])?;
                // The kind that keeps what people want stays, as their data does.
                let ours = ["hypervisor.c5c3.io", "ovs.c5c3.io"];
                ensure!(!ours.iter().any(|group| kinds.contains(group)), "{kinds}");
                Ok(())
            })?;
            let name = format!("conformance-after-{}", std::process::id());
            stage.kubectl.print(&["create", "namespace", &name])?;
            stage.kubectl.print(&["delete", "namespace", &name, "--timeout=30s"])
        })();
        stage.register()?;
        stage.until_whole()?;
        checked.map(drop).context("after the registration was taken back")
    })
}
