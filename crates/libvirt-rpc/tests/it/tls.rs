//! TLS: whose certificate is accepted, whose is not, and how each refusal is told.

use fleet_simulator::model::Fault;
use libvirt_rpc::{ConnectError, Connection, OpenError, OpenOptions, TlsClient, TlsEndpoint, TlsError};

use crate::certificates::{Certificates, Checks};
use crate::target::{
    Target, rig, rig_client, rig_credentials, rig_hosts, simulator_tcp, simulator_tls_that, tls,
};

async fn refused(connector: TlsEndpoint) -> TlsError {
    match Connection::open(&connector, OpenOptions::new("qemu:///system")).await {
        Err(error @ OpenError::Connect { .. }) => {
            let denied = error.is_denied();
            let OpenError::Connect { source: ConnectError::Tls(source), .. } = error else {
                panic!("{error:?}")
            };
            assert_eq!(denied, source.is_denied());
            source
        }
        other => panic!("{other:?}"),
    }
}

fn at(target: &Target, client: TlsClient) -> TlsEndpoint {
    let libvirt_rpc::Endpoint::Tls { host, port } = &target.endpoint else { panic!("{}", target.endpoint) };
    TlsEndpoint::new(host, *port, client)
}

fn set_fault(target: &Target, fault: Fault) {
    target.simulated.as_ref().unwrap().host.set_faults(|faults| faults.libvirt = fault);
}

#[tokio::test]
async fn a_certificate_for_another_name_is_not_accepted() {
    let target = simulator_tls_that(Checks::InHandshake).await;
    set_fault(&target, Fault::WrongCertificate);
    let client = target.tls.clone().unwrap();
    let error = refused(at(&target, client.clone())).await;
    assert_eq!(error.to_string(), "the server's certificate is not for `127.0.0.1`");
    // The name can be given where hosts are reached by an address that is in no certificate.
    let named = at(&target, client).with_server_name("elsewhere.example");
    Connection::open(&named, OpenOptions::new("qemu:///system")).await.unwrap();
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_not_accepted() {
    let target = simulator_tls_that(Checks::Never).await;
    let others = Certificates::new();
    let error = refused(at(&target, others.client())).await;
    assert!(matches!(error, TlsError::Untrusted(_)), "{error:?}");
}

#[tokio::test]
async fn a_client_without_a_certificate_is_told_that_it_was_rejected() {
    let target = simulator_tls_that(Checks::InHandshake).await;
    let certificates = target.simulated.as_ref().unwrap().certificates.as_ref().unwrap();
    let error = refused(at(&target, certificates.anonymous_client())).await;
    assert!(matches!(error, TlsError::Rejected(_)), "{error:?}");
    assert_eq!(error.to_string(), "the server rejected our certificate or address");
}

#[tokio::test]
async fn a_verdict_that_does_not_come_is_a_rejection() {
    let target = simulator_tls_that(Checks::Never).await;
    set_fault(&target, Fault::CertificateRejected);
    let error = refused(at(&target, target.tls.clone().unwrap())).await;
    assert!(matches!(error, TlsError::Rejected(None)), "{error:?}");
    set_fault(&target, Fault::None);
    target.open().await;
}

#[tokio::test]
async fn what_speaks_no_tls_is_told_as_such() {
    let target = simulator_tcp().await.pop().unwrap();
    let libvirt_rpc::Endpoint::Tcp { host, port } = &target.endpoint else { panic!("TCP") };
    let certificates = Certificates::new();
    let error = refused(TlsEndpoint::new(host, *port, certificates.client())).await;
    assert!(matches!(error, TlsError::Handshake(_)), "{error:?}");
}

#[tokio::test]
async fn a_name_that_no_certificate_can_have_is_refused_before_anybody_is_asked() {
    let certificates = Certificates::new();
    let error = refused(TlsEndpoint::new("node 1", 1, certificates.client())).await;
    assert!(matches!(error, TlsError::NoName(_)), "{error:?}");
}

#[tokio::test]
async fn a_real_daemon_rejects_who_it_does_not_know() {
    let Some((_, address)) = rig_hosts().into_iter().next() else { return };
    for name in ["stranger", "foreigner"] {
        let client = rig_client(name).unwrap();
        let error = refused(TlsEndpoint::new(&address, libvirt_rpc::DEFAULT_TLS_PORT, client)).await;
        assert!(matches!(error, TlsError::Rejected(_)), "{name}: {error:?}");
    }
    let client = rig_client("observer").unwrap();
    let elsewhere =
        TlsEndpoint::new(&address, libvirt_rpc::DEFAULT_TLS_PORT, client).with_server_name("node-2");
    let error = refused(elsewhere).await;
    assert!(matches!(error, TlsError::WrongName { .. }), "{error:?}");
}

#[tokio::test]
async fn a_real_daemon_says_whether_it_is_secure() {
    let Some((_, address)) = rig_hosts().into_iter().next() else { return };
    let client = rig_client("observer").unwrap();
    let by_tls = TlsEndpoint::new(&address, libvirt_rpc::DEFAULT_TLS_PORT, client);
    let (connection, _events) = Connection::open(&by_tls, OpenOptions::new("qemu:///system")).await.unwrap();
    assert!(connection.is_secure().await.unwrap());
}

#[tokio::test]
async fn a_real_daemon_refuses_a_wrong_password_and_by_tcp_offers_what_encrypts() {
    let (Some(address), Some(client), Some(known)) =
        (rig("C5C3_RIG_SASL"), rig_client("observer"), rig_credentials())
    else {
        return;
    };
    let libvirt_rpc::Endpoint::Tls { host, port } = tls(&address) else { panic!("TLS") };
    let endpoint = TlsEndpoint::new(host, port, client);
    let wrong = libvirt_rpc::Credentials::new("observer", "wrong");
    let options = OpenOptions::new("test:///default");
    let error = Connection::open(&endpoint, options.clone().with_credentials(wrong)).await.unwrap_err();
    let OpenError::AuthRefused { source, .. } = error else { panic!("{error:?}") };
    assert!(source.is_denied(), "{source:?}");
    let error = Connection::open(&endpoint, options.clone()).await.unwrap_err();
    assert!(error.to_string().contains("SCRAM-SHA-256"), "{error}");
    // By plain TCP it takes only what encrypts the connection itself, and there is none of that here.
    let tcp: libvirt_rpc::Endpoint = format!("tcp://{address}").parse().unwrap();
    let error = Connection::open(&tcp, options.with_credentials(known)).await.unwrap_err();
    assert!(error.is_denied(), "{error:?}");
    println!("by TCP: {error:?}");
}
