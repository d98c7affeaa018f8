//! Certificate authorities and what they issue.

use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};

pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) pem: String,
}

#[derive(Clone)]
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut parameters = CertificateParams::new(vec![]).unwrap();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = parameters.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(parameters, key), pem }
    }

    pub(crate) fn server(&self) -> Pair {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        self.issue(CertificateParams::new(names).unwrap(), ExtendedKeyUsagePurpose::ServerAuth)
    }

    pub(crate) fn client(&self, name: &str, groups: &[&str]) -> Pair {
        let mut parameters = CertificateParams::new(vec![]).unwrap();
        parameters.distinguished_name.push(DnType::CommonName, name);
        for group in groups {
            parameters.distinguished_name.push(DnType::OrganizationName, *group);
        }
        self.issue(parameters, ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn issue(&self, mut parameters: CertificateParams, usage: ExtendedKeyUsagePurpose) -> Pair {
        parameters.extended_key_usages.push(usage);
        let key = KeyPair::generate().unwrap();
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap().pem();
        Pair { certificate, key: key.serialize_pem() }
    }
}
