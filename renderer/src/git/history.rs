//! History: what was committed once and must not change any more, compared before anything is committed. Pure.
//!
//! Validation sees one topology; some mistakes are only visible beside the one before it. Upstream's operators refuse these changes as well,
//! but then the commit is made, Flux is stuck, and everything that waits for the layer with it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::finding::{Finding, Position};
use crate::plan::LIFECYCLE_ANNOTATION;

/// A rule about two versions of the same thing.
#[derive(Clone, Copy, Debug)]
pub struct HistoryRule {
    /// Identifier.
    pub id: &'static str,
    /// What must hold, in one sentence.
    pub summary: &'static str,
    /// What would go wrong otherwise.
    pub why: &'static str,
    /// What to do about it.
    pub mend: &'static str,
}

/// All of them.
pub const HISTORY_RULES: &[HistoryRule] = &[
    HistoryRule {
        id: "immutable-field",
        summary: "Fields that cannot be changed later keep the value that they were committed with.",
        why: "The operator refuses the object, the layer fails, and everything that waits for it stops.",
        mend: "Restore the value; to have another one, attach a new entry and drain the old one.",
    },
    HistoryRule {
        id: "release-downgrade",
        summary: "An OpenStack release does not go down.",
        why: "Databases are migrated forwards only.",
        mend: "Restore the release, or restore the databases of the older one by hand first.",
    },
    HistoryRule {
        id: "drain-first",
        summary: "Chassis, pools, agents and backends are removed, or renamed, only after they were declared to be draining.",
        why: "Removing one that is in use takes instances or volumes with it; a rename is a removal and a new entry.",
        mend: "Set `lifecycle: Draining`, commit, empty it, and then remove the entry.",
    },
];

/// An object as it is in Git today.
#[derive(Clone, Debug)]
pub(super) struct Old {
    pub(super) path: String,
    pub(super) cluster: String,
    pub(super) object: Value,
}

/// An object as it would be.
#[derive(Clone, Debug)]
pub(super) struct New {
    pub(super) cluster: String,
    pub(super) object: Value,
    pub(super) position: Option<Position>,
}

/// Fields that keep their first value. `*` stands for any name.
const FROZEN: &[(&str, &[&str])] = &[
    (
        "OVNCentral",
        &[
            "/spec/targetClusterRef",
            "/spec/northbound/replicas",
            "/spec/northbound/storage",
            "/spec/northbound/electionTimerMs",
            "/spec/southbound/replicas",
            "/spec/southbound/storage",
            "/spec/southbound/electionTimerMs",
        ],
    ),
    ("OVNChassis", &["/spec/centralRef", "/spec/targetClusterRef"]),
    ("NeutronMetadataAgent", &["/spec/chassisRef", "/spec/targetClusterRef"]),
    ("NovaCompute", &["/spec/novaRef", "/spec/targetClusterRef"]),
    ("CinderBackend", &["/spec/cinderRef", "/spec/type", "/spec/rbd/secretUUID"]),
    ("CinderBackupBackend", &["/spec/cinderRef", "/spec/type"]),
    (
        "ControlPlane",
        &[
            "/spec/region",
            "/spec/services/*/namespace",
            "/spec/services/*/targetClusterRef",
            "/spec/infrastructure/messaging/clusterRef",
            "/spec/infrastructure/database/replicas",
            "/spec/infrastructure/database/storageSize",
        ],
    ),
    ("CephCluster", &["/spec/dataDirHostPath"]),
];

/// Fields that may be added and then keep their value.
const FROZEN_ONCE_SET: &[(&str, &[&str])] =
    &[("CephCluster", &["/metadata/annotations/topology.c5c3.io~1fsid"])];

/// Kinds that are emptied before they go.
const DRAINED: &[&str] =
    &["OVNChassis", "NovaCompute", "NeutronMetadataAgent", "CinderBackend", "CinderBackupBackend"];

/// Everything that may not happen between the two. Only objects that differ need to be given.
pub(super) fn compare(old: &[Old], new: &[New]) -> Vec<Finding> {
    let by_identity: BTreeMap<Identity<'_>, &New> =
        new.iter().map(|entry| (identity(&entry.cluster, &entry.object), entry)).collect();
    let mut findings = Vec::new();
    for before in old {
        let kind = text(&before.object, "/kind");
        match by_identity.get(&identity(&before.cluster, &before.object)) {
            Some(after) => {
                frozen(before, after, kind, &mut findings);
                release(before, after, kind, &mut findings);
            }
            None => drained(before, kind, new, &mut findings),
        }
    }
    findings
}

