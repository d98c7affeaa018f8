//! The catalogue: every identifier that a finding can carry, with its reason and its cure, whichever step reports it.

use crate::git::HISTORY_RULES;

/// The step that checks a rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// While files are read.
    Load,
    /// While the topology is validated.
    Validate,
    /// While rendered files are verified.
    Verify,
    /// While they are compared with what is in Git.
    Compare,
}

impl Stage {
    /// In words, for a reader.
    #[must_use]
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Load => "when the files are read",
            Self::Validate => "by `validate`, and before everything else",
            Self::Verify => "on what was rendered, before it is committed",
            Self::Compare => "by `diff` and `commit`, against what is in Git",
        }
    }
}

/// One entry.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Identifier.
    pub id: &'static str,
    /// Which step checks it.
    pub stage: Stage,
    /// What must hold.
    pub summary: &'static str,
    /// What would go wrong otherwise.
    pub why: &'static str,
    /// What to do about it.
    pub mend: &'static str,
}

const fn load(id: &'static str, summary: &'static str, why: &'static str, mend: &'static str) -> Entry {
    Entry { id, stage: Stage::Load, summary, why, mend }
}

const fn verify(id: &'static str, summary: &'static str, why: &'static str, mend: &'static str) -> Entry {
    Entry { id, stage: Stage::Verify, summary, why, mend }
}

const UNREAD: &str = "What cannot be read cannot be checked.";
const IGNORED: &str = "A field that is ignored is a wish that nobody hears.";

const LOAD: &[Entry] = &[
    load(
        "file-readable",
        "A file that is named can be read and is UTF-8.",
        UNREAD,
        "Check path, rights and encoding.",
    ),
    load(
        "yaml-syntax",
        "A file is YAML, and no deeper than a topology can be.",
        UNREAD,
        "Look at the line and column; most often it is the indentation.",
    ),
    load(
        "document-present",
        "There is a topology document.",
        "An empty file would render an empty cloud.",
        "Start with `apiVersion: topology.c5c3.io/v1alpha1`.",
    ),
    load(
        "document-merge",
        "Documents of one topology do not contradict one another.",
        "Which of two values was meant, nobody can know.",
        "Say everything but lists in one place.",
    ),
    load(
        "field-unknown",
        "A field is one that the document has.",
        IGNORED,
        "Take the name that the hint gives; `explain` lists the fields.",
    ),
    load(
        "field-missing",
        "Required fields are there.",
        "There is no convention that could fill them.",
        "Add the field.",
    ),
    load(
        "field-type",
        "A value has the type of its field.",
        "YAML makes numbers and booleans of unquoted text.",
        "Put text into double quotes.",
    ),
    load("field-enum", "A value is one of those listed.", IGNORED, "Take one of the listed values."),
    load(
        "field-bound",
        "A number or length is within its bounds.",
        IGNORED,
        "Compare with the bound in the message.",
    ),
];

const OWN: &str = "Change your template; the built-in ones are in `renderer/templates`.";

