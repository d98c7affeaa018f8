//! Structures that only the wire has: the error of a failed call, and references it carries.

use uuid::Uuid;

use super::{DecodeError, Decoder, Encoder, Xdr};
use crate::DomainRef;

/// A reference to a network, carried by errors only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkRef {
    /// Name.
    pub name: String,
    /// UUID.
    pub uuid: Uuid,
}

impl Xdr for NetworkRef {
    const MIN_BYTES: usize = 20;
    fn encode(&self, to: &mut Encoder) {
        self.name.encode(to);
        self.uuid.encode(to);
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { name: Xdr::decode(from)?, uuid: Xdr::decode(from)? })
    }
}

/// The payload of a reply whose status is an error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WireError {
    /// `virErrorNumber`.
    pub code: i32,
    /// `virErrorDomain`: the part of libvirt that raised it.
    pub domain: i32,
    /// Text for people.
    pub message: Option<String>,
    /// 1 warning, 2 error.
    pub level: i32,
    /// The domain it is about.
    pub about_domain: Option<DomainRef>,
    /// Parts of the message.
    pub texts: [Option<String>; 3],
    /// Numbers of the message.
    pub numbers: [i32; 2],
    /// The network it is about.
    pub about_network: Option<NetworkRef>,
}

impl Xdr for WireError {
    const MIN_BYTES: usize = 44;
    fn encode(&self, to: &mut Encoder) {
        self.code.encode(to);
        self.domain.encode(to);
        self.message.encode(to);
        self.level.encode(to);
        self.about_domain.encode(to);
        for text in &self.texts {
            text.encode(to);
        }
        for number in self.numbers {
            number.encode(to);
        }
        self.about_network.encode(to);
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            code: Xdr::decode(from)?,
            domain: Xdr::decode(from)?,
            message: Xdr::decode(from)?,
            level: Xdr::decode(from)?,
            about_domain: Xdr::decode(from)?,
            texts: [Xdr::decode(from)?, Xdr::decode(from)?, Xdr::decode(from)?],
            numbers: [Xdr::decode(from)?, Xdr::decode(from)?],
            about_network: Xdr::decode(from)?,
        })
    }
}
