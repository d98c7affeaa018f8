//! One of the two servers, asked over HTTP as any client would.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use http::{Request, Response};
use http_body_util::BodyExt as _;
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;

use super::table::{Exchange, Meaning};

/// A server, and where the kind is there.
pub(super) struct Side {
    client: Client,
    /// Names that are this side's own, and what they are for both.
    pub(super) names: [(String, &'static str); 2],
    api_version: String,
    kind: String,
    collection: String,
}

/// An answer as it came.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) code: u16,
    pub(super) warnings: Vec<String>,
    pub(super) body: Value,
}

/// What happened to one side: the stored object before, the answer, the stored object after.
#[derive(Debug)]
pub(super) struct Happened {
    pub(super) before: Option<Value>,
    pub(super) answer: Answer,
    pub(super) after: Option<Value>,
}

impl Side {
    pub(super) fn new(client: Client, group: &str, kind: &c5c3_api::Kind, plural: &str) -> Self {
        let collection = format!("/apis/{group}/{}/{plural}", kind.version);
        let names = [(group.to_owned(), "<group>"), (plural.to_owned(), kind.plural)];
        let api_version = format!("{group}/{}", kind.version);
        Self { client, names, api_version, kind: kind.kind.to_owned(), collection }
    }

    /// Sends an exchange, and looks at the object before and after.
    pub(super) async fn play(&self, exchange: &Exchange) -> Result<Happened> {
        let before = self.stored(exchange.name()).await?;
        let meaning = Meaning { api_version: &self.api_version, kind: &self.kind, stored: before.as_ref() };
        let payload = exchange.payload(&meaning)?;
        let mut request = Request::builder()
            .method(exchange.method())
            .uri(format!("{}{}", self.collection, exchange.target()))
            .header("User-Agent", "exchanges/1.0")
            .header("Accept", "application/json");
        if let Some(media_type) = exchange.media_type() {
            request = request.header("Content-Type", media_type);
        }
        let mut request = request.body(Body::from(payload))?;
        for (name, value) in &exchange.headers {
            let name = http::HeaderName::from_bytes(name.as_bytes())?;
            request.headers_mut().insert(name, value.parse()?);
        }
        let answer = answer(self.client.send(request).await?).await?;
        let generated = answer.body["metadata"]["name"].as_str().filter(|_| answer.code == 201);
        let after = self.stored(exchange.name().or(generated)).await?;
        Ok(Happened { before, answer, after })
    }

    /// Removes all that is there, also what is held.
    pub(super) async fn clear(&self) -> Result<()> {
        let list = self.get(&self.collection).await?;
        ensure!(list.code == 200, "{}: {}", list.code, list.body);
        for object in list.body["items"].as_array().into_iter().flatten() {
            let name = object["metadata"]["name"].as_str().context("a nameless object")?;
            let path = format!("{}/{name}", self.collection);
            let release = Request::patch(&path).header("Content-Type", "application/merge-patch+json");
            let release = release.body(Body::from(br#"{"metadata":{"finalizers":null}}"#.to_vec()))?;
            answer(self.client.send(release).await?).await?;
            answer(self.client.send(Request::delete(&path).body(Body::empty())?).await?).await?;
        }
        Ok(())
    }

    async fn stored(&self, name: Option<&str>) -> Result<Option<Value>> {
        let Some(name) = name.filter(|name| *name == name.to_lowercase()) else { return Ok(None) };
        let answer = self.get(&format!("{}/{name}", self.collection)).await?;
        match answer.code {
            200 => Ok(Some(answer.body)),
            404 => Ok(None),
            code => anyhow::bail!("GET {name}: {code} {}", answer.body),
        }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Answer> {
        let request = Request::get(path).header("Accept", "application/json").body(Body::empty())?;
        answer(self.client.send(request).await?).await
    }
}

async fn answer(response: Response<Body>) -> Result<Answer> {
    let (head, body) = response.into_parts();
    let warnings = head.headers.get_all("warning").into_iter();
    let warnings = warnings.map(|value| Ok(value.to_str()?.to_owned())).collect::<Result<_>>()?;
    let bytes = body.collect().await?.to_bytes();
    let text = || Value::from(String::from_utf8_lossy(&bytes).into_owned());
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
    Ok(Answer { code: head.status.as_u16(), warnings, body })
}

/// A client with the identity of a kubeconfig.
pub(super) async fn by_kubeconfig(file: &Path) -> Result<Client> {
    let kubeconfig = Kubeconfig::read_from(file)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}
