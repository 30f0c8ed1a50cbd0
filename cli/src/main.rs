//! The `groupscope` command.
fn main() {}
