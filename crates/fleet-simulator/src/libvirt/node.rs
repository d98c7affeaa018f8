//! Free memory and work of the host itself: what its active domains take is not free, and they are all that works.

use libvirt_rpc::wire::{List, encode};

use super::domain_calls::cpu_time_ns;
use super::failure::Failure;
use super::host_calls::read;
use crate::model::Host;

/// Size of the pages that are counted, in KiB; there are no huge ones.
const PAGE_KIB: u64 = 4;

/// Answers `node_get_free_memory`, in bytes.
pub(super) fn free_memory(host: &Host) -> u64 {
    cells(host).into_iter().sum::<u64>() * 1024
}

/// Answers `node_get_cells_free_memory`.
pub(super) fn cells_free_memory(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (first, count): (i32, i32) = read(arguments)?;
    let (Ok(first), Ok(count)) = (usize::try_from(first), usize::try_from(count)) else {
        return Err(out_of_range());
    };
    let cells = cells(host);
    if first >= cells.len() {
        return Err(out_of_range());
    }
    let free = cells.into_iter().skip(first).take(count).map(|kib| kib * 1024);
    Ok(encode(&List::<u64, 1024>(free.collect())))
}

/// Answers `node_get_free_pages`.
pub(super) fn free_pages(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (List(sizes), first, count, _flags): (List<u32, 1024>, i32, u32, u32) = read(arguments)?;
    let first = usize::try_from(first).map_err(|_| out_of_range())?;
    if sizes.iter().any(|size| u64::from(*size) != PAGE_KIB) {
        return Err(Failure::InvalidArgument("page size is not available on this host".to_owned()));
    }
    let free = cells(host).into_iter().skip(first).take(count as usize);
    let free = free.flat_map(|kib| sizes.iter().map(move |_| kib / PAGE_KIB));
    Ok(encode(&List::<u64, 1024>(free.collect())))
}

/// Answers `node_get_cpu_stats`.
pub(super) fn cpu_stats(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (_cpu, wanted, _flags): (i32, i32, u32) = read(arguments)?;
    let user: u64 = host.read(|state| state.domains.values().map(cpu_time_ns).sum());
    Ok(named(
        wanted,
        [("kernel", user / 10), ("user", user), ("idle", user.saturating_mul(9)), ("iowait", 0)],
    ))
}

/// Answers `node_get_memory_stats`.
pub(super) fn memory_stats(host: &Host, arguments: &[u8]) -> Result<Vec<u8>, Failure> {
    let (wanted, cell, _flags): (i32, i32, u32) = read(arguments)?;
    let cells = cells(host);
    let spread = u64::try_from(cells.len()).unwrap_or(1).max(1);
    let total = host.read(|state| state.hardware.memory_kib);
    let (total, free) = match usize::try_from(cell) {
        Err(_) => (total, cells.iter().sum()),
        Ok(cell) => (total / spread, *cells.get(cell).ok_or_else(out_of_range)?),
    };
    Ok(named(wanted, [("total", total), ("free", free), ("buffers", 0), ("cached", 0)]))
}

/// Asked for none, a daemon says how many there are; asked for some, it gives them and does not count.
fn named(wanted: i32, stats: [(&str, u64); 4]) -> Vec<u8> {
    let stats = stats.map(|(name, value)| (name.to_owned(), value));
    let (told, count) = if wanted == 0 { (Vec::new(), 4) } else { (stats.to_vec(), 0) };
    encode(&(List::<(String, u64), 16>(told), count))
}

/// Free memory of each NUMA cell in KiB, as if every domain took its share of each.
fn cells(host: &Host) -> Vec<u64> {
    host.read(|state| {
        let active = state.domains.values().filter(|domain| domain.state.is_active());
        let used: u64 = active.map(|domain| domain.memory_kib).sum();
        let count = state.hardware.numa_cells.max(1);
        let each = state.hardware.memory_kib.saturating_sub(used) / u64::from(count);
        vec![each; count as usize]
    })
}

fn out_of_range() -> Failure {
    Failure::InvalidArgument("start cell is out of range".to_owned())
}
