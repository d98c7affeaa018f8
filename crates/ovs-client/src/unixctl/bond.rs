//! What `bond/show` answers, in the words of every version: `member` since 2.15, `slave` before.
//!
//! This is the only place that tells which members of a bond carry traffic; the database does not.

/// A bond as ovs-vswitchd runs it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BondStatus {
    /// Name of the port.
    pub name: String,
    /// `active-backup`, `balance-slb` or `balance-tcp`.
    pub mode: Option<String>,
    /// State of LACP.
    pub lacp: Option<LacpStatus>,
    /// Name of the active member; absent when no member is active.
    pub active_member: Option<String>,
    /// Its MAC.
    pub active_member_mac: Option<String>,
    /// Members in the order of the text, which varies.
    pub members: Vec<BondMember>,
}

/// A member of a bond.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BondMember {
    /// Name of the interface.
    pub name: String,
    /// Whether it carries traffic; absent when the text says neither.
    pub enabled: Option<bool>,
    /// Whether it is the active one.
    pub active: bool,
    /// Whether it may become enabled.
    pub may_enable: Option<bool>,
}

/// State of LACP on a bond. `Negotiated` alone proves no partner: it was seen on a bond without one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LacpStatus {
    /// `off`
    Off,
    /// `configured`: wanted, no partner yet.
    Configured,
    /// `negotiated`
    Negotiated,
    /// Anything else, as it came.
    Other(String),
}

impl BondStatus {
    /// How many members are enabled.
    pub fn enabled_members(&self) -> usize {
        self.members.iter().filter(|member| member.enabled == Some(true)).count()
    }
}

/// Reads the text; lines that are not understood are passed over, so newer versions may say more.
///
/// ```
/// let text = b"---- bond0 ----\nbond_mode: active-backup\n\nmember eno1: enabled\n  active member\n";
/// let bonds = ovs_client::unixctl::parse_bonds(text);
/// assert_eq!(bonds[0].enabled_members(), 1);
/// ```
pub fn parse_bonds(text: &[u8]) -> Vec<BondStatus> {
    let mut bonds: Vec<BondStatus> = Vec::new();
    for line in String::from_utf8_lossy(text).lines() {
        let name = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" ----"));
        if let Some(name) = name {
            bonds.push(BondStatus { name: name.to_owned(), ..BondStatus::default() });
        } else if let Some(bond) = bonds.last_mut() {
            read_line(bond, line);
        }
    }
    bonds
}

fn read_line(bond: &mut BondStatus, line: &str) {
    let indented = line.starts_with([' ', '\t']);
    let line = line.trim();
    let (key, value) = line.split_once(':').map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
    if indented {
        let Some(member) = bond.members.last_mut() else { return };
        match key {
            "active member" | "active slave" => {
                member.active = true;
                bond.active_member = Some(member.name.clone());
            }
            "may_enable" => member.may_enable = truth(value),
            _ => {}
        }
        return;
    }
    match key {
        "bond_mode" => bond.mode = some(value),
        "lacp_status" => bond.lacp = some(value).map(lacp),
        "active member mac" | "active slave mac" => {
            let (mac, name) = value.split_once('(').unwrap_or((value, ""));
            let name = name.trim_end_matches(')');
            if name != "none" && mac != "00:00:00:00:00:00" {
                bond.active_member_mac = some(mac);
                bond.active_member = some(name);
            }
        }
        _ => {
            let name = key.strip_prefix("member ").or_else(|| key.strip_prefix("slave "));
            // A name may hold colons (an alias); the state is what follows the last one.
            if let Some((name, value)) = name.and_then(|_| line.rsplit_once(": ")).and_then(|(key, value)| {
                Some((key.strip_prefix("member ").or_else(|| key.strip_prefix("slave "))?, value))
            }) {
                bond.members.push(BondMember {
                    name: name.to_owned(),
                    enabled: enabled(value),
                    ..BondMember::default()
                });
            }
        }
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn truth(text: &str) -> Option<bool> {
    text.parse().ok()
}

fn enabled(text: &str) -> Option<bool> {
    match text.trim() {
        "enabled" => Some(true),
        "disabled" => Some(false),
        _ => None,
    }
}

fn lacp(text: String) -> LacpStatus {
    match text.as_str() {
        "off" => LacpStatus::Off,
        "configured" => LacpStatus::Configured,
        "negotiated" => LacpStatus::Negotiated,
        _ => LacpStatus::Other(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NEW: &str = "---- tbondA ----
bond_mode: balance-tcp
bond may use recirculation: yes, Recirc-ID : 2
bond-hash-basis: 0
lb_output action: disabled, bond-id: -1
updelay: 0 ms
downdelay: 0 ms
next rebalance: 2916 ms
lacp_status: negotiated
lacp_fallback_ab: false
active-backup primary: <none>
active member mac: 6a:3b:9e:8a:e0:bd(tva0)

member tva0: enabled
  active member
  may_enable: true

member tva1: disabled
  may_enable: false

";

    #[test]
    fn a_bond_of_a_real_switch_is_read() {
        let member = |name: &str, up: bool| BondMember {
            name: name.to_owned(),
            enabled: Some(up),
            active: up,
            may_enable: Some(up),
        };
        let expected = BondStatus {
            name: "tbondA".to_owned(),
            mode: Some("balance-tcp".to_owned()),
            lacp: Some(LacpStatus::Negotiated),
            active_member: Some("tva0".to_owned()),
            active_member_mac: Some("6a:3b:9e:8a:e0:bd".to_owned()),
            members: vec![member("tva0", true), member("tva1", false)],
        };
        assert_eq!(parse_bonds(NEW.as_bytes()), [expected]);
    }

    #[test]
    fn the_words_before_2_15_mean_the_same() {
        let old = NEW.replace("member", "slave");
        assert_eq!(parse_bonds(old.as_bytes()), parse_bonds(NEW.as_bytes()));
    }

    #[test]
    fn a_bond_without_an_active_member_has_none_and_several_bonds_are_kept_apart() {
        let none = "---- a ----\nactive member mac: 00:00:00:00:00:00(none)\nlacp_status: off\n\nmember x: disabled\n  may_enable: false\n\n";
        let bonds = parse_bonds(format!("{none}{NEW}").as_bytes());
        assert_eq!(bonds.iter().map(|bond| bond.name.as_str()).collect::<Vec<_>>(), ["a", "tbondA"]);
        assert_eq!(
            (&bonds[0].active_member, &bonds[0].active_member_mac, bonds[0].enabled_members()),
            (&None, &None, 0)
        );
        assert_eq!(bonds[0].lacp, Some(LacpStatus::Off));
        assert_eq!(parse_bonds(b""), []);
    }

    proptest! {
        #![proptest_config(crate::property::few(128))]

        #[test]
        fn no_text_makes_it_panic_or_grow(lines in prop::collection::vec(prop_oneof!["---- [ -~]{0,5} ----", "(member|slave) [a-z:]{0,4}: ?[a-z]{0,8}", "  active (member|slave)", ".{0,20}", "active member mac: .{0,9}"], 0..30)) {
            let text = lines.join("\n");
            let bonds = parse_bonds(text.as_bytes());
            prop_assert!(bonds.len() + bonds.iter().map(|bond| bond.members.len()).sum::<usize>() <= lines.len());
        }
    }
}
