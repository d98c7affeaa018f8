//! Services: what a control plane needs before clusters can be attached to it.

use std::collections::BTreeMap;

use c5c3_api::topology::MessagingMode;

use super::names::is_dns_subdomain;
use super::{Report, Rule, Subject};
use crate::conventions::Bus;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "remote-compute-bus",
        summary: "Compute clusters need an external message bus with TLS.",
        why: "A managed bus has no listener outside of its cluster, and without TLS passwords cross networks that are not yours.",
        mend: "Use `messaging: {mode: External}` and leave `tls` out.",
        check: remote_compute_bus,
    },
    Rule {
        id: "messaging-fields",
        summary: "Fields of an external bus and of a managed one are not mixed.",
        why: "A field that means nothing is a misunderstanding.",
        mend: "Remove it or change the mode.",
        check: messaging_fields,
    },
    Rule {
        id: "messaging-secrets",
        summary: "Each Secret of the bus has a name of its own.",
        why: "One Secret of two contents is overwritten in turns.",
        mend: "Give each its own name.",
        check: messaging_secrets,
    },
    Rule {
        id: "host-format",
        summary: "Published host names are DNS names.",
        why: "The names become listeners, certificates and endpoints.",
        mend: "For example `domain: a.example.org`.",
        check: host_format,
    },
    Rule {
        id: "host-unique",
        summary: "A published host name belongs to one service.",
        why: "A Gateway sends each host name to one service only.",
        mend: "Change one of them under `hosts`.",
        check: host_unique,
    },
];

fn remote_compute_bus(subject: &Subject<'_>, report: &mut Report<'_>) {
    for control_plane in subject.resolved.control_planes.iter().filter(|entry| entry.has_remote_compute()) {
        match &control_plane.bus {
            Bus::Managed { .. } => report.add(
                format!("{}.messaging.mode", control_plane.field),
                "a managed bus cannot be reached from the compute clusters of this control plane",
                Some("use `mode: External` with TLS, or attach no compute cluster".to_owned()),
            ),
            Bus::External { certificate_authority_secret: None, .. } => report.add(
                format!("{}.messaging.tls", control_plane.field),
                "compute clusters talk to the bus over networks that are not yours",
                Some("leave out `tls`, or set it to true".to_owned()),
            ),
            Bus::External { .. } => {}
        }
    }
}

fn messaging_fields(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (index, control_plane) in subject.declared.spec.control_planes.iter().enumerate() {
        let Some(messaging) = &control_plane.messaging else {
            continue;
        };
        let external = messaging.mode.unwrap_or(MessagingMode::External) == MessagingMode::External;
        let fields = [
            ("cluster", messaging.cluster.is_some(), !external),
            ("tls", messaging.tls.is_some(), external),
            ("transportUrlSecret", messaging.transport_url_secret.is_some(), external),
            ("certificateAuthoritySecret", messaging.certificate_authority_secret.is_some(), external),
            ("remoteTransportUrlSecret", messaging.remote_transport_url_secret.is_some(), external),
        ];
        for (name, set, meant) in fields {
            if set && !meant {
                let mode = if external { "External" } else { "Managed" };
                let field = format!("spec.controlPlanes[{index}].messaging.{name}");
                report.add(
                    field,
                    format!("means nothing with `mode: {mode}`"),
                    Some("remove it or change the mode".to_owned()),
                );
            }
        }
    }
}

fn messaging_secrets(subject: &Subject<'_>, report: &mut Report<'_>) {
    for control_plane in &subject.resolved.control_planes {
        let Bus::External { transport_url_secret, certificate_authority_secret, remote_transport_url_secret } =
            &control_plane.bus
        else {
            continue;
        };
        let mut seen = vec![transport_url_secret, &control_plane.images.credentials_secret];
        let others = [
            ("certificateAuthoritySecret", certificate_authority_secret.as_ref()),
            ("remoteTransportUrlSecret", Some(remote_transport_url_secret)),
        ];
        for (name, secret) in others {
            let Some(secret) = secret else {
                continue;
            };
            if seen.contains(&secret) {
                let field = format!("{}.messaging.{name}", control_plane.field);
                report.add(field, format!("the Secret {secret:?} already holds something else"), None);
            }
            seen.push(secret);
        }
    }
}

fn host_format(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (declared, resolved) in
        subject.declared.spec.control_planes.iter().zip(&subject.resolved.control_planes)
    {
        if !is_dns_subdomain(&declared.domain) {
            let field = format!("{}.domain", resolved.field);
            report.add(
                field,
                format!("{:?} is not a DNS domain", declared.domain),
                Some("for example `a.example.org`".to_owned()),
            );
            continue;
        }
        for (service, host) in resolved.published_hosts() {
            if !is_dns_subdomain(host) {
                report.add(
                    format!("{}.hosts.{service}", resolved.field),
                    format!("{host:?} is not a DNS name"),
                    None,
                );
            }
        }
    }
}

fn host_unique(subject: &Subject<'_>, report: &mut Report<'_>) {
    let mut seen: BTreeMap<&str, String> = BTreeMap::new();
    for control_plane in &subject.resolved.control_planes {
        for (service, host) in control_plane.published_hosts() {
            let field = format!("{}.hosts.{service}", control_plane.field);
            if let Some(first) = seen.get(host) {
                let hint = format!("first published at {}", report.place(first));
                report.add(field, format!("{host:?} is published twice"), Some(hint));
            } else {
                seen.insert(host, field);
            }
        }
    }
}
