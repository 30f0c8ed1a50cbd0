//! What shows a run: caption, diagram, the side, and the player's controls.

use groupscope_core::rules::Rules;
use groupscope_core::time::Time;
use groupscope_core::view::{GroupState, View};
use yew::prelude::*;

use crate::clock::Playback;
use crate::format;
use crate::run::Stops;
use crate::speed::Speed;
use crate::state::{Action, Follow, Playing, Tab};
use crate::view::Dispatch;
use crate::view::about::About;
use crate::view::caption::CaptionView;
use crate::view::diagram::Diagram;
use crate::view::transport::Transport;

/// What the [`Stage`] shows.
#[derive(Clone, PartialEq, Properties)]
pub struct StageProps {
    /// The run, and where the cursor can stop in it.
    pub playing: Playing,
    /// The time at which it is shown.
    pub cursor: Time,
    /// Whether the clock goes.
    pub playback: Playback,
    /// How fast.
    pub speed: Speed,
    /// Whether the diagram scrolls with the now line.
    pub follow: Follow,
    /// Which part of the middle is chosen, where there is room for one only.
    pub tab: Tab,
    /// Where actions go.
    pub dispatch: Dispatch,
}

/// The run at the cursor.
#[component]
pub fn Stage(props: &StageProps) -> Html {
    let Playing { run, opened, stops } = &props.playing;
    let view = View::at(&run.trace, props.cursor);
    let caption = run.caption(props.cursor);
    html! {
        <>
            <main>
                <CaptionView caption={caption.cloned()} steps={stops.steps.clone()}
                    current={stops.current_step(props.cursor)} dispatch={props.dispatch.clone()} />
                <Tabs tab={props.tab} dispatch={props.dispatch.clone()} />
                <Diagram run={run.clone()} opened={opened.clone()} cursor={props.cursor} playback={props.playback}
                    follow={props.follow} dispatch={props.dispatch.clone()} />
            </main>
            <About rules={caption.map_or(Rules::NONE, |caption| run.rules(caption))} title={run.lesson.title()} introduction={run.lesson.introduction()} />
            <Transport stops={stops.clone()} cursor={props.cursor} value_text={value_text(stops, &view, props.cursor)}
                playback={props.playback} speed={props.speed} follow={props.follow} dispatch={props.dispatch.clone()} />
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

#[derive(Clone, PartialEq, Properties)]
struct TabsProps {
    tab: Tab,
    dispatch: Dispatch,
}

#[component]
fn Tabs(props: &TabsProps) -> Html {
    let tab = |tab: Tab, name: &'static str, controls: &'static str| {
        let dispatch = props.dispatch.clone();
        let selected = if props.tab == tab { "true" } else { "false" };
        html! {
            <button role="tab" aria-selected={selected} aria-controls={controls}
                onclick={move |_: MouseEvent| dispatch.dispatch(Action::Choose(tab))}>{ name }</button>
        }
    };
    html! {
        <div class="tabs" role="tablist" aria-label="View">
            { tab(Tab::Diagram, "Diagram", "diagram") }
            { tab(Tab::About, "About", "about") }
        </div>
    }
}
