//! The command: arguments in, text or JSON out, an exit code that says whose fault it is.
//!
//! 0 done, 1 failed, 2 bad input. Results go to standard output, messages to standard error.

mod arguments;
mod explain;
mod graph;
mod progress;
mod reference;

use std::io::Write as _;
use std::path::Path;

use clap::{CommandFactory as _, Parser as _};
use serde_json::{Value, json};

use crate::finding::Findings;
use crate::git::{self, GitError, Provenance};
use crate::load::{Source, topology_schema};
use crate::publish::{PublishError, render_topology};
use crate::render::{RenderError, Rendered, Templates};
use crate::rules::{catalog, validate};
use crate::schema::{ResourceSchemas, SchemaError};
use arguments::{Arguments, Command, Output, RenderArguments};

pub use reference::reference_page;

/// Why the command ends with something else than 0.
#[derive(Debug, thiserror::Error)]
enum CommandError {
    /// The topology or templates are wrong, or what came of them.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The topology is wrong.
    #[error("the topology is not valid")]
    Findings(#[source] Findings),
    /// The repository.
    #[error(transparent)]
    Git(GitError),
    /// The folder of definitions.
    #[error(transparent)]
    Schemas(SchemaError),
    /// A file of the output cannot be written.
    #[error("cannot write {path}")]
    Write {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file that an option names cannot be read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Something to explain that does not exist.
    #[error("{0}")]
    Explain(String),
}

impl CommandError {
    /// 2 when the caller can mend it by saying something else, 1 otherwise.
    const fn exit_code(&self) -> u8 {
        match self {
            Self::Findings(_) | Self::Schemas(_) | Self::Explain(_) | Self::Read { .. } => 2,
            Self::Publish(PublishError::Topology(_) | PublishError::Render(_)) => 2,
            Self::Publish(PublishError::Git(error)) | Self::Git(error) => match error {
                GitError::Branch { .. }
                | GitError::Protocol { .. }
                | GitError::PasswordFile { .. }
                | GitError::History(_)
                | GitError::Observed { .. } => 2,
                _ => 1,
            },
            Self::Publish(PublishError::Verify(_)) | Self::Write { .. } => 1,
        }
    }

    /// The findings in it, for programs.
    const fn findings(&self) -> Option<&Findings> {
        match self {
            Self::Findings(findings)
            | Self::Publish(PublishError::Topology(findings) | PublishError::Verify(findings)) => {
                Some(findings)
            }
            Self::Git(GitError::History(findings)) => Some(findings),
            _ => None,
        }
    }

    const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Git(error) | Self::Publish(PublishError::Git(error)) => error.hint(),
            _ => None,
        }
    }
}

/// Runs the command with the arguments of this process and returns its exit code.
#[must_use]
pub fn run() -> u8 {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are no errors; a closed pipe is nobody's.
            let _closed = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let output = arguments.output;
    match execute(arguments.command, output) {
        Ok(text) => print(&text),
        Err(error) => {
            if output == Output::Json {
                let code = print(&failure(&error));
                return code.max(error.exit_code());
            }
            eprintln!("{}", describe(&error));
            error.exit_code()
        }
    }
}

fn print(text: &str) -> u8 {
    // A reader that went away has read enough.
    match std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => 1,
        _ => 0,
    }
}

fn execute(command: Command, output: Output) -> Result<String, CommandError> {
    match command {
        Command::Validate { files } => {
            let sources = read(&files)?;
            let loaded = crate::load::load(&sources).map_err(CommandError::Findings)?;
            validate(&loaded).map_err(CommandError::Findings)?;
            Ok(match output {
                Output::Json => {
                    document(&json!({ "outcome": "valid", "topology": loaded.topology.metadata.name }))
                }
                Output::Text => format!("{} is valid\n", loaded.topology.metadata.name),
            })
        }
        Command::Render { input, folder } => {
            let (_, rendered) = rendered(&input)?;
            match folder {
                Some(folder) => write_folder(&rendered, &folder, output),
                None => Ok(print_files(&rendered, output)),
            }
        }
        Command::Diff { input, repository } => {
            let (_, rendered) = rendered(&input)?;
            let (location, credentials, options) = repository.resolve()?;
            let diff = git::diff(&rendered, &location, &credentials, &options).map_err(CommandError::Git)?;
            Ok(match output {
                Output::Json => document(&json!(diff)),
                Output::Text => diff.to_string(),
            })
        }
        Command::Commit { input, repository, commit } => {
            let (loaded, rendered) = rendered(&input)?;
            let (location, credentials, options) = repository.resolve()?;
            let options = commit.apply(options);
            let provenance = Provenance::of(&loaded.topology);
            let outcome = git::commit(&rendered, &provenance, &location, &credentials, &options)
                .map_err(CommandError::Git)?;
            Ok(match output {
                Output::Json => document(&json!(outcome)),
                Output::Text => format!("{}\n", outcome_text(&outcome)),
            })
        }
        Command::Graph { input, format } => {
            let loaded = crate::load::load(&read(&input.files)?).map_err(CommandError::Findings)?;
            let plan = crate::plan::plan(&validate(&loaded).map_err(CommandError::Findings)?);
            Ok(match output {
                Output::Json => document(&graph::json(&plan)),
                Output::Text => graph::draw(&plan, format),
            })
        }
        Command::Completion { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "c5c3-renderer", &mut script);
            Ok(String::from_utf8_lossy(&script).into_owned())
        }
        Command::Man => Ok(manual()),
        Command::Schema => Ok(document(&topology_schema())),
        Command::Rules => Ok(match output {
            Output::Json => {
                let all =
                    catalog().iter().map(|rule| json!({ "id": rule.id, "summary": rule.summary })).collect();
                document(&Value::Array(all))
            }
            Output::Text => {
                catalog().iter().map(|rule| format!("{:<24} {}\n", rule.id, rule.summary)).collect()
            }
        }),
        Command::Explain { subject, files } => {
            let mut text = explain::explain(&subject).map_err(CommandError::Explain)?;
            if !files.is_empty() {
                let loaded = crate::load::load(&read(&files)?).map_err(CommandError::Findings)?;
                text.push_str(&explain::origin(&subject, &loaded));
            }
            Ok(text)
        }
        Command::Reference => Ok(reference_page()),
    }
}

