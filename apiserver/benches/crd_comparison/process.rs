//! Memory and processor time of a process, from /proc.

use std::time::Duration;

/// Kernel ticks per second of `/proc/PID/stat`, the same on every Linux that we build for.
const TICKS_PER_SECOND: f64 = 100.0;

/// Resident memory in MiB.
pub(crate) fn memory(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    resident.split_whitespace().next().unwrap().parse::<f64>().unwrap() / 1024.0
}

/// Processor time used so far.
pub(crate) fn processor(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    // The name, in parentheses, may hold anything; user and system time are the 12th and 13th field after it.
    let fields = stat.rsplit_once(')').unwrap().1.split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).map(|field| field.parse::<f64>().unwrap()).sum();
    Duration::from_secs_f64(ticks / TICKS_PER_SECOND)
}
