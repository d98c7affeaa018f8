use proptest::prelude::*;

use super::super::{List, NumberedChars, SmallInt, WireError};
use super::*;
use crate::{DomainInfo, DomainRef, JobStats, NodeInfo};

#[test]
fn strings_are_padded_to_four_bytes() {
    assert_eq!(encode(&"tests".to_owned()), b"\0\0\0\x05tests\0\0\0");
    assert_eq!(encode(&Some("ab".to_owned())), b"\0\0\0\x01\0\0\0\x02ab\0\0");
    assert_eq!(encode(&None::<String>), [0; 4]);
}

#[test]
fn text_that_is_no_utf8_is_still_read() {
    assert_eq!(decode::<String>(b"\0\0\0\x02a\xff\0\0").unwrap(), "a\u{fffd}");
}

#[test]
fn a_count_needs_its_elements() {
    // 16384 domains announced, none there: refused before anything is allocated for them.
    let bytes = encode(&16_384_u32);
    assert_eq!(
        decode::<List<DomainRef, 16_384>>(&bytes).unwrap_err(),
        DecodeError::Short { needed: 16_384 * 24, left: 0 }
    );
    assert_eq!(
        decode::<List<i32, 2>>(&encode(&(3_u32, 0_u64, 0_u32))).unwrap_err(),
        DecodeError::TooMany { count: 3, limit: 2 }
    );
}

#[test]
fn left_over_bytes_are_an_error() {
    assert_eq!(decode::<i32>(&[0; 8]).unwrap_err(), DecodeError::LeftOver(4));
}

#[test]
fn characters_that_travel_as_numbers_end_at_the_first_zero() {
    let model = NumberedChars::<32>("x86_64".to_owned());
    let bytes = encode(&model);
    assert_eq!(bytes.len(), 128);
    assert_eq!(&bytes[..8], b"\0\0\0x\0\0\x008");
    assert_eq!(decode::<NumberedChars<32>>(&bytes).unwrap(), model);
}

#[test]
fn a_small_integer_that_does_not_fit_is_refused() {
    assert_eq!(decode::<SmallInt<u8>>(&encode(&5_u32)).unwrap(), SmallInt(5));
    assert!(decode::<SmallInt<u8>>(&encode(&256_u32)).is_err());
}

fn domain_ref() -> impl Strategy<Value = DomainRef> {
    (".{0,12}", any::<u128>(), proptest::option::of(0..i32::MAX)).prop_map(|(name, uuid, id)| DomainRef {
        name,
        uuid: Uuid::from_u128(uuid),
        id,
    })
}

proptest! {
    #[test]
    fn any_bytes_are_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = decode::<String>(&bytes);
        let _ = decode::<(List<DomainRef, 16_384>, u32)>(&bytes);
        let _ = decode::<WireError>(&bytes);
        let _ = decode::<DomainInfo>(&bytes);
        let _ = decode::<NodeInfo>(&bytes);
        let _ = decode::<JobStats>(&bytes);
        let _ = decode::<List<i32, 20>>(&bytes);
    }

    #[test]
    fn small_numbers_reach_deep_and_still_end(numbers in proptest::collection::vec(0_u32..9, 0..100)) {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        let _ = decode::<(List<DomainRef, 16_384>, u32)>(&bytes);
        let _ = decode::<WireError>(&bytes);
        let _ = decode::<JobStats>(&bytes);
    }

    #[test]
    fn references_survive_the_wire(domains in proptest::collection::vec(domain_ref(), 0..5)) {
        let list: List<_, 16_384> = List(domains);
        prop_assert_eq!(decode::<List<DomainRef, 16_384>>(&encode(&list)).unwrap(), list);
    }

    #[test]
    fn errors_survive_the_wire(code: i32, message in ".{0,30}", about in proptest::option::of(domain_ref())) {
        let error = WireError { code, message: Some(message), about_domain: about, level: 2, ..WireError::default() };
        prop_assert_eq!(decode::<WireError>(&encode(&error)).unwrap(), error);
    }

    #[test]
    fn truncated_values_are_errors(domain in domain_ref(), cut in 1_usize..24) {
        let bytes = encode(&domain);
        prop_assert!(decode::<DomainRef>(&bytes[..bytes.len() - cut]).is_err());
    }
}
