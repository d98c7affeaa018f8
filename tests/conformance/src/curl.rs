//! Requests as exact as a client's source says they are, sent with curl to kube-apiserver or to a replica.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use c5c3_e2e::program::{command, run};
use serde_json::Value;

use crate::stage::Stage;

/// A watch ends when its `timeoutSeconds` are over.
const LIMIT: Duration = Duration::from_secs(60);

/// What was answered.
#[derive(Debug)]
pub struct Answer {
    /// HTTP status.
    pub code: u16,
    /// Header fields, as they came.
    pub head: String,
    /// The body.
    pub body: String,
}

impl Answer {
    /// The body as one JSON document.
    ///
    /// # Errors
    /// When it is none.
    pub fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.body).with_context(|| format!("{} {:.600}", self.code, self.body))
    }

    /// The body as a stream of watch events.
    ///
    /// # Errors
    /// When it is none.
    pub fn events(&self) -> Result<Vec<Value>> {
        ensure!(self.code == 200, "{} {:.600}", self.code, self.body);
        let events =
            serde_json::Deserializer::from_str(&self.body).into_iter::<Value>().collect::<Result<_, _>>();
        events.with_context(|| format!("{:.600}", self.body))
    }

    /// A header field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields
            .filter(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
            .next_back()
    }
}

/// Asks kube-apiserver as its administrator, with further header fields.
///
/// # Errors
/// When there is no answer.
pub fn ask(stage: &Stage, path: &str, fields: &[&str]) -> Result<Answer> {
    request(stage, path, &headers(fields))
}

fn headers<'a>(fields: &[&'a str]) -> Vec<&'a str> {
    fields.iter().flat_map(|field| ["-H", *field]).collect()
}

fn request(stage: &Stage, path: &str, options: &[&str]) -> Result<Answer> {
    let text = std::fs::read_to_string(&stage.rig.kubeconfig)?;
    let server = text.split(['"', ' ', ',', '\n']).find(|word| word.starts_with("https://"));
    let server = server.context("the kubeconfig names no server")?;
    curl(&stage.rig.pki, &format!("{server}{path}"), options)
}

/// Sends a body to kube-apiserver as its administrator, with a method and the type of the body.
///
/// # Errors
/// When there is no answer.
pub fn send(stage: &Stage, method: &str, path: &str, type_: &str, body: &Value) -> Result<Answer> {
    let text = body.to_string();
    let type_ = format!("Content-Type: {type_}");
    request(stage, path, &["-X", method, "-H", &type_, "-d", &text])
}

/// Asks a replica as the administrator.
///
/// # Errors
/// When there is no answer.
pub fn ask_replica(stage: &Stage, slot: usize, path: &str, fields: &[&str]) -> Result<Answer> {
    let port = stage.replicas().get(slot).context("no such replica")?.port();
    curl(&stage.rig.pki, &format!("https://127.0.0.1:{port}{path}"), &headers(fields))
}

fn curl(pki: &Path, url: &str, options: &[&str]) -> Result<Answer> {
    let file = |name: &str| pki.join(name).display().to_string();
    let (authority, certificate, key) = (file("ca.crt"), file("admin.crt"), file("admin.key"));
    // -g: brackets and braces in a query are meant as they are.
    let mut words = vec!["-sS", "-g", "-i", "--cacert", &authority, "--cert", &certificate, "--key", &key];
    words.extend(options);
    words.push(url);
    let text = run(&mut command("curl", &words), LIMIT)?.success()?;
    let (head, body) = text.split_once("\r\n\r\n").with_context(|| format!("no head: {text:.200}"))?;
    let code = head.split_whitespace().nth(1).and_then(|code| code.parse().ok());
    Ok(Answer { code: code.with_context(|| head.to_owned())?, head: head.to_owned(), body: body.to_owned() })
}
