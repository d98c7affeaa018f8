//! What the server answers to questions and mistakes, word for word where words matter.

use ovs_client::ovsdb::{Condition, Connection, Error, MonitorTables, Options, Transaction, Value};
use ovs_client::switch::DATABASE;
use serde_json::json;

use crate::peer::Peer;

#[tokio::test]
async fn databases_schema_and_status_are_told() {
    for peer in Peer::all().await {
        let connection = Connection::connect(&peer.tcp, &Options::default()).await.unwrap();
        let databases = connection.list_dbs().await.unwrap();
        assert!(
            databases.iter().any(|name| name == DATABASE) && databases.iter().any(|name| name == "_Server")
        );
        let status = connection.database_status(DATABASE).await.unwrap().unwrap();
        assert_eq!(
            (status.model.as_deref(), status.connected, status.leader),
            (Some("standalone"), Some(true), Some(true))
        );
        assert_eq!(connection.database_status("Nope").await.unwrap(), None);
        let schema = connection.get_schema(DATABASE).await.unwrap();
        assert!(schema.tables["Open_vSwitch"].is_root && !schema.tables["Port"].is_root);
        assert_eq!(schema.tables["Port"].columns["interfaces"].max, None);
        assert_eq!(schema.tables["Port"].columns["tag"].max, Some(1));
    }
}

#[tokio::test]
async fn mistakes_are_refused_in_the_same_words_everywhere() {
    for peer in Peer::all().await {
        let connection = Connection::connect(&peer.tcp, &Options::default()).await.unwrap();
        let refused = async |method: &str, params| match connection.request(method, params).await {
            Err(Error::Refused { error, .. }) => error.to_string(),
            other => panic!("{}: {other:?}", peer.name),
        };
        assert_eq!(refused("frobnicate", json!([])).await, "unknown method");
        assert_eq!(refused("monitor_cancel", json!(["no such monitor"])).await, "unknown monitor");
        assert_eq!(
            refused("get_schema", json!(["Nope"])).await,
            "unknown database: get_schema request specifies unknown database Nope"
        );
        assert_eq!(
            refused("monitor", json!([DATABASE, "m", {"Bridge": {"columns": ["nope"]}}])).await,
            "syntax error: nope is not a valid column name"
        );
        assert_eq!(
            refused("monitor", json!([DATABASE, "m", {"Nope": {}}])).await,
            "syntax error: no table named Nope"
        );
        connection.request("monitor", json!([DATABASE, "m", {"Manager": {}}])).await.unwrap();
        let twice = refused("monitor", json!([DATABASE, "m", {"Manager": {}}])).await;
        assert!(twice.ends_with("duplicate monitor ID"), "{twice}");
    }
}

#[tokio::test]
async fn a_failed_operation_names_itself_and_undoes_the_transaction() {
    for peer in Peer::all().await {
        let connection = Connection::connect(&peer.unix(), &Options::default()).await.unwrap();
        let failed = async |transaction: Transaction| match connection.transact(DATABASE, &transaction).await
        {
            Err(Error::Operation { index, error }) => (index, error),
            other => panic!("{}: {other:?}", peer.name),
        };
        let (index, error) =
            failed(Transaction::default().select("Port", &[], &["name"]).select("Port", &[], &["nope"]))
                .await;
        assert_eq!((index, error.details.as_deref()), (1, Some("nope is not a valid column name")));
        let (index, error) = failed(Transaction::default().raw(json!({"op": "frob"}))).await;
        assert_eq!(
            (index, error.details.as_deref()),
            (0, Some("Parsing ovsdb operation 1 of 1 failed: No operation \"frob\""))
        );
        let (_, error) = failed(Transaction::default().select("Nope", &[], &[])).await;
        assert_eq!(
            error.details.as_deref(),
            Some("Parsing ovsdb operation 1 of 1 failed: No table named Nope.")
        );
        let wait = Transaction::default().wait(
            "Bridge",
            &[Condition::equal("name", "br-int")],
            &[("name", "other".into())],
        );
        let (_, error) = failed(wait).await;
        assert_eq!(error.to_string(), "timed out: \"where\" clause test failed");
        let good = Transaction::default().wait(
            "Bridge",
            &[Condition::equal("name", "br-int")],
            &[("name", "br-int".into())],
        );
        connection.transact(DATABASE, &good).await.unwrap();
        // A second br-int fails at commit: one past the only operations.
        let twin = Transaction::default()
            .insert("Interface", "i", &[("name", "ovc-twin".into()), ("type", "internal".into())])
            .insert("Port", "p", &[("name", "ovc-twin".into()), ("interfaces", crate::peer::named("i"))])
            .insert("Bridge", "b", &[("name", "br-int".into()), ("ports", crate::peer::named("p"))])
            .mutate(
                "Open_vSwitch",
                &[],
                &[ovs_client::ovsdb::Mutation::insert("bridges", crate::peer::named("b"))],
            );
        let (index, error) = failed(twin).await;
        assert_eq!((index, error.error.as_str()), (4, "constraint violation"));
        let select =
            Transaction::default().select("Port", &[Condition::equal("name", "ovc-twin")], &["name"]);
        assert_eq!(connection.transact(DATABASE, &select).await.unwrap()[0].rows, []);
    }
}

#[tokio::test]
async fn a_select_gives_the_rows_that_meet_its_conditions() {
    for peer in Peer::all().await {
        let connection = Connection::connect(&peer.tcp, &Options::default()).await.unwrap();
        let select = Transaction::default().select(
            "Bridge",
            &[Condition::equal("name", "br-int")],
            &["name", "fail_mode"],
        );
        let results = connection.transact(DATABASE, &select).await.unwrap();
        assert_eq!(results[0].rows.len(), 1);
        assert_eq!(results[0].rows[0].get("fail_mode"), Some(&Value::from("secure")));
        assert_eq!(results[0].rows[0].get("ports"), None);
    }
}

#[tokio::test]
async fn a_monitor_ends_when_dropped_and_the_connection_goes_on() {
    for peer in Peer::all().await {
        let connection = Connection::connect(&peer.tcp, &Options::default()).await.unwrap();
        let tables = MonitorTables::default().table("Bridge", &["name"]);
        let monitor = connection.monitor(DATABASE, &tables).await.unwrap();
        assert!(
            monitor
                .read(|rows| rows.rows("Bridge").any(|(_, row)| row.get("name") == Some(&"br-int".into())))
        );
        drop(monitor);
        let unknown =
            connection.monitor(DATABASE, &MonitorTables::default().table("Nope", &[])).await.unwrap_err();
        assert!(matches!(unknown, Error::Refused { .. }), "{unknown:?}");
        connection.echo().await.unwrap();
    }
}
