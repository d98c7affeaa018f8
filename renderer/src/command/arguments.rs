//! What the command understands.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::CommandError;
use crate::git::{Author, CommitOptions, Credentials, EditedFiles, Location, Observed};

/// Renders a declared topology into Flux manifests and commits them to Git.
#[derive(Debug, Parser)]
#[command(name = "c5c3-renderer", version, arg_required_else_help = true)]
pub(super) struct Arguments {
    /// How to print the result.
    #[arg(long, global = true, value_enum, default_value_t = Output::Text)]
    pub(super) output: Output,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Who reads the result.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum Output {
    /// A person.
    Text,
    /// A program.
    Json,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Check a topology against every rule.
    Validate {
        /// Topology files; together they declare one topology.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Render a topology to standard output or into a folder.
    Render {
        #[command(flatten)]
        input: RenderArguments,
        /// Folder to write the files to.
        #[arg(long)]
        folder: Option<PathBuf>,
    },
    /// Show what a commit would change, and what Flux would delete.
    Diff {
        #[command(flatten)]
        input: RenderArguments,
        #[command(flatten)]
        repository: RepositoryArguments,
    },
    /// Render a topology and commit it to a branch.
    Commit {
        #[command(flatten)]
        input: RenderArguments,
        #[command(flatten)]
        repository: RepositoryArguments,
        #[command(flatten)]
        commit: CommitArguments,
    },
    /// Show which steps there are, what each waits for, and in which waves Flux applies them.
    Graph {
        #[command(flatten)]
        input: RenderArguments,
        /// How to draw it.
        #[arg(long, value_enum, default_value_t = GraphFormat::Waves)]
        format: GraphFormat,
    },
    /// Print the JSON Schema of the topology document.
    Schema,
    /// List every rule that a finding can name.
    Rules,
    /// Explain a field, as `spec.controlPlanes.compute.pools.cpuMode`, or a rule.
    Explain {
        /// The field or rule.
        subject: String,
        /// Topology files: then also what stands there, or which convention does instead, for a field with indexes as
        /// `spec.controlPlanes[0].region`.
        files: Vec<PathBuf>,
    },
    /// Print a script that completes commands and options in a shell.
    Completion {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
    /// Print the reference page of the topology document.
    #[command(hide = true)]
    Reference,
}

/// How to draw a graph.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(super) enum GraphFormat {
    /// As text, wave by wave.
    Waves,
    /// For Graphviz.
    Dot,
    /// For Markdown.
    Mermaid,
    /// As a picture.
    Svg,
}

#[derive(Args, Debug)]
pub(super) struct RenderArguments {
    /// Topology files; together they declare one topology.
    #[arg(required = true)]
    pub(super) files: Vec<PathBuf>,
    /// Folder of templates that replace built-in ones of the same name.
    #[arg(long)]
    pub(super) templates: Option<PathBuf>,
    /// Folder of custom resource definitions to check every object against; `kubectl get crds --output yaml > DIR/all.yaml` takes those of a
    /// cluster.
    #[arg(long)]
    pub(super) schemas: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct RepositoryArguments {
    /// Bare repository on this machine (made when absent), or the address of a remote one.
    #[arg(long)]
    repository: String,
    /// Branch.
    #[arg(long, default_value = "main")]
    branch: String,
    /// User name for the remote.
    #[arg(long, env = "C5C3_RENDERER_USERNAME")]
    username: Option<String>,
    /// File with the password or token for the remote.
    #[arg(long, env = "C5C3_RENDERER_PASSWORD_FILE")]
    password_file: Option<PathBuf>,
    /// File with an SSH private key for the remote.
    #[arg(long, env = "C5C3_RENDERER_SSH_KEY_FILE")]
    ssh_key_file: Option<PathBuf>,
    /// Folder in which copies of remote repositories are kept.
    #[arg(long, env = "C5C3_RENDERER_CACHE")]
    cache: Option<PathBuf>,
    /// File with what Flux has on the cluster (`-`: standard input), as `kubectl get kustomizations.kustomize.toolkit.fluxcd.io
    /// --all-namespaces --output json` prints it. Layers leave only when it shows that they may.
    #[arg(long)]
    observed: Option<PathBuf>,
    /// Seconds after which to give up on the repository.
    #[arg(long, default_value_t = 300)]
    deadline: u64,
}

impl RepositoryArguments {
    pub(super) fn resolve(self) -> Result<(Location, Credentials, CommitOptions), CommandError> {
        let observed = self.observed.as_deref().map(read_observed).transpose()?;
        let cache = self.cache.unwrap_or_else(default_cache);
        let credentials = Credentials {
            username: self.username,
            password_file: self.password_file,
            ssh_key_file: self.ssh_key_file,
        };
        let options = CommitOptions {
            branch: self.branch,
            deadline: Duration::from_secs(self.deadline),
            observed,
            ..CommitOptions::default()
        };
        Ok((Location::parse(&self.repository, cache), credentials, options))
    }
}

fn read_observed(path: &Path) -> Result<Observed, CommandError> {
    let fault = |source| CommandError::Read { path: path.display().to_string(), source };
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin()).map_err(fault)?
    } else {
        std::fs::read_to_string(path).map_err(fault)?
    };
    Observed::parse(&text).map_err(CommandError::Git)
}

/// `$XDG_CACHE_HOME`, `~/.cache`, or the temporary folder, whichever there is.
fn default_cache() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    base.unwrap_or_else(std::env::temp_dir).join("c5c3-renderer")
}

#[derive(Args, Debug)]
pub(super) struct CommitArguments {
    /// Name of the author.
    #[arg(long, default_value = "c5c3-renderer")]
    author_name: String,
    /// E-mail address of the author.
    #[arg(long, default_value = "c5c3-renderer@localhost")]
    author_email: String,
    /// Replace files of ours that somebody edited.
    #[arg(long)]
    overwrite_edited: bool,
    /// Number of Flux Kustomizations that may leave and were not accepted before; it must be the exact number.
    #[arg(long, default_value_t = 0)]
    accept_removals: usize,
    /// How often to start over when somebody else is faster.
    #[arg(long, default_value_t = 10)]
    attempts: u32,
}

impl CommitArguments {
    pub(super) fn apply(self, options: CommitOptions) -> CommitOptions {
        CommitOptions {
            author: Author { name: self.author_name, email: self.author_email },
            edited: if self.overwrite_edited { EditedFiles::Overwrite } else { EditedFiles::Refuse },
            accepted_removals: self.accept_removals,
            attempts: self.attempts,
            ..options
        }
    }
}
