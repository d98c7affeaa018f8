//! One macro for libvirt's numbered enumerations.
//!
//! Every one of them grows with each release, so each keeps the numbers it does not know in `Other` and never fails.

macro_rules! raw_enum {
    (
        $(#[$meta:meta])*
        $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $number:literal $text:literal,)* }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_meta])* $variant,)*
            /// A number this crate does not know.
            Other(i32),
        }

        impl $name {
            /// From the number on the wire.
            pub const fn from_raw(raw: i32) -> Self {
                match raw {
                    $($number => Self::$variant,)*
                    other => Self::Other(other),
                }
            }

            /// The number on the wire.
            pub const fn raw(self) -> i32 {
                match self {
                    $(Self::$variant => $number,)*
                    Self::Other(other) => other,
                }
            }
        }

        impl From<i32> for $name {
            fn from(raw: i32) -> Self {
                Self::from_raw(raw)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Self::$variant => out.write_str($text),)*
                    Self::Other(other) => write!(out, "{other}"),
                }
            }
        }
    };
}

pub(crate) use raw_enum;
