//! What shows a run: caption, diagram, the side, and the player's controls.

use groupscope_core::rules::Rules;
use groupscope_core::time::Time;
use groupscope_core::view::{GroupState, View};
use yew::prelude::*;

use crate::format;
use crate::run::Stops;
use crate::state::{Action, App, Playing, Tab};
use crate::view::about::about;
use crate::view::caption::caption;
use crate::view::diagram::Diagram;
use crate::view::transport::transport;
use crate::view::{Dispatch, doing};

/// The run at the cursor.
pub fn stage(app: &App, playing: &Playing, dispatch: &Dispatch) -> Html {
    let Playing { run, opened, stops } = playing;
    let view = View::at(&run.trace, app.cursor);
    let told = run.caption(app.cursor);
    let rules = told.map_or(Rules::NONE, |caption| run.rules(caption));
    html! {
        <>
            <main>
                { caption(told, &stops.steps, stops.current_step(app.cursor), dispatch) }
                { tabs(app.tab, dispatch) }
                <Diagram run={run.clone()} opened={opened.clone()} cursor={app.cursor} playback={app.playback}
                    follow={app.follow} dispatch={dispatch.clone()} />
            </main>
            { about(run.lesson, rules) }
            { transport(app, stops, value_text(stops, &view, app.cursor), dispatch) }
        </>
    }
}

/// The cursor as a screen reader says it: `4.61 s of 10 s, generation 1, rebalancing`.
fn value_text(stops: &Stops, view: &View, cursor: Time) -> String {
    let generation = match view.group.generation() {
        Some(generation) => format!("generation {}", generation.number),
        None => "no generation yet".to_owned(),
    };
    let state = match view.group.state {
        GroupState::Unknown => "no group",
        GroupState::Stable { .. } => "stable",
        GroupState::Preparing { .. } => "rebalancing",
    };
    format!("{} s of {} s, {generation}, {state}", format::seconds(cursor), format::short_seconds(stops.end))
}

/// Where there is room for one column only: what it shows.
fn tabs(chosen: Tab, dispatch: &Dispatch) -> Html {
    let tab = |tab: Tab, name: &'static str, controls: &'static str| {
        let selected = if chosen == tab { "true" } else { "false" };
        html! {
            <button role="tab" aria-selected={selected} aria-controls={controls} onclick={doing(dispatch, Action::Choose(tab))}>
                { name }
            </button>
        }
    };
    html! {
        <div class="tabs" role="tablist" aria-label="View">
            { tab(Tab::Diagram, "Diagram", "diagram") }
            { tab(Tab::About, "About", "about") }
        </div>
    }
}
