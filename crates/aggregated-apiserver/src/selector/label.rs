//! Label selectors in their full grammar: `a`, `!a`, `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a>1`, `a<1`.

use std::collections::{BTreeMap, BTreeSet};

/// All requirements must hold; none always does.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Clone, Debug, PartialEq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    Exists,
    Absent,
    In(BTreeSet<String>),
    NotIn(BTreeSet<String>),
    Above(i64),
    Below(i64),
}

/// Why a label selector cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unable to parse requirement: {0}")]
pub(crate) struct LabelSelectorError(String);

impl LabelSelector {
    pub(crate) fn parse(text: &str) -> Result<Self, LabelSelectorError> {
        let mut parser = Parser { tokens: tokens(text), at: 0 };
        let mut requirements = Vec::new();
        if parser.peek() == &Token::End {
            return Ok(Self::default());
        }
        loop {
            if requirements.len() >= super::MOST_CONDITIONS {
                let most = super::MOST_CONDITIONS;
                return Err(LabelSelectorError(format!("more than {most} conditions")));
            }
            requirements.push(parser.requirement()?);
            match parser.next() {
                Token::End => return Ok(Self { requirements }),
                Token::Comma => {}
                other => return Err(expected("',' or the end", &other)),
            }
        }
    }

    pub(crate) fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements.iter().all(|requirement| requirement.matches(labels))
    }
}

impl Requirement {
    fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        match &self.test {
            Test::Exists => value.is_some(),
            Test::Absent => value.is_none(),
            Test::In(values) => value.is_some_and(|value| values.contains(value)),
            Test::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Test::Above(bound) => number().is_some_and(|number| number > *bound),
            Test::Below(bound) => number().is_some_and(|number| number < *bound),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Word(String),
    Not,
    Equals,
    Differs,
    Above,
    Below,
    Comma,
    Open,
    Close,
    End,
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let followed_by_equals = characters.peek() == Some(&'=');
        let token = match character {
            c if c.is_whitespace() => continue,
            '!' if followed_by_equals => Token::Differs,
            '=' => Token::Equals,
            '!' => Token::Not,
            '>' => Token::Above,
            '<' => Token::Below,
            ',' => Token::Comma,
            '(' => Token::Open,
            ')' => Token::Close,
            first => {
                let mut word = String::from(first);
                while let Some(next) = characters.next_if(|c| !c.is_whitespace() && !"!=<>,()".contains(*c)) {
                    word.push(next);
                }
                tokens.push(Token::Word(word));
                continue;
            }
        };
        if followed_by_equals && matches!(token, Token::Differs | Token::Equals) {
            characters.next();
        }
        tokens.push(token);
    }
    tokens
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&Token::End)
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn requirement(&mut self) -> Result<Requirement, LabelSelectorError> {
        if self.peek() == &Token::Not {
            self.next();
            return Ok(Requirement { key: self.key()?, test: Test::Absent });
        }
        let key = self.key()?;
        let test = match self.peek().clone() {
            Token::End | Token::Comma => return Ok(Requirement { key, test: Test::Exists }),
            Token::Equals => Test::In(self.one_value()?),
            Token::Differs => Test::NotIn(self.one_value()?),
            Token::Above => Test::Above(self.number()?),
            Token::Below => Test::Below(self.number()?),
            Token::Word(word) if word == "in" => Test::In(self.values()?),
            Token::Word(word) if word == "notin" => Test::NotIn(self.values()?),
            other => return Err(expected("an operator", &other)),
        };
        Ok(Requirement { key, test })
    }

    fn key(&mut self) -> Result<String, LabelSelectorError> {
        match self.next() {
            Token::Word(word) if is_label_key(&word) => Ok(word),
            Token::Word(word) => Err(LabelSelectorError(format!("{word:?} is not a label key"))),
            other => Err(expected("a label key", &other)),
        }
    }

    fn one_value(&mut self) -> Result<BTreeSet<String>, LabelSelectorError> {
        self.next();
        let value = self.value()?;
        Ok(BTreeSet::from([value]))
    }

    /// A word, or nothing.
    fn value(&mut self) -> Result<String, LabelSelectorError> {
        match self.peek().clone() {
            Token::Word(word) => {
                self.next();
                if is_label_value(&word) {
                    Ok(word)
                } else {
                    Err(LabelSelectorError(format!("{word:?} is not a label value")))
                }
            }
            _ => Ok(String::new()),
        }
    }

    fn number(&mut self) -> Result<i64, LabelSelectorError> {
        self.next();
        match self.next() {
            Token::Word(word) => {
                word.parse().map_err(|_| LabelSelectorError(format!("{word:?} is not an integer")))
            }
            other => Err(expected("an integer", &other)),
        }
    }

    fn values(&mut self) -> Result<BTreeSet<String>, LabelSelectorError> {
        self.next();
        match self.next() {
            Token::Open => {}
            other => return Err(expected("'('", &other)),
        }
        let mut values = BTreeSet::new();
        loop {
            values.insert(self.value()?);
            match self.next() {
                Token::Comma => {}
                Token::Close => return Ok(values),
                other => return Err(expected("',' or ')'", &other)),
            }
        }
    }
}

