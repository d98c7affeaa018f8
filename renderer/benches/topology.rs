//! How long a topology of 50 clusters and 5,000 hosts takes from text to commit, and how much memory; beside `kubectl kustomize` on the same tree.
//!
//! `cargo bench -p c5c3-renderer`. kubectl is taken from `C5C3_RIG_KUBECTL` or the path; without one that line is left out.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use c5c3_renderer::{
    CommitOptions, Credentials, Location, Outcome, Provenance, Source, Templates, commit, load, plan, render,
    validate, verify,
};

const CONTROL_PLANES: usize = 10;
const COMPUTE_CLUSTERS: usize = 3;
const HYPERVISORS: usize = 150;
const GATEWAYS: usize = 50;
const RUNS: u32 = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("c5c3-bench-{}", std::process::id()));
    let repository = folder.join("topology.git");
    let text = topology();
    let mut runs = Vec::new();
    let mut tree = None;
    let before = processor_time()?.0;
    for _ in 0..RUNS {
        let _absent_at_first = std::fs::remove_dir_all(&repository);
        let (times, rendered) = run(&text, &repository)?;
        runs.push(times);
        tree = Some(rendered);
    }
    let tree = tree.ok_or("no run")?;
    // Each run renders, verifies and compares twice.
    let one_run = (processor_time()?.0 - before) / (2 * RUNS);
    println!("{} files, {} bytes of topology", tree.files.len(), text.len());
    println!("| step | median of 5 | best |\n|---|---|---|");
    let names = ["load", "validate", "plan", "render", "verify", "commit", "all of it", "again, unchanged"];
    for (index, name) in names.iter().enumerate() {
        let mut times: Vec<Duration> = runs.iter().filter_map(|run| run.get(index).copied()).collect();
        times.sort_unstable();
        let (median, best) = (times.get(times.len() / 2).copied(), times.first().copied());
        println!("| {name} | {:.0?} | {:.0?} |", median.unwrap_or_default(), best.unwrap_or_default());
    }
    println!("| processor time of one run | {one_run:.0?} | |");
    println!("| peak memory of the process | {} MiB | |", peak_memory()? / 1024);

    let out = folder.join("tree");
    for (path, file) in &tree.files {
        let path = out.join(path);
        std::fs::create_dir_all(path.parent().ok_or("a path without folder")?)?;
        std::fs::write(path, &file.text)?;
    }
    kustomize(&out, &tree)?;
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

fn run(
    text: &str,
    repository: &Path,
) -> Result<(Vec<Duration>, c5c3_renderer::Rendered), Box<dyn std::error::Error>> {
    let mut times = Vec::new();
    let begin = Instant::now();
    let mut lap = Instant::now();
    let mut took = |times: &mut Vec<Duration>| {
        times.push(lap.elapsed());
        lap = Instant::now();
    };
    let loaded = load(&[Source::new("topology.yaml", text)])?;
    took(&mut times);
    let resolved = validate(&loaded)?;
    took(&mut times);
    let plan = plan(&resolved);
    took(&mut times);
    let templates = Templates::built_in()?;
    let rendered = render(&plan, &templates)?;
    took(&mut times);
    verify(&plan, &rendered, &templates, None)?;
    took(&mut times);
    let location = Location::Directory(repository.to_owned());
    let provenance = Provenance::of(&loaded.topology);
    let options = CommitOptions::default();
    let outcome = commit(&rendered, &provenance, &location, &Credentials::default(), &options)?;
    took(&mut times);
    times.push(begin.elapsed());
    if !matches!(outcome, Outcome::Committed { .. }) {
        return Err("the first commit changed nothing".into());
    }
    let begin = Instant::now();
    let loaded = load(&[Source::new("topology.yaml", text)])?;
    let plan = c5c3_renderer::plan(&validate(&loaded)?);
    let again = render(&plan, &templates)?;
    verify(&plan, &again, &templates, None)?;
    let outcome = commit(&again, &provenance, &location, &Credentials::default(), &options)?;
    times.push(begin.elapsed());
    if !matches!(outcome, Outcome::Unchanged { .. }) {
        return Err("the second commit changed something".into());
    }
    Ok((times, rendered))
}

/// `VmHWM` of this process, in KiB.
fn peak_memory() -> Result<u64, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

/// Processor time of this process and of its children that have ended, in ticks of a hundredth of a second.
fn processor_time() -> Result<(Duration, Duration), Box<dyn std::error::Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let (_, fields) = stat.rsplit_once(')').ok_or("no stat")?;
    let ticks: Vec<u64> =
        fields.split_whitespace().skip(11).take(4).filter_map(|field| field.parse().ok()).collect();
    let sum = |range: std::ops::Range<usize>| ticks.get(range).unwrap_or_default().iter().sum::<u64>();
    Ok((Duration::from_millis(10 * sum(0..2)), Duration::from_millis(10 * sum(2..4))))
}

/// What a user would run to see the same objects: one build per folder with a list.
fn kustomize(out: &Path, tree: &c5c3_renderer::Rendered) -> Result<(), Box<dyn std::error::Error>> {
    let kubectl = std::env::var("C5C3_RIG_KUBECTL").unwrap_or_else(|_| "kubectl".to_owned());
    let folders: Vec<&str> =
        tree.files.keys().filter_map(|path| path.strip_suffix("/kustomization.yaml")).collect();
    let begin = Instant::now();
    for folder in &folders {
        let built =
            Command::new(&kubectl).arg("kustomize").arg(out.join(folder)).stdout(Stdio::null()).status();
        match built {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(format!("kubectl kustomize {folder}: {status}").into()),
            Err(error) => {
                println!("no kubectl to compare with: {error}");
                return Ok(());
            }
        }
    }
    println!(
        "| `kubectl kustomize`, {} folders, one after the other | {:.0?} | |",
        folders.len(),
        begin.elapsed()
    );
    Ok(())
}

fn topology() -> String {
    let mut text = String::from(
        "apiVersion: topology.c5c3.io/v1alpha1\nkind: Topology\nmetadata: {name: bench}\nspec:\n  controlPlanes:\n",
    );
    for plane in 0..CONTROL_PLANES {
        let port = 30_000 + plane * 40;
        let _infallible = write!(
            text,
            "    - name: cp-{plane}\n      release: \"2025.2\"\n      domain: c{plane}.example.org\n      ovn: {{northbound: {{nodePortBase: {port}}}, southbound: {{nodePortBase: {}}}}}\n      \
             volumes: {{nfs: [{{name: nfs, server: nfs.example.org, path: /v}}]}}\n      network:\n        - name: network-{plane}\n          \
             chassis: {{bridgeMappings: [{{physicalNetwork: physnet1, bridge: br-ex}}]}}\n          hosts:\n",
            port + 10
        );
        for host in 0..GATEWAYS {
            let _infallible = writeln!(text, "            - name: gw-{plane}-{host}");
        }
        let _infallible = write!(
            text,
            "      storage:\n        - name: storage-{plane}\n          monitors: [192.0.2.11]\n          networks: [192.0.2.0/24]\n      compute:\n"
        );
        for cluster in 0..COMPUTE_CLUSTERS {
            let _infallible = write!(
                text,
                "        - name: compute-{plane}-{cluster}\n          libvirt: {{image: \"registry.example.org/libvirt:1\"}}\n          pools:\n            - name: pool1\n              \
                 availabilityZone: zone-{plane}\n              hosts:\n"
            );
            for host in 0..HYPERVISORS {
                let _infallible = writeln!(text, "                - name: host-{plane}-{cluster}-{host}");
            }
        }
    }
    text
}
