//! The commands: `serve`, `demo`, `check`, `intent`, `schema`. Exit code 0 done, 1 failed, 2 bad input.

mod check;
#[cfg(feature = "demo")]
mod demo;
mod intent;
mod logging;
mod schema;
mod serve;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::configuration::ConfigurationError;
use crate::sources::observation::chain;

/// Hypervisors, evictions, migrations and OVS nodes as live Kubernetes resources.
#[derive(Debug, Parser)]
#[command(name = "c5c3-apiserver", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// How log lines are written.
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve, in a cluster or standalone.
    Serve {
        /// Configuration file (YAML).
        #[arg(long)]
        config: PathBuf,
    },
    /// Serve a simulated fleet on this machine, with things that happen, and render a sample topology.
    #[cfg(feature = "demo")]
    Demo(demo::Options),
    /// Try every source of every configured host once, and print what it says.
    Check {
        /// Configuration file (YAML).
        #[arg(long)]
        config: PathBuf,
        /// How to print.
        #[arg(long, value_enum, default_value_t = Output::Table)]
        output: Output,
    },
    /// List, back up and restore what people want.
    #[command(subcommand)]
    Intent(intent::Action),
    /// Print the kinds.
    Schema {
        /// Which form.
        #[arg(long, value_enum, default_value_t = SchemaForm::Openapi)]
        form: SchemaForm,
    },
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people.
    Table,
    /// For programs.
    Json,
}

/// Form of a printed schema.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SchemaForm {
    /// OpenAPI v3 schemas by kind.
    Openapi,
    /// CustomResourceDefinitions of the same kinds, for comparison.
    Crd,
    /// The CustomResourceDefinition in which intent is stored in a cluster, for those who install it themselves.
    Store,
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    /// The input is at fault: exit code 2.
    #[error(transparent)]
    Input(#[from] ConfigurationError),
    /// Something else is: exit code 1.
    #[error("{0}")]
    Other(String),
}

/// Runs the command that the process was started with.
pub async fn run() -> ExitCode {
    let arguments = Arguments::parse();
    logging::start(arguments.log_format);
    let outcome = match arguments.command {
        Command::Serve { config } => serve::serve(&config).await,
        #[cfg(feature = "demo")]
        Command::Demo(options) => Box::pin(demo::demo(options)).await,
        Command::Check { config, output } => check::check(&config, output).await,
        Command::Intent(action) => intent::run(action).await,
        Command::Schema { form } => schema::print(form),
    };
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("c5c3-apiserver: {}", chain(&failure));
            match failure {
                Failure::Input(_) => ExitCode::from(2),
                Failure::Other(_) => ExitCode::FAILURE,
            }
        }
    }
}

impl Failure {
    fn other(error: &dyn std::error::Error) -> Self {
        Self::Other(chain(error))
    }
}
