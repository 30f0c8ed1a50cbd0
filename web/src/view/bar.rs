//! The bar at the top: the name, where the reader is, light or dark.

use groupscope_core::rules::Section;
use yew::prelude::*;

use crate::state::{Action, Panel};
use crate::theme;
use crate::view::Dispatch;
use crate::view::icon::{Glyph, Icon};

/// What a [`Bar`] shows.
#[derive(Clone, PartialEq, Properties)]
pub struct BarProps {
    /// The lesson shown, as its section and its title; `None` where the address leads nowhere.
    pub lesson: Option<(Section, AttrValue)>,
    /// What is open over the page.
    pub panel: Panel,
    /// Where actions go.
    pub dispatch: Dispatch,
}

/// The bar.
#[component]
pub fn Bar(props: &BarProps) -> Html {
    let toggle = {
        let (dispatch, next) = (
            props.dispatch.clone(),
            match props.panel {
                Panel::Lessons => Panel::None,
                Panel::None | Panel::Help => Panel::Lessons,
            },
        );
        move |_: MouseEvent| dispatch.dispatch(Action::Open(next))
    };
    let expanded = match props.panel {
        Panel::Lessons => "true",
        Panel::None | Panel::Help => "false",
    };
    html! {
        <header class="topbar">
            <button class="icon-button menu" aria-label="Lessons" aria-expanded={expanded} aria-controls="lessons" onclick={toggle}>
                <Icon glyph={Glyph::Menu} />
            </button>
            <a class="wordmark" href="#" aria-label="groupscope, start page"><Mark /><span>{ "groupscope" }</span></a>
            <Title lesson={props.lesson.clone()} />
            <div class="right">
                <button class="icon-button" aria-label="Light or dark" title="Light or dark" onclick={|_| theme::switch()}>
                    <Icon glyph={Glyph::Theme} />
                </button>
            </div>
        </header>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct TitleProps {
    lesson: Option<(Section, AttrValue)>,
}

#[component]
fn Title(props: &TitleProps) -> Html {
    match &props.lesson {
        Some((section, title)) => html! {
            <h1>
                <span class="section">{ section.title() }</span>
                <span class="slash" aria-hidden="true">{ "/" }</span>
                <span class="lesson">{ title }</span>
            </h1>
        },
        None => html! { <h1><span class="lesson">{ "Nothing to show" }</span></h1> },
    }
}

/// Two lifelines and a message: the project's mark.
#[component]
fn Mark() -> Html {
    html! {
        <svg viewBox="0 0 20 18" aria-hidden="true">
            <path d="M1 1h4v16H1zM17 1h3v5h-3zM10 9h3.5v8H10z" />
            <path d="M6.5 4.5 10 2v1.8h5v1.4h-5V7z" />
        </svg>
    }
}
