//! The whole page.

use gloo_events::EventListener;
use groupscope_core::time::Span;
use yew::prelude::*;

use crate::address;
use crate::clock::use_clock;
use crate::keyboard::use_keys;
use crate::state::{Action, App, Shown, Tab};
use crate::view::Dispatch;
use crate::view::bar::bar;
use crate::view::help::Help;
use crate::view::lessons::Lessons;
use crate::view::problem::problem;
use crate::view::stage::stage;

/// The page, with its one state.
#[component]
pub fn Page() -> Html {
    let app = use_reducer(|| App::new(address::parse(&hash())));
    let dispatch = app.dispatcher();
    use_address(dispatch.clone());
    use_keys(dispatch.clone());
    let tick = {
        let dispatch = dispatch.clone();
        Callback::from(move |passed: Span| dispatch.dispatch(Action::Tick(passed)))
    };
    use_clock(app.playback, tick);
    let lesson = app.playing().map(|playing| playing.run.lesson);
    use_document_title(lesson.map(|lesson| lesson.title()));
    let stage = match &app.shown {
        Shown::Run(playing) => stage(&app, playing, &dispatch),
        Shown::Problem(message) => problem(message),
    };
    let tab = match app.tab {
        Tab::Diagram => "diagram",
        Tab::About => "about",
    };
    html! {
        <div class="page" data-tab={tab}>
            { bar(lesson, app.panel, &dispatch) }
            <Lessons current={lesson.map(|lesson| lesson.id)} visited={app.visited.clone()} panel={app.panel}
                dispatch={dispatch.clone()} />
            { stage }
            <Help panel={app.panel} {dispatch} />
        </div>
    }
}

/// What stands after the page in the address.
fn hash() -> String {
    web_sys::window().and_then(|window| window.location().hash().ok()).unwrap_or_default()
}

/// Follows the address when it changes.
#[hook]
fn use_address(dispatch: Dispatch) {
    use_effect_with((), move |()| {
        let listener = web_sys::window().map(|window| {
            EventListener::new(&window, "hashchange", move |_| {
                dispatch.dispatch(Action::Visit(address::parse(&hash())));
            })
        });
        move || drop(listener)
    });
}

#[hook]
fn use_document_title(lesson: Option<&'static str>) {
    use_effect_with(lesson, |lesson| {
        if let Some(document) = web_sys::window().and_then(|window| window.document()) {
            document.set_title(&match lesson {
                Some(title) => format!("{title} · groupscope"),
                None => "groupscope".to_owned(),
            });
        }
    });
}
