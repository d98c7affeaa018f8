//! Keystone v3: version documents, tokens by password and by application credential, the catalog.

use http::request::Parts;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::answer::{Answer, json as answer_json, keystone_error, ok, unauthorized, with};
use super::server::OpenStack;
use crate::model::{Credentials, uuid};

/// The one region.
const REGION: &str = "RegionOne";

/// Why no token is given.
enum Refusal {
    /// The same words for every wrong thing, so that nobody learns which.
    Unauthorized,
    /// An application credential must not ask for a scope.
    ScopeAsked,
    /// There is no such application credential.
    NoSuchCredential(String),
    /// The request does not follow the schema.
    Malformed(&'static str),
}

/// How somebody proved who he is.
struct Proven {
    method: &'static str,
    scoped: bool,
}

pub(super) fn answer(openstack: &OpenStack, request: &Parts, body: &[u8]) -> Answer {
    let path = request.uri.path().trim_start_matches("/identity").trim_matches('/');
    match (&request.method, path) {
        (&Method::GET, "") => {
            let versions = json!({"versions": {"values": [version(openstack)]}});
            let answer = answer_json(StatusCode::MULTIPLE_CHOICES, &versions);
            with(answer, "location", &openstack.url("/identity/v3/"))
        }
        (&Method::GET, "v3") => ok(&json!({"version": version(openstack)})),
        (&Method::POST, "v3/auth/tokens") => log_in(openstack, body),
        (&Method::GET, "v3/auth/catalog") if openstack.is_authorized(request) => ok(
            &json!({"catalog": catalog(openstack), "links": {"self": openstack.url("/identity/v3/auth/catalog")}}),
        ),
        (&Method::GET, "v3/auth/catalog") => refused(openstack),
        _ => keystone_error(StatusCode::NOT_FOUND, "Could not find the requested resource."),
    }
}

fn version(openstack: &OpenStack) -> Value {
    json!({
        "id": "v3.14",
        "status": "stable",
        "updated": "2020-04-07T00:00:00Z",
        "links": [{"rel": "self", "href": openstack.url("/identity/v3/")}],
        "media-types": [{"base": "application/json", "type": "application/vnd.openstack.identity-v3+json"}],
    })
}

fn refused(openstack: &OpenStack) -> Answer {
    unauthorized(&openstack.url("/identity/v3"))
}

fn log_in(openstack: &OpenStack, body: &[u8]) -> Answer {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let credentials = openstack.fleet.cloud.read(|cloud| cloud.credentials.clone());
    let refusal = match prove(&request, &credentials) {
        Ok(proven) => {
            let (lifetime, epoch) = openstack.fleet.cloud.change(|cloud| {
                cloud.traffic.logins += 1;
                (cloud.api.token_lifetime, cloud.api.token_epoch)
            });
            let token = openstack.tokens.issue(lifetime, epoch);
            let issued = jiff::Timestamp::now();
            let answer =
                answer_json(StatusCode::CREATED, &token_body(openstack, &credentials, &proven, issued));
            return with(answer, "x-subject-token", &token);
        }
        Err(refusal) => refusal,
    };
    openstack.fleet.cloud.change(|cloud| cloud.traffic.refused_logins += 1);
    match refusal {
        Refusal::Unauthorized => refused(openstack),
        Refusal::ScopeAsked => keystone_error(
            StatusCode::UNAUTHORIZED,
            "Error authenticating with application credential: Application credentials cannot request a scope.",
        ),
        Refusal::NoSuchCredential(id) => {
            keystone_error(StatusCode::NOT_FOUND, &format!("Could not find Application Credential: {id}."))
        }
        Refusal::Malformed(what) => keystone_error(StatusCode::BAD_REQUEST, what),
    }
}

fn prove(request: &Value, credentials: &Credentials) -> Result<Proven, Refusal> {
    let text = |pointer: &str| request.pointer(pointer).and_then(Value::as_str);
    match text("/auth/identity/methods/0") {
        Some("password") => {
            let user = text("/auth/identity/password/user/name");
            let user_id = text("/auth/identity/password/user/id");
            let by_name =
                user == Some(&credentials.username) && in_domain(request, "/auth/identity/password/user");
            let by_id = user_id == Some(&user_id_of(credentials));
            let password = text("/auth/identity/password/user/password") == Some(&credentials.password);
            if !password || !(by_name || by_id) {
                return Err(Refusal::Unauthorized);
            }
            let scoped = request.pointer("/auth/scope").is_some_and(|scope| *scope != json!("unscoped"));
            if scoped && !is_project(request, credentials) {
                return Err(Refusal::Unauthorized);
            }
            Ok(Proven { method: "password", scoped })
        }
        Some("application_credential") => {
            let id = text("/auth/identity/application_credential/id").unwrap_or_default();
            if id != credentials.application_credential_id {
                return Err(Refusal::NoSuchCredential(id.to_owned()));
            }
            let secret = text("/auth/identity/application_credential/secret");
            if secret != Some(&credentials.application_credential_secret) {
                return Err(Refusal::Unauthorized);
            }
            if request.pointer("/auth/scope").is_some_and(|scope| *scope != json!("unscoped")) {
                return Err(Refusal::ScopeAsked);
            }
            Ok(Proven { method: "application_credential", scoped: true })
        }
        Some(_) => Err(Refusal::Unauthorized),
        None => Err(Refusal::Malformed("Invalid input for field 'auth': 'identity' is a required property")),
    }
}

/// The one domain, by id or by name.
fn in_domain(request: &Value, of: &str) -> bool {
    let part = |key: &str| request.pointer(&format!("{of}/domain/{key}")).and_then(Value::as_str);
    part("id") == Some("default") || part("name") == Some("Default")
}

fn is_project(request: &Value, credentials: &Credentials) -> bool {
    let part = |key: &str| request.pointer(&format!("/auth/scope/project/{key}")).and_then(Value::as_str);
    part("id") == Some(&project_id_of(credentials))
        || (part("name") == Some(&credentials.project) && in_domain(request, "/auth/scope/project"))
}

/// Id of the user that the credentials belong to.
pub(super) fn user_id_of(credentials: &Credentials) -> String {
    uuid(&format!("user/{}", credentials.username)).simple().to_string()
}

/// Id of the project that the credentials belong to.
pub(super) fn project_id_of(credentials: &Credentials) -> String {
    uuid(&format!("project/{}", credentials.project)).simple().to_string()
}

fn token_body(
    openstack: &OpenStack,
    credentials: &Credentials,
    proven: &Proven,
    issued: jiff::Timestamp,
) -> Value {
    let lifetime = openstack.fleet.cloud.read(|cloud| cloud.api.token_lifetime);
    let time = |at: jiff::Timestamp| at.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string();
    let domain = json!({"id": "default", "name": "Default"});
    let mut token = json!({
        "methods": [proven.method],
        "user": {
            "domain": domain, "id": user_id_of(credentials), "name": credentials.username, "password_expires_at": null,
        },
        "audit_ids": [uuid::Uuid::new_v4().simple().to_string()],
        "issued_at": time(issued),
        "expires_at": time(issued.saturating_add(lifetime).unwrap_or(issued)),
    });
    let Some(keys) = token.as_object_mut() else { return Value::Null };
    if proven.scoped {
        let project =
            json!({"domain": domain, "id": project_id_of(credentials), "name": credentials.project});
        let role = if openstack.fleet.cloud.read(|cloud| cloud.api.admin) { "admin" } else { "member" };
        keys.insert("project".to_owned(), project);
        keys.insert("is_domain".to_owned(), json!(false));
        keys.insert(
            "roles".to_owned(),
            json!([{"id": uuid(&format!("role/{role}")).simple().to_string(), "name": role}]),
        );
        keys.insert("catalog".to_owned(), catalog(openstack));
    }
    if proven.method == "application_credential" {
        let credential =
            json!({"id": credentials.application_credential_id, "name": "simulated", "restricted": true});
        keys.insert("application_credential".to_owned(), credential);
    }
    json!({"token": token})
}

fn catalog(openstack: &OpenStack) -> Value {
    let entry = |kind: &str, name: &str, path: &str| {
        let endpoint = |interface: &str| {
            json!({
                "id": uuid(&format!("endpoint/{kind}/{interface}")).simple().to_string(),
                "interface": interface, "region": REGION, "region_id": REGION, "url": openstack.url(path),
            })
        };
        json!({
            "id": uuid(&format!("service/{kind}")).simple().to_string(), "type": kind, "name": name,
            "endpoints": [endpoint("internal"), endpoint("public")],
        })
    };
    json!([
        entry("identity", "keystone", "/identity/v3"),
        entry("compute", "nova", "/compute/v2.1"),
        entry("placement", "placement", "/placement"),
    ])
}
