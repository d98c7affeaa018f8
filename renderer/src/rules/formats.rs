//! Formats: text that upstream parses must parse before it is committed.

use std::sync::LazyLock;

use regex::Regex;

use super::names::{is_dns_label, is_dns_subdomain};
use super::{Report, Rule, Subject};
use crate::verify::secret_kind;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "release-format",
        summary: "An OpenStack release is spelled YYYY.1 or YYYY.2.",
        why: "The operators take upgrades by this name and refuse any other.",
        mend: "For example `\"2025.2\"`, in quotes.",
        check: release,
    },
    Rule {
        id: "region-format",
        summary: "A region has no comma and at most 255 characters.",
        why: "The region is part of every endpoint in the catalogue, and lists of regions are joined by commas.",
        mend: "Use a short name, for example `RegionOne`.",
        check: region,
    },
    Rule {
        id: "duration-format",
        summary: "Durations are spelled as Flux reads them.",
        why: "Flux refuses the whole Kustomization otherwise.",
        mend: "For example `10m` or `1h30m`.",
        check: duration,
    },
    Rule {
        id: "quantity-format",
        summary: "Volume sizes are whole Mi, Gi or Ti.",
        why: "The size of a database's volume cannot be changed later, and upstream's schema takes these units only.",
        mend: "For example `2Gi`.",
        check: quantity,
    },
    Rule {
        id: "image-format",
        summary: "Images, charts and digests are spelled as registries read them.",
        why: "A reference that no registry understands is found out only when a pod starts.",
        mend: "Check the spelling; a digest is `sha256:` and 64 hex digits.",
        check: images,
    },
    Rule {
        id: "endpoint-format",
        summary: "An endpoint is an http or https URL without credentials.",
        why: "The URL is written into Glance's configuration as it is, and credentials in it would stand in Git.",
        mend: "Write `https://` and a host; credentials belong into the secret store.",
        check: endpoint,
    },
    Rule {
        id: "store-format",
        summary: "Store names, sources and key prefixes can be used as they are.",
        why: "They become names of objects and keys of the secret store.",
        mend: "Use letters, digits, `-`, `_`, `.`; parts of a key are joined by `/`.",
        check: store,
    },
    Rule {
        id: "secret-in-topology",
        summary: "A topology holds no secret values.",
        why: "Whoever can read the repository could read the secret, forever.",
        mend: "Put the value into the secret store, and change it: it has been written down.",
        check: secrets,
    },
];

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

static RELEASE: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^[0-9]{4}\.[12]$"));
static DURATION: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"));
static QUANTITY: LazyLock<Option<Regex>> = LazyLock::new(|| pattern("^[0-9]+(Mi|Gi|Ti)$"));
static REPOSITORY: LazyLock<Option<Regex>> = LazyLock::new(|| pattern("^[a-z0-9]+([._:/-][a-z0-9]+)*$"));
static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| pattern("^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$"));
static DIGEST: LazyLock<Option<Regex>> = LazyLock::new(|| pattern("^sha256:[a-f0-9]{64}$"));
static KEY_PREFIX: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern("^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$"));

