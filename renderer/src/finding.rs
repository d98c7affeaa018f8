//! What is wrong, where, and what to do: the one currency of every step before Git.
//!
//! A person mends a topology file with an editor, so a finding names file, line and column; a program filters findings, so it names the
//! rule and the field. Findings are collected, never returned one at a time: one run shows everything.

use std::fmt;

use serde::Serialize;

/// A place in a file. Lines and columns count from 1.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Position {
    /// Name of the file as it was given.
    pub file: String,
    /// Line.
    pub line: u64,
    /// Column, in characters.
    pub column: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One thing that is wrong.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Identifier of the rule that was broken.
    pub rule: &'static str,
    /// Where, when it has a place in a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Which field, as `spec.controlPlanes[0].name`, or which rendered file.
    pub field: String,
    /// What is wrong. Never a secret value.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = &self.position {
            write!(formatter, "{position}: ")?;
        }
        write!(formatter, "error[{}]: {}: {}", self.rule, self.field, self.message)?;
        if let Some(hint) = &self.hint {
            write!(formatter, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

/// Everything that is wrong, in the order of the files.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, thiserror::Error)]
#[serde(transparent)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    /// Nothing is wrong.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// `Err` with the findings, sorted by place, when there are any.
    ///
    /// # Errors
    /// The findings themselves.
    pub fn into_result(mut self) -> Result<(), Self> {
        if self.is_empty() {
            return Ok(());
        }
        self.0.sort_by(|left, right| {
            (&left.position, &left.field, left.rule).cmp(&(&right.position, &right.field, right.rule))
        });
        self.0.dedup();
        Err(self)
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(formatter)?;
            }
            write!(formatter, "{finding}")?;
        }
        Ok(())
    }
}
