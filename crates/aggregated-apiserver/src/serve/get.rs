//! GET of one object.

use http::{Response, StatusCode};

use super::body::{self, Body, JSON, YAML};
use super::{ResourceRequest, reach};
use crate::request::accept::{self, Format};
use crate::request::options::Wanted;
use crate::status::ApiStatus;

pub(super) async fn answer(request: &ResourceRequest<'_>) -> Result<Response<Body>, ApiStatus> {
    let (format, representation) = accept::for_objects(request.headers, request.query)?;
    if let Wanted::Known(version) = Wanted::parse(request.query.get("resourceVersion").unwrap_or_default())? {
        reach(request, version).await?;
    }
    let key = request.key().ok_or_else(ApiStatus::path_not_found)?;
    let collection = &request.resource.collection;
    let definition = collection.definition();
    if let (Some(freshening), true) = (&request.resource.freshening, collection.get(&key).is_some()) {
        freshening.freshen(&key).await;
    }
    let object = collection
        .get(&key)
        .ok_or_else(|| ApiStatus::object_not_found(&definition.group, &definition.plural, &key.name))?;
    let bytes = representation.object(&object, definition);
    Ok(match format {
        Format::Json => body::whole(StatusCode::OK, JSON, bytes),
        Format::Yaml => body::whole(StatusCode::OK, YAML, body::yaml(&bytes)?),
    })
}
