//! The player's controls: where the cursor is, buttons, speed, scrubber.

use groupscope_core::time::Time;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use crate::clock::Playback;
use crate::format;
use crate::keys::{Direction, Jump};
use crate::run::Stops;
use crate::speed::Speed;
use crate::state::{Action, App, Follow, Panel};
use crate::view::icon::{Glyph, icon, icon_button};
use crate::view::{Dispatch, doing};

/// The controls at the foot of the page. `value_text` is the cursor and the group's state in words.
pub fn transport(app: &App, stops: &Stops, value_text: String, dispatch: &Dispatch) -> Html {
    html! {
        <footer class="transport" role="group" aria-label="Player">
            <p class="clock">
                <b class="mono">{ format!("{} s", format::seconds(app.cursor)) }</b>
                <span>{ format!(" of {} s", format::short_seconds(stops.end)) }</span>
            </p>
            { buttons(app.playback, dispatch) }
            <div class="more">
                { speeds(app.speed, dispatch) }
                { for follow(app.follow, dispatch) }
                <button class="icon-button help" aria-label="Help" title="Help" aria-haspopup="dialog"
                    onclick={doing(dispatch, Action::Open(Panel::Help))}>
                    { "?" }
                </button>
            </div>
            { scrubber(app.cursor, stops, value_text, dispatch) }
        </footer>
    }
}

fn buttons(playback: Playback, dispatch: &Dispatch) -> Html {
    let go = |name, glyph, jump| icon_button("icon-button", name, glyph, doing(dispatch, Action::Go(jump)));
    let (name, glyph) = match playback {
        Playback::Paused => ("Play", Glyph::Play),
        Playback::Playing => ("Pause", Glyph::Pause),
    };
    html! {
        <div class="buttons">
            { go("Previous step", Glyph::StepBack, Jump::Step(Direction::Back)) }
            { go("Previous event", Glyph::Back, Jump::Event(Direction::Back)) }
            { icon_button("play", name, glyph, doing(dispatch, Action::TogglePlaying)) }
            { go("Next event", Glyph::Forward, Jump::Event(Direction::Forward)) }
            { go("Next step", Glyph::StepForward, Jump::Step(Direction::Forward)) }
        </div>
    }
}

fn speeds(chosen: Speed, dispatch: &Dispatch) -> Html {
    let dispatch = dispatch.clone();
    let choose = move |event: Event| {
        let select: Option<HtmlSelectElement> = event.target_dyn_into();
        if let Some(speed) = select.and_then(|select| Speed::find(&select.value())) {
            dispatch.dispatch(Action::SetSpeed(speed));
        }
    };
    let option = |speed: Speed| {
        html! { <option value={speed.label()} selected={speed == chosen}>{ speed.label() }</option> }
    };
    html! {
        <span class="select">
            <select aria-label="Speed" onchange={choose}>{ for Speed::ALL.into_iter().map(option) }</select>
            { icon(Glyph::Down) }
        </span>
    }
}

/// The way back to following, once the reader has scrolled away.
fn follow(follow: Follow, dispatch: &Dispatch) -> Option<Html> {
    match follow {
        Follow::Following => None,
        Follow::Released => Some(html! {
            <button class="text-button" title="Scroll with the now line again"
                onclick={doing(dispatch, Action::SetFollow(Follow::Following))}>
                { "Follow" }
            </button>
        }),
    }
}

/// What one step of the native range stands for, in microseconds.
const RANGE_STEP: u64 = 10_000;

fn scrubber(cursor: Time, stops: &Stops, value_text: String, dispatch: &Dispatch) -> Html {
    let (end, dispatch) = (stops.end, dispatch.clone());
    let seek = move |event: InputEvent| {
        let input: Option<HtmlInputElement> = event.target_dyn_into();
        if let Some(steps) = input.map(|input| input.value_as_number()).filter(|steps| steps.is_finite()) {
            // The range counts whole steps: its last one is the end of the run, wherever that falls.
            dispatch.dispatch(Action::Seek(Time((steps.max(0.0) as u64).saturating_mul(RANGE_STEP).min(end.0))));
        }
    };
    let at = |place: &str, time: Time| format!("{place}:{}", percent(time, end));
    let labels = axis(end);
    let last = labels.len().saturating_sub(1);
    let label = |(i, time): (usize, &Time)| {
        let unit = if i == 0 || i == last { " s" } else { "" };
        html! { <span style={at("left", *time)}>{ format!("{}{unit}", format::short_seconds(*time)) }</span> }
    };
    html! {
        <div class="scrub">
            <div class="axis" aria-hidden="true">{ for labels.iter().enumerate().map(label) }</div>
            <div class="ticks" aria-hidden="true">{ for stops.steps.iter().map(|step| html! { <i style={at("left", step.at)} /> }) }</div>
            <div class="track"><div class="done" style={at("width", cursor)} /></div>
            <input type="range" aria-label="Time" min="0" max={end.0.div_ceil(RANGE_STEP).to_string()} step="1"
                value={(cursor.0 / RANGE_STEP).to_string()} aria-valuetext={value_text} oninput={seek} />
        </div>
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

/// A time's share of the run, in thousandths of a percent.
fn percent(time: Time, of: Time) -> String {
    let share = u128::from(time.0) * 100_000 / u128::from(of.0.max(1));
    format!("{}.{:03}%", share / 1_000, share % 1_000)
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
