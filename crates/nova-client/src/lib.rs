//! The Keystone, Nova and Placement calls that a hypervisor cluster needs, on openstack_sdk.
