//! `groupscope lessons`: what there is to run.

use std::io::Write;

use groupscope_core::lessons;

use crate::failure::Failure;

/// One lesson a line: its name, its title, the document's section that it belongs to.
pub(crate) fn write(out: &mut impl Write) -> Result<(), Failure> {
    let width = |of: fn(&lessons::Lesson) -> &str| {
        lessons::all().iter().map(|lesson| of(lesson).chars().count()).max().unwrap_or(0)
    };
    let (id_width, title_width) = (width(|lesson| lesson.id), width(lessons::Lesson::title));
    for lesson in lessons::all() {
        let (id, title, section) = (lesson.id, lesson.title(), lesson.section.title());
        writeln!(out, "{id:id_width$}  {title:title_width$}  {section}")?;
    }
    Ok(())
}
