//! `<domain>`: how large a domain is and which NUMA cells it uses.

use roxmltree::Node;

use super::XmlError;
use super::document::{self, children, element_memory_kib, find, memory_kib, number, text};

/// Most ranges read from a set of numbers; longer ones are nothing a host has.
const RANGES_MAX: usize = 4096;
/// Highest cell that is read from a set of numbers.
const CELL_MAX: u64 = 4095;

/// The part of a domain document that tells what it takes from the host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct DomainXml {
    /// Name.
    pub name: Option<String>,
    /// UUID as written.
    pub uuid: Option<String>,
    /// Virtualization type: `kvm`, `qemu` …
    pub domain_type: Option<String>,
    /// Most memory in KiB.
    pub memory_kib: Option<u64>,
    /// Memory now in KiB; the most where the document does not tell.
    pub current_memory_kib: Option<u64>,
    /// Virtual CPUs: those that are on, where the document tells them apart.
    pub vcpus: Option<u64>,
    /// Virtual CPUs that are pinned to CPUs of the host.
    pub pinned_vcpus: u64,
    /// NUMA cells of the guest.
    pub guest_cells: Vec<GuestCell>,
    /// NUMA cells of the host that its memory is bound to, ascending; empty where it is not bound.
    pub host_cells: Vec<u64>,
}

/// A NUMA cell that the guest sees.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuestCell {
    /// Number of the cell in the guest.
    pub id: u64,
    /// Memory in KiB.
    pub memory_kib: Option<u64>,
    /// Cells of the host that its memory is bound to.
    pub host_cells: Vec<u64>,
}

impl DomainXml {
    /// Reads the document.
    ///
    /// ```
    /// use libvirt_rpc::xml::DomainXml;
    /// let domain = DomainXml::parse("<domain><memory unit='MiB'>64</memory><vcpu current='2'>8</vcpu></domain>").unwrap();
    /// assert_eq!((domain.memory_kib, domain.vcpus), (Some(65536), Some(2)));
    /// ```
    ///
    /// # Errors
    /// When the text is no such document.
    pub fn parse(text_of_document: &str) -> Result<Self, XmlError> {
        let document = document::parse(text_of_document, "domain")?;
        let root = document.root_element();
        let memory_kib = find(root, &["memory"]).and_then(element_memory_kib);
        let host_cells = find(root, &["numatune", "memory"]).map(nodeset).unwrap_or_default();
        let guest_cells = find(root, &["cpu", "numa"]);
        Ok(Self {
            name: text(root, &["name"]),
            uuid: text(root, &["uuid"]),
            domain_type: root.attribute("type").map(str::to_owned),
            memory_kib,
            current_memory_kib: find(root, &["currentMemory"]).and_then(element_memory_kib).or(memory_kib),
            vcpus: find(root, &["vcpu"]).and_then(vcpus),
            pinned_vcpus: find(root, &["cputune"]).map_or(0, |tune| children(tune, "vcpupin").count() as u64),
            guest_cells: guest_cells
                .map(|cells| children(cells, "cell").filter_map(|cell| guest_cell(root, cell)).collect())
                .unwrap_or_default(),
            host_cells,
        })
    }
}

fn vcpus(node: Node<'_, '_>) -> Option<u64> {
    match node.attribute("current") {
        Some(current) => current.parse().ok(),
        None => number(node),
    }
}

fn guest_cell(root: Node<'_, '_>, node: Node<'_, '_>) -> Option<GuestCell> {
    let id = node.attribute("id")?;
    let memory = node.attribute("memory").and_then(|memory| memory.parse().ok());
    let tune = find(root, &["numatune"]);
    let bound =
        tune.and_then(|tune| children(tune, "memnode").find(|bound| bound.attribute("cellid") == Some(id)));
    Some(GuestCell {
        id: id.parse().ok()?,
        memory_kib: memory.and_then(|memory| memory_kib(memory, node.attribute("unit"))),
        host_cells: bound.map(nodeset).unwrap_or_default(),
    })
}

fn nodeset(node: Node<'_, '_>) -> Vec<u64> {
    node.attribute("nodeset").map(number_set).unwrap_or_default()
}

/// `0-3,^2,8` as numbers; parts that make no sense count for nothing.
fn number_set(text: &str) -> Vec<u64> {
    let mut numbers = std::collections::BTreeSet::new();
    for part in text.split(',').take(RANGES_MAX) {
        let (exclude, part) = match part.trim().strip_prefix('^') {
            Some(part) => (true, part),
            None => (false, part.trim()),
        };
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Ok(first), Ok(last)) = (first.parse::<u64>(), last.parse::<u64>()) else { continue };
        for number in first..=last.min(CELL_MAX) {
            if exclude {
                numbers.remove(&number);
            } else {
                numbers.insert(number);
            }
        }
    }
    numbers.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_numbers_are_read_as_libvirt_writes_them() {
        assert_eq!(number_set("0-3,^2,8"), [0, 1, 3, 8]);
        assert_eq!(number_set("1"), [1]);
        assert_eq!(number_set(""), [0_u64; 0]);
        assert_eq!(number_set("0-18446744073709551615").len(), 4096);
        assert_eq!(number_set("b,7-"), [0_u64; 0]);
    }

    #[test]
    fn guest_cells_are_joined_with_their_place_on_the_host() {
        let text = "<domain type='kvm'><memory>2048</memory><vcpu>4</vcpu>\
            <cputune><vcpupin vcpu='0' cpuset='1'/><vcpupin vcpu='1' cpuset='2'/></cputune>\
            <numatune><memory mode='strict' nodeset='0-1'/><memnode cellid='1' mode='strict' nodeset='1'/></numatune>\
            <cpu><numa><cell id='0' cpus='0-1' memory='1' unit='MiB'/><cell id='1' memory='1024'/></numa></cpu></domain>";
        let domain = DomainXml::parse(text).unwrap();
        assert_eq!((domain.vcpus, domain.pinned_vcpus, domain.current_memory_kib), (Some(4), 2, Some(2048)));
        assert_eq!(domain.host_cells, [0, 1]);
        let cells: Vec<_> =
            domain.guest_cells.iter().map(|cell| (cell.id, cell.memory_kib, &*cell.host_cells)).collect();
        assert_eq!(cells, [(0, Some(1024), &[][..]), (1, Some(1024), &[1][..])]);
    }
}
