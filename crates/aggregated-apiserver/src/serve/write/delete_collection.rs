//! DELETE of all objects that match selectors.

use http::{Response, StatusCode};
use hyper::body::Incoming;

use super::Write;
use super::options::DeleteOptions;
use crate::request::options::ListOptions;
use crate::serve::body::Body;
use crate::serve::{Page, snapshot};
use crate::status::ApiStatus;

impl Write<'_> {
    pub(super) async fn delete_collection(&mut self, body: Incoming) -> Result<Response<Body>, ApiStatus> {
        if self.definition().namespaced() && self.request.path.namespace.is_none() {
            return Err(ApiStatus::method_not_allowed());
        }
        let bytes = self.body(body).await?;
        let options = DeleteOptions::parse(self.request.query, self.request.headers, &bytes)?;
        ListOptions::parse(self.request.query, false)?;
        let filter = self.request.filter()?;
        let found = snapshot(&self.request.resource.collection, &filter);
        let matching: Vec<_> = found.objects.into_iter().filter(|object| filter.matches(object)).collect();
        for object in &matching {
            // What has gone meanwhile, or is another one by now, is not what was asked for.
            let one = DeleteOptions { uid: Some(object.uid().to_owned()), ..options.clone() };
            match self.delete_one(object.key(), &one).await {
                Ok(_) => {}
                Err(status) if status.code() == StatusCode::NOT_FOUND => {}
                Err(status)
                    if self.wanted(object.key()).is_none_or(|now| now.object.uid() != object.uid()) =>
                {
                    tracing::debug!(object = %object.key(), reason = status.reason(), "gone meanwhile");
                }
                Err(status) => return Err(status),
            }
        }
        let page = Page { version: found.version, objects: Vec::new(), rest: None };
        let mut json = self.representation.list_head(self.definition(), &page);
        for (index, object) in matching.iter().enumerate() {
            if index > 0 {
                json.push(b',');
            }
            self.representation.write_item(object, &mut json);
        }
        json.extend_from_slice(self.representation.list_tail());
        self.reply(StatusCode::OK, json)
    }
}
