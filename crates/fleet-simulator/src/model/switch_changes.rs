//! What happens to a switch: a bond member loses its link, a guest is plugged in, flows come and go.
//!
//! Each says [`HostChange::Switch`], so that monitors tell their clients; a change that changes nothing says nothing.

use std::sync::Arc;

use uuid::Uuid;

use super::fleet::tap;
use super::{Host, HostChange, Interface, Port, Switch};

/// The OpenFlow port of a bridge itself; others are given from below.
const LOCAL: i32 = 65_534;

impl Host {
    /// Changes the switch; subscribers hear of it when `alter` says true.
    pub fn change_switch(&self, alter: impl FnOnce(&mut Switch) -> bool) -> bool {
        self.change(|state, happened| {
            let changed = alter(Arc::make_mut(&mut state.switch));
            if changed {
                happened.push(HostChange::Switch);
            }
            changed
        })
    }

    /// Sets the link of a bond member; the active member moves to one that is up. `false` when nothing changed.
    pub fn set_bond_member(&self, bond: &str, member: &str, up: bool) -> bool {
        self.change_switch(|switch| {
            let Some(port) = switch.port_mut(bond).filter(|port| port.bond.is_some()) else { return false };
            let Some(interface) = port.interfaces.iter_mut().find(|interface| interface.name == member)
            else {
                return false;
            };
            if interface.link_up == up {
                return false;
            }
            interface.link_up = up;
            let first_up =
                port.interfaces.iter().find(|interface| interface.link_up).map(|one| one.name.clone());
            let is_up = |name: &String| port.interfaces.iter().any(|one| one.name == *name && one.link_up);
            if let Some(bond) = &mut port.bond {
                let kept = bond.active_member.take().filter(is_up);
                bond.active_member = kept.or(first_up);
            }
            true
        })
    }

    /// Adds the tap port of a domain to the integration bridge. `false` when the domain is unknown or plugged already.
    pub fn plug(&self, domain: Uuid) -> bool {
        self.change(|state, happened| {
            let Some(domain) = state.domains.get(&domain) else { return false };
            let ofport = state.switch.next_ofport("br-int");
            let port = tap(&self.name, domain, usize::try_from(ofport).unwrap_or(1));
            let Some(bridge) =
                Arc::make_mut(&mut state.switch).bridges.iter_mut().find(|bridge| bridge.name == "br-int")
            else {
                return false;
            };
            if bridge.ports.iter().any(|other| other.uuid == port.uuid) {
                return false;
            }
            bridge.ports.push(port);
            happened.push(HostChange::Switch);
            true
        })
    }

    /// Removes the tap ports of a domain. `false` when it had none.
    pub fn unplug(&self, domain: Uuid) -> bool {
        let id = domain.to_string();
        let belongs = |interface: &Interface| interface.external_ids.get("vm-uuid") == Some(&id);
        self.change_switch(|switch| {
            let before = switch.ports().count();
            for bridge in &mut switch.bridges {
                bridge.ports.retain(|port| !port.interfaces.iter().any(belongs));
            }
            switch.ports().count() < before
        })
    }

    /// Sets how many flows a table of a bridge holds. OVSDB knows nothing of flows, so nobody is told.
    pub fn set_flows(&self, bridge: &str, table: u8, flows: u32) -> bool {
        self.change(|state, _| {
            let Some(bridge) =
                Arc::make_mut(&mut state.switch).bridges.iter_mut().find(|other| other.name == bridge)
            else {
                return false;
            };
            let before =
                if flows == 0 { bridge.flows.remove(&table) } else { bridge.flows.insert(table, flows) };
            before.unwrap_or_default() != flows
        })
    }

    /// Adds traffic to an interface: each of its counters that is named here grows.
    pub fn count(&self, interface: &str, counters: &[(&str, i64)]) {
        self.change(|state, _| {
            let interfaces =
                Arc::make_mut(&mut state.switch).interfaces_mut().filter(|other| other.name == interface);
            for statistics in interfaces.map(|interface| &mut interface.statistics) {
                for (name, more) in counters {
                    *statistics.entry((*name).to_owned()).or_default() += more;
                }
            }
        });
    }
}

impl Switch {
    /// All ports of all bridges.
    pub fn ports(&self) -> impl Iterator<Item = &Port> {
        self.bridges.iter().flat_map(|bridge| &bridge.ports)
    }

    /// The port of that name.
    pub fn port_mut(&mut self, name: &str) -> Option<&mut Port> {
        self.bridges.iter_mut().flat_map(|bridge| &mut bridge.ports).find(|port| port.name == name)
    }

    /// All interfaces of all ports.
    pub fn interfaces_mut(&mut self) -> impl Iterator<Item = &mut Interface> {
        let ports = self.bridges.iter_mut().flat_map(|bridge| &mut bridge.ports);
        ports.flat_map(|port| &mut port.interfaces)
    }

    /// An OpenFlow port number of a bridge that nobody has.
    pub fn next_ofport(&self, bridge: &str) -> i32 {
        let ports = self.bridges.iter().filter(|other| other.name == bridge).flat_map(|bridge| &bridge.ports);
        let taken = ports.flat_map(|port| &port.interfaces).filter_map(|interface| interface.ofport);
        taken.filter(|ofport| *ofport < LOCAL).max().unwrap_or_default().max(0) + 1
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Fleet, FleetOptions};

    #[test]
    fn the_active_member_moves_away_from_a_member_that_is_down_and_stays_where_it_is_up() {
        let fleet = Fleet::new(&FleetOptions::default());
        let host = &fleet.hosts[0];
        let active = || {
            host.read(|state| state.switch.ports().find_map(|port| port.bond.clone())).unwrap().active_member
        };
        assert_eq!(active().as_deref(), Some("eno1"));
        assert!(host.set_bond_member("bond0", "eno1", false));
        assert!(!host.set_bond_member("bond0", "eno1", false));
        assert_eq!(active().as_deref(), Some("eno2"));
        assert!(host.set_bond_member("bond0", "eno1", true));
        assert_eq!(active().as_deref(), Some("eno2"));
        assert!(host.set_bond_member("bond0", "eno1", false) && host.set_bond_member("bond0", "eno2", false));
        assert_eq!(active(), None);
    }

    #[test]
    fn unplugging_a_domain_takes_its_ports_and_plugging_gives_them_back() {
        let fleet = Fleet::new(&FleetOptions::default());
        let host = &fleet.hosts[0];
        let domain = host.read(|state| *state.domains.keys().next().unwrap());
        let ports = || host.read(|state| state.switch.ports().count());
        let before = ports();
        assert!(host.unplug(domain) && !host.unplug(domain));
        assert_eq!(ports(), before - 1);
        assert!(host.plug(domain) && !host.plug(domain));
        assert_eq!(ports(), before);
    }
}
