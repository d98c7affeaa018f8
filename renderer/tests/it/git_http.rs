//! Git over HTTP against `git http-backend`: pushes, lost races, refusals, wrong passwords, servers that do not answer.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use c5c3_renderer::{CommitOptions, Credentials, GitError, Location, Outcome, Rendered, commit};
use git2::Repository;
use serde_json::json;

use crate::fixture::{edited, rendered, sample};
use crate::git::{Bench, OVN, others_commit, provenance};

type Hook = Box<dyn Fn() + Send + Sync>;

/// A smart HTTP server on loopback over `git http-backend`, for one folder of bare repositories.
struct Server {
    url: String,
    pushes: Arc<AtomicUsize>,
}

struct Request {
    head: String,
    body: Vec<u8>,
}

impl Server {
    /// `None` where Git is not installed. `before_push` runs between the server's advertisement and its reading of a pack.
    fn start(root: PathBuf, password: Option<&'static str>, before_push: Hook) -> Option<Self> {
        if Command::new("git").arg("--exec-path").output().is_err() {
            println!("skipped: git is not installed");
            return None;
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let pushes = Arc::new(AtomicUsize::new(0));
        let (counter, hook) = (Arc::clone(&pushes), Arc::new(before_push));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (root, counter, hook) = (root.clone(), Arc::clone(&counter), Arc::clone(&hook));
                std::thread::spawn(move || serve(stream, &root, password, &counter, &hook));
            }
        });
        Some(Self { url, pushes })
    }
}

fn serve(
    mut stream: TcpStream,
    root: &Path,
    password: Option<&str>,
    pushes: &AtomicUsize,
    before_push: &Hook,
) {
    while let Some(request) = read_request(&mut stream) {
        let authorised = password.is_none_or(|password| {
            request
                .head
                .lines()
                .any(|line| line.eq_ignore_ascii_case(&format!("authorization: basic {password}")))
        });
        let reply = if authorised {
            if request.head.starts_with("POST") && request.head.contains("git-receive-pack") {
                pushes.fetch_add(1, Ordering::SeqCst);
                before_push();
            }
            backend(root, &request)
        } else {
            b"HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"git\"\r\nContent-Length: 0\r\n\r\n"
                .to_vec()
        };
        if stream.write_all(&reply).is_err() {
            return;
        }
    }
}

fn read_request(stream: &mut TcpStream) -> Option<Request> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let header = |name: &str| {
        head.lines().find_map(|line| {
            line.split_once(": ")
                .filter(|(key, _)| key.eq_ignore_ascii_case(name))
                .map(|(_, value)| value.to_owned())
        })
    };
    let mut body = Vec::new();
    if header("transfer-encoding").as_deref() == Some("chunked") {
        loop {
            let mut line = Vec::new();
            while !line.ends_with(b"\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).ok()?;
                line.push(byte[0]);
            }
            let size = usize::from_str_radix(std::str::from_utf8(&line).ok()?.trim(), 16).ok()?;
            let mut chunk = vec![0; size + 2];
            stream.read_exact(&mut chunk).ok()?;
            if size == 0 {
                break;
            }
            body.extend_from_slice(&chunk[..size]);
        }
    } else if let Some(length) = header("content-length") {
        body = vec![0; length.parse().ok()?];
        stream.read_exact(&mut body).ok()?;
    }
    Some(Request { head, body })
}

fn backend(root: &Path, request: &Request) -> Vec<u8> {
    let mut line = request.head.lines().next().unwrap().split(' ');
    let (method, target) = (line.next().unwrap(), line.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let kind = request
        .head
        .lines()
        .find_map(|line| line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case("content-type")));
    let mut child = Command::new("git")
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", method)
        .env("CONTENT_TYPE", kind.map_or("", |(_, value)| value))
        .env("CONTENT_LENGTH", request.body.len().to_string())
        .env("REMOTE_USER", "somebody")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&request.body).unwrap();
    let output = child.wait_with_output().unwrap().stdout;
    let split = output.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    let (head, body) = (std::str::from_utf8(&output[..split]).unwrap(), &output[split + 4..]);
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
    let others: String =
        head.lines().filter(|line| !line.starts_with("Status: ")).map(|line| format!("{line}\r\n")).collect();
    let mut reply =
        format!("HTTP/1.1 {status}\r\n{others}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    reply.extend_from_slice(body);
    reply
}

