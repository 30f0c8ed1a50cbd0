//! `groupscope lessons`.

use std::io::Write;

use groupscope_core::lessons;

use crate::failure::Failure;

/// Prints the lessons by the document's sections: name, title.
pub(crate) fn print(out: &mut impl Write) -> Result<(), Failure> {
    let width = lessons::all().iter().map(|lesson| lesson.id.len()).max().unwrap_or(0);
    let mut section = None;
    for lesson in lessons::all() {
        if section.replace(lesson.section) != Some(lesson.section) {
            let space = if lesson.id == lessons::all()[0].id { "" } else { "\n" };
            writeln!(out, "{space}{}", lesson.section.title())?;
        }
        writeln!(out, "  {:width$}  {}", lesson.id, lesson.title())?;
    }
    Ok(())
}
