//! The management socket of a bridge: HELLO, echo, TABLE and AGGREGATE in 1.0 and 1.3.

use std::io;
use std::sync::Arc;

use bytes::{Buf, BytesMut};

use crate::model::Host;

use super::serve::Wire;

/// Versions 1.0 and 1.3 as bits.
const VERSIONS: u32 = 1 << 1 | 1 << 4;

/// Tables of a bridge that statistics name; one more is internal.
const TABLES: u8 = 254;

/// Bytes of table statistics in one message; the real switch stays just under 64 KiB.
const PART: usize = 65_000;

struct Message {
    version: u8,
    kind: u8,
    xid: [u8; 4],
    body: Vec<u8>,
}

/// Serves one connection.
pub(super) async fn session(host: Arc<Host>, mut wire: Wire, bridge: String) -> io::Result<()> {
    let mut buffer = BytesMut::new();
    wire.send(&message(4, 0, [0, 0, 0, 4], &[&[0, 1, 0, 8][..], &VERSIONS.to_be_bytes()].concat())).await?;
    let Some(hello) = next(&mut wire, &mut buffer).await? else { return Ok(()) };
    if hello.kind != 0 {
        return Ok(());
    }
    let Some(version) = agree(&hello) else {
        let text = format!(
            "We support versions 0x01, 0x04, you support version 0x{:02x}, no common versions.",
            hello.version
        );
        let body = [&[0, 0, 0, 0], text.as_bytes()].concat();
        return wire.send(&message(hello.version, 1, hello.xid, &body)).await;
    };
    while let Some(asked) = next(&mut wire, &mut buffer).await? {
        for answer in answers(&host, &bridge, version, &asked) {
            wire.send(&answer).await?;
        }
    }
    Ok(())
}

/// The highest version that both have.
fn agree(hello: &Message) -> Option<u8> {
    let offered = match hello.body.as_slice() {
        [0, 1, 0, 8, a, b, c, d, ..] => u32::from_be_bytes([*a, *b, *c, *d]),
        _ => (1..=u32::from(hello.version.min(31))).fold(0, |bits, version| bits | 1 << version),
    };
    [4, 1].into_iter().find(|version| offered & VERSIONS & 1 << version != 0)
}

fn answers(host: &Host, bridge: &str, version: u8, asked: &Message) -> Vec<Vec<u8>> {
    if asked.version != version {
        return vec![error(asked, 1, 0)];
    }
    match (asked.kind, version) {
        (2, _) => vec![message(version, 3, asked.xid, &asked.body)],
        (3, _) => Vec::new(),
        (16, 1) | (18, 4) => multipart(host, bridge, version, asked),
        _ => vec![error(asked, 1, 1)],
    }
}

fn multipart(host: &Host, bridge: &str, version: u8, asked: &Message) -> Vec<Vec<u8>> {
    let head = if version == 1 { 4 } else { 8 };
    let (Some([high, low]), Some(body)) = (asked.body.first_chunk::<2>(), asked.body.get(head..)) else {
        return vec![error(asked, 1, 6)];
    };
    let flows = host.read(|state| {
        let bridge = state.switch.bridges.iter().find(|other| other.name == bridge);
        bridge.map(|bridge| bridge.flows.clone()).unwrap_or_default()
    });
    let entries: Vec<Vec<u8>> = match (u16::from_be_bytes([*high, *low]), body.len()) {
        (3, 0) => (0..TABLES)
            .map(|table| table_entry(version, table, flows.get(&table).copied().unwrap_or(0)))
            .collect(),
        (2, length) if length == if version == 1 { 44 } else { 40 } => {
            let mut sums = vec![0; 16];
            sums.extend_from_slice(&flows.values().sum::<u32>().to_be_bytes());
            sums.extend_from_slice(&[0; 4]);
            vec![sums]
        }
        (2 | 3, _) => return vec![error(asked, 1, 6)],
        _ => return vec![error(asked, 1, 2)],
    };
    let mut parts: Vec<Vec<u8>> = vec![Vec::new()];
    for entry in entries {
        match parts.last_mut() {
            Some(part) if part.len() + entry.len() <= PART => part.extend(entry),
            _ => parts.push(entry),
        }
    }
    let last = parts.len() - 1;
    let part = |(index, part): (usize, Vec<u8>)| {
        let more = u8::from(index < last);
        let padding: &[u8] = if version == 1 { &[] } else { &[0; 4] };
        let body = [&[*high, *low, 0, more], padding, &part].concat();
        message(version, asked.kind + 1, asked.xid, &body)
    };
    parts.into_iter().enumerate().map(part).collect()
}

fn table_entry(version: u8, table: u8, flows: u32) -> Vec<u8> {
    let mut entry = vec![table, 0, 0, 0];
    if version == 1 {
        entry.resize(36, 0);
        entry.extend_from_slice(&0x003f_ffff_u32.to_be_bytes());
        entry.extend_from_slice(&1_000_000_u32.to_be_bytes());
    }
    entry.extend_from_slice(&flows.to_be_bytes());
    entry.extend_from_slice(&[0; 16]);
    entry
}

/// An error with the beginning of the message that it is about.
fn error(asked: &Message, kind: u8, code: u8) -> Vec<u8> {
    let original = message(asked.version, asked.kind, asked.xid, &asked.body);
    let quoted = original.get(..64).unwrap_or(&original);
    message(asked.version, 1, asked.xid, &[&[0, kind, 0, code], quoted].concat())
}

fn message(version: u8, kind: u8, xid: [u8; 4], body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + body.len()).unwrap_or(u16::MAX).to_be_bytes();
    [&[version, kind][..], &length, &xid, body].concat()
}

/// The next whole message; `None` at the end of the stream.
async fn next(wire: &mut Wire, buffer: &mut BytesMut) -> io::Result<Option<Message>> {
    loop {
        if let Some([version, kind, high, low, xid @ ..]) = buffer.first_chunk::<8>().copied() {
            let length = usize::from(u16::from_be_bytes([high, low]));
            if length < 8 {
                return Err(io::Error::other("an OpenFlow message shorter than its header"));
            }
            if buffer.len() >= length {
                let mut whole = buffer.split_to(length);
                whole.advance(8);
                return Ok(Some(Message { version, kind, xid, body: whole.to_vec() }));
            }
        }
        if wire.read(buffer).await? == 0 {
            return Ok(None);
        }
    }
}
