//! Simulated hypervisor hosts and one OpenStack that speak the real protocols on loopback.