fn fits(regex: &LazyLock<Option<Regex>>, text: &str) -> bool {
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

fn release(subject: &Subject<'_>, report: &mut Report<'_>) {
    for control_plane in &subject.resolved.control_planes {
        if !fits(&RELEASE, &control_plane.release) {
            let message = format!("{:?} is not an OpenStack release", control_plane.release);
            report.add(
                format!("{}.release", control_plane.field),
                message,
                Some("for example \"2025.2\"".to_owned()),
            );
        }
    }
}

fn region(subject: &Subject<'_>, report: &mut Report<'_>) {
    for control_plane in &subject.resolved.control_planes {
        let region = &control_plane.region;
        if region.is_empty() || region.contains(',') || region.chars().count() > 255 {
            report.add(
                format!("{}.region", control_plane.field),
                format!("{region:?} cannot name a region"),
                None,
            );
        }
    }
}

fn duration(subject: &Subject<'_>, report: &mut Report<'_>) {
    let management = &subject.resolved.management;
    let durations = [
        ("interval", &management.interval),
        ("retryInterval", &management.retry_interval),
        ("timeout", &management.timeout),
    ];
    for (name, value) in durations {
        if !fits(&DURATION, value) {
            let field = format!("spec.management.reconciliation.{name}");
            report.add(
                field,
                format!("{value:?} is not a duration"),
                Some("for example `10m` or `1h30m`".to_owned()),
            );
        }
    }
}

fn quantity(subject: &Subject<'_>, report: &mut Report<'_>) {
    for control_plane in &subject.resolved.control_planes {
        let ovn = &control_plane.ovn;
        for (name, store) in [("northbound", &ovn.northbound), ("southbound", &ovn.southbound)] {
            if !fits(&QUANTITY, &store.storage) {
                let message = format!("{:?} is not a volume size", store.storage);
                report.add(
                    format!("{}.{name}.storage", ovn.field),
                    message,
                    Some("for example `2Gi`".to_owned()),
                );
            }
        }
    }
}

fn images(subject: &Subject<'_>, report: &mut Report<'_>) {
    for compute in subject.resolved.control_planes.iter().flat_map(|control_plane| &control_plane.compute) {
        let field = &compute.attachment.field;
        if !fits(&REPOSITORY, &compute.metadata_image_repository) {
            let message = format!("{:?} is not an image repository", compute.metadata_image_repository);
            report.add(format!("{field}.metadataAgent.imageRepository"), message, None);
        }
        if !fits(&TAG, &compute.metadata_image_tag) {
            let message = format!("{:?} is not an image tag", compute.metadata_image_tag);
            report.add(format!("{field}.metadataAgent.imageTag"), message, None);
        }
        let Some(operators) = &compute.operators else {
            continue;
        };
        let releases =
            [("hypervisorOperator", &operators.hypervisor_operator), ("nodeAgent", &operators.node_agent)];
        for (name, release) in releases {
            if !fits(&TAG, &release.tag) {
                report.add(
                    format!("{field}.operators.{name}.tag"),
                    format!("{:?} is not a tag", release.tag),
                    None,
                );
            }
            if let Some(digest) = &release.digest
                && !fits(&DIGEST, digest)
            {
                let field = format!("{field}.operators.{name}.digest");
                report.add(
                    field,
                    format!("{digest:?} is not a digest"),
                    Some("`sha256:` and 64 hex digits".to_owned()),
                );
            }
        }
    }
}

fn endpoint(subject: &Subject<'_>, report: &mut Report<'_>) {
    for (declared, control_plane) in
        subject.declared.spec.control_planes.iter().zip(&subject.resolved.control_planes)
    {
        // One that follows from the domain is as good as the domain, which has a rule of its own.
        if declared.images.as_ref().and_then(|images| images.endpoint.as_ref()).is_none() {
            continue;
        }
        let endpoint = &control_plane.images.endpoint;
        if let Err(fault) = is_address(endpoint) {
            report.add(format!("{}.images.endpoint", control_plane.field), format!("the URL {fault}"), None);
        }
    }
}

/// Whether text is an address that may stand in an object; says what is wrong with it.
pub(super) fn is_address(text: &str) -> Result<(), &'static str> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let Some(rest) = rest else {
        return Err("must begin with https:// or http://");
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (host, port) = authority.split_once(':').unwrap_or((authority, "443"));
    if authority.contains('@') {
        Err("must not carry credentials")
    } else if !is_dns_subdomain(host) || port.parse::<u16>().is_err() {
        Err("has no valid host and port")
    } else if text.chars().any(|character| character.is_whitespace() || character.is_control()) {
        Err("holds spaces")
    } else {
        Ok(())
    }
}

fn store(subject: &Subject<'_>, report: &mut Report<'_>) {
    let management = &subject.resolved.management;
    let names = [("secretStore.name", &management.store_name), ("source.name", &management.source_name)];
    for (field, name) in names {
        if !is_dns_subdomain(name) {
            report.add(
                format!("spec.management.{field}"),
                format!("{name:?} is not the name of an object"),
                None,
            );
        }
    }
    if !fits(&KEY_PREFIX, &management.secret_prefix) {
        let message = format!("{:?} cannot begin a key", management.secret_prefix);
        let hint = "letters, digits, `_`, `.`, `-`, in parts joined by `/`";
        report.add("spec.management.secretPrefix", message, Some(hint.to_owned()));
    }
    for (index, control_plane) in subject.declared.spec.control_planes.iter().enumerate() {
        for (number, compute) in control_plane.compute.iter().enumerate() {
            let domain = compute.libvirt.as_ref().and_then(|libvirt| libvirt.migration_domain.as_deref());
            if domain.is_some_and(|domain| !is_dns_label(domain)) {
                let field = format!("spec.controlPlanes[{index}].compute[{number}].libvirt.migrationDomain");
                report.add(field, "is part of a key in the secret store and must be a DNS label", None);
            }
        }
    }
}

fn secrets(subject: &Subject<'_>, report: &mut Report<'_>) {
    let Ok(document) = serde_json::to_value(subject.declared) else {
        return;
    };
    crate::verify::visit_text("", &document, &mut |field, text| {
        if let Some(kind) = secret_kind(text) {
            // The value itself is never repeated.
            let hint = "put it into the secret store and refer to it by name";
            report.add(field, format!("looks like {kind}"), Some(hint.to_owned()));
        }
    });
}
