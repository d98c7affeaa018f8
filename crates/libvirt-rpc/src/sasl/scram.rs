//! SCRAM-SHA-256 (RFC 5802, RFC 7677), the client's part, without channel binding.
//!
//! Pure: messages in, messages out, the nonce from outside. Names and passwords are taken as they are, not normalised by SASLprep;
//! for ASCII that is the same.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::{Digest as _, Sha256};

use super::{Credentials, SaslError};

/// Fewest iterations that RFC 7677 allows; fewer would make guessing cheap for whoever reads along.
const ITERATIONS_MIN: u32 = 4096;
/// Most that a daemon may make us compute.
const ITERATIONS_MAX: u32 = 1_000_000;
/// "n,,": no channel binding, no other identity; in base64 in the last message.
const HEADER: &str = "n,,";

/// One exchange.
#[derive(Debug)]
pub(crate) struct Scram {
    password: String,
    nonce: String,
    first_bare: String,
}

/// What the daemon must show to prove that it knows the password.
#[derive(Debug)]
pub(crate) struct Proof {
    authentication: String,
    server_key: [u8; 32],
}

impl Scram {
    /// Begins, with a nonce that was never used before: printable, without commas.
    pub(crate) fn new(credentials: &Credentials, nonce: String) -> Self {
        let user = credentials.user.replace('=', "=3D").replace(',', "=2C");
        let first_bare = format!("n={user},r={nonce}");
        Self { password: credentials.password.clone(), nonce, first_bare }
    }

    /// The first message.
    pub(crate) fn first(&self) -> Vec<u8> {
        format!("{HEADER}{}", self.first_bare).into_bytes()
    }

    /// Answers the daemon's first message; the proof is for its last.
    pub(crate) fn answer(&self, server_first: &[u8]) -> Result<(Vec<u8>, Proof), SaslError> {
        let server_first = text(server_first)?;
        let field = |name| field(server_first, name);
        if let Some(extension) = field('m') {
            tracing::debug!(extension, "a mandatory extension of SCRAM is unknown");
            return Err(SaslError::Malformed("a mandatory extension"));
        }
        let nonce = field('r').ok_or(SaslError::Malformed("no nonce"))?;
        if !nonce.starts_with(&self.nonce) || nonce.len() == self.nonce.len() {
            return Err(SaslError::Nonce);
        }
        let salt =
            field('s').and_then(|salt| STANDARD.decode(salt).ok()).ok_or(SaslError::Malformed("no salt"))?;
        let iterations = field('i').and_then(|count| count.parse().ok());
        let iterations: u32 = iterations.ok_or(SaslError::Malformed("no iteration count"))?;
        if !(ITERATIONS_MIN..=ITERATIONS_MAX).contains(&iterations) {
            return Err(SaslError::Iterations(iterations));
        }
        let salted = salted_password(self.password.as_bytes(), &salt, iterations);
        let client_key = hmac(&salted, b"Client Key");
        let without_proof = format!("c={},r={nonce}", STANDARD.encode(HEADER));
        let authentication = format!("{},{server_first},{without_proof}", self.first_bare);
        let signature = hmac(&Sha256::digest(client_key), authentication.as_bytes());
        let proof: Vec<u8> = client_key.iter().zip(signature).map(|(key, signed)| key ^ signed).collect();
        let answer = format!("{without_proof},p={}", STANDARD.encode(proof));
        Ok((answer.into_bytes(), Proof { authentication, server_key: hmac(&salted, b"Server Key") }))
    }
}

impl Proof {
    /// Takes the daemon's last message.
    pub(crate) fn check(&self, server_last: &[u8]) -> Result<(), SaslError> {
        let server_last = text(server_last)?;
        if let Some(refusal) = field(server_last, 'e') {
            return Err(SaslError::Refused(refusal.to_owned()));
        }
        let signature = field(server_last, 'v').and_then(|shown| STANDARD.decode(shown).ok());
        let signature = signature.ok_or(SaslError::Malformed("no signature"))?;
        let mut expected = mac(&self.server_key);
        expected.update(self.authentication.as_bytes());
        // In constant time.
        expected.verify_slice(&signature).map_err(|_| SaslError::NotProven)
    }
}

