//! The player's controls: where the cursor is, buttons, speed, scrubber.

use std::rc::Rc;

use groupscope_core::time::Time;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use crate::clock::Playback;
use crate::format;
use crate::keys::{Direction, Jump};
use crate::run::Stops;
use crate::speed::Speed;
use crate::state::{Action, Follow, Panel};
use crate::view::Dispatch;
use crate::view::icon::{Glyph, Icon};

/// What the [`Transport`] shows.
#[derive(Clone, PartialEq, Properties)]
pub struct TransportProps {
    /// Where the cursor can stop.
    pub stops: Rc<Stops>,
    /// Where the cursor stands.
    pub cursor: Time,
    /// The cursor and the group's state in words.
    pub value_text: AttrValue,
    /// Whether the clock goes.
    pub playback: Playback,
    /// How fast.
    pub speed: Speed,
    /// Whether the diagram scrolls with the now line.
    pub follow: Follow,
    /// Where actions go.
    pub dispatch: Dispatch,
}

/// The controls at the foot of the page.
#[component]
pub fn Transport(props: &TransportProps) -> Html {
    let end = props.stops.end;
    html! {
        <footer class="transport" role="group" aria-label="Player">
            <p class="clock">
                <b class="mono">{ format::seconds(props.cursor) }{ " s" }</b>
                <span>{ " of " }{ format::short_seconds(end) }{ " s" }</span>
            </p>
            <Buttons playback={props.playback} dispatch={props.dispatch.clone()} />
            <div class="more">
                <SpeedSelect speed={props.speed} dispatch={props.dispatch.clone()} />
                <FollowButton follow={props.follow} dispatch={props.dispatch.clone()} />
                <HelpButton dispatch={props.dispatch.clone()} />
            </div>
            <Scrubber stops={props.stops.clone()} cursor={props.cursor} value_text={props.value_text.clone()}
                dispatch={props.dispatch.clone()} />
        </footer>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct ButtonsProps {
    playback: Playback,
    dispatch: Dispatch,
}

#[component]
fn Buttons(props: &ButtonsProps) -> Html {
    let go = |name: &'static str, glyph: Glyph, jump: Jump| {
        let dispatch = props.dispatch.clone();
        html! {
            <button class="icon-button" aria-label={name} title={name}
                onclick={move |_: MouseEvent| dispatch.dispatch(Action::Go(jump))}>
                <Icon {glyph} />
            </button>
        }
    };
    let (name, glyph) = match props.playback {
        Playback::Paused => ("Play", Glyph::Play),
        Playback::Playing => ("Pause", Glyph::Pause),
    };
    let dispatch = props.dispatch.clone();
    html! {
        <div class="buttons">
            { go("Previous step", Glyph::StepBack, Jump::Step(Direction::Back)) }
            { go("Previous event", Glyph::Back, Jump::Event(Direction::Back)) }
            <button class="play" aria-label={name} title={name}
                onclick={move |_: MouseEvent| dispatch.dispatch(Action::TogglePlaying)}>
                <Icon {glyph} />
            </button>
            { go("Next event", Glyph::Forward, Jump::Event(Direction::Forward)) }
            { go("Next step", Glyph::StepForward, Jump::Step(Direction::Forward)) }
        </div>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct SpeedSelectProps {
    speed: Speed,
    dispatch: Dispatch,
}

#[component]
fn SpeedSelect(props: &SpeedSelectProps) -> Html {
    let dispatch = props.dispatch.clone();
    let choose = move |event: Event| {
        let select: Option<HtmlSelectElement> = event.target_dyn_into();
        if let Some(speed) = select.and_then(|select| Speed::find(&select.value())) {
            dispatch.dispatch(Action::SetSpeed(speed));
        }
    };
    let option = |speed: Speed| {
        html! { <option value={speed.label()} selected={speed == props.speed}>{ speed.label() }</option> }
    };
    html! {
        <span class="select">
            <select aria-label="Speed" onchange={choose}>{ for Speed::ALL.into_iter().map(option) }</select>
            <Icon glyph={Glyph::Down} />
        </span>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct FollowButtonProps {
    follow: Follow,
    dispatch: Dispatch,
}

/// Shown only once the reader has scrolled away.
#[component]
fn FollowButton(props: &FollowButtonProps) -> Html {
    let dispatch = props.dispatch.clone();
    match props.follow {
        Follow::Following => html! {},
        Follow::Released => html! {
            <button class="text-button" title="Scroll with the now line again"
                onclick={move |_: MouseEvent| dispatch.dispatch(Action::SetFollow(Follow::Following))}>
                { "Follow" }
            </button>
        },
    }
}

#[derive(Clone, PartialEq, Properties)]
struct HelpButtonProps {
    dispatch: Dispatch,
}

#[component]
fn HelpButton(props: &HelpButtonProps) -> Html {
    let dispatch = props.dispatch.clone();
    html! {
        <button class="icon-button help" aria-label="Help" title="Help" aria-haspopup="dialog"
            onclick={move |_: MouseEvent| dispatch.dispatch(Action::Open(Panel::Help))}>
            { "?" }
        </button>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct ScrubberProps {
    stops: Rc<Stops>,
    cursor: Time,
    value_text: AttrValue,
    dispatch: Dispatch,
}

/// What one step of the native range stands for, in microseconds.
const RANGE_STEP: u64 = 10_000;

#[component]
fn Scrubber(props: &ScrubberProps) -> Html {
    let end = props.stops.end;
    let dispatch = props.dispatch.clone();
    let seek = move |event: InputEvent| {
        let input: Option<HtmlInputElement> = event.target_dyn_into();
        if let Some(steps) = input.map(|input| input.value_as_number()).filter(|steps| steps.is_finite()) {
            // The range counts whole steps: its last one is the end of the run, wherever that falls.
            dispatch.dispatch(Action::Seek(Time((steps.max(0.0) as u64).saturating_mul(RANGE_STEP).min(end.0))));
        }
    };
    let done = format!("width:{}%", percent(props.cursor, end));
    html! {
        <div class="scrub">
            <Axis stops={props.stops.clone()} />
            <div class="track"><div class="done" style={done} /></div>
            <input type="range" aria-label="Time" min="0" max={end.0.div_ceil(RANGE_STEP).to_string()} step="1"
                value={(props.cursor.0 / RANGE_STEP).to_string()} aria-valuetext={&props.value_text} oninput={seek} />
        </div>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct AxisProps {
    stops: Rc<Stops>,
}

/// The seconds above the track, and a tick where a step of the document begins.
#[component]
fn Axis(props: &AxisProps) -> Html {
    let Stops { steps, end, .. } = &*props.stops;
    let at = |time: Time| format!("left:{}%", percent(time, *end));
    let labels = axis(*end);
    let last = labels.len().saturating_sub(1);
    html! {
        <>
            <div class="axis" aria-hidden="true">
                { for labels.iter().enumerate().map(|(i, time)| html! {
                    <span style={at(*time)}>{ format::short_seconds(*time) }{ (i == 0 || i == last).then_some(" s") }</span>
                }) }
            </div>
            <div class="ticks" aria-hidden="true">{ for steps.iter().map(|step| html! { <i style={at(step.at)} /> }) }</div>
        </>
    }
}

/// The times written on an axis up to `end`: round ones, at most eleven, and the end itself.
fn axis(end: Time) -> Vec<Time> {
    const ROUND: [u64; 12] = [
        100_000,
        200_000,
        500_000,
        1_000_000,
        2_000_000,
        5_000_000,
        10_000_000,
        20_000_000,
        60_000_000,
        300_000_000,
        900_000_000,
        3_600_000_000,
    ];
    let step = ROUND.into_iter().find(|step| end.0 / step <= 10).unwrap_or(10_800_000_000);
    let mut times: Vec<Time> = (0..).map(|i| Time(i * step)).take_while(|time| time.0 + step / 2 <= end.0).collect();
    times.push(end);
    times
}

fn percent(time: Time, of: Time) -> f64 {
    if of == Time::ZERO { 0.0 } else { (time.as_secs_f64() / of.as_secs_f64() * 1e5).round() / 1e3 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(end: u64) -> Vec<String> {
        axis(Time(end)).into_iter().map(format::short_seconds).collect()
    }

    #[test]
    fn an_axis_has_round_times_and_the_end() {
        assert_eq!(seconds(10_000_000), ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
        assert_eq!(seconds(3_200_000), ["0", "0.5", "1", "1.5", "2", "2.5", "3.2"]);
        assert_eq!(seconds(24_000_000), ["0", "5", "10", "15", "20", "24"]);
        assert_eq!(seconds(0), ["0"]);
    }
}