/// A bench whose repository accepts pushes over HTTP.
fn bench() -> Bench {
    let bench = Bench::new();
    let repository = Repository::init_bare(bench.bare()).unwrap();
    repository.config().unwrap().set_bool("http.receivepack", true).unwrap();
    bench
}

fn server(bench: &Bench, password: Option<&'static str>, before_push: Hook) -> Option<(Server, Location)> {
    let server = Server::start(bench.folder.path().to_owned(), password, before_push)?;
    let location =
        Location::parse(&format!("{}/topology.git", server.url), bench.folder.path().join("cache"));
    Some((server, location))
}

fn push(location: &Location, files: &Rendered, options: &CommitOptions) -> Result<Outcome, GitError> {
    commit(files, &provenance(), location, &Credentials::default(), options)
}

fn history(bench: &Bench) -> Vec<String> {
    let repository = bench.repository();
    let mut walk = repository.revwalk().unwrap();
    walk.push(bench.tip()).unwrap();
    let commits = walk.map(|id| repository.find_commit(id.unwrap()).unwrap());
    commits
        .inspect(|commit| assert!(commit.parent_count() < 2))
        .map(|commit| commit.message().unwrap().lines().next().unwrap().to_owned())
        .collect()
}

#[test]
fn pushes_to_an_empty_repository_then_only_what_changed_then_nothing() {
    let bench = bench();
    let Some((server, location)) = server(&bench, None, Box::new(|| {})) else {
        return;
    };
    let files = rendered(&sample());
    assert!(matches!(push(&location, &files, &CommitOptions::default()).unwrap(), Outcome::Committed { .. }));
    bench.others_commit(&[("humans/notes.yaml", Some("note"), 0o100_644)]);
    let change = rendered(&edited(&[("/spec/controlPlanes/0/physicalNetworkMtu", json!(9000))]));
    let outcome = push(&location, &change, &CommitOptions::default()).unwrap();
    assert!(
        matches!(outcome, Outcome::Committed { added: 0, changed: 1, removed: 0, lost_races: 0, .. }),
        "{outcome:?}"
    );
    assert!(matches!(
        push(&location, &change, &CommitOptions::default()).unwrap(),
        Outcome::Unchanged { .. }
    ));
    assert_eq!(
        history(&bench),
        ["Render topology first-light", "Somebody was here", "Render topology first-light"]
    );
    assert_eq!(server.pushes.load(Ordering::SeqCst), 2);
}

#[test]
fn a_lost_race_is_rendered_again_on_the_new_tip() {
    let bench = bench();
    let path = bench.bare();
    let turn = AtomicUsize::new(0);
    // The competitor edits a file of its own and deletes one of ours, after the server advertised its tip.
    let competitor: Hook = Box::new(move || {
        if turn.fetch_add(1, Ordering::SeqCst) == 1 {
            let repository = Repository::open_bare(&path).unwrap();
            others_commit(&repository, &[("humans/notes.yaml", Some("theirs"), 0o100_644), (OVN, None, 0)]);
        }
    });
    let Some((_server, location)) = server(&bench, None, competitor) else {
        return;
    };
    push(&location, &rendered(&sample()), &CommitOptions::default()).unwrap();
    let change = rendered(&edited(&[("/spec/controlPlanes/0/physicalNetworkMtu", json!(9000))]));
    let outcome = push(&location, &change, &CommitOptions::default()).unwrap();
    assert!(matches!(outcome, Outcome::Committed { lost_races: 1, .. }), "{outcome:?}");
    assert_eq!(
        history(&bench),
        ["Render topology first-light", "Somebody was here", "Render topology first-light"]
    );
    let repository = bench.repository();
    let tree = repository.find_commit(bench.tip()).unwrap().tree().unwrap();
    let text = |path: &str| {
        repository.find_blob(tree.get_path(Path::new(path)).unwrap().id()).unwrap().content().to_vec()
    };
    assert_eq!(text("humans/notes.yaml"), b"theirs");
    assert_eq!(text(OVN), change.files[OVN].text.as_bytes());
}

