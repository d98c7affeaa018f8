//! The tables that `kubectl get` would print, for a machine without kubectl. Asked for over the API, as kubectl does.

use std::path::Path;

use http::Request;
use http::header::ACCEPT;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde::Deserialize;
use serde_json::Value;

use crate::command::Failure;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Table {
    column_definitions: Vec<Column>,
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Column {
    name: String,
    priority: i32,
}

#[derive(Debug, Deserialize)]
struct Row {
    cells: Vec<Value>,
}

/// Prints every kind.
pub(super) async fn print(kubeconfig: &Path) -> Result<(), Failure> {
    let client = client(kubeconfig).await?;
    for kind in c5c3_api::kinds() {
        let path = format!("/apis/{}/{}/{}", kind.group, kind.version, kind.plural);
        let request = Request::get(&path)
            .header(ACCEPT, TABLE)
            .body(Vec::new())
            .map_err(|error| Failure::other(&error))?;
        let table: Table = client.request(request).await.map_err(|error| Failure::other(&error))?;
        println!("{}", kind.plural);
        println!("{}", text(&table));
    }
    Ok(())
}

async fn client(kubeconfig: &Path) -> Result<Client, Failure> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).map_err(|error| Failure::other(&error))?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|error| Failure::other(&error))?;
    Client::try_from(config).map_err(|error| Failure::other(&error))
}

/// The table without its wide columns.
fn text(table: &Table) -> String {
    if table.rows.is_empty() {
        return "  none\n".to_owned();
    }
    let shown: Vec<usize> = table
        .column_definitions
        .iter()
        .enumerate()
        .filter(|(_, column)| column.priority == 0)
        .map(|(index, _)| index)
        .collect();
    let heading = shown.iter().filter_map(|index| table.column_definitions.get(*index));
    let mut lines: Vec<Vec<String>> = vec![heading.map(|column| column.name.to_uppercase()).collect()];
    for row in &table.rows {
        lines.push(shown.iter().map(|index| cell(row.cells.get(*index))).collect());
    }
    let columns = shown.len();
    let width = |column: usize| {
        lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
    let padded = |line: &Vec<String>| {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    lines.iter().map(padded).collect()
}

fn cell(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_are_aligned_and_wide_ones_left_out() {
        let table: Table = serde_json::from_value(json!({
            "columnDefinitions": [{"name": "Name", "priority": 0}, {"name": "Kernel", "priority": 2}, {"name": "Ready", "priority": 0}],
            "rows": [{"cells": ["host-1", "6.1", "True"]}, {"cells": ["h", null, null]}],
        }))
        .unwrap();
        assert_eq!(text(&table), "  NAME    READY\n  host-1  True\n  h\n");
    }
}
