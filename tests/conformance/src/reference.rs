//! Writes down which rule is proven by which test: `docs/reference/conformance.md`.
//!
//! The rules are in `rules.yaml`; a line `covers: C1 R2` in a comment above a test, in whichever crate, says which of them it proves. A rule without a
//! proof is listed as such, and a mark that names no rule is an error.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde::Deserialize;

/// Where tests are.
const ROOMS: [&str; 5] = ["api", "apiserver", "crates", "renderer", "tests"];

/// What begins the list of rules in a comment. In two parts, so that this line is no mark.
const MARK: &str = concat!("covers", ": ");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    parts: Vec<Part>,
    clients: Vec<Client>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    title: String,
    rules: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    says: String,
    #[serde(default)]
    note: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Client {
    name: String,
    version: Version,
    exercises: String,
}

/// Where a version stands: in the first line of a file that has these words, directly after them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Version {
    file: PathBuf,
    after: String,
}

/// A test that proves something.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Proof {
    file: String,
    test: String,
}

/// The page, from the rules and from all tests of a tree.
///
/// # Errors
/// When something cannot be read, or a mark names a rule that there is not.
pub fn page(root: &Path) -> Result<String> {
    let file = root.join("tests/conformance/rules.yaml");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let rules: Rules = serde_saphyr::from_str(&text).with_context(|| file.display().to_string())?;
    let proofs = proofs(root)?;
    let known: Vec<&str> =
        rules.parts.iter().flat_map(|part| &part.rules).map(|rule| rule.id.as_str()).collect();
    for (id, found) in &proofs {
        ensure!(known.contains(&id.as_str()), "{id} is no rule, but {found:?} prove it");
    }
    let proven = known.iter().filter(|id| proofs.contains_key(**id)).count();
    let mut page = format!(
        "# Conformance

<!-- Generated from tests/conformance/rules.yaml and the marks above tests; change those, then: UPDATE_REFERENCE=1 cargo test -p c5c3-conformance --lib -->

What the clients of a cluster need from an aggregated API server, and the test that proves it here: {proven} of {all} rules. Tests in
`tests/conformance` run real clients against two replicas behind a real kube-apiserver, while replicas are killed and replaced (`make
test-conformance`); those in `crates` need nothing but this folder (`make test-unit`).

## Clients

| Client | Version | What it does in these tests |
|---|---|---|
",
        all = known.len(),
    );
    for client in &rules.clients {
        let version = version(root, &client.version).with_context(|| client.name.clone())?;
        writeln!(page, "| {} | {version} | {} |", client.name, client.exercises)?;
    }
    for part in &rules.parts {
        write!(page, "\n## {}\n\n| | Rule | Proven by |\n|---|---|---|\n", part.title)?;
        for rule in &part.rules {
            let mut shown: Vec<String> =
                proofs.get(&rule.id).into_iter().flatten().map(Proof::link).collect();
            if shown.is_empty() && rule.note.is_none() {
                shown.push("**no test yet**".to_owned());
            }
            shown.extend(rule.note.clone());
            writeln!(page, "| {} | {} | {} |", rule.id, rule.says, shown.join("<br>"))?;
        }
    }
    Ok(page)
}

impl Proof {
    fn link(&self) -> String {
        // Words may break a long name.
        format!("[{}](../../{})", self.test.trim_start_matches("Test").replace('_', " "), self.file)
    }
}

/// Proofs by rule.
fn proofs(root: &Path) -> Result<BTreeMap<String, Vec<Proof>>> {
    let mut files = Vec::new();
    for room in ROOMS {
        sources(&root.join(room), &mut files)?;
    }
    let mut found: BTreeMap<String, Vec<Proof>> = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let name = file.strip_prefix(root)?.to_string_lossy().into_owned();
        for (ids, test) in marks(&text).with_context(|| name.clone())? {
            for id in ids {
                found.entry(id).or_default().push(Proof { file: name.clone(), test: test.clone() });
            }
        }
    }
    for proofs in found.values_mut() {
        proofs.sort();
        proofs.dedup();
    }
    Ok(found)
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            sources(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "go") {
            found.push(path);
        }
    }
    Ok(())
}

/// The marks of a source file: rules, and the name of the test that follows.
fn marks(text: &str) -> Result<Vec<(Vec<String>, String)>> {
    let mut marks = Vec::new();
    let mut open: Option<Vec<String>> = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(comment) = line.strip_prefix("//") {
            if let Some(list) = comment.trim_start_matches(['/', '!', ' ']).strip_prefix(MARK) {
                let ids = list.split([' ', ',']).filter(|id| !id.is_empty()).map(str::to_owned);
                open.get_or_insert_default().extend(ids);
            }
        } else if let Some(test) = test_name(line)
            && let Some(ids) = open.take()
        {
            marks.push((ids, test.to_owned()));
        }
    }
    match open {
        None => Ok(marks),
        Some(ids) => bail!("no test follows the mark of {ids:?}"),
    }
}

/// The name of the function that a line begins.
fn test_name(line: &str) -> Option<&str> {
    let words = line.trim_start_matches("pub(crate) ").trim_start_matches("async ");
    let rest = words.strip_prefix("fn ").or_else(|| words.strip_prefix("func "))?;
    rest.split(['(', '<']).next()
}

fn version(root: &Path, version: &Version) -> Result<String> {
    let text =
        fs::read_to_string(root.join(&version.file)).with_context(|| version.file.display().to_string())?;
    let found = text.lines().find_map(|line| line.split_once(&version.after).map(|(_, rest)| rest));
    let found = found.with_context(|| format!("`{}` is not in {}", version.after, version.file.display()))?;
    Ok(found.split(['"', ' ', '\'']).next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_what_is_generated() {
        // Cargo sets it when it runs a test, too.
        let crate_ = std::env::var("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").to_owned());
        let root = Path::new(&crate_).join("../..").canonicalize().unwrap();
        let file = root.join("docs/reference/conformance.md");
        let page = page(&root).unwrap();
        if std::env::var_os("UPDATE_REFERENCE").is_some() {
            fs::write(&file, page).unwrap();
            return;
        }
        let committed = fs::read_to_string(&file).unwrap_or_default();
        if let Some((line, (old, new))) =
            committed.lines().zip(page.lines()).enumerate().find(|(_, (old, new))| old != new)
        {
            panic!(
                "docs/reference/conformance.md:{}: is\n{old}\nand shall be\n{new}\nrun UPDATE_REFERENCE=1 cargo test -p c5c3-conformance --lib",
                line + 1
            );
        }
        assert_eq!(committed, page);
    }

    #[test]
    fn marks_belong_to_the_test_that_follows() {
        let text = format!(
            "/// Words.\n///\n/// {MARK}C1 R2\n#[test]\nfn one() {{}}\nfn two() {{}}\n// {MARK}L1\nfunc TestThree(t) {{\n"
        );
        let found = marks(&text).unwrap();
        let expected = [
            (vec!["C1".to_owned(), "R2".to_owned()], "one".to_owned()),
            (vec!["L1".to_owned()], "TestThree".to_owned()),
        ];
        assert_eq!(found, expected);
        assert!(marks(&format!("// {MARK}C1\n")).is_err());
    }
}
