//! `groupscope schema`: the JSON Schema of scenarios.

use std::io::Write;

use groupscope_core::scenario::Scenario;

use crate::failure::Failure;

pub(crate) fn write(out: &mut impl Write) -> Result<(), Failure> {
    Ok(writeln!(out, "{}", Scenario::json_schema())?)
}
