use proptest::prelude::*;

use super::super::{KeepaliveProcedure, List, Procedure, decode};
use super::*;
use crate::DomainRef;

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<char> = hexadecimal.chars().filter(char::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap()).collect()
}

#[test]
fn the_reply_to_auth_list_is_read() {
    let frame = bytes("00000024 20008086 00000001 00000042 00000001 00000007 00000000 00000001 00000000");
    let (header, length) = parse_frame(&frame).unwrap().unwrap();
    assert_eq!(header, Header::remote(MessageKind::Reply, Procedure::AuthList.raw(), 7));
    assert_eq!(length, frame.len());
    assert_eq!(decode::<List<i32, 20>>(&frame[28..]).unwrap(), List(vec![0]));
}

#[test]
fn an_empty_reply_is_a_header() {
    let frame = bytes("0000001c 20008086 00000001 00000001 00000001 00000003 00000000");
    let (header, length) = parse_frame(&frame).unwrap().unwrap();
    assert_eq!((header.procedure, header.serial, length), (1, 3, 28));
    decode::<()>(&frame[28..]).unwrap();
}

#[test]
fn the_reply_to_a_lookup_is_read() {
    let frame = bytes(
        "00000038 20008086 00000001 00000017 00000001 00000004 00000000 00000004 74657374 \
         dc229f87d4de47198cfd2e21c6105b01 0000000e",
    );
    let (header, _) = parse_frame(&frame).unwrap().unwrap();
    assert_eq!(Procedure::from_raw(header.procedure), Procedure::DomainLookupByName);
    let domain: DomainRef = decode(&frame[28..]).unwrap();
    assert_eq!(domain.to_string(), "test (dc229f87-d4de-4719-8cfd-2e21c6105b01)");
    assert_eq!(domain.id, Some(14));
}

#[test]
fn keepalive_is_a_bare_header() {
    let ping = bytes("0000001c 6b656570 00000001 00000001 00000002 00000000 00000000");
    assert_eq!(encode_frame(&Header::keepalive(KeepaliveProcedure::Ping), &[]).unwrap(), ping);
    let pong = bytes("0000001c 6b656570 00000001 00000002 00000002 00000000 00000000");
    assert_eq!(encode_frame(&Header::keepalive(KeepaliveProcedure::Pong), &[]).unwrap(), pong);
}

#[test]
fn a_length_out_of_bounds_is_refused_as_soon_as_it_is_there() {
    assert_eq!(parse_frame(&27_u32.to_be_bytes()), Err(FrameError::TooShort(27)));
    assert_eq!(parse_frame(&33_554_436_u32.to_be_bytes()), Ok(None));
    assert_eq!(parse_frame(&33_554_437_u32.to_be_bytes()), Err(FrameError::TooLong(33_554_437)));
    assert_eq!(parse_frame(b"GET / HTTP/1.1\r\n"), Err(FrameError::TooLong(0x4745_5420)));
}

#[test]
fn what_does_not_fit_is_not_sent() {
    let header = Header::remote(MessageKind::Call, 1, 1);
    assert!(encode_frame(&header, &vec![0; PAYLOAD_MAX]).is_ok());
    assert!(matches!(encode_frame(&header, &vec![0; PAYLOAD_MAX + 1]), Err(FrameError::TooLong(_))));
}

proptest! {
    #[test]
    fn any_bytes_are_a_frame_or_an_error_or_too_few(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        if let Ok(Some((_, length))) = parse_frame(&bytes) {
            prop_assert!((28..=bytes.len()).contains(&length));
        }
    }

    #[test]
    fn a_frame_is_whole_at_its_last_byte(
        procedure: i32, serial: u32, kind in 0..9_i32, status in 0..4_i32,
        payload in proptest::collection::vec(any::<u8>(), 0..50),
    ) {
        let (kind, status) = (MessageKind::from_raw(kind), MessageStatus::from_raw(status));
        let header = Header { status, ..Header::remote(kind, procedure, serial) };
        let frame = encode_frame(&header, &payload).unwrap();
        prop_assert_eq!(parse_frame(&frame).unwrap(), Some((header, frame.len())));
        prop_assert_eq!(parse_frame(&frame[..frame.len() - 1]).unwrap(), None);
    }
}
