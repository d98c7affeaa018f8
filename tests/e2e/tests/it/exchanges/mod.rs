//! What a client sees of writing is what it sees of a custom resource: each request of a table goes to this server and to a real kube-apiserver that has
//! the same kind as a CRD, and answers and stored objects must be the same, but for what the table marks, with a reason.

mod observed;
mod side;
mod table;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use c5c3_e2e::kubectl::Kubectl;
use c5c3_e2e::patience::{SOON, eventually};
use c5c3_e2e::rig::Rig;
use c5c3_e2e::server::Server;
use serde_json::{Value, json};

use observed::{aspects, differences};
use side::{Side, by_kubeconfig};
use table::Table;

const EVICTION: &str = "exchanges/eviction.yaml";
const HYPERVISOR: &str = "exchanges/hypervisor.yaml";

/// The group of the custom resources.
const THEIR_GROUP: &str = "exchanges.example.com";

/// Another group of custom resources, for the comparison of a server with itself.
const THEIR_OTHER_GROUP: &str = "same-exchanges.example.com";

fn table(file: &str) -> Result<Table> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    Table::read(&std::fs::read_to_string(&file)?).with_context(|| file.display().to_string())
}

/// With one host that nothing is known of, as there must be one, and without a cloud: what is read is what people want.
fn configuration(rig: &Rig, port: u16) -> String {
    format!(
        "listen: 127.0.0.1:{port}
serving: {{certificate: {pki}/agg.crt, key: {pki}/agg.key}}
standalone: {{clientCa: {pki}/ca.crt, adminGroup: system:masters}}
hosts: {{known: {{listed: {{}}}}}}
shutdown: {{delay: 100ms, grace: 5s}}
",
        pki = rig.pki.display()
    )
}

/// What the plural is called there: with the real one, kubectl would have to guess whose objects other tests on the rig mean.
fn their_plural(kind: &c5c3_api::Kind) -> String {
    format!("their-{}", kind.plural)
}

/// A kind as a CRD in another group, until it is dropped.
struct Installed {
    kubectl: Kubectl,
    name: String,
}

impl Installed {
    /// Installs it, and waits until it is served.
    fn new(rig: &Rig, group: &str, kind: &c5c3_api::Kind) -> Result<Self> {
        let plural = their_plural(kind);
        let mut definition = c5c3_api::schema::custom_resource_definition(kind);
        definition["metadata"]["name"] = json!(format!("{plural}.{group}"));
        definition["spec"]["group"] = json!(group);
        definition["spec"]["names"] = json!({"kind": kind.kind, "listKind": kind.list_kind, "plural": plural, "singular": format!("their-{}", kind.singular)});
        let folder = tempfile::TempDir::new()?;
        let file = folder.path().join("definition.json").display().to_string();
        std::fs::write(&file, definition.to_string())?;
        let installed = Self { kubectl: rig.kubectl(), name: format!("{plural}.{group}") };
        installed.kubectl.print(&["apply", "--server-side", "--force-conflicts", "-f", &file])?;
        let path = format!("/apis/{group}/{}/{plural}", kind.version);
        eventually(SOON, &path, || installed.kubectl.print(&["get", "--raw", &path]).map(drop))?;
        // Its handlers pick the schema up one by one.
        std::thread::sleep(Duration::from_secs(3));
        Ok(installed)
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        if let Err(error) = self.kubectl.print(&["delete", "customresourcedefinition", &self.name]) {
            eprintln!("{} stays: {error:#}", self.name);
        }
    }
}

async fn theirs(rig: &Rig, group: &str, kind: &c5c3_api::Kind) -> Result<Side> {
    let client = by_kubeconfig(&rig.kubeconfig).await?;
    Ok(Side::new(client, group, kind, &their_plural(kind)))
}

async fn ours(rig: &Rig, server: &Server, kind: &c5c3_api::Kind) -> Result<Side> {
    let file = server.folder().join("admin.kubeconfig");
    std::fs::write(&file, kubeconfig(rig, server.port()).to_string())?;
    Ok(Side::new(by_kubeconfig(&file).await?, kind.group, kind, kind.plural))
}

fn kubeconfig(rig: &Rig, port: u16) -> Value {
    let file = |name: &str| rig.pki.join(name).display().to_string();
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": {"server": format!("https://127.0.0.1:{port}"), "certificate-authority": file("ca.crt")}}],
        "users": [{"name": "it", "user": {"client-certificate": file("admin.crt"), "client-key": file("admin.key")}}],
    })
}

