//! Authentication: what the daemon asks for, and what of it this side can do.

use super::Connection;
use crate::sasl::{self, Choice, Credentials, SaslError, Scram};
use crate::wire::{List, Procedure, SaslData};
use crate::{CallError, OpenError};

const NONE: i32 = 0;
const SASL: i32 = 1;
const POLKIT: i32 = 2;

/// The authentication of a connection that was just made.
pub(super) struct Authentication<'a> {
    pub(super) connection: &'a Connection,
    pub(super) peer: &'a str,
    /// Name of the step, for messages.
    pub(super) step: &'static str,
    /// Whether nobody on the way can read along.
    pub(super) private: bool,
}

impl Authentication<'_> {
    pub(super) async fn run(&self, credentials: Option<&Credentials>) -> Result<(), OpenError> {
        let List(types): List<i32, 20> = self.call(Procedure::AuthList, &()).await?;
        if types.is_empty() || types.contains(&NONE) {
            return Ok(());
        }
        if types.contains(&POLKIT) {
            // One call; the daemon asks polkit about the process at the other end of the unix socket.
            return self.call::<_, i32>(Procedure::AuthPolkit, &()).await.map(|_complete| ());
        }
        if !types.contains(&SASL) {
            let named: Vec<String> = types.iter().map(|kind| format!("type {kind}")).collect();
            return Err(OpenError::AuthUnsupported { peer: self.peer(), offered: named.join(", ") });
        }
        let offered: String = self.call(Procedure::AuthSaslInit, &()).await?;
        let described = || format!("SASL ({offered})");
        let Some(credentials) = credentials else {
            return Err(OpenError::CredentialsMissing { peer: self.peer(), offered: described() });
        };
        match sasl::choose(&offered, credentials, self.private) {
            Choice::Scram => self.scram(credentials).await,
            Choice::Plain => self.plain(credentials).await,
            Choice::PlainExposed => Err(OpenError::PlainExposed { peer: self.peer() }),
            Choice::Nothing => Err(OpenError::AuthUnsupported { peer: self.peer(), offered: described() }),
        }
    }

    async fn plain(&self, credentials: &Credentials) -> Result<(), OpenError> {
        let message = credentials.plain().map_err(|error| self.broken(error))?;
        let (complete, _) = self.start(sasl::PLAIN, message).await?;
        if complete { Ok(()) } else { Err(self.broken(SaslError::Malformed("PLAIN has one message"))) }
    }

    async fn scram(&self, credentials: &Credentials) -> Result<(), OpenError> {
        // Twice 122 bits of the system's randomness, printable and without commas.
        let nonce = format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple());
        let scram = Scram::new(credentials, nonce);
        let (_, first) = self.start(sasl::SCRAM_SHA_256, scram.first()).await?;
        let first = first.ok_or_else(|| self.broken(SaslError::Malformed("no first message")))?;
        let (answer, proof) = scram.answer(&first).map_err(|error| self.broken(error))?;
        let (mut complete, last) = self.step(Some(answer)).await?;
        // The daemon is done only when it has proven itself, whatever it says.
        let last = last.ok_or_else(|| self.broken(SaslError::NotProven))?;
        proof.check(&last).map_err(|error| self.broken(error))?;
        if !complete {
            // It waits for a word that the proof was seen.
            (complete, _) = self.step(Some(Vec::new())).await?;
        }
        if complete { Ok(()) } else { Err(self.broken(SaslError::Malformed("no end"))) }
    }

    async fn start(&self, mechanism: &str, message: Vec<u8>) -> Result<(bool, Option<Vec<u8>>), OpenError> {
        let arguments = (mechanism.to_owned(), SaslData(Some(message)));
        let (complete, SaslData(data)): (i32, SaslData) =
            self.call(Procedure::AuthSaslStart, &arguments).await?;
        Ok((complete != 0, data))
    }

    async fn step(&self, message: Option<Vec<u8>>) -> Result<(bool, Option<Vec<u8>>), OpenError> {
        let (complete, SaslData(data)): (i32, SaslData) =
            self.call(Procedure::AuthSaslStep, &SaslData(message)).await?;
        Ok((complete != 0, data))
    }

    async fn call<A: crate::wire::Xdr, R: crate::wire::Xdr>(
        &self,
        procedure: Procedure,
        arguments: &A,
    ) -> Result<R, OpenError> {
        self.connection.call(procedure, arguments).await.map_err(|error| match error {
            CallError::Refused { source, .. } => OpenError::AuthRefused { peer: self.peer(), source },
            source => OpenError::Handshake { peer: self.peer(), step: self.step, source },
        })
    }

    fn broken(&self, source: SaslError) -> OpenError {
        OpenError::AuthBroken { peer: self.peer(), source }
    }

    fn peer(&self) -> String {
        self.peer.to_owned()
    }
}
