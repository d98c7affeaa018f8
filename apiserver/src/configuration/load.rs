//! Reads the configuration file and refuses what cannot work, naming file, line and field.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::{Configuration, LibvirtTls};

/// Why a configuration cannot be used. All of these are the writer's to mend: exit code 2.
#[derive(Debug, Error)]
pub enum ConfigurationError {
    /// The file could not be read.
    #[error("cannot read configuration {file}")]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is not a configuration: YAML syntax, an unknown field, a value of the wrong type.
    #[error("{file}: {message}")]
    Parse {
        /// The file.
        file: PathBuf,
        /// Line, column, field and what is wrong with it.
        message: String,
    },
    /// Fields contradict each other.
    #[error("{file}: {field}: {message}")]
    Contradiction {
        /// The file.
        file: PathBuf,
        /// The field.
        field: &'static str,
        /// What is wrong.
        message: String,
    },
}

/// Reads and checks the file.
///
/// # Errors
/// When the file cannot be read, is not a configuration, or contradicts itself.
pub fn load(file: &Path) -> Result<Configuration, ConfigurationError> {
    let text = std::fs::read_to_string(file)
        .map_err(|source| ConfigurationError::Read { file: file.to_owned(), source })?;
    parse(file, &text)
}

/// Reads and checks the text of `file`.
///
/// # Errors
/// When the text is not a configuration or contradicts itself.
pub fn parse(file: &Path, text: &str) -> Result<Configuration, ConfigurationError> {
    let configuration: Configuration = serde_saphyr::from_str(text)
        .map_err(|error| ConfigurationError::Parse { file: file.to_owned(), message: error.to_string() })?;
    let contradiction = |field, message: &str| ConfigurationError::Contradiction {
        file: file.to_owned(),
        field,
        message: message.to_owned(),
    };
    match (&configuration.kubernetes, &configuration.standalone) {
        (Some(_), Some(_)) => {
            return Err(contradiction("standalone", "give either `kubernetes` or `standalone`, not both"));
        }
        (None, None) => {
            return Err(contradiction("kubernetes", "give `kubernetes: {}` (aggregated) or `standalone`"));
        }
        _ => {}
    }
    if configuration.kubernetes.is_none() && configuration.hosts.known.is_empty() {
        return Err(contradiction(
            "hosts.known",
            "a standalone server has no Nodes to follow: list its hosts",
        ));
    }
    if configuration.hosts.all().filter_map(|reach| reach.libvirt_tls.as_ref()).any(LibvirtTls::is_half) {
        return Err(contradiction("hosts.reach.libvirtTls", "give `certificate` and `key`, or neither"));
    }
    if configuration.intent.file.is_some() && configuration.intent.kubernetes.is_some() {
        return Err(contradiction("intent.kubernetes", "give either `file` or `kubernetes`, not both"));
    }
    if configuration.intent.kubernetes.is_some() && configuration.kubernetes.is_none() {
        return Err(contradiction("intent.kubernetes", "needs the hosting cluster: give `kubernetes: {}`"));
    }
    if configuration.intent.kubernetes.is_some() && configuration.replica != 0 {
        return Err(contradiction(
            "replica",
            "replicas on `intent.kubernetes` take their slots by themselves",
        ));
    }
    if configuration.replica > 15 {
        return Err(contradiction("replica", "must be between 0 and 15"));
    }
    Ok(configuration)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVING: &str = "serving: {certificate: tls.crt, key: tls.key}\n";

    fn message(text: &str) -> String {
        parse(Path::new("c.yaml"), text).unwrap_err().to_string()
    }

    #[test]
    fn the_smallest_configuration_is_filled_with_defaults() {
        let configuration = parse(Path::new("c.yaml"), &format!("{SERVING}kubernetes: {{}}\n")).unwrap();
        assert_eq!(configuration.kubernetes.unwrap().node_label, "nova.openstack.cloud.sap/virt-driver");
        assert_eq!(configuration.refresh.counters.to_string(), "10s");
    }

    #[test]
    fn an_unknown_field_is_named_with_its_line() {
        let message = message(&format!("{SERVING}kubernetes: {{}}\nrefresh:\n  countres: 5s\n"));
        assert!(message.starts_with("c.yaml: ") && message.contains("countres"), "{message}");
        assert!(message.contains("line 4"), "{message}");
    }

    #[test]
    fn contradictions_name_the_field() {
        let both = format!("{SERVING}kubernetes: {{}}\nstandalone: {{clientCa: ca.crt}}\n");
        assert!(message(&both).contains("standalone: give either"));
        assert!(message(SERVING).contains("kubernetes: give"));
        assert!(message(&format!("{SERVING}standalone: {{clientCa: ca.crt}}\n")).contains("hosts.known"));
        assert!(message(&format!("{SERVING}kubernetes: {{}}\nreplica: 16\n")).contains("replica"));
        let half = "hosts: {reach: {libvirtTls: {ca: ca.crt, key: tls.key}}}";
        assert!(message(&format!("{SERVING}kubernetes: {{}}\n{half}\n")).contains("hosts.reach.libvirtTls"));
        let cluster = format!("{SERVING}kubernetes: {{}}\n");
        assert!(message(&format!("{cluster}intent: {{file: a, kubernetes: {{}}}}\n")).contains("not both"));
        assert!(
            message(&format!("{cluster}intent: {{kubernetes: {{}}}}\nreplica: 1\n"))
                .contains("by themselves")
        );
        let alone = format!("{SERVING}standalone: {{clientCa: ca.crt}}\nhosts: {{known: {{a: {{}}}}}}\n");
        assert!(message(&format!("{alone}intent: {{kubernetes: {{}}}}\n")).contains("hosting cluster"));
    }
}
