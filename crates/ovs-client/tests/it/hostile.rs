//! Peers that send what no real one should, or rarely does.

use std::time::Duration;

use ovs_client::json::{JsonError, JsonLimits};
use ovs_client::openflow;
use ovs_client::ovsdb::{Closed, Connection, Error, MonitorTables, Options, ReplicaError};
use ovs_client::switch::SwitchView;
use ovs_client::unixctl;
use serde_json::{Value, json};

use crate::scripted::{Client, server};

const ROW: &str = "9ba9b625-0000-4000-8000-000000000001";

/// Asks anything and says why the connection ended.
async fn ended(endpoint: &ovs_client::Endpoint, options: &Options) -> Closed {
    let connection = Connection::connect(endpoint, options).await.unwrap();
    match connection.list_dbs().await.unwrap_err() {
        Error::Closed { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_message_without_end_is_cut_off_at_the_limit() {
    let endpoint = server(async |mut client: Client| {
        client.next().await;
        client.send(b"{\"id\":1,\"result\":\"").await;
        while client.send(&[b'x'; 64 << 10]).await {}
    })
    .await;
    let limits = JsonLimits { bytes: 1 << 20, ..JsonLimits::default() };
    let reason = ended(&endpoint, &Options { limits, ..Options::default() }).await;
    assert!(matches!(reason, Closed::Json(JsonError::TooLong(_))), "{reason:?}");
}

#[tokio::test]
async fn a_message_of_countless_small_values_is_cut_off_before_it_is_parsed() {
    let endpoint = server(async |mut client: Client| {
        client.next().await;
        client.send(b"{\"id\":1,\"result\":[0").await;
        while client.send(&b",0".repeat(32 << 10)).await {}
    })
    .await;
    let reason = ended(&endpoint, &Options::default()).await;
    assert!(matches!(reason, Closed::Json(JsonError::TooManyValues(_))), "{reason:?}");
}

#[tokio::test]
async fn fifty_mebibytes_are_read_when_they_are_an_answer() {
    let endpoint = server(async |mut client: Client| {
        client.next().await.unwrap();
        client.send(b"{\"id\":1,\"error\":null,\"result\":[\"").await;
        client.send(&vec![b'x'; 50 << 20]).await;
        client.send(b"\"]}").await;
        client.next().await;
    })
    .await;
    // Code without optimisation on a busy machine is slow.
    let options = Options { request_deadline: Duration::from_secs(60), ..Options::default() };
    let connection = Connection::connect(&endpoint, &options).await.unwrap();
    assert_eq!(connection.list_dbs().await.unwrap()[0].len(), 50 << 20);
}

#[tokio::test]
async fn something_that_is_no_ovsdb_server_is_told_by_its_first_byte() {
    let endpoint = server(async |mut client: Client| {
        client.send(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        client.next().await;
    })
    .await;
    let reason = ended(&endpoint, &Options::default()).await;
    assert!(matches!(reason, Closed::Json(JsonError::NotAnObject(b'H'))), "{reason:?}");
}

#[tokio::test]
async fn an_answer_in_single_bytes_between_glued_messages_is_read() {
    let endpoint = server(async |mut client: Client| {
        let request = client.next().await.unwrap();
        let reply = json!({ "id": request["id"], "result": ["a"], "error": null }).to_string();
        let glued = format!(
            "{}{reply}{}",
            json!({ "id": 999, "result": {} }),
            json!({ "id": null, "method": "stolen", "params": [] })
        );
        for byte in glued.as_bytes() {
            client.send(&[*byte]).await;
        }
        client.next().await;
    })
    .await;
    let connection = Connection::connect(&endpoint, &Options::default()).await.unwrap();
    assert_eq!(connection.list_dbs().await.unwrap(), ["a"]);
}

#[tokio::test]
async fn the_servers_probe_is_answered_while_a_request_waits() {
    let endpoint = server(async |mut client: Client| {
        let request = client.next().await.unwrap();
        client.say(json!({ "id": "echo", "method": "echo", "params": ["p"] })).await;
        let echo = client.next().await.unwrap();
        // Answers only if the probe was answered as it must be.
        if echo == json!({ "id": "echo", "result": ["p"], "error": null }) {
            client.reply(&request, json!(["good"])).await;
        }
        client.next().await;
    })
    .await;
    let connection = Connection::connect(&endpoint, &Options::default()).await.unwrap();
    assert_eq!(connection.list_dbs().await.unwrap(), ["good"]);
}

#[tokio::test]
async fn a_late_answer_is_dropped_and_the_connection_goes_on() {
    let endpoint = server(async |mut client: Client| {
        let late = client.next().await.unwrap();
        let second = client.next().await.unwrap();
        client.reply(&late, json!(["late"])).await;
        client.reply(&second, json!(["second"])).await;
        client.next().await;
    })
    .await;
    let options = Options { request_deadline: Duration::from_millis(200), ..Options::default() };
    let connection = Connection::connect(&endpoint, &options).await.unwrap();
    assert!(matches!(connection.list_dbs().await, Err(Error::Deadline { .. })));
    assert_eq!(connection.list_dbs().await.unwrap(), ["second"]);
}

#[tokio::test]
async fn an_update_before_the_answer_to_monitor_is_applied_after_it() {
    let endpoint = server(async |mut client: Client| {
        let request = client.next().await.unwrap();
        let update = json!({ "T": { ROW: { "new": { "c": 2 }, "old": { "c": 1 } } } });
        client.say(json!({ "id": null, "method": "update", "params": [request["params"][1], update] })).await;
        client.reply(&request, json!({ "T": { ROW: { "new": { "c": 1 } } } })).await;
        client.next().await;
    })
    .await;
    let connection = Connection::connect(&endpoint, &Options::default()).await.unwrap();
    let monitor = connection.monitor("D", &MonitorTables::default().table("T", &["c"])).await.unwrap();
    let values: Vec<_> = monitor.read(|rows| rows.rows("T").map(|(_, row)| row.get("c").cloned()).collect());
    assert_eq!(values, [Some(2.into())]);
}

#[tokio::test]
async fn an_update_that_cannot_be_applied_ends_the_connection() {
    let endpoint = server(async |mut client: Client| {
        let request = client.next().await.unwrap();
        client.reply(&request, json!({})).await;
        client
            .say(json!({ "id": null, "method": "update", "params": [request["params"][1], { "U": {} }] }))
            .await;
        client.next().await;
    })
    .await;
    let connection = Connection::connect(&endpoint, &Options::default()).await.unwrap();
    let monitor = connection.monitor("D", &MonitorTables::default().table("T", &["c"])).await.unwrap();
    let error = monitor.changed().await.unwrap_err();
    let Error::Closed { reason: Closed::Replica(ReplicaError::Table(table)), .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(table, "U");
}

/// A server with a small schema that answers all of a view's questions; `status` is its row of `_Server`, if it has any.
async fn small_server(mut client: Client, status: Option<Value>) {
    let column = |kind: &str| json!({ "type": kind });
    while let Some(request) = client.next().await {
        let database = request["params"][0].clone();
        let result = match request["method"].as_str().unwrap() {
            "list_dbs" if status.is_some() => json!(["Open_vSwitch", "_Server"]),
            "list_dbs" => json!(["Open_vSwitch"]),
            "get_schema" if database == "_Server" => {
                json!({ "name": "_Server", "version": "1.0.0", "tables": { "Database": { "columns": {
                "name": column("string"), "connected": column("boolean") } } } })
            }
            "get_schema" => {
                json!({ "name": "Open_vSwitch", "version": "7.3.0", "tables": { "Bridge": { "columns": { "name": column("string") } } } })
            }
            "monitor" if database == "_Server" => json!({ "Database": { ROW: { "new": status } } }),
            "monitor" => {
                // As an old server would: any column but the one that it has fails it all.
                assert_eq!(request["params"][2], json!({ "Bridge": { "columns": ["name"] } }));
                json!({ "Bridge": { ROW: { "new": { "name": "br-old" } } } })
            }
            other => panic!("asked for {other}"),
        };
        client.reply(&request, result).await;
    }
}

#[tokio::test]
async fn an_old_server_is_asked_only_for_what_it_has() {
    let endpoint = server(async |client| small_server(client, None).await).await;
    let view = SwitchView::open(&endpoint, &Options::default()).await.unwrap();
    let switch = view.switch();
    assert_eq!(
        (switch.schema_version.as_str(), switch.root.is_none(), view.database_status()),
        ("7.3.0", true, None)
    );
    assert_eq!(switch.bridges[0].name, "br-old");
    assert_eq!(switch.bridges[0].datapath_type, None);
    assert!(switch.bridges[0].ports.is_empty() && switch.unreadable.is_empty());
}

#[tokio::test]
async fn a_database_that_the_server_is_cut_off_from_is_not_a_switch_without_bridges() {
    let status = json!({ "name": "Open_vSwitch", "connected": false });
    let endpoint = server(async |client| small_server(client, Some(status)).await).await;
    let error = SwitchView::open(&endpoint, &Options::default()).await.unwrap_err();
    assert!(matches!(error, Error::DatabaseNotConnected { .. }), "{error:?}");
}

#[tokio::test]
async fn a_switch_that_answers_with_rubbish_has_no_flow_count() {
    let open = async |bytes: &'static [u8]| {
        let endpoint = server(async |mut client: Client| {
            client.send(bytes).await;
            // Not JSON: this only waits for the client to go.
            client.next().await;
        })
        .await;
        let options =
            openflow::Options { request_deadline: Duration::from_millis(500), ..Default::default() };
        match openflow::Connection::open(&endpoint, &options).await {
            Ok(mut connection) => connection.tables().await.map(drop),
            Err(error) => Err(error),
        }
    };
    let hello = b"\x04\x00\x00\x08\x00\x00\x00\x01";
    assert!(matches!(
        open(b"\x04\x00\x00\x07\x00\x00\x00\x01").await,
        Err(openflow::Error::Malformed { .. })
    ));
    assert!(matches!(
        open(b"\x04\x13\x00\x08\x00\x00\x00\x01").await,
        Err(openflow::Error::Malformed { .. })
    ));
    assert!(matches!(open(hello).await, Err(openflow::Error::Deadline { .. })));
    // A reply to the first question (xid 2) of the wrong kind, then one whose body fits no layout, then endless parts.
    let after_hello =
        |rest: &[u8]| -> &'static [u8] { Box::leak([&hello[..], rest].concat().into_boxed_slice()) };
    let wrong = after_hello(b"\x04\x13\x00\x10\x00\x00\x00\x02\x00\x02\x00\x00\x00\x00\x00\x00");
    assert!(matches!(open(wrong).await, Err(openflow::Error::Malformed { .. })));
    let odd = after_hello(b"\x04\x13\x00\x11\x00\x00\x00\x02\x00\x03\x00\x00\x00\x00\x00\x00\x01");
    assert!(matches!(open(odd).await, Err(openflow::Error::Malformed { .. })));
    let refused = after_hello(b"\x04\x01\x00\x0c\x00\x00\x00\x02\x00\x01\x00\x02");
    assert!(matches!(open(refused).await, Err(openflow::Error::Refused { kind: 1, code: 2, .. })));
    let part = [&b"\x04\x13\xf0\x00\x00\x00\x00\x02\x00\x03\x00\x01\x00\x00\x00\x00"[..], &[0; 0xf000 - 16]]
        .concat();
    assert!(matches!(open(after_hello(&part.repeat(80))).await, Err(openflow::Error::TooLong { .. })));
}

#[tokio::test]
async fn an_echo_is_answered_and_news_for_everybody_is_passed_over_while_statistics_come() {
    let endpoint = server(async |mut client: Client| {
        client.send(b"\x04\x00\x00\x08\x00\x00\x00\x01").await;
        client.bytes(16 + 16).await.unwrap();
        // An echo with a body, a port status, then the first of two parts.
        client.send(b"\x04\x02\x00\x0b\x00\x00\x00\x55abc").await;
        client.send(b"\x04\x0c\x00\x10\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00").await;
        assert_eq!(client.bytes(11).await.unwrap(), b"\x04\x03\x00\x0b\x00\x00\x00\x55abc");
        for (table, more) in [(0, 1), (7, 0)] {
            client.send(&[4, 19, 0, 40, 0, 0, 0, 2, 0, 3, 0, more, 0, 0, 0, 0]).await;
            client.send(&[&[table, 0, 0, 0, 0, 0, 0, 9][..], &[0; 16]].concat()).await;
        }
        client.bytes(1).await;
    })
    .await;
    let mut connection = openflow::Connection::open(&endpoint, &Default::default()).await.unwrap();
    let tables = connection.tables().await.unwrap();
    assert_eq!(tables.iter().map(|table| (table.table, table.active)).collect::<Vec<_>>(), [(0, 9), (7, 9)]);
}

#[tokio::test]
async fn a_unixctl_answer_that_is_none_or_too_long_is_an_error() {
    let call = async |bytes: &'static [u8]| {
        let endpoint = server(async |mut client: Client| {
            client.next().await;
            client.send(bytes).await;
            client.next().await;
        })
        .await;
        let limits = JsonLimits { bytes: 100, ..JsonLimits::default() };
        let options =
            unixctl::Options { limits, request_deadline: Duration::from_millis(500), ..Default::default() };
        unixctl::call(&endpoint, "version", &[], &options).await.unwrap_err()
    };
    assert!(matches!(call(b"{\"id\":0,\"result\":7}").await, unixctl::Error::Message { source: None, .. }));
    assert!(matches!(call(b"{\"id\":0,\"result\":}").await, unixctl::Error::Message { source: Some(_), .. }));
    assert!(matches!(call(&[b'{'; 200]).await, unixctl::Error::Json { .. }));
    assert!(matches!(call(b"").await, unixctl::Error::Deadline { .. }));
}