fn text(message: &[u8]) -> Result<&str, SaslError> {
    std::str::from_utf8(message).map_err(|_| SaslError::Malformed("no UTF-8"))
}

/// The value of the attribute with that letter.
fn field(message: &str, name: char) -> Option<&str> {
    message.split(',').find_map(|part| part.strip_prefix(name)?.strip_prefix('='))
}

/// With the key filled up to a block, as HMAC itself begins: so there is no length that could be wrong.
fn mac(key: &[u8]) -> Hmac<Sha256> {
    const BLOCK: usize = 64;
    let hashed = Sha256::digest(key);
    let key = if key.len() > BLOCK { hashed.as_slice() } else { key };
    let mut block = [0_u8; BLOCK];
    for (place, byte) in block.iter_mut().zip(key) {
        *place = *byte;
    }
    Hmac::new(&block.into())
}

fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let mut mac = mac(key);
    mac.update(message);
    mac.finalize().into_bytes().into()
}

/// PBKDF2 with HMAC-SHA-256 for one block, which is as long as the hash.
fn salted_password(password: &[u8], salt: &[u8], iterations: u32) -> [u8; 32] {
    let keyed = mac(password);
    let mut first = keyed.clone();
    first.update(salt);
    first.update(&1_u32.to_be_bytes());
    let mut last: [u8; 32] = first.finalize().into_bytes().into();
    let mut result = last;
    for _ in 1..iterations {
        let mut next = keyed.clone();
        next.update(&last);
        last = next.finalize().into_bytes().into();
        for (sum, byte) in result.iter_mut().zip(last) {
            *sum ^= byte;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The exchange of RFC 7677, section 3.
    const SERVER_FIRST: &str =
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";

    fn scram() -> Scram {
        Scram::new(&Credentials::new("user", "pencil"), "rOprNGfwEbeRWgbNEkqO".to_owned())
    }

    #[test]
    fn the_exchange_of_the_rfc_comes_out() {
        assert_eq!(scram().first(), b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        let (answer, proof) = scram().answer(SERVER_FIRST.as_bytes()).unwrap();
        let expected = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                        p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        assert_eq!(String::from_utf8(answer).unwrap(), expected);
        proof.check(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=").unwrap();
    }

    #[test]
    fn a_daemon_that_does_not_know_the_password_is_found_out() {
        let (_, proof) = scram().answer(SERVER_FIRST.as_bytes()).unwrap();
        assert_eq!(proof.check(b"v=AAAATRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="), Err(SaslError::NotProven));
        assert_eq!(proof.check(b"e=invalid-proof"), Err(SaslError::Refused("invalid-proof".to_owned())));
        assert_eq!(proof.check(b""), Err(SaslError::Malformed("no signature")));
    }

    #[test]
    fn what_a_daemon_may_not_say_is_refused() {
        let refused = |message: &str| scram().answer(message.as_bytes()).map(|_| ()).unwrap_err();
        assert_eq!(refused(&SERVER_FIRST.replace("r=rO", "r=XX")), SaslError::Nonce);
        assert_eq!(refused("r=rOprNGfwEbeRWgbNEkqO,s=AAAA,i=4096"), SaslError::Nonce);
        assert_eq!(refused(&SERVER_FIRST.replace("4096", "1")), SaslError::Iterations(1));
        assert_eq!(
            refused(&SERVER_FIRST.replace("4096", "4000000000")),
            SaslError::Iterations(4_000_000_000)
        );
        assert_eq!(refused(&format!("m=x,{SERVER_FIRST}")), SaslError::Malformed("a mandatory extension"));
        assert_eq!(refused("i=4096"), SaslError::Malformed("no nonce"));
    }

    #[test]
    fn commas_and_equal_signs_of_a_name_are_escaped() {
        let scram = Scram::new(&Credentials::new("a=b,c", ""), "n".to_owned());
        assert_eq!(scram.first(), b"n,,n=a=3Db=2Cc,r=n");
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = scram().answer(&bytes);
        }
    }
}
