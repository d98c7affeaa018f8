//! One definition in `c5c3-api`, said in the words of the API machinery.

use aggregated_apiserver::{Column, ResourceDefinition, Scope};
use c5c3_api::kind::{Kind, Scope as KindScope};

/// The definition of a kind for the machinery.
pub fn definition(kind: &Kind) -> ResourceDefinition {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let column = |column: &c5c3_api::kind::Column| Column {
        name: column.name.to_owned(),
        type_: column.type_.as_str().to_owned(),
        format: column.format.to_owned(),
        description: column.description.to_owned(),
        priority: column.priority,
        json_path: column.json_path.to_owned(),
    };
    ResourceDefinition {
        group: kind.group.to_owned(),
        version: kind.version.to_owned(),
        kind: kind.kind.to_owned(),
        list_kind: kind.list_kind.to_owned(),
        plural: kind.plural.to_owned(),
        singular: kind.singular.to_owned(),
        short_names: owned(kind.short_names),
        categories: owned(kind.categories),
        scope: match kind.scope {
            KindScope::Cluster => Scope::Cluster,
            KindScope::Namespaced => Scope::Namespaced,
        },
        columns: kind.columns.iter().map(column).collect(),
        selectable_fields: owned(kind.selectable_fields),
        schema: c5c3_api::schema::schema(kind),
        description: kind.description.to_owned(),
    }
}