fn expected(what: &str, found: &Token) -> LabelSelectorError {
    let found = match found {
        Token::Word(word) => format!("{word:?}"),
        Token::Not => "'!'".to_owned(),
        Token::Equals => "'='".to_owned(),
        Token::Differs => "'!='".to_owned(),
        Token::Above => "'>'".to_owned(),
        Token::Below => "'<'".to_owned(),
        Token::Comma => "','".to_owned(),
        Token::Open => "'('".to_owned(),
        Token::Close => "')'".to_owned(),
        Token::End => "the end".to_owned(),
    };
    LabelSelectorError(format!("found {found}, expected {what}"))
}

fn is_label_key(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let prefix_fits = prefix.is_none_or(|prefix| {
        !prefix.is_empty()
            && prefix.len() <= 253
            && prefix.split('.').all(|part| !part.is_empty() && part.len() <= 63 && is_dns_label(part))
    });
    prefix_fits && !name.is_empty() && is_label_value(name)
}

fn is_dns_label(part: &str) -> bool {
    part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !part.starts_with('-')
        && !part.ends_with('-')
}

fn is_label_value(value: &str) -> bool {
    let edge = |byte: Option<u8>| byte.is_none_or(|byte| byte.is_ascii_alphanumeric());
    value.len() <= 63
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        && edge(value.bytes().next())
        && edge(value.bytes().last())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    fn matches(selector: &str, pairs: &[(&str, &str)]) -> bool {
        LabelSelector::parse(selector).unwrap().matches(&labels(pairs))
    }

    #[test]
    fn every_operator_selects_as_kubernetes_does() {
        let zone = [("zone", "a"), ("n", "5"), ("in", "x"), ("example.com/role", "")];
        for selector in [
            "",
            " ",
            "zone",
            "!other",
            "zone=a",
            "zone==a",
            "zone!=b",
            "other!=b",
            "zone in (a,b)",
            "zone in ( a , b )",
            "zone notin (b)",
            "other notin (b)",
            "n>4",
            "n<6",
            "zone=a,n",
            "example.com/role=",
            "example.com/role",
            "in in (x)",
            "in",
            "in=x",
            "example.com/role in ()",
            "zone!= b",
            "zone notin (b,c),!other",
        ] {
            assert!(matches(selector, &zone), "{selector:?}");
        }
        for selector in [
            "!zone",
            "other",
            "zone=b",
            "zone!=a",
            "zone in (b)",
            "zone notin (a)",
            "n>5",
            "n<5",
            "zone>1",
            "other>1",
            "zone=a,other",
            "zone=",
            "in notin (x)",
        ] {
            assert!(!matches(selector, &zone), "{selector:?}");
        }
    }

    #[test]
    fn broken_selectors_are_refused() {
        for selector in [
            ",",
            "a,",
            "=a",
            "a in",
            "a in b",
            "a in (b",
            "a in (b c)",
            "a b",
            "a=b c",
            "!",
            "!=",
            "a>b",
            "a>",
            "-a",
            "a=-",
            "/a",
            "a/",
            "a/b/c",
            "A.B/c",
            "a=b=c",
            "a in (b))",
            "(a)",
            "a=ü",
        ] {
            assert!(LabelSelector::parse(selector).is_err(), "{selector:?}");
        }
    }

    proptest! {
        #[test]
        fn parsing_is_total(text in "[a-c!=<>(),/ .-]{0,20}|\\PC{0,20}") {
            if let Ok(selector) = LabelSelector::parse(&text) {
                selector.matches(&labels(&[("a", "b")]));
            }
        }

        #[test]
        fn a_requirement_and_its_negation_exclude_each_other(
            value in "[a-c]{1,2}", label in proptest::option::of("[a-c]{1,2}"), values in "[a-c](,[a-c]){0,2}",
        ) {
            let labels: BTreeMap<_, _> = label.into_iter().map(|label| ("k".to_owned(), label)).collect();
            for (one, other) in [
                (format!("k={value}"), format!("k!={value}")),
                (format!("k in ({values})"), format!("k notin ({values})")),
                ("k".to_owned(), "!k".to_owned()),
            ] {
                let one = LabelSelector::parse(&one).unwrap().matches(&labels);
                let other = LabelSelector::parse(&other).unwrap().matches(&labels);
                prop_assert_ne!(one, other);
            }
        }
    }
}
