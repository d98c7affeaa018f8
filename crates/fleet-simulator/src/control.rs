//! Commands that make something happen in the simulated world, one a line, for scripts and benchmarks.
//!
//! Plain words, so that a person at a terminal and a program at the other end of a pipe say the same.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use uuid::Uuid;

use crate::model::{Fault, Faults, Fleet, Host, migrate};

/// What is understood, for `help`.
pub const HELP: &str = "stop HOST [UUID] | start HOST [UUID] | migrate FROM TO [UUID] [SECONDS] | \
                        fault HOST libvirt|ovsdb none|refuse|stall|silence|half-frame|job-lock | \
                        service HOST up|down | link HOST BOND MEMBER up|down";

/// How long a daemon is silent that shall be for a while.
const SILENCE: Duration = Duration::from_secs(30);

/// Why a command was not carried out.
#[derive(Debug, Error)]
pub enum ControlError {
    /// Not a command.
    #[error("not a command; say: {HELP}")]
    Unknown,
    /// There is no such host.
    #[error("no host {0:?}")]
    Host(String),
    /// A word that stands for nothing at its place.
    #[error("{0:?} is not understood")]
    Word(String),
    /// The world is not such that it could be done: no domain of that id, or in that state.
    #[error("it is so already, or there is no such domain")]
    NotDone,
}

/// Carries out one command. A migration, and the end of a silence, come after this has returned; they need a tokio runtime.
///
/// # Errors
/// When the line is not understood, or what it asks for cannot be done.
pub fn carry_out(fleet: &Fleet, line: &str) -> Result<(), ControlError> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["stop", host, id @ ..] => {
            let host = find(fleet, host)?;
            done(host.stop(domain(host, id)?))
        }
        ["start", host, id @ ..] => {
            let host = find(fleet, host)?;
            done(host.start(domain(host, id)?))
        }
        ["migrate", from, to, rest @ ..] => {
            let (from, to) = (Arc::clone(find(fleet, from)?), Arc::clone(find(fleet, to)?));
            let (id, seconds) = match rest {
                [id, seconds] => (domain(&from, &[id])?, read(seconds)?),
                rest => (domain(&from, rest)?, 5),
            };
            tokio::spawn(async move { migrate(&from, &to, id, Duration::from_secs(seconds)).await });
            Ok(())
        }
        ["fault", host, server, "silence"] => {
            let host = Arc::clone(find(fleet, host)?);
            set_fault(&host, server, Fault::Stall)?;
            let server = (*server).to_owned();
            tokio::spawn(async move {
                tokio::time::sleep(SILENCE).await;
                // The words were understood above.
                let _ = set_fault(&host, &server, Fault::None);
            });
            Ok(())
        }
        ["fault", host, server, fault] => set_fault(find(fleet, host)?, server, read(fault)?),
        ["service", host, state] => {
            let up = is_up(state)?;
            let service = |services: &mut crate::model::CloudState| {
                services.services.get_mut(*host).map(|service| service.up = up).is_some()
            };
            done(fleet.cloud.change(service))
        }
        ["link", host, bond, member, state] => {
            done(find(fleet, host)?.set_bond_member(bond, member, is_up(state)?))
        }
        _ => Err(ControlError::Unknown),
    }
}

fn find<'a>(fleet: &'a Fleet, name: &str) -> Result<&'a Arc<Host>, ControlError> {
    // A name that ends in the host's number, as most do, is found without looking at all of them.
    let number = name.rsplit_once('-').and_then(|(_, number)| number.parse::<usize>().ok());
    let guessed = number.and_then(|number| fleet.hosts.get(number.checked_sub(1)?));
    let guessed = guessed.filter(|host| host.name == name);
    guessed.or_else(|| fleet.host(name)).ok_or_else(|| ControlError::Host(name.to_owned()))
}

/// The domain of that id, or the first of the host.
fn domain(host: &Host, id: &[&str]) -> Result<Uuid, ControlError> {
    match id {
        [id] => read(id),
        _ => host.read(|state| state.domains.keys().next().copied()).ok_or(ControlError::NotDone),
    }
}

fn set_fault(host: &Host, server: &str, fault: Fault) -> Result<(), ControlError> {
    let pick: fn(&mut Faults) -> &mut Fault = match server {
        "libvirt" => |faults| &mut faults.libvirt,
        "ovsdb" => |faults| &mut faults.ovsdb,
        other => return Err(ControlError::Word(other.to_owned())),
    };
    host.set_faults(|faults| *pick(faults) = fault);
    Ok(())
}

fn is_up(word: &str) -> Result<bool, ControlError> {
    match word {
        "up" => Ok(true),
        "down" => Ok(false),
        other => Err(ControlError::Word(other.to_owned())),
    }
}

fn read<T: FromStr>(word: &str) -> Result<T, ControlError> {
    word.parse().map_err(|_| ControlError::Word(word.to_owned()))
}

fn done(done: bool) -> Result<(), ControlError> {
    if done { Ok(()) } else { Err(ControlError::NotDone) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FleetOptions;

    #[test]
    fn commands_change_the_world_and_say_when_they_cannot() {
        let fleet = Fleet::new(&FleetOptions::default());
        let running = || {
            fleet.hosts[1].read(|state| state.domains.values().filter(|one| one.state.is_active()).count())
        };
        carry_out(&fleet, "stop host-2").unwrap();
        assert_eq!(running(), 2);
        assert!(matches!(carry_out(&fleet, "stop host-2"), Err(ControlError::NotDone)));
        carry_out(&fleet, "start host-2").unwrap();
        assert_eq!(running(), 3);
        carry_out(&fleet, "fault host-2 libvirt stall").unwrap();
        assert_eq!(fleet.hosts[1].read(|state| state.faults.libvirt), Fault::Stall);
        assert!(matches!(carry_out(&fleet, "stop host-9"), Err(ControlError::Host(_))));
        assert!(matches!(carry_out(&fleet, "fault host-1 libvirt x"), Err(ControlError::Word(_))));
        assert!(matches!(carry_out(&fleet, "dance"), Err(ControlError::Unknown)));
    }
}
