//! Discovery, OpenAPI, version, health: what a client or an aggregator reads first.

use http::Method;
use serde_json::json;

use crate::fixture::Fixture;

const V2: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

// covers: C12 K6 A1
#[tokio::test]
async fn groups_versions_and_resources_are_listed_one_by_one() {
    let fixture = Fixture::start().await;
    let client = fixture.reader().await;
    let groups = client.get("/apis").await.json();
    assert_eq!((&groups["kind"], &groups["apiVersion"]), (&json!("APIGroupList"), &json!("v1")));
    assert_eq!(groups["groups"][0]["name"], "weather.example.com");
    assert_eq!(groups["groups"][0]["preferredVersion"]["version"], "v1");
    let group = client.get("/apis/weather.example.com").await.json();
    assert_eq!((&group["kind"], &group["apiVersion"]), (&json!("APIGroup"), &json!("v1")));
    let list = client.get("/apis/weather.example.com/v1").await.json();
    assert_eq!((&list["kind"], &list["apiVersion"]), (&json!("APIResourceList"), &json!("v1")));
    assert_eq!(list["groupVersion"], "weather.example.com/v1");
    let expected = json!({
        "name": "stations", "singularName": "station", "namespaced": false, "kind": "Station",
        "verbs": ["get", "list", "watch"], "shortNames": ["wst"], "categories": ["weather"],
    });
    assert_eq!(list["resources"][0], expected);
    assert_eq!(list["resources"][1]["namespaced"], true);
}

// covers: C12 A2
#[tokio::test]
async fn everything_is_listed_at_once_for_those_who_can_read_it() {
    let fixture = Fixture::start().await;
    let client = fixture.reader().await;
    let go = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
              application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
    let answer = client.accepting("/apis", go).await;
    assert_eq!((answer.code, answer.header("content-type")), (200, V2));
    let list = answer.json();
    assert_eq!(
        (&list["kind"], &list["apiVersion"]),
        (&json!("APIGroupDiscoveryList"), &json!("apidiscovery.k8s.io/v2"))
    );
    let version = &list["items"][0]["versions"][0];
    assert_eq!(
        (&list["items"][0]["metadata"]["name"], &version["version"]),
        (&json!("weather.example.com"), &json!("v1"))
    );
    assert_eq!(version["freshness"], "Current");
    assert_eq!(
        version["resources"][0]["responseKind"],
        json!({"group": "weather.example.com", "version": "v1", "kind": "Station"})
    );
    assert_eq!(
        (&version["resources"][0]["scope"], &version["resources"][1]["scope"]),
        (&json!("Cluster"), &json!("Namespaced"))
    );
    let beta = client
        .accepting("/apis", "application/json;as=APIGroupDiscoveryList;v=v2beta1;g=apidiscovery.k8s.io")
        .await;
    assert_eq!(beta.json()["apiVersion"], "apidiscovery.k8s.io/v2beta1");
    let unknown = client
        .accepting("/apis", "application/json;as=APIGroupDiscoveryList;v=v9;g=apidiscovery.k8s.io")
        .await;
    assert_eq!(unknown.code, 406);
}

// covers: C12 A2 A5
#[tokio::test]
async fn what_is_known_already_is_not_sent_again() {
    let fixture = Fixture::start().await;
    let client = fixture.reader().await;
    for (path, accept) in [
        ("/apis", V2),
        ("/apis", "application/json"),
        ("/apis", "application/yaml"),
        ("/apis/weather.example.com", "application/json"),
        ("/apis/weather.example.com/v1", "application/json"),
        ("/apis/weather.example.com/v1", "application/yaml"),
        ("/openapi/v3", "*/*"),
        ("/openapi/v3/apis/weather.example.com/v1", "*/*"),
        ("/openapi/v2", "*/*"),
    ] {
        let first = client.accepting(path, accept).await;
        let etag = first.header("etag");
        assert!(etag.starts_with('"') && etag.len() > 10, "{etag}");
        let again = client.call(Method::GET, path, &[("accept", accept), ("if-none-match", etag)]).await;
        assert_eq!((again.code, again.body.len(), again.header("etag")), (304, 0, etag), "{path}");
        let other = client.call(Method::GET, path, &[("accept", accept), ("if-none-match", "\"x\"")]).await;
        assert_eq!(other.code, 200);
    }
    assert_ne!(client.accepting("/apis", V2).await.header("etag"), client.get("/apis").await.header("etag"));
}

// covers: C28 A5
#[tokio::test]
async fn openapi_describes_every_kind() {
    let fixture = Fixture::start().await;
    let client = fixture.reader().await;
    let index = client.get("/openapi/v3").await.json();
    let url = index["paths"]["apis/weather.example.com/v1"]["serverRelativeURL"].as_str().unwrap();
    assert!(url.starts_with("/openapi/v3/apis/weather.example.com/v1?hash="), "{url}");
    let document = client.get(url).await.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3."));
    let gvk = json!({"group": "weather.example.com", "version": "v1", "kind": "Station"});
    let schema = &document["components"]["schemas"]["com.example.weather.v1.Station"];
    assert_eq!(schema["x-kubernetes-group-version-kind"], json!([gvk]));
    assert_eq!(schema["properties"]["spec"]["properties"]["region"]["description"], "Where it is.");
    let operation = &document["paths"]["/apis/weather.example.com/v1/stations/{name}"]["get"];
    assert_eq!(operation["x-kubernetes-group-version-kind"], gvk);
    assert!(
        document["paths"]["/apis/weather.example.com/v1/namespaces/{namespace}/readings"]["get"].is_object()
    );
    dangling(&document, "#/components/schemas/", &document["components"]["schemas"]);

    let swagger = client.get("/openapi/v2").await.json();
    assert_eq!(swagger["swagger"], "2.0");
    assert!(swagger["info"]["version"].is_string());
    dangling(&swagger, "#/definitions/", &swagger["definitions"]);
    assert!(!swagger.to_string().contains("\"nullable\"") && !swagger.to_string().contains("io.k8s."));
}

