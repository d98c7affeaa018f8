//! POST: a new object.

use http::{Response, StatusCode};
use hyper::body::Incoming;
use rand_name::suffix;
use serde_json::Value;
use uuid::Uuid;

use super::object::{Origin, metadata_mut, metadata_of, now};
use super::options::{For, WriteOptions};
use super::{Write, decode, metadata};
use crate::collection::{ObjectKey, Wanted};
use crate::serve::body::Body;
use crate::status::ApiStatus;
use crate::storage::StorageError;

/// How many names are tried when a name is generated.
const NAMES: usize = 8;
/// Longest prefix of a generated name.
const PREFIX: usize = 58;

impl Write<'_> {
    pub(super) async fn create(&mut self, body: Incoming) -> Result<Response<Body>, ApiStatus> {
        let request = self.request;
        if request.path.name.is_some() || (self.definition().namespaced() && request.path.namespace.is_none())
        {
            return Err(ApiStatus::method_not_allowed());
        }
        let syntax = decode::syntax(request.headers)?;
        let bytes = self.body(body).await?;
        let options = self.options(For::Create)?;
        let decoded = decode::decode(&bytes, syntax).map_err(|error| {
            ApiStatus::bad_request(format!(
                "the object provided is unrecognized (must be of type {}): {error}",
                self.definition().kind
            ))
        })?;
        let object = self.admit(decoded.value, &decoded.duplicates, &options, Origin::Body)?;
        self.check_namespace(&object, request.path.namespace.as_deref())?;
        if !metadata_of(&object)
            .map(|metadata| metadata::text(metadata, "resourceVersion"))
            .unwrap_or_default()
            .is_empty()
        {
            // kube-apiserver says the same, with the code of a fault of its own.
            return Err(ApiStatus::bad_request("resourceVersion should not be set on objects to be created"));
        }
        let prefix = metadata_of(&object).filter(|metadata| metadata::text(metadata, "name").is_empty());
        let prefix =
            prefix.map(|metadata| metadata::text(metadata, "generateName").to_owned()).unwrap_or_default();
        if prefix.is_empty() {
            return self.create_named(object, &options).await;
        }
        for _ in 0..NAMES {
            let mut object = object.clone();
            let start: String = prefix.chars().take(PREFIX).collect();
            if let Some(metadata) = metadata_mut(&mut object) {
                metadata.insert("name".to_owned(), format!("{start}{}", suffix()).into());
            }
            match self.create_named(object, &options).await {
                Err(status) if status.reason() == "AlreadyExists" => {}
                other => return other,
            }
        }
        let message = "the server was not able to generate a unique name for the object";
        Err(ApiStatus::new(StatusCode::CONFLICT, "AlreadyExists", message).retry_after(1))
    }

    async fn create_named(
        &mut self,
        object: Value,
        options: &WriteOptions,
    ) -> Result<Response<Body>, ApiStatus> {
        let namespace = self.request.path.namespace.clone();
        let name = metadata_of(&object).map(|metadata| metadata::text(metadata, "name").to_owned());
        let key = ObjectKey { namespace, name: name.unwrap_or_default() };
        let object = self.newborn(&key, object, Some(options));
        self.judge(None, &object)?;
        let _turn = self.prepared.turn(&key).await;
        match self.wanted(&key) {
            Some(there) => Err(self.is_there(&key, &there)),
            None => self.store_new(&key, object, options).await,
        }
    }

    /// Gives an object what a new one has. Who owns its fields is found out here unless an apply has done that.
    pub(super) fn newborn(&self, key: &ObjectKey, mut object: Value, by: Option<&WriteOptions>) -> Value {
        let owned_defaults = self.writing().strategy.owns_defaults();
        if owned_defaults {
            self.complete(key, &mut object);
        }
        if let Some(metadata) = metadata_mut(&mut object) {
            for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion", "namespace"] {
                metadata.remove(field);
            }
            if let Some(namespace) = &key.namespace {
                metadata.insert("namespace".to_owned(), namespace.as_str().into());
            }
            metadata.insert("uid".to_owned(), Uuid::new_v4().to_string().into());
            metadata.insert("creationTimestamp".to_owned(), now().to_string().into());
            metadata.insert("generation".to_owned(), 1.into());
        }
        if let Some(options) = by {
            let manager = self.manager(options);
            object = server_side_apply::update(&self.prepared.ownership, None, &object, &manager, now());
        }
        self.complete(key, &mut object);
        object
    }

    /// Stores a new object, unless it is only tried, and answers with what is shown of it.
    pub(super) async fn store_new(
        &self,
        key: &ObjectKey,
        object: Value,
        options: &WriteOptions,
    ) -> Result<Response<Body>, ApiStatus> {
        let collection = &self.request.resource.collection;
        if options.dry_run {
            let preview = self.preview(object, collection.clock().read())?.unversioned();
            return self.object(StatusCode::CREATED, &preview);
        }
        match self.writing().storage.create(key, &object).await {
            Ok(_) => {}
            Err(StorageError::Conflict | StorageError::Exists) => {
                return Err(self.store_fault(key, &StorageError::Exists));
            }
            Err(error) => return Err(self.store_fault(key, &error)),
        }
        match self.acknowledged(key, None).await? {
            Some(shown) => self.object(StatusCode::CREATED, &shown.object),
            None => self.object(StatusCode::CREATED, &self.preview(object, collection.clock().read())?),
        }
    }

    fn is_there(&self, key: &ObjectKey, there: &Wanted) -> ApiStatus {
        let status = self.store_fault(key, &StorageError::Exists);
        let leaving = self.stored_form(&there.object).is_ok_and(|(object, _)| {
            metadata_of(&object).is_some_and(|metadata| metadata.contains_key("deletionTimestamp"))
        });
        if leaving { status.prefixed("object is being deleted: ") } else { status }
    }

    pub(super) fn manager(&self, options: &WriteOptions) -> server_side_apply::Manager {
        server_side_apply::Manager {
            name: options.manager.clone(),
            subresource: String::new(),
            api_version: self.definition().api_version(),
        }
    }
}

/// The end of a generated name.
mod rand_name {
    use uuid::Uuid;

    /// Letters and digits that are not taken for each other and make no words.
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

    pub(super) fn suffix() -> String {
        let random = Uuid::new_v4();
        let letter = |byte: &u8| LETTERS.get(usize::from(*byte) % LETTERS.len()).copied().map(char::from);
        random.as_bytes().iter().take(5).filter_map(letter).collect()
    }
}
