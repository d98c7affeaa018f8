//! The flags of calls: sets of bits with names.

macro_rules! flags {
    ($(#[$meta:meta])* $name:ident { $($(#[$flag_meta:meta])* $flag:ident = $bits:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// No flag.
            pub const NONE: Self = Self(0);
            $($(#[$flag_meta])* pub const $flag: Self = Self($bits);)*
        }

        impl std::ops::BitOr for $name {
            type Output = Self;
            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }
    };
}

flags! {
    /// Which domains to list. Flags of one pair narrow the list; none or both of a pair do not.
    DomainFilter {
        /// Active ones, or [`DomainFilter::INACTIVE`].
        ACTIVE = 1,
        /// Inactive ones.
        INACTIVE = 2,
        /// With a definition, or [`DomainFilter::TRANSIENT`].
        PERSISTENT = 4,
        /// Without one.
        TRANSIENT = 8,
        /// In state running …
        RUNNING = 16,
        /// … or paused …
        PAUSED = 32,
        /// … or shut off …
        SHUT_OFF = 64,
        /// … or any other state.
        OTHER = 128,
    }
}

flags! {
    /// Which form of a domain's XML.
    XmlFlags {
        /// With secrets; not on a read-only connection.
        SECURE = 1,
        /// What the next start will use.
        INACTIVE = 2,
        /// With the CPU that the host made of it.
        UPDATE_CPU = 4,
        /// In the form that another daemon takes at a migration.
        MIGRATABLE = 8,
    }
}

flags! {
    /// Groups of bulk statistics; none means all the driver has.
    StatsGroups {
        /// `state.*`
        STATE = 1,
        /// `cpu.*`
        CPU_TOTAL = 2,
        /// `balloon.*`
        BALLOON = 4,
        /// `vcpu.*`
        VCPU = 8,
        /// `net.*`
        INTERFACE = 16,
        /// `block.*`
        BLOCK = 32,
        /// `perf.*`
        PERF = 64,
        /// `iothread.*`
        IOTHREAD = 128,
        /// `memory.*`
        MEMORY = 256,
        /// `dirtyrate.*`
        DIRTY_RATE = 512,
        /// `vm.*`
        VM = 1024,
    }
}

flags! {
    /// How bulk statistics are taken.
    StatsFlags {
        /// Active domains only.
        ACTIVE = 1,
        /// Inactive domains only.
        INACTIVE = 2,
        /// Do not wait for a domain that is busy: say what is known without asking it.
        NOWAIT = 0x2000_0000,
    }
}

flags! {
    /// How a migration is done. [`Connection::migrate_peer_to_peer`](crate::Connection::migrate_peer_to_peer) adds the flag of its
    /// name.
    MigrateFlags {
        /// While the guest runs.
        LIVE = 1,
        /// The source's daemon talks to the destination's.
        PEER_TO_PEER = 2,
        /// Memory travels within the connection of the daemons.
        TUNNELLED = 4,
        /// The domain is defined at the destination.
        PERSIST_DESTINATION = 8,
        /// The definition at the source goes.
        UNDEFINE_SOURCE = 16,
        /// It stays paused at the destination.
        PAUSED = 32,
        /// Disks travel, too.
        NON_SHARED_DISK = 64,
        /// Disks travel, of their chain only the top.
        NON_SHARED_INCREMENTAL = 128,
        /// Nobody may change the definition meanwhile.
        CHANGE_PROTECTION = 256,
        /// Even where libvirt fears for the data.
        UNSAFE = 512,
        /// The definition only, of a domain that is off.
        OFFLINE = 1024,
        /// Memory is compressed.
        COMPRESSED = 2048,
        /// A disk that fails ends it.
        ABORT_ON_ERROR = 4096,
        /// The guest is slowed until it converges.
        AUTO_CONVERGE = 8192,
        /// Switching to post-copy is possible.
        POST_COPY = 32768,
        /// Memory travels by TLS.
        TLS = 65536,
        /// Memory travels over several connections.
        PARALLEL = 131_072,
    }
}

impl MigrateFlags {
    /// Whether all flags of `other` are in it.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}
