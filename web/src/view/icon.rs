//! Glyphs, drawn in a box of 16.

use yew::prelude::*;

/// A glyph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Glyph {
    /// A triangle.
    Play,
    /// Two bars.
    Pause,
    /// One event back.
    Back,
    /// One event forward.
    Forward,
    /// A step back.
    StepBack,
    /// A step forward.
    StepForward,
    /// Half a disc: light and dark.
    Theme,
    /// Three lines.
    Menu,
    /// A cross.
    Close,
    /// An arrow head, downwards.
    Down,
}

impl Glyph {
    const fn path(self) -> &'static str {
        match self {
            Self::Play => "M4.5 2.8v10.4c0 .5.5.7.9.5l8-5.2c.3-.3.3-.7 0-1l-8-5.2c-.4-.2-.9 0-.9.5z",
            Self::Pause => "M4 3h3v10H4zM9 3h3v10H9z",
            Self::Back => "M10 3.5 5.5 8l4.5 4.5",
            Self::Forward => "M6 3.5 10.5 8 6 12.5",
            Self::StepBack => "M12 3.5 7.5 8l4.5 4.5M4 3v10",
            Self::StepForward => "M4 3.5 8.5 8 4 12.5M12 3v10",
            Self::Theme => "M8 2.25a5.75 5.75 0 1 0 0 11.5z",
            Self::Menu => "M2 4h12M2 8h12M2 12h12",
            Self::Close => "m3.5 3.5 9 9m0-9-9 9",
            Self::Down => "m3.5 6 4.5 4.5L12.5 6",
        }
    }
}

/// A glyph as markup, silent to screen readers: the control around it has the words.
pub fn icon(glyph: Glyph) -> Html {
    let (class, ring) = if glyph == Glyph::Theme {
        ("icon half", Some(html! { <circle cx="8" cy="8" r="5.75" /> }))
    } else {
        ("icon", None)
    };
    html! {
        <svg {class} viewBox="0 0 16 16" aria-hidden="true">{ for ring }<path d={glyph.path()} /></svg>
    }
}

/// A button with a glyph and a name.
pub fn icon_button(class: &'static str, name: &'static str, glyph: Glyph, press: Callback<MouseEvent>) -> Html {
    html! { <button {class} aria-label={name} title={name} onclick={press}>{ icon(glyph) }</button> }
}
