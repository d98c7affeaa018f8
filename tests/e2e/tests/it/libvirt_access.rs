//! Real libvirt daemons by TLS, and with a name and a password: whoever has what the daemon wants is let in, everybody else is told what is
//! wrong.

use std::collections::BTreeMap;
use std::env;
use std::fs;

use anyhow::{Context as _, Result, ensure};
use c5c3_e2e::patience::SOON;
use c5c3_e2e::program::{command, run};
use c5c3_e2e::rig::Rig;
use c5c3_e2e::server::program;
use serde_json::{Value, json};

/// What `check` says of the libvirt of each host.
fn libvirt_of_each(configuration: &Value) -> Result<BTreeMap<String, (String, String)>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("check.yaml");
    fs::write(&file, configuration.to_string())?;
    let file = file.to_string_lossy();
    let said = run(&mut command(program()?, &["check", "--config", &file, "--output", "json"]), SOON)?;
    let rows: Value = serde_json::from_str(&said.output).with_context(|| said.complaint)?;
    let rows = rows.as_array().context("no list")?.iter().filter(|row| row["source"] == "libvirt");
    let word = |row: &Value, field: &str| row[field].as_str().unwrap_or_default().to_owned();
    Ok(rows.map(|row| (word(row, "host"), (word(row, "state"), word(row, "message")))).collect())
}

#[test]
fn who_has_what_a_libvirtd_wants_is_let_in_and_others_are_told_what_is_wrong() -> Result<()> {
    let Some(rig) = Rig::from_environment()? else { return Ok(()) };
    let variable = |name: &'static str| env::var(name).context(name);
    let pki = variable("C5C3_RIG_LIBVIRT_PKI")?;
    let folder = tempfile::tempdir()?;
    let password_file = folder.path().join("password");
    fs::write(&password_file, variable("C5C3_RIG_SASL_PASSWORD")?)?;
    let tls = |ca: &str, client: &str, server: Option<&str>| {
        let mut tls = json!({
            "ca": format!("{pki}/{ca}.crt"),
            "certificate": format!("{pki}/{client}.crt"),
            "key": format!("{pki}/{client}.key"),
        });
        if let Some(server) = server {
            tls["serverName"] = json!(server);
        }
        tls
    };
    let node = rig.hosts.get("node-1").context("no node-1")?;
    let at_node = |tls: Value| json!({"address": node, "reach": {"libvirtTls": tls}});
    let password = json!({"user": variable("C5C3_RIG_SASL_USER")?, "passwordFile": password_file});
    let at_sasl =
        |reach: Value| json!({"address": env::var("C5C3_RIG_SASL").unwrap_or_default(), "reach": reach});
    let said = libvirt_of_each(&json!({
        "serving": {"certificate": "unused", "key": "unused"},
        "standalone": {"clientCa": "unused"},
        "hosts": {
            "reach": {"libvirt": "tls://{address}", "libvirtTls": tls("ca", "observer", None)},
            "known": {
                "known": {"address": node},
                "node-1": at_node(tls("ca", "observer", Some("{name}"))),
                "misnamed": at_node(tls("ca", "observer", Some("{name}"))),
                "untrusted": at_node(tls("other-ca", "observer", None)),
                "stranger": at_node(tls("ca", "stranger", None)),
                "nameless": at_sasl(json!({"libvirtUri": "test:///default"})),
                "named": at_sasl(json!({"libvirtUri": "test:///default", "libvirtSasl": password})),
            },
        },
    }))?;
    for (host, expected) in [
        ("known", ""),
        ("node-1", ""),
        ("named", ""),
        ("misnamed", "the server's certificate is not for `misnamed`"),
        ("untrusted", "the server's certificate is not trusted"),
        ("stranger", "the server rejected our certificate or address"),
        ("nameless", "wants a user name and a password, by SASL (SCRAM-SHA-256"),
    ] {
        let (state, message) = said.get(host).with_context(|| format!("nothing about {host}"))?;
        let as_expected = if expected.is_empty() { "Connected" } else { "Denied" };
        ensure!(state == as_expected && message.contains(expected), "{host}: {state}: {message}");
    }
    Ok(())
}
