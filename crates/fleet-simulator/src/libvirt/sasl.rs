//! Authentication by name and password, the daemon's side: PLAIN and SCRAM-SHA-256 as Cyrus SASL does them for libvirt.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use libvirt_rpc::wire::{Procedure, SaslData, encode};
use sha2::{Digest as _, Sha256};

use super::failure::Failure;
use super::host_calls::read;

/// Cyrus SASL's own.
const ITERATIONS: u32 = 4096;

/// The one account of a daemon, and the mechanisms it offers.
#[derive(Debug, Clone)]
pub struct Accounts {
    /// Names with commas between them.
    pub mechanisms: String,
    /// User name.
    pub user: String,
    /// Password.
    pub password: String,
}

/// How far a client is.
#[derive(Debug, Default)]
pub(super) enum Progress {
    /// It has not begun.
    #[default]
    Begun,
    /// It was sent the salt; its first message and ours.
    Salted { client_first: String, server_first: String },
    /// It has proven itself and was sent the proof of the daemon; what follows is an empty message.
    Proven,
    /// It is in.
    Done,
}

impl Accounts {
    /// Answers `auth_sasl_init`, `_start` and `_step`.
    pub(super) fn answer(
        &self,
        progress: &mut Progress,
        procedure: Procedure,
        arguments: &[u8],
    ) -> Result<Vec<u8>, Failure> {
        if procedure == Procedure::AuthSaslInit {
            return Ok(encode(&self.mechanisms));
        }
        let (mechanism, data) = match procedure {
            Procedure::AuthSaslStart => {
                let (mechanism, data): (String, SaslData) = read(arguments)?;
                (Some(mechanism), data)
            }
            _ => (None, read(arguments)?),
        };
        let message = String::from_utf8(data.0.unwrap_or_default()).map_err(|_| Failure::AuthFailed)?;
        let (next, reply) = match (&*progress, mechanism.as_deref()) {
            (Progress::Begun, Some("PLAIN")) if self.offers("PLAIN") => {
                let wanted = format!("\0{}\0{}", self.user, self.password);
                if message != wanted {
                    return Err(Failure::AuthFailed);
                }
                (Progress::Done, None)
            }
            (Progress::Begun, Some("SCRAM-SHA-256")) if self.offers("SCRAM-SHA-256") => {
                self.salt(&message)?
            }
            (Progress::Salted { client_first, server_first }, None) => {
                let proof = self.check(client_first, server_first, &message).ok_or(Failure::AuthFailed)?;
                (Progress::Proven, Some(format!("v={proof}")))
            }
            (Progress::Proven, None) if message.is_empty() => (Progress::Done, None),
            _ => return Err(Failure::AuthFailed),
        };
        *progress = next;
        let complete = i32::from(matches!(progress, Progress::Done));
        Ok(encode(&(complete, SaslData(reply.map(String::into_bytes)))))
    }

    fn offers(&self, mechanism: &str) -> bool {
        self.mechanisms.split(',').any(|offered| offered == mechanism)
    }

    fn salt(&self, message: &str) -> Result<(Progress, Option<String>), Failure> {
        let client_first = message.strip_prefix("n,,").ok_or(Failure::AuthFailed)?.to_owned();
        let user = self.user.replace('=', "=3D").replace(',', "=2C");
        let nonce = client_first.strip_prefix(&format!("n={user},r=")).ok_or(Failure::AuthFailed)?;
        let server_first = format!(
            "r={nonce}{},s={},i={ITERATIONS}",
            uuid::Uuid::new_v4().simple(),
            STANDARD.encode(self.salt_bytes())
        );
        Ok((Progress::Salted { client_first, server_first: server_first.clone() }, Some(server_first)))
    }

    /// The same for one user at each try, as where passwords are kept salted.
    fn salt_bytes(&self) -> [u8; 16] {
        *uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_DNS, self.user.as_bytes()).as_bytes()
    }

    /// The daemon's own proof, if the client's is right.
    fn check(&self, client_first: &str, server_first: &str, message: &str) -> Option<String> {
        let (without_proof, proof) = message.rsplit_once(",p=")?;
        let nonce = server_first.split(',').next()?;
        if without_proof != format!("c=biws,{nonce}") {
            return None;
        }
        let salted = salted_password(self.password.as_bytes(), &self.salt_bytes());
        let authentication = format!("{client_first},{server_first},{without_proof}");
        let stored_key = Sha256::digest(hmac(&salted, b"Client Key"));
        let signature = hmac(&stored_key, authentication.as_bytes());
        let client_key: Vec<u8> = STANDARD
            .decode(proof)
            .ok()?
            .iter()
            .zip(signature)
            .map(|(proof, signed)| proof ^ signed)
            .collect();
        let is_right = Sha256::digest(client_key) == stored_key;
        is_right.then(|| STANDARD.encode(hmac(&hmac(&salted, b"Server Key"), authentication.as_bytes())))
    }
}

fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut block = [0_u8; 64];
    let hashed = Sha256::digest(key);
    let key = if key.len() > block.len() { hashed.as_slice() } else { key };
    for (place, byte) in block.iter_mut().zip(key) {
        *place = *byte;
    }
    let mut mac = Hmac::<Sha256>::new(&block.into());
    mac.update(message);
    mac.finalize().into_bytes().into()
}

fn salted_password(password: &[u8], salt: &[u8]) -> [u8; 32] {
    let mut last = hmac(password, &[salt, &1_u32.to_be_bytes()].concat());
    let mut result = last;
    for _ in 1..ITERATIONS {
        last = hmac(password, &last);
        for (sum, byte) in result.iter_mut().zip(last) {
            *sum ^= byte;
        }
    }
    result
}
