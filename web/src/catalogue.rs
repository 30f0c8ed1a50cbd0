//! The built-in lessons, as the page lists them.

use std::rc::Rc;

use groupscope_core::lessons::{self, Lesson};
use groupscope_core::rules::Section;

/// A section of the document with its lessons.
#[derive(Clone, Debug)]
pub struct Group {
    /// The section.
    pub section: Section,
    /// Its lessons, in the document's order.
    pub lessons: Vec<&'static Lesson>,
}

/// Every lesson, by section, in the document's order.
#[must_use]
pub fn groups() -> Rc<[Group]> {
    let mut groups: Vec<Group> = Vec::new();
    for lesson in lessons::all() {
        match groups.iter_mut().find(|group| group.section == lesson.section) {
            Some(group) => group.lessons.push(lesson),
            None => groups.push(Group { section: lesson.section, lessons: vec![lesson] }),
        }
    }
    groups.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lesson_stands_in_one_group() {
        let groups = groups();
        let listed: Vec<&str> = groups.iter().flat_map(|group| &group.lessons).map(|lesson| lesson.id).collect();
        assert_eq!(listed.len(), lessons::all().len());
        for lesson in lessons::all() {
            assert!(listed.contains(&lesson.id), "{}", lesson.id);
        }
    }
}
