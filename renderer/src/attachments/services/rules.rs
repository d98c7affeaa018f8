//! Rules of service clusters.

use std::collections::BTreeSet;

use crate::rules::{Report, Rule, Subject};

pub(crate) const RULES: &[Rule] = &[
    Rule {
        id: "placed-service-present",
        summary: "A service cluster hosts a service, and one that the control plane has.",
        why: "A cluster without services is registered for nothing; a dashboard that is not declared cannot be placed.",
        mend: "List a service under `services`, or declare `dashboard: {}` on the control plane.",
        check: present,
    },
    Rule {
        id: "placed-service-once",
        summary: "A service runs in one place and in a namespace of its own.",
        why: "Where a service runs cannot be changed later, and services that share a namespace must share a cluster.",
        mend: "Name each service and each namespace once.",
        check: once,
    },
];

fn present(subject: &Subject<'_>, report: &mut Report<'_>) {
    for plane in &subject.resolved.control_planes {
        for cluster in &plane.services {
            if cluster.placed.is_empty() {
                report.add(format!("{}.services", cluster.field), "no service runs here", None);
            }
            for placed in
                cluster.placed.iter().filter(|placed| placed.service == "horizon" && !plane.has_dashboard)
            {
                let message = format!("{} has no dashboard", plane.name);
                report.add(format!("{}.service", placed.field), message, None);
            }
        }
    }
}

fn once(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut namespaces: BTreeSet<&str> =
        subject.resolved.control_planes.iter().map(|plane| plane.namespace.as_str()).collect();
    for plane in &subject.resolved.control_planes {
        let mut services = BTreeSet::new();
        for placed in plane.services.iter().flat_map(|cluster| &cluster.placed) {
            if !services.insert(placed.service) {
                let message = format!("{} of {} already has a place", placed.service, plane.name);
                report.add(format!("{}.service", placed.field), message, None);
            }
            if !namespaces.insert(&placed.namespace) {
                let message = format!("the namespace {:?} is taken", placed.namespace);
                report.add(format!("{}.namespace", placed.field), message, None);
            }
        }
    }
}
