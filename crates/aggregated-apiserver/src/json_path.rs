//! The JSON paths of printer columns and selectable fields: the part of Kubernetes' JSONPath that CRDs use.
//!
//! `.a.b`, `['a.b']`, `.a\.b`, `[0]`, `[-1]`, `[*]`, `.*` and filters `[?(@.type=="Ready")]` with `==` and `!=`
//! on strings, numbers and booleans, or bare existence `[?(@.message)]`. Parsed once; evaluating cannot fail.

use serde_json::Value;

/// A parsed path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JsonPath {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Key(String),
    Index(i64),
    Every,
    Where { path: JsonPath, test: Test },
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    Exists,
    Equals(Value),
    Differs(Value),
}

/// Why a path cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at byte {offset} of {path:?}")]
pub struct JsonPathError {
    /// The path as given.
    pub path: String,
    /// Where parsing stopped.
    pub offset: usize,
    /// What was expected or is not supported.
    pub problem: &'static str,
}

impl JsonPath {
    pub(crate) fn parse(path: &str) -> Result<Self, JsonPathError> {
        let inner = path.strip_prefix('{').and_then(|p| p.strip_suffix('}')).unwrap_or(path);
        let mut parser = Parser { text: inner, at: 0 };
        parser.path().map_err(|(offset, problem)| JsonPathError { path: path.to_owned(), offset, problem })
    }

    /// Every value that the path leads to, in document order.
    pub(crate) fn find<'a>(&self, root: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![root];
        for step in &self.steps {
            let mut next = Vec::new();
            for value in found {
                step.apply(value, &mut next);
            }
            found = next;
        }
        found
    }
}

impl Step {
    fn apply<'a>(&self, value: &'a Value, out: &mut Vec<&'a Value>) {
        match (self, value) {
            (Self::Key(key), Value::Object(map)) => out.extend(map.get(key)),
            (Self::Index(index), Value::Array(items)) => {
                let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
                let index = if *index < 0 { index.saturating_add(length) } else { *index };
                out.extend(usize::try_from(index).ok().and_then(|index| items.get(index)));
            }
            (Self::Every, Value::Array(items)) => out.extend(items),
            (Self::Every, Value::Object(map)) => out.extend(map.values()),
            (Self::Where { path, test }, Value::Array(items)) => {
                out.extend(items.iter().filter(|item| test.holds(&path.find(item))));
            }
            _ => {}
        }
    }
}

impl Test {
    fn holds(&self, found: &[&Value]) -> bool {
        match self {
            Self::Exists => !found.is_empty(),
            Self::Equals(wanted) => found.iter().any(|value| same(value, wanted)),
            Self::Differs(wanted) => !found.is_empty() && !found.iter().any(|value| same(value, wanted)),
        }
    }
}

fn same(left: &Value, right: &Value) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => left == right,
        _ => left == right,
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

type Parsed<T> = Result<T, (usize, &'static str)>;

impl<'a> Parser<'a> {
    fn path(&mut self) -> Parsed<JsonPath> {
        let mut steps = Vec::new();
        if !self.rest().starts_with(['.', '[', '$', '@']) {
            steps.push(Step::Key(self.name()?));
        } else if self.rest().starts_with(['$', '@']) {
            self.at += 1;
        }
        while let Some(first) = self.rest().chars().next() {
            match first {
                '.' => {
                    self.at += 1;
                    if self.rest().starts_with('.') {
                        return Err((self.at, "recursive descent is not supported"));
                    }
                    if self.eat("*") {
                        steps.push(Step::Every);
                    } else if self.rest().starts_with('[') {
                    } else if self.rest().is_empty() && steps.is_empty() {
                        break;
                    } else {
                        steps.push(Step::Key(self.name()?));
                    }
                }
                '[' => steps.push(self.bracket()?),
                _ => return Err((self.at, "expected . or [")),
            }
        }
        Ok(JsonPath { steps })
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn eat(&mut self, token: &str) -> bool {
        let there = self.rest().starts_with(token);
        if there {
            self.at += token.len();
        }
        there
    }

    fn name(&mut self) -> Parsed<String> {
        let mut name = String::new();
        let mut characters = self.rest().char_indices();
        let mut end = self.rest().len();
        while let Some((offset, character)) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some((_, escaped)) => name.push(escaped),
                    None => return Err((self.at + offset, "nothing after the backslash")),
                },
                '.' | '[' => {
                    end = offset;
                    break;
                }
                c if c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | ':') => name.push(c),
                _ => return Err((self.at + offset, "unexpected character in a field name")),
            }
        }
        if name.is_empty() {
            return Err((self.at, "expected a field name"));
        }
        self.at += end;
        Ok(name)
    }

    fn bracket(&mut self) -> Parsed<Step> {
        let start = self.at;
        self.at += 1;
        if self.eat("?(") {
            return self.filter(start);
        }
        let end = self.closing(start)?;
        let inside = self.text.get(self.at..end).unwrap_or_default().trim();
        self.at = end + 1;
        if inside == "*" {
            return Ok(Step::Every);
        }
        if let Some(key) = unquoted(inside) {
            return Ok(Step::Key(key.to_owned()));
        }
        inside.parse().map(Step::Index).map_err(|_| (start, "expected an index, a quoted key or *"))
    }

    /// The offset of the `]` that ends a bracket, past any quoted text.
    fn closing(&self, start: usize) -> Parsed<usize> {
        let mut quote = None;
        for (offset, character) in self.rest().char_indices() {
            match (quote, character) {
                (Some(open), c) if c == open => quote = None,
                (None, '\'' | '"') => quote = Some(character),
                (None, ']') => return Ok(self.at + offset),
                _ => {}
            }
        }
        Err((start, "bracket is not closed"))
    }

    fn filter(&mut self, start: usize) -> Parsed<Step> {
        let end = self.closing(start)?;
        let whole = self.text.get(self.at..end).unwrap_or_default();
        let Some(inside) = whole.trim_end().strip_suffix(')') else {
            return Err((start, "filter is not closed"));
        };
        let offset = self.at;
        self.at = end + 1;
        let (path, test) = if let Some((left, right)) = inside.split_once("==") {
            (left, Test::Equals(literal(right, start)?))
        } else if let Some((left, right)) = inside.split_once("!=") {
            (left, Test::Differs(literal(right, start)?))
        } else {
            (inside, Test::Exists)
        };
        let path = path.trim();
        if !path.starts_with('@') {
            return Err((offset, "a filter starts with @"));
        }
        let mut parser = Parser { text: path, at: 0 };
        let path = parser.path().map_err(|(inner, problem)| (offset + inner, problem))?;
        Ok(Step::Where { path, test })
    }
}

