//! An async client for the RPC protocol of libvirt: XDR, unix and TCP transports, keepalive, events.
