//! One row of the table.

use std::time::{Duration, Instant};

use futures::future::BoxFuture;

use crate::Arguments;
use crate::client::Target;
use crate::objects;
use crate::process;
use crate::watchers::Watchers;

pub(crate) const LIST: &str = "/apis/hypervisor.c5c3.io/v1/hypervisors";

pub(crate) const HEADING: &str = "\
| server | LIST p50 / p99 | LIST size | LIST gzip p50 / p99 | GET p50 / p99 | watchers × changes/s | delivered | processor while fed | change → watcher p50 / p99 | memory empty / full / after |
|---|---|---|---|---|---|---|---|---|---|";

/// What is measured.
pub(crate) trait Server {
    fn target(&self) -> &Target;
    /// Processes whose processor time counts, with what they are called.
    fn processes(&self) -> Vec<(&'static str, u32)>;
    /// Resident memory before the objects were there, in MiB.
    fn empty(&self) -> f64;
    /// Makes that many changes a second for some seconds; returns how many were made.
    fn change(&self, rate: u32, seconds: u32) -> BoxFuture<'_, usize>;
}

pub(crate) async fn row(name: &str, arguments: &Arguments, server: &impl Server) -> String {
    let connection = server.target().connect().await;
    let warm = connection.get(LIST, &[]).await;
    let full = process::memory(server.processes()[0].1);
    let mut plain = Vec::new();
    for _ in 0..arguments.lists {
        let start = Instant::now();
        assert!(connection.get(LIST, &[]).await.len() >= warm.len() - 100);
        plain.push(start.elapsed());
    }
    let mut packed = Vec::new();
    for _ in 0..arguments.lists.div_ceil(2) {
        let start = Instant::now();
        connection.get(LIST, &[("accept-encoding", "gzip")]).await;
        packed.push(start.elapsed());
    }
    let mut gets = Vec::new();
    for number in 0..arguments.gets {
        let path = format!("{LIST}/{}", objects::name(number * 7 % arguments.objects));
        let start = Instant::now();
        connection.get(&path, &[]).await;
        gets.push(start.elapsed());
    }
    let fed = fed(arguments, server).await;
    format!(
        "| {name} | {} | {:.1} MiB | {} | {} | {} × {} | {} | {} | {} | {:.0} / {full:.0} / {:.0} MiB |",
        both(&mut plain),
        warm.len() as f64 / f64::from(1 << 20),
        both(&mut packed),
        both(&mut gets),
        arguments.watchers,
        arguments.rate,
        fed.delivered,
        fed.processor,
        fed.latency,
        server.empty(),
        process::memory(server.processes()[0].1),
    )
}

struct Fed {
    delivered: String,
    processor: String,
    latency: String,
}

async fn fed(arguments: &Arguments, server: &impl Server) -> Fed {
    let watchers = Watchers::open(server.target(), arguments.watchers).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    watchers.forget();
    let processes = server.processes();
    let before: Vec<_> = processes.iter().map(|(_, pid)| process::processor(*pid)).collect();
    let start = Instant::now();
    let changes = server.change(arguments.rate, arguments.seconds).await;
    let wanted = changes * arguments.watchers;
    // Whoever cannot keep up is given as long again as the changes took.
    let patience = start.elapsed() * 2;
    while watchers.events() < wanted && start.elapsed() < patience {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let took = start.elapsed();
    let used = processes.iter().zip(before).map(|((name, pid), before)| {
        let used = process::processor(*pid) - before;
        let share = used.as_secs_f64() / took.as_secs_f64() * 100.0;
        let each = used.as_secs_f64() * 1e6 / watchers.events().max(1) as f64;
        format!("{name} {:.1} s = {share:.0} % of one core, {each:.2} µs an event", used.as_secs_f64())
    });
    let processor = used.collect::<Vec<_>>().join("; ");
    let delivered = format!(
        "{} of {wanted} events in {:.1} s, {} watches ended early",
        watchers.events(),
        took.as_secs_f64(),
        watchers.ended()
    );
    Fed { delivered, processor, latency: both(&mut watchers.latencies()) }
}

/// Median and 99th percentile.
fn both(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share).round() as usize].as_secs_f64() * 1e3;
    if times.is_empty() {
        return "none".to_owned();
    }
    format!("{:.2} / {:.2} ms", at(0.5), at(0.99))
}
