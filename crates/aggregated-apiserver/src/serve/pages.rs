//! Lists in pages, all of one snapshot.
//!
//! The rest of a list that was cut off is kept for a few minutes, and the `continue` token names it. A token of another replica,
//! or one whose rest is no longer kept, gets 410 with a fresh token that goes on from the same name in what is there now:
//! consistent no more, but nothing is left out or shown twice.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::collection::{ObjectKey, PublishedObject};
use crate::selector::Filter;
use crate::status::ApiStatus;
use crate::version::ResourceVersion;

const LIFETIME: Duration = Duration::from_secs(300);
const MOST: usize = 64;

/// A part of a list.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    pub(crate) version: ResourceVersion,
    pub(crate) objects: Vec<Arc<PublishedObject>>,
    /// Token of the rest, and how many are in it.
    pub(crate) rest: Option<(String, usize)>,
}

/// The rests of the lists of one collection.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    kept: Mutex<VecDeque<Rest>>,
}

#[derive(Debug)]
struct Rest {
    id: uuid::Uuid,
    until: Instant,
    version: ResourceVersion,
    filter: Filter,
    objects: Arc<[Arc<PublishedObject>]>,
}

/// Where a list goes on.
#[derive(Debug, PartialEq, Eq)]
struct Token {
    /// The list that is kept; none to go on in what is there now.
    id: Option<uuid::Uuid>,
    /// The last object that was shown.
    after: ObjectKey,
}

impl Pages {
    /// The first page of a list, with a token if there is more.
    pub(crate) fn first(
        &self,
        version: ResourceVersion,
        objects: Vec<Arc<PublishedObject>>,
        filter: Filter,
        limit: Option<usize>,
    ) -> Page {
        match limit {
            Some(limit) if objects.len() > limit => {
                let id = uuid::Uuid::new_v4();
                let objects: Arc<[_]> = objects.into();
                let page = cut(id, version, &objects, 0, limit);
                self.keep(Rest { id, until: Instant::now() + LIFETIME, version, filter, objects });
                page
            }
            _ => Page { version, objects, rest: None },
        }
    }

    /// The page that a token asks for. `now` lists what is there now.
    pub(crate) fn next(
        &self,
        token: &str,
        filter: Filter,
        limit: Option<usize>,
        now: impl FnOnce() -> (ResourceVersion, Vec<Arc<PublishedObject>>),
    ) -> Result<Page, ApiStatus> {
        let token = Token::parse(token).ok_or_else(|| {
            ApiStatus::bad_request("continue key is not valid: it was not issued by this server")
        })?;
        let Some(id) = token.id else {
            let (version, mut objects) = now();
            objects.retain(|object| object.key() > &token.after);
            return Ok(self.first(version, objects, filter, limit));
        };
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = kept.iter().find(|rest| rest.id == id && rest.until > Instant::now());
        let Some(rest) = rest else {
            let again = Token { id: None, after: token.after };
            return Err(ApiStatus::continue_expired(&again.text()));
        };
        if rest.filter != filter {
            return Err(ApiStatus::bad_request("continue key is not valid: it belongs to another request"));
        }
        let start = rest.objects.partition_point(|object| object.key() <= &token.after);
        Ok(cut(id, rest.version, &rest.objects, start, limit.unwrap_or(usize::MAX)))
    }

    fn keep(&self, rest: Rest) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        kept.retain(|rest| rest.until > now);
        if kept.len() >= MOST {
            kept.pop_front();
        }
        kept.push_back(rest);
    }
}

fn cut(
    id: uuid::Uuid,
    version: ResourceVersion,
    all: &Arc<[Arc<PublishedObject>]>,
    start: usize,
    limit: usize,
) -> Page {
    let objects: Vec<_> = all.iter().skip(start).take(limit).cloned().collect();
    let left = all.len().saturating_sub(start).saturating_sub(objects.len());
    let rest = objects.last().filter(|_| left > 0).map(|last| {
        let token = Token { id: Some(id), after: last.key().clone() };
        (token.text(), left)
    });
    Page { version, objects, rest }
}

impl Token {
    /// Hexadecimal, so that it needs no escape anywhere.
    fn text(&self) -> String {
        let id = self.id.map(|id| id.simple().to_string()).unwrap_or_default();
        let namespace = self.after.namespace.as_deref().unwrap_or_default();
        let plain = format!("{id}/{namespace}/{}", self.after.name);
        plain.bytes().map(|byte| format!("{byte:02x}")).collect()
    }

