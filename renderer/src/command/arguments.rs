//! What the command understands.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::git::{Author, CommitOptions, Credentials, EditedFiles, Location};

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
    /// Print the JSON Schema of the topology document.
    Schema,
    /// List the rules that `validate` checks.
    Rules,
    /// Explain a field, as `spec.controlPlanes.compute.pools.cpuMode`, or a rule.
    Explain {
        /// The field or rule.
        subject: String,
    },
    /// Print the reference page of the topology document.
    #[command(hide = true)]
    Reference,
}

#[derive(Args, Debug)]
pub(super) struct RenderArguments {
    /// Topology files; together they declare one topology.
    #[arg(required = true)]
    pub(super) files: Vec<PathBuf>,
    /// Folder of templates that replace built-in ones of the same name.
    #[arg(long)]
    pub(super) templates: Option<PathBuf>,
    /// Folder of custom resource definitions to check every object against.
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
    /// Seconds after which to give up on the repository.
    #[arg(long, default_value_t = 300)]
    deadline: u64,
}

impl RepositoryArguments {
    pub(super) fn resolve(self) -> (Location, Credentials, CommitOptions) {
        let cache = self.cache.unwrap_or_else(default_cache);
        let credentials = Credentials {
            username: self.username,
            password_file: self.password_file,
            ssh_key_file: self.ssh_key_file,
        };
        let options = CommitOptions {
            branch: self.branch,
            deadline: Duration::from_secs(self.deadline),
            ..CommitOptions::default()
        };
        (Location::parse(&self.repository, cache), credentials, options)
    }
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
    /// Number of Flux Kustomizations that may disappear; it must be the exact number.
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
