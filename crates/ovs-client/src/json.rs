//! Cuts a byte stream into JSON objects that follow each other without length, newline or any other mark.
//!
//! OVSDB and unixctl both frame this way. The cutter looks at each byte once, however the network splits the stream,
//! and refuses what would cost too much memory before it is kept: too many bytes, too many values, too deep.

use bytes::{Buf, Bytes, BytesMut};

/// How large one JSON object may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonLimits {
    /// Bytes of its text.
    pub bytes: usize,
    /// Values in it (members, elements, containers): what decides the memory it takes once parsed.
    pub values: usize,
    /// Containers within each other.
    pub depth: usize,
}

impl Default for JsonLimits {
    /// 64 MiB, 4 million values, 64 levels: far above the database of a hypervisor, far below harm.
    fn default() -> Self {
        Self { bytes: 64 << 20, values: 4_000_000, depth: 64 }
    }
}

/// Why a stream cannot be cut any further; the connection is of no more use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// Something other than `{` or white space between objects.
    #[error("byte 0x{0:02x} where a JSON object should begin")]
    NotAnObject(u8),
    /// A closing bracket of the wrong kind.
    #[error("brackets of a JSON object do not match")]
    Brackets,
    /// More bytes than allowed.
    #[error("JSON object is longer than {0} bytes")]
    TooLong(usize),
    /// More values than allowed.
    #[error("JSON object has more than {0} values")]
    TooManyValues(usize),
    /// Deeper than allowed.
    #[error("JSON object is nested deeper than {0}")]
    TooDeep(usize),
}

/// The cutter: keeps its place between calls.
#[derive(Debug)]
pub struct JsonObjects {
    limits: JsonLimits,
    scanned: usize,
    values: usize,
    open: Vec<u8>,
    in_string: bool,
    escaped: bool,
}

impl JsonObjects {
    /// A cutter at the beginning of a stream.
    pub fn new(limits: JsonLimits) -> Self {
        Self { limits, scanned: 0, values: 0, open: Vec::new(), in_string: false, escaped: false }
    }

    /// Takes the next whole object out of `buffer`; `None` means that more bytes are needed.
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use ovs_client::json::{JsonLimits, JsonObjects};
    ///
    /// let mut objects = JsonObjects::new(JsonLimits::default());
    /// let mut buffer = BytesMut::from(r#"{"a":"}"}{"b"#);
    /// assert_eq!(objects.next(&mut buffer)?.as_deref(), Some(br#"{"a":"}"}"#.as_slice()));
    /// assert_eq!(objects.next(&mut buffer)?, None);
    /// # Ok::<(), ovs_client::json::JsonError>(())
    /// ```
    pub fn next(&mut self, buffer: &mut BytesMut) -> Result<Option<Bytes>, JsonError> {
        if self.open.is_empty() {
            let blank = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            buffer.advance(blank);
            match buffer.first() {
                None => return Ok(None),
                Some(b'{') => {}
                Some(other) => return Err(JsonError::NotAnObject(*other)),
            }
        }
        let end = self.scan(buffer.get(self.scanned..).unwrap_or_default())?.map(|end| self.scanned + end);
        let length = end.unwrap_or(buffer.len());
        if length > self.limits.bytes {
            return Err(JsonError::TooLong(self.limits.bytes));
        }
        let Some(end) = end else {
            self.scanned = buffer.len();
            return Ok(None);
        };
        self.scanned = 0;
        self.values = 0;
        Ok(Some(buffer.split_to(end).freeze()))
    }

    /// Whether an object has begun and not ended.
    pub fn is_inside(&self) -> bool {
        !self.open.is_empty()
    }

