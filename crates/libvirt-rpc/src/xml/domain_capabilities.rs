//! `<domainCapabilities>`: what a domain can have on this host, flattened into short words.
//!
//! The words are those that CobaltCore's node agent publishes, so that what is written for one reads the other:
//! `disk`, `disk/virtio`; `mode/host-model`, `mode/custom/…`; `sev`.

use roxmltree::Node;

use super::XmlError;
use super::document::{self, children, find, text};

/// A domain capabilities document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DomainCapabilities {
    /// Emulator the document is for.
    pub emulator: Option<String>,
    /// Virtualization type: `kvm`, `qemu`, `ch`.
    pub domain_type: Option<String>,
    /// Machine type the document is for.
    pub machine: Option<String>,
    /// Architecture.
    pub arch: Option<String>,
    /// Most virtual CPUs of a domain.
    pub max_vcpus: Option<u64>,
    /// `<element>` and `<element>/<value>` of supported devices.
    pub devices: Vec<String>,
    /// `mode/<mode>` and `mode/<mode>/<value>` of supported CPU modes.
    pub cpu_modes: Vec<String>,
    /// Supported features.
    pub features: Vec<String>,
}

impl DomainCapabilities {
    /// Reads the document.
    ///
    /// ```
    /// use libvirt_rpc::xml::DomainCapabilities;
    /// let text = "<domainCapabilities><domain>kvm</domain><devices><disk supported='yes'><enum name='bus'>\
    ///     <value>virtio</value></enum></disk></devices></domainCapabilities>";
    /// assert_eq!(DomainCapabilities::parse(text).unwrap().devices, ["disk", "disk/virtio"]);
    /// ```
    ///
    /// # Errors
    /// When the text is no such document.
    pub fn parse(text_of_document: &str) -> Result<Self, XmlError> {
        let document = document::parse(text_of_document, "domainCapabilities")?;
        let root = document.root_element();
        let mut cpu_modes = Words::default();
        for mode in find(root, &["cpu"]).into_iter().flat_map(|cpu| children(cpu, "mode")) {
            if let Some(name) = mode.attribute("name").filter(|_| is_supported(mode)) {
                cpu_modes.add_with_values(format!("mode/{name}"), mode);
            }
        }
        let mut devices = Words::default();
        for device in elements(find(root, &["devices"])).filter(|device| is_supported(*device)) {
            devices.add_with_values(device.tag_name().name().to_owned(), device);
        }
        let mut features = Words::default();
        for feature in elements(find(root, &["features"])).filter(|feature| is_supported(*feature)) {
            features.add(feature.tag_name().name().to_owned());
        }
        Ok(Self {
            emulator: text(root, &["path"]),
            domain_type: text(root, &["domain"]),
            machine: text(root, &["machine"]),
            arch: text(root, &["arch"]),
            max_vcpus: find(root, &["vcpu"]).and_then(|vcpu| vcpu.attribute("max")?.parse().ok()),
            devices: devices.in_order,
            cpu_modes: cpu_modes.in_order,
            features: features.in_order,
        })
    }
}

/// Words in the order of the document, each once: the same value can be in two enumerations of one element.
#[derive(Default)]
struct Words {
    in_order: Vec<String>,
    seen: std::collections::HashSet<String>,
}

impl Words {
    fn add(&mut self, word: String) {
        if self.seen.insert(word.clone()) {
            self.in_order.push(word);
        }
    }

    fn add_with_values(&mut self, word: String, node: Node<'_, '_>) {
        let values =
            children(node, "enum").flat_map(|list| children(list, "value")).filter_map(|value| value.text());
        let values: Vec<String> = values.map(|value| format!("{word}/{}", value.trim())).collect();
        self.add(word);
        for value in values {
            self.add(value);
        }
    }
}

fn elements<'a, 'input: 'a>(parent: Option<Node<'a, 'input>>) -> impl Iterator<Item = Node<'a, 'input>> {
    parent.into_iter().flat_map(|parent| parent.children()).filter(Node::is_element)
}

fn is_supported(node: Node<'_, '_>) -> bool {
    node.attribute("supported") == Some("yes")
}
