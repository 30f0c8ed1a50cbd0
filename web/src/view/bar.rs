//! The bar at the top: the name, where the reader is, light or dark.

use groupscope_core::lessons::Lesson;
use yew::prelude::*;

use crate::state::{Action, Panel};
use crate::theme;
use crate::view::icon::{Glyph, icon, icon_button};
use crate::view::{Dispatch, doing};

/// The bar; `lesson` is the one shown, if the address leads to one.
pub fn bar(lesson: Option<&'static Lesson>, panel: Panel, dispatch: &Dispatch) -> Html {
    let (expanded, next) = match panel {
        Panel::Lessons => ("true", Panel::None),
        Panel::None | Panel::Help => ("false", Panel::Lessons),
    };
    let switch = Callback::from(|_: MouseEvent| theme::switch());
    html! {
        <header class="topbar">
            <button class="icon-button menu" aria-label="Lessons" aria-expanded={expanded} aria-controls="lessons"
                onclick={doing(dispatch, Action::Open(next))}>
                { icon(Glyph::Menu) }
            </button>
            <a class="wordmark" href="#" aria-label="groupscope, start page">{ Html::from_html_unchecked(MARK.into()) }<span>{ "groupscope" }</span></a>
            <h1>{ title(lesson) }</h1>
            <div class="right">{ icon_button("icon-button", "Light or dark", Glyph::Theme, switch) }</div>
        </header>
    }
}

fn title(lesson: Option<&'static Lesson>) -> Html {
    match lesson {
        Some(lesson) => html! {
            <>
                <span class="section">{ lesson.section.title() }</span>
                <span class="slash" aria-hidden="true">{ "/" }</span>
                <span class="lesson">{ lesson.title() }</span>
            </>
        },
        None => html! { <span class="lesson">{ "Nothing to show" }</span> },
    }
}

/// Two lifelines and a message: the project's mark.
const MARK: &str = r#"<svg viewBox="0 0 20 18" aria-hidden="true"><path d="M1 1h4v16H1zM17 1h3v5h-3zM10 9h3.5v8H10zM6.5 4.5 10 2v1.8h5v1.4h-5V7z"/></svg>"#;
