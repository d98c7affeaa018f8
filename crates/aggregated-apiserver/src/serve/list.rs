//! LIST: the bytes of all objects that match, between the head and the tail of a list.

use std::sync::Arc;

use bytes::Bytes;
use http::Response;

use super::body::{self, Body, Gathered, JSON, YAML};
use super::pages::Page;
use super::{ResourceRequest, reach, snapshot};
use crate::collection::PublishedObject;
use crate::representation::Representation;
use crate::request::accept::{self, Format};
use crate::request::options::{ListOptions, Wanted};
use crate::selector::Filter;
use crate::status::ApiStatus;

pub(super) async fn answer(request: &ResourceRequest<'_>) -> Result<Response<Body>, ApiStatus> {
    let (format, representation) = accept::for_objects(request.headers, request.query)?;
    let options = ListOptions::parse(request.query, false)?;
    let filter = request.filter()?;
    if let Wanted::Known(version) = options.version {
        reach(request, version).await?;
    }
    let page = page(request, &options, filter)?;
    let head = representation.list_head(request.resource.collection.definition(), &page);
    let parts = parts(head, page.objects, representation);
    Ok(match format {
        Format::Json => body::chunks(JSON, request.headers, parts),
        Format::Yaml => {
            let json: Vec<u8> = parts.flatten().collect();
            body::compressible(YAML, request.headers, body::yaml(&json)?)
        }
    })
}

fn page(request: &ResourceRequest<'_>, options: &ListOptions, filter: Filter) -> Result<Page, ApiStatus> {
    let collection = &request.resource.collection;
    let matching = |objects: Vec<Arc<PublishedObject>>| -> Vec<_> {
        objects.into_iter().filter(|object| filter.matches(object)).collect()
    };
    let pages = &request.resource.pages;
    if let Some(token) = &options.resume {
        return pages.next(token, filter.clone(), options.limit, || {
            let snapshot = snapshot(collection, &filter);
            (snapshot.version, matching(snapshot.objects))
        });
    }
    let snapshot = snapshot(collection, &filter);
    let mut version = snapshot.version;
    if let (true, Wanted::Known(exact)) = (options.exact, options.version) {
        // What another process showed at a version of its own is not known here.
        if exact < snapshot.last_change || !collection.clock().issued(exact) {
            return Err(ApiStatus::expired(&exact.to_string(), snapshot.last_change));
        }
        version = exact;
    }
    // As in kube-apiserver, who takes any version is given all objects at once.
    let limit = options.limit.filter(|_| options.version != Wanted::Any);
    let objects = matching(snapshot.objects);
    Ok(pages.first(version, objects, filter, limit))
}

/// A list in chunks, each written when it is about to be sent.
fn parts(
    head: Vec<u8>,
    objects: Vec<Arc<PublishedObject>>,
    representation: Representation,
) -> impl Iterator<Item = Bytes> + Send + 'static {
    let last = objects.len();
    let mut head = Some(head);
    let mut objects = objects.into_iter();
    let pieces = (0..=last).map(move |index| {
        let head = head.take();
        let object = objects.next();
        move |out: &mut Vec<u8>| {
            match head {
                Some(head) => out.extend_from_slice(&head),
                None if object.is_some() => out.push(b','),
                None => {}
            }
            if let Some(object) = object {
                representation.write_item(&object, out);
            }
            if index == last {
                out.extend_from_slice(representation.list_tail());
            }
        }
    });
    Gathered::new(pieces)
}