const VERIFY: &[Entry] = &[
    verify(
        "file-document",
        "A rendered file is one YAML document with plain line ends.",
        "A value that ends a document could begin another one.",
        OWN,
    ),
    verify(
        "file-planned",
        "A rendered file holds what was planned, a user's template at most more.",
        "A template that drops or changes a field decides the topology.",
        OWN,
    ),
    verify(
        "file-path",
        "Paths are plain on every machine.",
        "A path may lead out of the repository, or be another one on another file system.",
        "Rename the cluster or object that the path comes from.",
    ),
    verify(
        "file-listed",
        "Each file is listed once in its folder, and each list names files that exist.",
        "Flux applies only what is listed.",
        OWN,
    ),
    verify(
        "object-unique",
        "An object is in one file.",
        "Two files for one object overwrite one another in turns.",
        "Rename one of the two.",
    ),
    verify(
        "flux-substitution",
        "Text that Flux would take for a variable is kept from it.",
        "An unset variable becomes empty text, without a word.",
        OWN,
    ),
    verify(
        "runtime-field",
        "No file holds what only a running cluster writes.",
        "Flux would fight with whoever writes it.",
        OWN,
    ),
    verify(
        "flux-path",
        "A Flux Kustomization has a folder of its own, on the cluster that it is for.",
        "It would apply to the wrong cluster, or nothing.",
        OWN,
    ),
    verify(
        "depends-on",
        "What is waited for exists, and nothing waits for itself.",
        "A circle stops every Kustomization of the source.",
        "Follow the names in the message.",
    ),
    verify(
        "flux-name-length",
        "Names fit where Flux and Helm use them.",
        "They become labels and names of releases, which are refused when too long.",
        "Shorten the name of the cluster or control plane.",
    ),
    verify(
        "health-check",
        "A health check names an object of its own layer.",
        "One of another layer is never found, and the layer never becomes ready.",
        OWN,
    ),
    verify("reference", "What an object refers to is there.", "The operator would wait for it forever.", OWN),
    verify(
        "reference-order",
        "An object comes after what it refers to.",
        "It would be applied too early, and fail until it is not.",
        OWN,
    ),
    verify(
        "registration",
        "A cluster that is named is registered for the namespace that needs it.",
        "Operators never enter a namespace that the registration does not list.",
        OWN,
    ),
    verify(
        "secret-in-git",
        "No file holds a secret value.",
        "Whoever can read the repository could read it, forever.",
        "Use an ExternalSecret, and change the secret: it has been written down.",
    ),
    verify(
        "secret-source",
        "A Secret that is referred to is fetched, issued or delivered.",
        "A pod that needs a Secret which nobody makes waits forever.",
        OWN,
    ),
    verify(
        "resource-schema",
        "An object fits the schema of its kind, when schemas are given.",
        "The cluster would refuse it, or drop the field without a word.",
        OWN,
    ),
];

/// Every entry.
#[must_use]
pub fn catalog() -> Vec<Entry> {
    let validate = super::rules().into_iter().map(|rule| Entry {
        id: rule.id,
        stage: Stage::Validate,
        summary: rule.summary,
        why: rule.why,
        mend: rule.mend,
    });
    let compare = HISTORY_RULES.iter().map(|rule| Entry {
        id: rule.id,
        stage: Stage::Compare,
        summary: rule.summary,
        why: rule.why,
        mend: rule.mend,
    });
    LOAD.iter().copied().chain(validate).chain(VERIFY.iter().copied()).chain(compare).collect()
}

/// The page of one entry, in Markdown.
#[must_use]
pub fn rule_page(entry: &Entry) -> String {
    let Entry { id, stage, summary, why, mend } = entry;
    format!(
        "# {id}\n\n<!-- Generated by `UPDATE_GOLDEN=1 cargo test -p c5c3-renderer`; a test compares. -->\n\n{summary}\n\n\
         **Why:** {why}\n\n**Mend:** {mend}\n\n**Checked** {}. `c5c3-renderer explain {id}` prints the same.\n",
        stage.phrase()
    )
}

/// The list of all pages.
#[must_use]
pub fn rule_index() -> String {
    let mut page = String::from(
        "# Rules\n\n<!-- Generated by `UPDATE_GOLDEN=1 cargo test -p c5c3-renderer`; a test compares. -->\n\n\
         Every finding names one of these, with file, line, column and, where there is one, a hint.\n",
    );
    for stage in [Stage::Load, Stage::Validate, Stage::Verify, Stage::Compare] {
        page.push_str(&format!("\n## Checked {}\n\n| Rule | What must hold |\n|---|---|\n", stage.phrase()));
        for entry in catalog().iter().filter(|entry| entry.stage == stage) {
            page.push_str(&format!("| [{0}]({0}.md) | {1} |\n", entry.id, entry.summary));
        }
    }
    page
}
