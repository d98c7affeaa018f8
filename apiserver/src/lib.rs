//! c5c3-apiserver: hypervisors, evictions, migrations and OVS nodes as live Kubernetes resources.
