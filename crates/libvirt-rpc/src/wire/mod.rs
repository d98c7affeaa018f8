//! The bytes on the wire: XDR values, frames, procedure numbers, the structures calls carry.
//!
//! Pure and shared by both ends: the client of this crate and a simulated daemon use the same definitions, so that a
//! shape is written once. Every decoder is total: it returns an error on any input it does not like, never reads past
//! what it was given and never allocates for elements that cannot be there.

mod frame;
mod lists;
mod procedure;
mod sasl;
mod values;
mod xdr;

pub use frame::{
    FRAME_MAX, FrameError, HEADER_BYTES, Header, KEEPALIVE_PROGRAM, LENGTH_BYTES, MessageKind, MessageStatus,
    PAYLOAD_MAX, PROTOCOL_VERSION, REMOTE_PROGRAM, encode_frame, parse_frame,
};
pub use lists::{List, NumberedChars, Opaque, SmallInt};
pub use procedure::{KeepaliveProcedure, Procedure};
pub use sasl::{SASL_DATA_MAX, SaslData};
pub use values::{NetworkRef, WireError};
pub use xdr::{DecodeError, Decoder, Encoder, STRING_MAX, Xdr, decode, encode};