fn unquoted(text: &str) -> Option<&str> {
    ['\'', '"'].into_iter().find_map(|quote| text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote)))
}

fn literal(text: &str, at: usize) -> Parsed<Value> {
    let text = text.trim();
    if let Some(inside) = unquoted(text) {
        return Ok(Value::from(inside));
    }
    match serde_json::from_str::<Value>(text) {
        Ok(value) if !value.is_object() && !value.is_array() => Ok(value),
        _ => Err((at, "a filter compares with a string, a number or a boolean")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn find(path: &str, value: &Value) -> Vec<Value> {
        JsonPath::parse(path).unwrap().find(value).into_iter().cloned().collect()
    }

    #[test]
    fn the_forms_that_printer_columns_use_are_understood() {
        let value = json!({
            "metadata": {"labels": {"a.b/c": "x"}},
            "spec": {"on": true, "hosts": ["one", "two"]},
            "status": {"conditions": [
                {"type": "Ready", "status": "False", "n": 1},
                {"type": "Down", "status": "True", "n": 2, "message": "m"},
            ]},
        });
        assert_eq!(find(".spec.on", &value), [json!(true)]);
        assert_eq!(find("spec.on", &value), [json!(true)]);
        assert_eq!(find("{.spec.on}", &value), [json!(true)]);
        assert_eq!(find(".metadata.labels.a\\.b/c", &value), [json!("x")]);
        assert_eq!(find(".metadata.labels['a.b/c']", &value), [json!("x")]);
        assert_eq!(find(".spec.hosts[0]", &value), [json!("one")]);
        assert_eq!(find(".spec.hosts[-1]", &value), [json!("two")]);
        assert_eq!(find(".spec.hosts[*]", &value), [json!("one"), json!("two")]);
        assert_eq!(find(r#".status.conditions[?(@.type=="Ready")].status"#, &value), [json!("False")]);
        assert_eq!(find(".status.conditions[?(@.type == 'Down')].status", &value), [json!("True")]);
        assert_eq!(find(".status.conditions[?(@.n!=1)].type", &value), [json!("Down")]);
        assert_eq!(find(".status.conditions[?(@.message)].type", &value), [json!("Down")]);
        assert_eq!(find(".status.absent[0].x", &value), Vec::<Value>::new());
        assert_eq!(find(".", &value), std::slice::from_ref(&value));
    }

    #[test]
    fn what_is_not_supported_is_refused() {
        for path in ["..a", ".a[", ".a[?(b==1)]", ".a[?(@.b>1)]", ".a[x]", ".a[?(@.b==", ".a.", ".a\\", ""] {
            assert!(JsonPath::parse(path).is_err(), "{path:?} was accepted");
        }
    }

    proptest! {
        #[test]
        fn parsing_is_total(path in "[.\\[\\]?()@='\"a-c0-9*\\\\{}$ !-]{0,24}") {
            if let Ok(parsed) = JsonPath::parse(&path) {
                parsed.find(&json!({"a": [{"b": 1}, {"b": "c"}]}));
            }
        }
    }
}