    fn parse(text: &str) -> Option<Self> {
        let digits: Vec<u8> = text
            .chars()
            .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect::<Option<_>>()?;
        let bytes = digits.chunks(2).map(|pair| match pair {
            [high, low] => Some(high << 4 | low),
            _ => None,
        });
        let plain = String::from_utf8(bytes.collect::<Option<_>>()?).ok()?;
        let mut parts = plain.splitn(3, '/');
        let (id, namespace, name) = (parts.next()?, parts.next()?, parts.next()?);
        let id = if id.is_empty() { None } else { Some(uuid::Uuid::try_parse(id).ok()?) };
        let namespace = (!namespace.is_empty()).then(|| namespace.to_owned());
        Some(Self { id, after: ObjectKey { namespace, name: name.to_owned() } })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::collection::Collection;
    use crate::testing;

    fn filled(count: usize) -> Arc<Collection> {
        let collection = testing::collection();
        for number in 0..count {
            collection.publish(testing::station(&format!("n{number:03}"), &json!({}))).unwrap();
        }
        collection
    }

    fn first(pages: &Pages, collection: &Collection, limit: usize) -> Page {
        let snapshot = collection.list(None);
        pages.first(snapshot.version, snapshot.objects, Filter::default(), Some(limit))
    }

    fn next(pages: &Pages, collection: &Collection, token: &str, limit: usize) -> Result<Page, ApiStatus> {
        pages.next(token, Filter::default(), Some(limit), || {
            let snapshot = collection.list(None);
            (snapshot.version, snapshot.objects)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        // covers: C7 R4
        #[test]
        fn all_pages_together_are_the_list(count in 0usize..40, limit in 1usize..12, disturb: bool) {
            let collection = filled(count);
            let pages = Pages::default();
            let expected: Vec<_> = collection.list(None).objects.iter().map(|o| o.key().clone()).collect();
            let mut page = first(&pages, &collection, limit);
            let version = page.version;
            let mut seen = Vec::new();
            loop {
                prop_assert_eq!(page.version, version);
                prop_assert!(page.objects.len() <= limit);
                seen.extend(page.objects.iter().map(|o| o.key().clone()));
                let Some((token, left)) = page.rest else { break };
                prop_assert_eq!(left, expected.len() - seen.len());
                if disturb {
                    collection.retain(|key| key.name.ends_with('1'));
                    collection.publish(testing::station("n0005", &json!({}))).unwrap();
                }
                page = next(&pages, &collection, &token, limit).unwrap();
            }
            prop_assert_eq!(seen, expected);
        }

        #[test]
        fn tokens_round_trip_and_parsing_is_total(name in "\\PC{1,9}", text in "[0-9a-fx/]{0,40}") {
            let token = Token { id: Some(uuid::Uuid::new_v4()), after: ObjectKey::namespaced("n", name) };
            prop_assert_eq!(Token::parse(&token.text()), Some(token));
            let _ = Token::parse(&text);
        }
    }

    // covers: C6 C7
    #[test]
    fn a_rest_that_is_not_kept_goes_on_in_what_is_there_now() {
        let collection = filled(10);
        let (token, _) = first(&Pages::default(), &collection, 4).rest.unwrap();
        let pages = Pages::default();
        let expired = next(&pages, &collection, &token, 4).unwrap_err();
        assert_eq!((expired.code().as_u16(), expired.reason()), (410, "Expired"));
        let again = expired.to_json()["metadata"]["continue"].as_str().unwrap().to_owned();
        collection.withdraw(&ObjectKey::cluster("n005"));
        let page = next(&pages, &collection, &again, 100).unwrap();
        let names: Vec<_> = page.objects.iter().map(|o| o.key().name.as_str()).collect();
        assert_eq!(names, ["n004", "n006", "n007", "n008", "n009"]);
    }

    // covers: C7
    #[test]
    fn forged_tokens_and_those_of_other_requests_are_refused() {
        let collection = filled(10);
        let pages = Pages::default();
        let (token, _) = first(&pages, &collection, 4).rest.unwrap();
        for forged in ["x", "00", "2f2f", &token[1..]] {
            let code = next(&pages, &collection, forged, 4).map(|page| page.objects.len());
            assert!(matches!(code, Err(status) if status.code() == 400) || forged == "2f2f", "{forged}");
        }
        let other = Filter { namespace: Some("n".into()), ..Filter::default() };
        let refused = pages.next(&token, other, Some(4), || unreachable!()).unwrap_err();
        assert_eq!(refused.code(), 400);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let collection = filled(3);
        let pages = Pages::default();
        for _ in 0..200 {
            first(&pages, &collection, 1);
        }
        assert_eq!(pages.kept.lock().unwrap().len(), MOST);
    }
}
