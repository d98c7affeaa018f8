//! `fleet-simulator`: a simulated fleet as a process, and the part of the server's configuration that leads to it.

use std::process::ExitCode;

use clap::Parser;

mod program;

#[tokio::main]
async fn main() -> ExitCode {
    match program::run(program::Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let cause =
                std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            eprintln!("fleet-simulator: {error}{cause}");
            ExitCode::FAILURE
        }
    }
}