type Identity<'object> = (&'object str, &'object str, &'object str, &'object str);

fn identity<'object>(cluster: &'object str, object: &'object Value) -> Identity<'object> {
    (cluster, text(object, "/kind"), text(object, "/metadata/namespace"), text(object, "/metadata/name"))
}

fn text<'object>(object: &'object Value, pointer: &str) -> &'object str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn fields_of(table: &'static [(&str, &[&str])], kind: &str) -> &'static [&'static str] {
    table.iter().find(|(name, _)| *name == kind).map(|(_, fields)| *fields).unwrap_or_default()
}

fn frozen(before: &Old, after: &New, kind: &str, findings: &mut Vec<Finding>) {
    for pattern in fields_of(FROZEN, kind) {
        for pointer in expand(pattern, &before.object, &after.object) {
            if before.object.pointer(&pointer) != after.object.pointer(&pointer) {
                changed(before, after, &pointer, findings);
            }
        }
    }
    for pointer in fields_of(FROZEN_ONCE_SET, kind) {
        let was = before.object.pointer(pointer);
        if was.is_some() && was != after.object.pointer(pointer) {
            changed(before, after, pointer, findings);
        }
    }
}

/// The pattern with each name that stands for `*` in either version; a service that is new as a whole is no change.
fn expand(pattern: &str, before: &Value, after: &Value) -> Vec<String> {
    let Some((head, tail)) = pattern.split_once("/*") else {
        return vec![pattern.to_owned()];
    };
    let names = |object: &Value| {
        let fields = object.pointer(head).and_then(Value::as_object);
        fields.into_iter().flat_map(|fields| fields.keys().cloned()).collect::<Vec<_>>()
    };
    let after = names(after);
    names(before)
        .into_iter()
        .filter(|name| after.contains(name))
        .map(|name| format!("{head}/{name}{tail}"))
        .collect()
}

fn changed(before: &Old, after: &New, pointer: &str, findings: &mut Vec<Finding>) {
    let show = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    let field = pointer.trim_start_matches('/').replace('/', ".").replace("~1", "/");
    let message = format!(
        "{field} of {} {} was committed as {} and would become {}",
        text(&before.object, "/kind"),
        text(&before.object, "/metadata/name"),
        show(before.object.pointer(pointer)),
        show(after.object.pointer(pointer))
    );
    report("immutable-field", before, after.position.clone(), message, None, findings);
}

fn release(before: &Old, after: &New, kind: &str, findings: &mut Vec<Finding>) {
    let pointer = "/spec/openStackRelease";
    let (was, becomes) = (text(&before.object, pointer), text(&after.object, pointer));
    // Four digits, a dot and one digit: the order of text is the order of releases.
    if kind == "ControlPlane" && !becomes.is_empty() && becomes < was {
        let message =
            format!("{} would go down from {was} to {becomes}", text(&before.object, "/metadata/name"));
        report("release-downgrade", before, after.position.clone(), message, None, findings);
    }
}

fn drained(before: &Old, kind: &str, new: &[New], findings: &mut Vec<Finding>) {
    let annotations = before.object.pointer("/metadata/annotations");
    let lifecycle = annotations.and_then(|all| all.get(LIFECYCLE_ANNOTATION)).and_then(Value::as_str);
    if !DRAINED.contains(&kind) || lifecycle == Some("Draining") {
        return;
    }
    let name = text(&before.object, "/metadata/name");
    let renamed = new.iter().find(|entry| {
        text(&entry.object, "/kind") == kind && entry.object.get("spec") == before.object.get("spec")
    });
    let message = match renamed {
        Some(entry) => format!("{kind} {name} would be renamed to {}", text(&entry.object, "/metadata/name")),
        None => format!("{kind} {name} would be removed while it is in use"),
    };
    let hint = "set `lifecycle: Draining` first, commit, and empty it";
    report(
        "drain-first",
        before,
        renamed.and_then(|entry| entry.position.clone()),
        message,
        Some(hint.to_owned()),
        findings,
    );
}

fn report(
    rule: &'static str,
    before: &Old,
    position: Option<Position>,
    message: String,
    hint: Option<String>,
    findings: &mut Vec<Finding>,
) {
    findings.push(Finding { rule, position, field: before.path.clone(), message, hint });
}