/// The manual page: every command with its options, in the format of man(1).
fn manual() -> String {
    let mut page = Vec::new();
    let command = Arguments::command();
    let commands =
        command.get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect::<Vec<_>>();
    let mut written = clap_mangen::Man::new(command).render(&mut page);
    for command in commands {
        let name = format!("c5c3-renderer-{}", command.get_name());
        let man = clap_mangen::Man::new(command.display_name(name));
        written = written.and_then(|()| man.render_description_section(&mut page));
        written = written.and_then(|()| man.render_synopsis_section(&mut page));
        written = written.and_then(|()| man.render_options_section(&mut page));
    }
    // Writing into memory does not fail.
    let _infallible = written;
    String::from_utf8_lossy(&page).into_owned()
}

fn read(files: &[std::path::PathBuf]) -> Result<Vec<Source>, CommandError> {
    files.iter().map(|path| Source::read(path)).collect::<Result<_, _>>().map_err(CommandError::Findings)
}

fn rendered(input: &RenderArguments) -> Result<(crate::load::Loaded, Rendered), CommandError> {
    let sources = read(&input.files)?;
    let templates = input.templates.as_deref().map_or_else(Templates::built_in, Templates::with_folder);
    let templates =
        templates.map_err(|error: RenderError| CommandError::Publish(PublishError::Render(error)))?;
    let _said = progress::Progress::start("rendering");
    let schemas =
        input.schemas.as_deref().map(ResourceSchemas::read).transpose().map_err(CommandError::Schemas)?;
    Ok(render_topology(&sources, &templates, schemas.as_ref())?)
}

fn print_files(rendered: &Rendered, output: Output) -> String {
    match output {
        Output::Json => {
            let files: serde_json::Map<String, Value> =
                rendered.files.iter().map(|(path, file)| (path.clone(), json!(file.text))).collect();
            document(&json!({ "topology": rendered.topology, "files": files }))
        }
        Output::Text => {
            rendered.files.iter().map(|(path, file)| format!("---\n# File: {path}\n{}", file.text)).collect()
        }
    }
}

fn write_folder(rendered: &Rendered, folder: &Path, output: Output) -> Result<String, CommandError> {
    for (path, file) in &rendered.files {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, &file.text))
            .map_err(|source| CommandError::Write { path: path.display().to_string(), source })?;
    }
    let count = rendered.files.len();
    Ok(match output {
        Output::Json => document(&json!({ "outcome": "written", "folder": folder, "files": count })),
        Output::Text => format!("{count} files written to {}\n", folder.display()),
    })
}

fn outcome_text(outcome: &git::Outcome) -> String {
    let (mut text, leaving) = match outcome {
        git::Outcome::Unchanged { commit, leaving } => {
            (format!("nothing to commit, {commit} holds it all"), leaving)
        }
        git::Outcome::Committed { commit, added, changed, removed, lost_races, leaving } => {
            let races =
                if *lost_races == 0 { String::new() } else { format!(", after {lost_races} lost race(s)") };
            (
                format!("committed {commit}: {added} added, {changed} changed, {removed} removed{races}"),
                leaving,
            )
        }
    };
    for (name, reason) in leaving {
        text.push_str(&format!("\nstill to leave: {name}: {reason}"));
    }
    text
}

fn document(value: &Value) -> String {
    format!("{value:#}\n")
}

/// The whole chain of causes, one per line, and what to do.
fn describe(error: &CommandError) -> String {
    let mut text = format!("error: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push('\n');
        text.push_str(&error.to_string());
        cause = error.source();
    }
    if let Some(hint) = error.hint() {
        text.push_str("\nhint: ");
        text.push_str(hint);
    }
    text
}

fn failure(error: &CommandError) -> String {
    let mut failure = json!({ "outcome": "failed", "message": describe(error) });
    if let (Some(findings), Some(fields)) = (error.findings(), failure.as_object_mut()) {
        fields.insert("message".to_owned(), json!(error.to_string()));
        fields.insert("findings".to_owned(), json!(findings));
    }
    document(&failure)
}
