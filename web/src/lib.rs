//! The groupscope page.
