//! The keys of the player: one table, from which the handler finds its command and the help makes its list.

/// Which way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Towards the start.
    Back,
    /// Towards the end.
    Forward,
}

/// A place to move the cursor to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Jump {
    /// The next event that way.
    Event(Direction),
    /// The next step of the document that way.
    Step(Direction),
    /// A tenth of the run that way.
    Tenth(Direction),
    /// The next mark that way: a rebalance, a failure, a refused commit.
    Mark(Direction),
    /// This many tenths from the start.
    ToTenth(u8),
    /// The start of the run.
    Start,
    /// Its end.
    End,
}

/// What a key does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// Plays, or pauses.
    TogglePlaying,
    /// Moves the cursor.
    Go(Jump),
    /// The next slower speed.
    Slower,
    /// The next faster speed.
    Faster,
    /// Fills the screen, or gives it back.
    FullScreen,
    /// Opens the help.
    Help,
    /// Closes the innermost thing that is open.
    Close,
}

/// Whether Shift must be held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shift {
    /// It must.
    Held,
    /// It must not.
    Free,
    /// It is part of typing the character, on some keyboards.
    Either,
}

/// A key with what it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stroke {
    /// The key's name in the DOM.
    pub key: &'static str,
    /// With or without Shift.
    pub shift: Shift,
    /// What it does.
    pub command: Command,
}

/// A line of the help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Binding {
    /// The keys as people name them.
    pub keys: &'static [&'static str],
    /// What they do.
    pub does: &'static str,
    /// The strokes behind it.
    pub strokes: &'static [Stroke],
}

const fn free(key: &'static str, command: Command) -> Stroke {
    Stroke { key, shift: Shift::Free, command }
}

const fn held(key: &'static str, command: Command) -> Stroke {
    Stroke { key, shift: Shift::Held, command }
}

const fn either(key: &'static str, command: Command) -> Stroke {
    Stroke { key, shift: Shift::Either, command }
}

use Command::{Close, Faster, FullScreen, Go, Help, Slower, TogglePlaying};
use Direction::{Back, Forward};

/// Every key of the player.
pub const TABLE: &[Binding] = &[
    Binding {
        keys: &["Space", "k"],
        does: "Play, pause",
        strokes: &[free(" ", TogglePlaying), free("k", TogglePlaying)],
    },
    Binding {
        keys: &[",", "."],
        does: "One event back, forward",
        strokes: &[free(",", Go(Jump::Event(Back))), free(".", Go(Jump::Event(Forward)))],
    },
    Binding {
        keys: &["←", "→"],
        does: "Previous, next step of the document",
        strokes: &[free("ArrowLeft", Go(Jump::Step(Back))), free("ArrowRight", Go(Jump::Step(Forward)))],
    },
    Binding {
        keys: &["Shift ←", "Shift →"],
        does: "A tenth of the run back, forward",
        strokes: &[held("ArrowLeft", Go(Jump::Tenth(Back))), held("ArrowRight", Go(Jump::Tenth(Forward)))],
    },
    Binding {
        keys: &["[", "]"],
        does: "Previous, next rebalance, failure or refused commit",
        strokes: &[either("[", Go(Jump::Mark(Back))), either("]", Go(Jump::Mark(Forward)))],
    },
    Binding {
        keys: &["0", "to", "9"],
        does: "That tenth of the run",
        strokes: &[
            either("0", Go(Jump::ToTenth(0))),
            either("1", Go(Jump::ToTenth(1))),
            either("2", Go(Jump::ToTenth(2))),
            either("3", Go(Jump::ToTenth(3))),
            either("4", Go(Jump::ToTenth(4))),
            either("5", Go(Jump::ToTenth(5))),
            either("6", Go(Jump::ToTenth(6))),
            either("7", Go(Jump::ToTenth(7))),
            either("8", Go(Jump::ToTenth(8))),
            either("9", Go(Jump::ToTenth(9))),
        ],
    },
    Binding { keys: &["<", ">"], does: "Slower, faster", strokes: &[either("<", Slower), either(">", Faster)] },
    Binding {
        keys: &["Home", "End"],
        does: "To the start; to the end, and follow",
        strokes: &[free("Home", Go(Jump::Start)), free("End", Go(Jump::End))],
    },
    Binding { keys: &["f"], does: "Full screen", strokes: &[free("f", FullScreen)] },
    Binding { keys: &["?"], does: "This help", strokes: &[either("?", Help)] },
    Binding { keys: &["Esc"], does: "Close what is open", strokes: &[either("Escape", Close)] },
];

/// The command of a key, pressed without Alt, Ctrl and Meta.
#[must_use]
pub fn command(key: &str, shift: Shift) -> Option<Command> {
    TABLE
        .iter()
        .flat_map(|binding| binding.strokes)
        .find(|stroke| stroke.key == key && (stroke.shift == Shift::Either || stroke.shift == shift))
        .map(|stroke| stroke.command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_tells_a_tenth_from_a_step() {
        assert_eq!(command("ArrowLeft", Shift::Free), Some(Go(Jump::Step(Back))));
        assert_eq!(command("ArrowLeft", Shift::Held), Some(Go(Jump::Tenth(Back))));
        assert_eq!(command("?", Shift::Held), Some(Help));
        assert_eq!(command("?", Shift::Free), Some(Help));
        assert_eq!(command("F", Shift::Held), None);
        assert_eq!(command("x", Shift::Free), None);
    }

    #[test]
    fn each_digit_goes_to_its_tenth() {
        for tenth in 0..10 {
            assert_eq!(command(&tenth.to_string(), Shift::Free), Some(Go(Jump::ToTenth(tenth))));
        }
    }

    #[test]
    fn no_stroke_stands_twice() {
        let strokes: Vec<Stroke> = TABLE.iter().flat_map(|binding| binding.strokes).copied().collect();
        for (i, one) in strokes.iter().enumerate() {
            for other in &strokes[i + 1..] {
                let apart = one.key != other.key
                    || matches!((one.shift, other.shift), (Shift::Held, Shift::Free) | (Shift::Free, Shift::Held));
                assert!(apart, "{one:?} and {other:?}");
            }
        }
    }

    #[test]
    fn every_line_of_the_help_does_something() {
        for binding in TABLE {
            assert!(!binding.strokes.is_empty() && !binding.keys.is_empty() && !binding.does.is_empty());
        }
    }
}
