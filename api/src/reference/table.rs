//! A table in Markdown.

use std::fmt;

/// A table of this many columns.
pub(super) struct Table<const COLUMNS: usize> {
    heading: [&'static str; COLUMNS],
    rows: Vec<[String; COLUMNS]>,
}

impl<const COLUMNS: usize> Table<COLUMNS> {
    pub(super) const fn new(heading: [&'static str; COLUMNS]) -> Self {
        Self { heading, rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: [String; COLUMNS]) {
        self.rows.push(cells);
    }
}

impl<const COLUMNS: usize> fmt::Display for Table<COLUMNS> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "| {} |", self.heading.join(" | "))?;
        writeln!(formatter, "|{}", "---|".repeat(COLUMNS))?;
        for row in &self.rows {
            let cells = row.each_ref().map(|cell| escaped(cell));
            writeln!(formatter, "| {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}

/// Text as code.
pub(super) fn code(text: &str) -> String {
    format!("`{text}`")
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace("\n\n", "<br>").replace('\n', "<br>")
}
