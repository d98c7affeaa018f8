//! Frames: a length word that counts itself, a header of six numbers, a payload.
//!
//! Parsing is separate from reading so that it can be tested on any bytes: [`parse_frame`] looks at what has arrived and
//! says whether a whole frame is there, more is needed, or nothing good can come of it.

use thiserror::Error;

use super::{DecodeError, Decoder, Encoder, Xdr};
use crate::raw_enum::raw_enum;

/// Bytes of the length word.
pub const LENGTH_BYTES: usize = 4;
/// Bytes of the header.
pub const HEADER_BYTES: usize = 24;
/// Largest frame without its length word.
pub const FRAME_MAX: usize = 33_554_432;
/// Largest payload.
pub const PAYLOAD_MAX: usize = FRAME_MAX - HEADER_BYTES;
/// Program number of the remote protocol.
pub const REMOTE_PROGRAM: u32 = 0x2000_8086;
/// Program number of keepalive, "keep" in ASCII.
pub const KEEPALIVE_PROGRAM: u32 = 0x6b65_6570;
/// Version of both programs.
pub const PROTOCOL_VERSION: u32 = 1;

raw_enum! {
    /// What a frame is.
    MessageKind {
        /// A call, client to server.
        Call = 0 "call",
        /// The answer to a call, with its serial.
        Reply = 1 "reply",
        /// Something nobody asked for: an event, or keepalive.
        Message = 2 "message",
        /// Bytes of a stream.
        Stream = 3 "stream",
        /// A call with file descriptors.
        CallWithFds = 4 "call with descriptors",
        /// An answer with file descriptors.
        ReplyWithFds = 5 "reply with descriptors",
        /// A hole in a stream.
        StreamHole = 6 "stream hole",
    }
}

raw_enum! {
    /// How a frame's payload is to be read.
    MessageStatus {
        /// Arguments or results.
        Ok = 0 "ok",
        /// An error structure.
        Error = 1 "error",
        /// More of a stream follows.
        Continue = 2 "continue",
    }
}

/// The header of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Program number.
    pub program: u32,
    /// Program version.
    pub version: u32,
    /// Procedure within the program.
    pub procedure: i32,
    /// What the frame is.
    pub kind: MessageKind,
    /// Number of the call, 0 for messages.
    pub serial: u32,
    /// How the payload is to be read.
    pub status: MessageStatus,
}

impl Header {
    /// A header of the remote program with status OK.
    pub fn remote(kind: MessageKind, procedure: i32, serial: u32) -> Self {
        let (program, version) = (REMOTE_PROGRAM, PROTOCOL_VERSION);
        Self { program, version, procedure, kind, serial, status: MessageStatus::Ok }
    }

    /// A keepalive header.
    pub fn keepalive(procedure: super::KeepaliveProcedure) -> Self {
        let (program, version) = (KEEPALIVE_PROGRAM, PROTOCOL_VERSION);
        let (kind, status) = (MessageKind::Message, MessageStatus::Ok);
        Self { program, version, procedure: procedure.raw(), kind, serial: 0, status }
    }
}

impl Xdr for Header {
    const MIN_BYTES: usize = HEADER_BYTES;
    fn encode(&self, to: &mut Encoder) {
        self.program.encode(to);
        self.version.encode(to);
        self.procedure.encode(to);
        self.kind.raw().encode(to);
        self.serial.encode(to);
        self.status.raw().encode(to);
    }
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            program: Xdr::decode(from)?,
            version: Xdr::decode(from)?,
            procedure: Xdr::decode(from)?,
            kind: MessageKind::from_raw(Xdr::decode(from)?),
            serial: Xdr::decode(from)?,
            status: MessageStatus::from_raw(Xdr::decode(from)?),
        })
    }
}

/// Bytes that cannot become a frame; the connection is of no more use.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The length word leaves no room for a header.
    #[error("a frame of {0} bytes has no room for a header")]
    TooShort(usize),
    /// The frame is larger than the protocol allows.
    #[error("a frame of {0} bytes is above the limit of {FRAME_MAX}")]
    TooLong(usize),
}

/// Looks for a whole frame at the front of `bytes`: its header and its length with the length word, or `None` when more
/// bytes are needed.
///
/// ```
/// use libvirt_rpc::wire::{parse_frame, Header, KeepaliveProcedure, encode_frame};
/// let ping = encode_frame(&Header::keepalive(KeepaliveProcedure::Ping), &[]).unwrap();
/// assert_eq!(parse_frame(&ping[..20]).unwrap(), None);
/// let (header, length) = parse_frame(&ping).unwrap().unwrap();
/// assert_eq!((header.procedure, length), (1, 28));
/// ```
///
/// # Errors
/// When the length word is out of bounds, as soon as it is there.
pub fn parse_frame(bytes: &[u8]) -> Result<Option<(Header, usize)>, FrameError> {
    let Some((word, rest)) = bytes.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
    let length = u32::from_be_bytes(*word) as usize;
    if length < LENGTH_BYTES + HEADER_BYTES {
        return Err(FrameError::TooShort(length));
    }
    if length > LENGTH_BYTES + FRAME_MAX {
        return Err(FrameError::TooLong(length));
    }
    if bytes.len() < length {
        return Ok(None);
    }
    match Header::decode(&mut Decoder::new(rest)) {
        Ok(header) => Ok(Some((header, length))),
        Err(_) => Err(FrameError::TooShort(length)),
    }
}

/// The bytes of a frame.
///
/// # Errors
/// When the payload is larger than the protocol allows.
pub fn encode_frame(header: &Header, payload: &[u8]) -> Result<Vec<u8>, FrameError> {
    let length = LENGTH_BYTES + HEADER_BYTES + payload.len();
    if payload.len() > PAYLOAD_MAX {
        return Err(FrameError::TooLong(length));
    }
    let mut encoder = Encoder::default();
    encoder.count(length);
    header.encode(&mut encoder);
    let mut bytes = encoder.into_bytes();
    bytes.extend_from_slice(payload);
    Ok(bytes)
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
