//! The reference page of a kind, in Markdown, from the same definition that the server serves.
//!
//! Pages are committed under `docs/reference/` so that people can read them where they read the code; a test compares
//! them with what this prints.

mod fields;
mod table;

use std::fmt::Write as _;

use serde_json::Value;

use crate::Kind;
use crate::schema::{Origin, schema};
use table::Table;

/// The reference page of a kind.
///
/// ```
/// let kind = c5c3_api::kind("Hypervisor").ok_or("no such kind")?;
/// let page = c5c3_api::reference::page(kind);
/// assert!(page.starts_with("# Hypervisor"));
/// assert!(page.contains("libvirt ConnectGetLibVersion"));
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn page(kind: &Kind) -> String {
    let schema = schema(kind);
    let sections = [
        names(kind),
        columns(kind),
        fields(&schema, "spec", "Spec", "Set by"),
        fields(&schema, "status", "Status", "Source"),
        rules(&schema),
        conditions(kind),
        selectable_fields(kind),
        format!("## Example\n\n```yaml\n{}```\n", kind.example),
    ];
    let head = format!("# {}\n\n{GENERATED}\n\n{}\n", kind.kind, kind.description);
    [head].into_iter().chain(sections).filter(|section| !section.is_empty()).collect::<Vec<_>>().join("\n")
}

const GENERATED: &str =
    "<!-- Generated from api/src; change it there, then: UPDATE_REFERENCE=1 cargo test -p c5c3-api -->";

fn names(kind: &Kind) -> String {
    let list =
        |names: &[&str]| if names.is_empty() { "none".to_owned() } else { table::code(&names.join(", ")) };
    let mut table = Table::new(["", ""]);
    table.row(["apiVersion".to_owned(), table::code(&kind.api_version())]);
    table.row(["kind".to_owned(), table::code(kind.kind)]);
    table.row(["kubectl".to_owned(), table::code(&kind.resource_name())]);
    table.row(["short names".to_owned(), list(kind.short_names)]);
    table.row(["categories".to_owned(), list(kind.categories)]);
    table.row(["scope".to_owned(), kind.scope.as_str().to_owned()]);
    table.to_string()
}

fn columns(kind: &Kind) -> String {
    let mut table = Table::new(["Column", "Shown", "Says", "From"]);
    for column in kind.columns {
        let shown = if column.priority == 0 { "always" } else { "`-o wide`" };
        table.row([
            column.name.to_owned(),
            shown.to_owned(),
            column.description.to_owned(),
            table::code(column.json_path),
        ]);
    }
    format!("## Columns\n\nWhat `kubectl get {}` prints.\n\n{table}", kind.plural)
}

fn fields(schema: &Value, part: &str, title: &str, origin: &'static str) -> String {
    let rows = fields::of(schema, part);
    let description = schema.pointer(&format!("/properties/{part}/description")).and_then(Value::as_str);
    let mut text = format!("## {title}\n\n{}\n", description.unwrap_or_default());
    if rows.is_empty() {
        return text;
    }
    let mut table = Table::new(["Field", "Type", "Default", "Meaning", origin]);
    for field in rows {
        let (meaning, from) = Origin::split(&field.description);
        let default = field.default.as_deref().map(table::code).unwrap_or_default();
        let name = if field.is_required {
            format!("**{}**", table::code(&field.path))
        } else {
            table::code(&field.path)
        };
        let from = from.map(Origin::text).unwrap_or_default();
        table.row([name, field.type_, default, meaning.to_owned(), from.to_owned()]);
    }
    // Writing to a String cannot fail.
    let _ = write!(text, "\nFields in bold are required.\n\n{table}");
    text
}

fn rules(schema: &Value) -> String {
    let rules = fields::rules(schema);
    if rules.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["Field", "Rule"]);
    for (path, rule) in rules {
        table.row([table::code(&path), rule]);
    }
    format!("## Rules\n\n{table}")
}

fn conditions(kind: &Kind) -> String {
    if kind.conditions.is_empty() {
        return "## Conditions\n\nNone.\n".to_owned();
    }
    let mut table = Table::new(["Type", "Status", "Reason", "Meaning", "Source"]);
    for condition in kind.conditions {
        table.row([
            table::code(condition.name),
            String::new(),
            String::new(),
            condition.meaning.to_owned(),
            condition.source.to_owned(),
        ]);
        for reason in condition.reasons {
            table.row([
                String::new(),
                reason.status.to_string(),
                table::code(reason.reason),
                reason.meaning.to_owned(),
                String::new(),
            ]);
        }
    }
    format!("## Conditions\n\n{table}")
}

fn selectable_fields(kind: &Kind) -> String {
    let names = ["metadata.name", "metadata.namespace"].into_iter();
    let others = kind.selectable_fields.iter().map(|path| path.trim_start_matches('.'));
    let list: String = names
        .filter(|name| kind.scope == crate::Scope::Namespaced || *name != "metadata.namespace")
        .chain(others)
        .fold(String::new(), |list, name| format!("{list}* {}\n", table::code(name)));
    format!("## Selectable fields\n\nWhat `kubectl get {} --field-selector` accepts.\n\n{list}", kind.plural)
}