    /// Looks at fresh bytes; gives the length up to the end of the object, if that is among them.
    fn scan(&mut self, fresh: &[u8]) -> Result<Option<usize>, JsonError> {
        let mut at = 0;
        while let Some(rest) = fresh.get(at..).filter(|rest| !rest.is_empty()) {
            // Most bytes are plain text in strings: those are passed over in one stride.
            let plain = if self.in_string && !self.escaped {
                rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).unwrap_or(rest.len())
            } else {
                0
            };
            at += plain;
            let Some(byte) = rest.get(plain) else { break };
            at += 1;
            if self.step(*byte)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Looks at one byte; true when it ends the outermost object.
    fn step(&mut self, byte: u8) -> Result<bool, JsonError> {
        if self.in_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_string = false,
                _ => {}
            }
            return Ok(false);
        }
        match byte {
            b'"' => self.in_string = true,
            b',' | b':' => self.count()?,
            b'{' | b'[' => {
                self.count()?;
                if self.open.len() >= self.limits.depth {
                    return Err(JsonError::TooDeep(self.limits.depth));
                }
                self.open.push(byte);
            }
            b'}' | b']' => {
                let opening = if byte == b'}' { b'{' } else { b'[' };
                if self.open.pop() != Some(opening) {
                    return Err(JsonError::Brackets);
                }
                return Ok(self.open.is_empty());
            }
            _ => {}
        }
        Ok(false)
    }

    fn count(&mut self) -> Result<(), JsonError> {
        self.values += 1;
        if self.values > self.limits.values {
            return Err(JsonError::TooManyValues(self.limits.values));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SMALL: JsonLimits = JsonLimits { bytes: 64, values: 8, depth: 4 };

    fn cut(limits: JsonLimits, chunks: &[&[u8]]) -> Result<Vec<Vec<u8>>, JsonError> {
        let mut objects = JsonObjects::new(limits);
        let mut buffer = BytesMut::new();
        let mut found = Vec::new();
        for chunk in chunks {
            buffer.extend_from_slice(chunk);
            while let Some(object) = objects.next(&mut buffer)? {
                found.push(object.to_vec());
            }
        }
        Ok(found)
    }

    #[test]
    fn brackets_and_quotes_in_strings_end_nothing() {
        let text = br#"{"a":"}\"]{"} {"b":[{}]}"#;
        assert_eq!(cut(JsonLimits::default(), &[text]).unwrap(), [&text[..13], &text[14..]]);
    }

    #[test]
    fn too_long_too_many_too_deep_and_foreign_bytes_are_refused_before_the_end() {
        let long = format!("{{\"a\":\"{}", "x".repeat(80));
        assert_eq!(cut(SMALL, &[long.as_bytes()]), Err(JsonError::TooLong(64)));
        assert_eq!(cut(SMALL, &[b"{\"a\":[1,1,1,1,1,1,1,1,1"]), Err(JsonError::TooManyValues(8)));
        assert_eq!(cut(SMALL, &[b"{\"a\":[[[[[["]), Err(JsonError::TooDeep(4)));
        assert_eq!(cut(SMALL, &[b"{}HTTP"]), Err(JsonError::NotAnObject(b'H')));
        assert_eq!(cut(SMALL, &[b"{]"]), Err(JsonError::Brackets));
    }

    proptest! {
        #![proptest_config(crate::property::few(128))]

        #[test]
        fn any_split_of_a_stream_gives_the_same_objects(texts in prop::collection::vec("[ -~]{0,12}", 1..6), at in prop::collection::vec(any::<prop::sample::Index>(), 0..8)) {
            let objects: Vec<Vec<u8>> = texts.iter().map(|text| serde_json::json!({ text: [text, {}] }).to_string().into_bytes()).collect();
            let stream = objects.concat();
            let mut cuts: Vec<usize> = at.iter().map(|index| index.index(stream.len() + 1)).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &stream[pair[0]..pair[1]]).collect();
            prop_assert_eq!(cut(JsonLimits::default(), &chunks).unwrap(), objects);
        }

        #[test]
        fn no_bytes_make_it_panic_or_keep_more_than_the_limit(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(found) = cut(SMALL, &[&bytes]) {
                prop_assert!(found.iter().all(|object| object.len() <= SMALL.bytes));
            }
        }
    }
}
