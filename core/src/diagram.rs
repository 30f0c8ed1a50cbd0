//! Sequence diagrams of a trace, as plain geometry.
//!
//! A [`Story`] is what the trace has to tell; a [`Layout`] places it, once for a trace and a width. Lengths are in px,
//! times are those of the run. Whoever draws a layout at a moment, as SVG or as nodes of a page, adds nothing of its
//! own.

mod arrange;
mod bands;
mod caption;
mod clock;
mod head;
mod layout;
mod measure;
pub mod names;
mod place;
mod scene;
mod story;
pub mod svg;
#[cfg(test)]
mod tests;
pub mod text;

pub use arrange::{FoldKind, FoldState};
pub use caption::{Caption, Captions, Segment};
pub use head::{Head, Meter, heads};
pub use layout::{
    Band, CloseRow, Content, Device, Fate, FoldRow, Folding, Label, Layout, Lifeline, MessageRow, NoteItem, Options,
    Rail, Row, Side, Spacing, Step, TextBox, color,
};
pub use scene::{
    Arrow, Heading, LitRule, Piece, RailState, Scene, Shape, ShownLifeline, ShownRail, ShownRow, Start, Tense, Travel,
    Window,
};
pub use story::{Direction, LabelStyle, NoteKind, Story};