/// Plays a table, and tells all that is not as it says.
async fn play(table: &Table, theirs: &Side, ours: &Side) -> Result<Vec<String>> {
    theirs.clear().await?;
    let mut wrong = Vec::new();
    for exchange in &table.exchanges {
        let (their, our) = (theirs.play(exchange).await, ours.play(exchange).await);
        let their = their.with_context(|| format!("{}, theirs", exchange.id))?;
        let our = match our {
            Ok(our) => our,
            Err(error) => {
                wrong.push(format!("{}: ours: {error:#}", exchange.id));
                continue;
            }
        };
        let mut found = differences(
            &aspects(&their, &theirs.names, &table.defaulted),
            &aspects(&our, &ours.names, &table.defaulted),
        );
        found.retain(|aspect, _| !exchange.unsettled.contains(*aspect));
        let marked: BTreeSet<&str> = exchange.differs.keys().map(String::as_str).collect();
        for (aspect, values) in found.iter().filter(|(aspect, _)| !marked.contains(*aspect)) {
            wrong.push(format!("{}: {aspect} differs{values}", exchange.id));
        }
        for aspect in marked.iter().filter(|aspect| !found.contains_key(*aspect)) {
            wrong.push(format!("{}: {aspect} is marked, and does not differ any more", exchange.id));
        }
    }
    theirs.clear().await?;
    Ok(wrong)
}

/// Runs to its end what asks servers.
fn wait_for<T>(asking: impl Future<Output = Result<T>>) -> Result<T> {
    // There may be another provider in the tree, and rustls refuses to guess. Another test may have chosen already.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(asking)
}

fn as_the_table_says(table: &Table, wrong: &[String]) -> Result<()> {
    println!("{}: {} exchanges", table.kind, table.exchanges.len());
    if !wrong.is_empty() {
        bail!("{} are not as the table says:\n{}", wrong.len(), wrong.join("\n"));
    }
    Ok(())
}

/// The custom resources of the rig are there once: tables are played one after the other.
static ONE_TABLE: Mutex<()> = Mutex::new(());

fn run(kind: &c5c3_api::Kind, file: &str) -> Result<()> {
    let _turn = ONE_TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(rig) = Rig::kubernetes_from_environment()? else { return Ok(()) };
    let table = table(file)?;
    ensure!(table.kind == kind.kind, "the table is about {}", table.kind);
    let _installed = Installed::new(&rig, THEIR_GROUP, kind)?;
    let server = Server::start_as(&rig, |port| configuration(&rig, port))?;
    let wrong = wait_for(async {
        let (theirs, ours) = (theirs(&rig, THEIR_GROUP, kind).await?, ours(&rig, &server, kind).await?);
        play(&table, &theirs, &ours).await
    })?;
    as_the_table_says(&table, &wrong)
}

#[test]
fn a_custom_resource_is_written_as_itself() -> Result<()> {
    let _turn = ONE_TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(rig) = Rig::kubernetes_from_environment()? else { return Ok(()) };
    let (mut table, kind) = (table(EVICTION)?, &c5c3_api::eviction::KIND);
    table.exchanges.iter_mut().for_each(|exchange| exchange.differs.clear());
    let _installed =
        [Installed::new(&rig, THEIR_GROUP, kind)?, Installed::new(&rig, THEIR_OTHER_GROUP, kind)?];
    let wrong = wait_for(async {
        let one = theirs(&rig, THEIR_OTHER_GROUP, kind).await?;
        one.clear().await?;
        play(&table, &theirs(&rig, THEIR_GROUP, kind).await?, &one).await
    })?;
    as_the_table_says(&table, &wrong)
}

#[test]
fn evictions_are_written_as_custom_resources_are() -> Result<()> {
    run(&c5c3_api::eviction::KIND, EVICTION)
}

#[test]
fn hypervisors_are_written_as_custom_resources_are() -> Result<()> {
    run(&c5c3_api::hypervisor::KIND, HYPERVISOR)
}

#[test]
fn each_marked_difference_is_argued() -> Result<()> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/adr/0013-server-side-apply.md");
    let page = std::fs::read_to_string(page)?;
    for file in [EVICTION, HYPERVISOR] {
        let table = table(file)?;
        for (word, reason) in &table.reasons {
            ensure!(page.contains(&format!("**{word}**")), "ADR 0013 does not argue {word}: {reason}");
        }
    }
    Ok(())
}
