//! The endpoint of a service in the catalog that came with the token.
//!
//! Chosen here and not by the SDK: the SDK knows Keystone itself under the public interface only, so that with
//! `interface: internal` its login finds no Keystone at all, and its version discovery forgets what it found at every
//! login and takes the port from links that a proxy does not rewrite.

use reqwest::Url;

use crate::failure::{Failure, LoginFailure};
use crate::options::CloudEntry;
use crate::service::Service;

/// One address of one service.
#[derive(Debug, Clone)]
pub(crate) struct CatalogEndpoint {
    pub(crate) service_type: String,
    pub(crate) interface: String,
    pub(crate) region: Option<String>,
    pub(crate) url: String,
}

/// Where the services are.
#[derive(Debug, Clone)]
pub(crate) struct Endpoints {
    compute: Choice,
    placement: Choice,
}

#[derive(Debug, Clone)]
enum Choice {
    Found(Url),
    Missing { interface: &'static str, region: Option<String>, offered: String },
}

impl Endpoints {
    pub(crate) fn choose(catalog: &[CatalogEndpoint], entry: &CloudEntry) -> Result<Self, Failure> {
        let choose = |service, fixed: &Option<String>| match fixed {
            Some(fixed) => parse(fixed).map(Choice::Found),
            None => Choice::from_catalog(service, catalog, entry),
        };
        Ok(Self {
            compute: choose(Service::Compute, &entry.compute_url)?,
            placement: choose(Service::Placement, &entry.placement_url)?,
        })
    }

    /// The base URL of a service.
    pub(crate) fn of(&self, service: Service) -> Result<&Url, Failure> {
        let choice = match service {
            Service::Compute => &self.compute,
            Service::Placement => &self.placement,
        };
        match choice {
            Choice::Found(url) => Ok(url),
            Choice::Missing { interface, region, offered } => Err(Failure::NoEndpoint {
                service,
                interface,
                region: region.clone(),
                offered: offered.clone(),
            }),
        }
    }
}

impl Choice {
    fn from_catalog(
        service: Service,
        catalog: &[CatalogEndpoint],
        entry: &CloudEntry,
    ) -> Result<Self, Failure> {
        let interface = entry.interface.name();
        let of_type = || catalog.iter().filter(|endpoint| endpoint.service_type == service.catalog_type());
        let fits = |endpoint: &&CatalogEndpoint| {
            endpoint.interface == interface && entry.region.is_none_or_equal(endpoint.region.as_deref())
        };
        match of_type().find(fits) {
            Some(endpoint) => parse(&endpoint.url).map(Self::Found),
            None => {
                let name = |endpoint: &CatalogEndpoint| {
                    format!("{}@{}", endpoint.interface, endpoint.region.as_deref().unwrap_or("(no region)"))
                };
                let offered: Vec<String> = of_type().map(name).collect();
                let offered = if offered.is_empty() { "none".to_owned() } else { offered.join(", ") };
                Ok(Self::Missing { interface, region: entry.region.clone(), offered })
            }
        }
    }
}

/// Whether something that may be left open is met.
trait LeftOpen {
    fn is_none_or_equal(&self, given: Option<&str>) -> bool;
}

impl LeftOpen for Option<String> {
    fn is_none_or_equal(&self, given: Option<&str>) -> bool {
        self.as_deref().is_none_or(|wanted| given == Some(wanted))
    }
}

/// A base URL, without a slash at its end, query or fragment.
fn parse(text: &str) -> Result<Url, Failure> {
    // Not quoted: somebody may have written a password into it.
    let unusable =
        || LoginFailure::Configuration { message: "an endpoint is not an HTTP URL without user".to_owned() };
    let mut url = Url::parse(text).map_err(|_| unusable())?;
    if !matches!(url.scheme(), "http" | "https") || url.cannot_be_a_base() || !url.username().is_empty() {
        return Err(unusable().into());
    }
    url.set_query(None);
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::Credentials;
    use crate::options::Interface;

    fn entry(region: Option<&str>, interface: Interface) -> CloudEntry {
        CloudEntry {
            auth_url: "http://keystone.example".to_owned(),
            credentials: Credentials::ApplicationCredential { id: "id".to_owned(), secret: "secret".into() },
            region: region.map(str::to_owned),
            interface,
            ca_file: None,
            verify: true,
            compute_url: None,
            placement_url: None,
        }
    }

    fn endpoint(service_type: &str, interface: &str, region: &str, url: &str) -> CatalogEndpoint {
        CatalogEndpoint {
            service_type: service_type.to_owned(),
            interface: interface.to_owned(),
            region: Some(region.to_owned()),
            url: url.to_owned(),
        }
    }

    fn catalog() -> Vec<CatalogEndpoint> {
        vec![
            endpoint("compute", "internal", "one", "http://one.internal/v2.1/"),
            endpoint("compute", "public", "two", "http://two.public/v2.1"),
            endpoint("compute", "public", "one", "http://one.public/v2.1"),
            endpoint("image", "public", "one", "http://image"),
        ]
    }

    fn compute(entry: &CloudEntry) -> Result<String, String> {
        let endpoints = Endpoints::choose(&catalog(), entry).unwrap();
        endpoints.of(Service::Compute).map(|url| url.to_string()).map_err(|failure| failure.to_string())
    }

    #[test]
    fn region_and_interface_choose_and_a_missing_one_is_told_with_what_there_is() {
        assert_eq!(compute(&entry(Some("one"), Interface::Public)).unwrap(), "http://one.public/v2.1");
        assert_eq!(compute(&entry(Some("one"), Interface::Internal)).unwrap(), "http://one.internal/v2.1");
        assert_eq!(compute(&entry(None, Interface::Public)).unwrap(), "http://two.public/v2.1");
        assert_eq!(
            compute(&entry(Some("three"), Interface::Public)).unwrap_err(),
            "the catalog has no public endpoint of type compute in region three; \
             it has internal@one, public@two, public@one"
        );
    }

    #[test]
    fn a_missing_placement_does_not_hide_nova() {
        let endpoints = Endpoints::choose(&catalog(), &entry(None, Interface::Public)).unwrap();
        assert!(endpoints.of(Service::Compute).is_ok());
        let text = endpoints.of(Service::Placement).unwrap_err().to_string();
        assert!(text.ends_with("it has none"), "{text}");
    }

    #[test]
    fn a_fixed_url_goes_before_the_catalog() {
        let mut entry = entry(Some("three"), Interface::Admin);
        entry.compute_url = Some("https://fixed.example/compute/v2.1/?x=1".to_owned());
        assert_eq!(compute(&entry).unwrap(), "https://fixed.example/compute/v2.1");
        entry.compute_url = Some("nonsense".to_owned());
        assert!(Endpoints::choose(&catalog(), &entry).is_err());
    }
}