#[test]
fn a_race_lost_every_time_ends_after_the_attempts() {
    let bench = bench();
    let path = bench.bare();
    let turn = AtomicUsize::new(0);
    let competitor: Hook = Box::new(move || {
        let name = format!("humans/{}.txt", turn.fetch_add(1, Ordering::SeqCst));
        let repository = Repository::open_bare(&path).unwrap();
        others_commit(&repository, &[(name.as_str(), Some("x"), 0o100_644)]);
    });
    let Some((server, location)) = server(&bench, None, competitor) else {
        return;
    };
    let options = CommitOptions { attempts: 3, ..CommitOptions::default() };
    let error = push(&location, &rendered(&sample()), &options).unwrap_err();
    assert!(matches!(error, GitError::Contended { attempts: 3, .. }), "{error}");
    assert_eq!(server.pushes.load(Ordering::SeqCst), 3);
}

#[test]
fn a_refused_branch_is_an_error_with_its_name_and_the_reason() {
    let bench = bench();
    let hook = bench.bare().join("hooks/update");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\necho branch is protected >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let tip = bench.others_commit(&[("README.md", Some("x"), 0o100_644)]);
    let Some((server, location)) = server(&bench, None, Box::new(|| {})) else {
        return;
    };
    let error = push(&location, &rendered(&sample()), &CommitOptions::default()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, GitError::Refused { .. }), "{text}");
    assert!(text.contains("refs/heads/main was refused") && text.contains("hook declined"), "{text}");
    assert!(text.contains("branch is protected"), "{text}");
    assert_eq!((bench.tip(), server.pushes.load(Ordering::SeqCst)), (tip, 1), "a refusal is not tried again");
}

#[test]
fn a_wrong_password_fails_at_once_and_the_right_one_works() {
    let bench = bench();
    // somebody:right
    let Some((_server, location)) = server(&bench, Some("c29tZWJvZHk6cmlnaHQ="), Box::new(|| {})) else {
        return;
    };
    let file = bench.folder.path().join("password");
    std::fs::write(&file, "wrong\n").unwrap();
    let credentials = Credentials {
        username: Some("somebody".to_owned()),
        password_file: Some(file.clone()),
        ssh_key_file: None,
    };
    let files = rendered(&sample());
    let started = Instant::now();
    for who in [&credentials, &Credentials::default()] {
        let error = commit(&files, &provenance(), &location, who, &CommitOptions::default()).unwrap_err();
        assert!(matches!(error, GitError::Credentials { .. }), "{error:?}");
        assert!(!format!("{error:?}").contains("wrong"), "{error:?}");
    }
    assert!(started.elapsed() < Duration::from_secs(5));
    std::fs::write(&file, "right\n").unwrap();
    commit(&files, &provenance(), &location, &credentials, &CommitOptions::default()).unwrap();
}

#[test]
fn a_server_that_never_answers_ends_at_the_deadline() {
    let bench = bench();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/topology.git", listener.local_addr().unwrap());
    let location = Location::parse(&url, bench.folder.path().join("cache"));
    let options = CommitOptions { deadline: Duration::from_millis(300), ..CommitOptions::default() };
    let error = push(&location, &rendered(&sample()), &options).unwrap_err();
    assert!(matches!(error, GitError::Deadline { .. }), "{error}");
    drop(listener);
}

#[test]
fn a_file_address_is_pushed_to_as_well() {
    let bench = bench();
    let location =
        Location::parse(&format!("file://{}", bench.bare().display()), bench.folder.path().join("cache"));
    let files = rendered(&sample());
    assert!(matches!(push(&location, &files, &CommitOptions::default()).unwrap(), Outcome::Committed { .. }));
    assert!(matches!(push(&location, &files, &CommitOptions::default()).unwrap(), Outcome::Unchanged { .. }));
}
