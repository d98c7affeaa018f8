//! Kubernetes quantities for memory and processors, in canonical form.
//!
//! Canonical, because a value that is equal must be equal as text: a watch reports a change of text as a change.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

const BINARY_SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Bytes as a binary quantity, with the largest suffix that leaves no fraction.
///
/// ```
/// use c5c3_api::quantity::memory_from_bytes;
/// assert_eq!(memory_from_bytes(1536 << 20).0, "1536Mi");
/// assert_eq!(memory_from_bytes(1 << 40).0, "1Ti");
/// assert_eq!(memory_from_bytes(0).0, "0");
/// ```
#[must_use]
pub fn memory_from_bytes(bytes: u64) -> Quantity {
    let mut amount = bytes;
    let mut suffixes = BINARY_SUFFIXES.iter();
    let mut suffix = suffixes.next().copied().unwrap_or_default();
    while amount != 0 && amount.is_multiple_of(1024) {
        let Some(next) = suffixes.next() else { break };
        suffix = next;
        amount /= 1024;
    }
    Quantity(format!("{amount}{suffix}"))
}

/// Kibibytes, the unit of libvirt, as a binary quantity.
#[must_use]
pub fn memory_from_kibibytes(kibibytes: u64) -> Quantity {
    match kibibytes.checked_mul(1024) {
        Some(bytes) => memory_from_bytes(bytes),
        None => Quantity(format!("{kibibytes}Ki")),
    }
}

/// Whole cores as a decimal quantity.
///
/// ```
/// assert_eq!(c5c3_api::quantity::whole_cores(128).0, "128");
/// assert_eq!(c5c3_api::quantity::whole_cores(2000).0, "2k");
/// ```
#[must_use]
pub fn whole_cores(cores: u64) -> Quantity {
    let mut amount = cores;
    let mut suffixes = ["", "k", "M", "G", "T", "P", "E"].into_iter();
    let mut suffix = suffixes.next().unwrap_or_default();
    while amount != 0 && amount.is_multiple_of(1000) {
        let Some(next) = suffixes.next() else { break };
        suffix = next;
        amount /= 1000;
    }
    Quantity(format!("{amount}{suffix}"))
}

/// What may be promised of an amount: the amount times a ratio, rounded down. A ratio that is no ratio counts as 1.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "amounts of a host are far below 2^53 and the result is rounded down on purpose"
)]
pub fn with_overcommit(amount: u64, ratio: Option<f64>) -> u64 {
    match ratio {
        Some(ratio) if ratio.is_finite() && ratio > 1.0 => (amount as f64 * ratio).floor() as u64,
        _ => amount,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(quantity: &Quantity) -> Option<u128> {
        let digits = quantity.0.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let suffix = quantity.0.strip_prefix(digits)?;
        let power = BINARY_SUFFIXES.iter().position(|known| *known == suffix)?;
        Some(digits.parse::<u128>().ok()? << (10 * power))
    }

    #[test]
    fn memory_has_the_largest_suffix_that_leaves_no_fraction() {
        for (amount, text) in [(1, "1"), (1023, "1023"), (1024, "1Ki"), (1025, "1025"), (3 << 30, "3Gi")] {
            assert_eq!(memory_from_bytes(amount).0, text);
        }
        assert_eq!(memory_from_kibibytes(2 << 20).0, "2Gi");
        assert_eq!(memory_from_kibibytes(u64::MAX).0, format!("{}Ki", u64::MAX));
    }

    #[test]
    fn overcommit_rounds_down_and_never_takes_away() {
        for (amount, ratio, result) in [
            (128, Some(4.0), 512),
            (3, Some(1.5), 4),
            (3, None, 3),
            (3, Some(0.5), 3),
            (3, Some(f64::NAN), 3),
            (3, Some(f64::INFINITY), 3),
        ] {
            assert_eq!(with_overcommit(amount, ratio), result, "{amount} x {ratio:?}");
        }
    }

    proptest! {
        #[test]
        fn no_byte_is_lost(amount in any::<u64>()) {
            prop_assert_eq!(bytes(&memory_from_bytes(amount)), Some(u128::from(amount)));
        }

        #[test]
        fn overcommit_is_never_less_than_there_is(amount in 0..1_u64 << 50, ratio in any::<f64>()) {
            prop_assert!(with_overcommit(amount, Some(ratio)) >= amount);
        }
    }
}
