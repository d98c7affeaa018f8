//! Frames recorded from real daemons.
