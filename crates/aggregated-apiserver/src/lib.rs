//! Kubernetes API machinery for an aggregated API server whose resources are computed live.
