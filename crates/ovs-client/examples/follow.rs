//! Follows a switch: prints its bridges, ports and bonds, and prints them again whenever they change.
//!
//! ```text
//! cargo run -p ovs-client --example follow -- unix:/run/openvswitch/db.sock
//! ```

use std::error::Error;

use ovs_client::Endpoint;
use ovs_client::switch::{Interface, LinkState, Switch, SwitchView};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let endpoint: Endpoint =
        std::env::args().nth(1).unwrap_or_else(|| "unix:/run/openvswitch/db.sock".to_owned()).parse()?;
    let view = SwitchView::open(&endpoint, &Default::default()).await?;
    loop {
        print(&view.switch());
        let changes = view.changed().await?;
        println!("\nchanged: {:?}", changes.tables);
    }
}

fn print(switch: &Switch) {
    let version = switch.root.as_ref().and_then(|root| root.ovs_version.as_deref());
    println!("Open vSwitch {}, system-id {}", version.unwrap_or("?"), switch.system_id().unwrap_or("?"));
    for bridge in &switch.bridges {
        println!("  {} ({})", bridge.name, bridge.datapath_type.as_deref().unwrap_or("?"));
        for port in &bridge.ports {
            let mode = port.bond.as_ref().map(|bond| bond.mode.as_deref().unwrap_or("active-backup"));
            println!("    {} {}", port.name, mode.unwrap_or_default());
            port.interfaces.iter().for_each(print_interface);
        }
    }
    for problem in &switch.unreadable {
        println!("  cannot read {problem}");
    }
}

fn print_interface(interface: &Interface) {
    let link = match interface.link_state {
        Some(LinkState::Up) => "up",
        Some(LinkState::Down) => "down",
        None => "unknown",
    };
    let ofport =
        interface.ofport.map_or_else(|| "not opened yet".to_owned(), |ofport| format!("port {ofport}"));
    println!(
        "      {} {ofport}, link {link} {}",
        interface.name,
        interface.error.as_deref().unwrap_or_default()
    );
}
