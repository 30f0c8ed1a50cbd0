//! groupscope-core