/// Fails on a reference to a model that is not there.
pub(crate) fn dangling(value: &serde_json::Value, prefix: &str, models: &serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            if let Some(target) = map.get("$ref").and_then(|target| target.as_str()) {
                assert!(models.get(target.strip_prefix(prefix).unwrap()).is_some(), "{target}");
            }
            map.values().for_each(|value| dangling(value, prefix, models));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|value| dangling(value, prefix, models)),
        _ => {}
    }
}

// covers: C34 C12
#[tokio::test]
async fn readiness_follows_the_latches_and_discovery_does_not() {
    let fixture = Fixture::start().await;
    let client = fixture.reader().await;
    let answer = client.get("/readyz").await;
    assert_eq!(answer.code, 500);
    assert!(String::from_utf8(answer.body.to_vec()).unwrap().contains("[-]sources failed"));
    assert_eq!(client.get("/livez").await.code, 200);
    assert_eq!(client.get("/apis").await.code, 200);
    assert_eq!(client.get("/readyz/sources").await.code, 500);
    fixture.ready.open();
    assert_eq!(&client.get("/readyz").await.body[..], b"ok");
    assert_eq!(&client.get("/readyz/sources").await.body[..], b"ok");
    let verbose = client.get("/readyz?verbose").await;
    assert!(String::from_utf8(verbose.body.to_vec()).unwrap().ends_with("readyz check passed\n"));
    let version = client.get("/version").await.json();
    assert_eq!(
        (&version["major"], &version["minor"], &version["gitVersion"]),
        (&json!("1"), &json!("2"), &json!("v1.2.3"))
    );
}

#[tokio::test]
async fn requests_are_counted() {
    let fixture = Fixture::start().await;
    let client = fixture.reader().await;
    client.get(crate::fixture::STATIONS).await;
    client.get("/apis/invented.example.com/v1/things").await;
    let text = String::from_utf8(client.get("/metrics").await.body.to_vec()).unwrap();
    let line = r#"aggregated_apiserver_requests_total{verb="list",group="weather.example.com",version="v1",resource="stations",code="200"} 1"#;
    assert!(text.contains(line), "{text}");
    assert!(!text.contains("invented"), "clients must not invent series");
    assert!(text.ends_with("# EOF\n"));
}

#[tokio::test]
async fn discovery_is_written_in_yaml_for_those_who_prefer_it() {
    let fixture = Fixture::start().await;
    let client = fixture.reader().await;
    for (path, expected) in [
        ("/apis", "kind: APIGroupList"),
        ("/apis/weather.example.com", "kind: APIGroup"),
        ("/apis/weather.example.com/v1", "kind: APIResourceList"),
    ] {
        let answer = client.accepting(path, "application/yaml").await;
        assert_eq!((answer.code, answer.header("content-type")), (200, "application/yaml"), "{path}");
        assert!(String::from_utf8(answer.body.to_vec()).unwrap().contains(expected), "{path}");
    }
}

/// As kube-apiserver's aggregation layer asks: once as a master, once as a user without groups.
// covers: A1 A2 A5 C28
#[tokio::test]
async fn the_aggregator_reads_discovery_and_openapi_whoever_it_says_it_is() {
    let fixture = Fixture::start().await;
    let client = fixture.as_client(Some(&fixture.proxies.client("front-proxy-client", &[]))).await;
    for user in ["system:kube-aggregator", "system:aggregator"] {
        for path in ["/apis", "/apis/weather.example.com/v1", "/openapi/v3", "/openapi/v2"] {
            let answer = client.call(Method::GET, path, &[("x-remote-user", user)]).await;
            assert_eq!(answer.code, 200, "{user} {path}");
        }
        let refused = client.call(Method::GET, crate::fixture::STATIONS, &[("x-remote-user", user)]).await;
        assert_eq!(refused.code, 403);
    }
}

/// A label could not hold such names, and nothing is made of them that has to be one.
// covers: C8 G1 N3
#[tokio::test]
async fn controllers_with_colons_in_their_names_list_what_they_may() {
    let fixture = Fixture::start().await;
    fixture.readings.publish(crate::fixture::reading("one", "x")).unwrap();
    let client = fixture.as_client(Some(&fixture.proxies.client("front-proxy-client", &[]))).await;
    let accept = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,\
                  application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
    for user in
        ["system:serviceaccount:kube-system:generic-garbage-collector", "system:kube-controller-manager"]
    {
        let headers = [("x-remote-user", user), ("x-remote-group", "readers"), ("accept", accept)];
        let answer = client.call(Method::GET, crate::fixture::READINGS, &headers).await;
        assert_eq!(
            (answer.code, &answer.json()["kind"]),
            (200, &json!("PartialObjectMetadataList")),
            "{user}"
        );
    }
}
