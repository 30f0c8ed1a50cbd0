//! Where the diagram is scrolled to, and how wide its column is: what only the browser knows.

use gloo_events::EventListener;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, HtmlElement, ResizeObserver, ScrollBehavior, ScrollToOptions};
use yew::prelude::*;

use crate::clock::Playback;
use crate::state::{Action, Follow};
use crate::view::Dispatch;

/// The width of a column, px, once it is known, and whenever it changes.
#[hook]
pub(super) fn use_width(root: &NodeRef) -> Option<f64> {
    let width = use_state_eq(|| None);
    {
        let (root, width) = (root.clone(), width.clone());
        use_effect_with((), move |()| {
            let observed = root.cast::<Element>().and_then(|element| {
                let measure = {
                    let element = element.clone();
                    move || width.set(Some(f64::from(element.client_width())).filter(|width| *width > 0.0))
                };
                measure();
                let closure = Closure::<dyn FnMut()>::new(measure);
                let observer = ResizeObserver::new(closure.as_ref().unchecked_ref()).ok()?;
                observer.observe(&element);
                Some((observer, closure))
            });
            move || {
                if let Some((observer, closure)) = observed {
                    observer.disconnect();
                    drop(closure);
                }
            }
        });
    }
    *width
}

/// The visible part of the diagram below the heads, px.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Sight {
    /// The upper edge, as far as it is scrolled.
    top: f64,
    /// How much can be seen.
    height: f64,
}

/// The room that the now line keeps from the edges before the diagram scrolls, as shares of what can be seen.
const ABOVE: f64 = 0.12;
const BELOW: f64 = 0.24;
/// Where it then comes to stand.
const REST: f64 = 0.52;

/// Where to scroll to so that the now line stays in sight; `None` if it is in sight.
fn target(now_y: f64, sight: Sight) -> Option<f64> {
    let from_top = now_y - sight.top;
    let in_sight = from_top >= sight.height * ABOVE && from_top <= sight.height * (1.0 - BELOW);
    let wanted = (now_y - sight.height * REST).max(0.0);
    (!in_sight && (wanted - sight.top).abs() >= 1.0).then_some(wanted)
}

/// Scrolls the diagram with the now line: gently while playing, until the reader scrolls; at once when they move the
/// cursor by hand.
#[hook]
pub(super) fn use_following(
    root: &NodeRef,
    now_y: Option<f64>,
    playback: Playback,
    follow: Follow,
    dispatch: Dispatch,
) {
    {
        let root = root.clone();
        use_effect_with((now_y, playback, follow), move |(now_y, playback, follow)| {
            let behavior = match (playback, follow) {
                (Playback::Playing, Follow::Released) => return,
                (Playback::Playing, Follow::Following) => ScrollBehavior::Smooth,
                (Playback::Paused, _) => ScrollBehavior::Instant,
            };
            if let (Some(now_y), Some(element)) = (*now_y, root.cast::<Element>()) {
                scroll(&element, now_y, behavior);
            }
        });
    }
    let root = root.clone();
    use_effect_with((), move |()| {
        let listeners = root.cast::<HtmlElement>().map(|element| released_by(&element, &dispatch));
        move || drop(listeners)
    });
}

fn scroll(element: &Element, now_y: f64, behavior: ScrollBehavior) {
    let heads = element.query_selector(".heads").ok().flatten().map_or(0, |heads| heads.client_height());
    let sight = Sight { top: f64::from(element.scroll_top()), height: f64::from(element.client_height() - heads) };
    if let Some(top) = target(now_y, sight) {
        let options = ScrollToOptions::new();
        options.set_top(top);
        options.set_behavior(behavior);
        element.scroll_to_with_scroll_to_options(&options);
    }
}

/// Listens for the reader's own scrolling: by wheel, touch, keys, or the bar.
fn released_by(element: &HtmlElement, dispatch: &Dispatch) -> Vec<EventListener> {
    ["wheel", "touchmove", "pointerdown", "keydown"]
        .into_iter()
        .map(|name| {
            let (dispatch, column) = (dispatch.clone(), element.clone());
            EventListener::new(element, name, move |event| {
                if column.scroll_height() > column.client_height() && scrolls(event, &column) {
                    dispatch.dispatch(Action::SetFollow(Follow::Released));
                }
            })
        })
        .collect()
}

fn scrolls(event: &web_sys::Event, column: &HtmlElement) -> bool {
    match event.type_().as_str() {
        // Only the bar is the column's own: everything else in it belongs to the picture.
        "pointerdown" => {
            event.target().and_then(|target| target.dyn_into::<HtmlElement>().ok()).is_some_and(|target| {
                target == *column
                    && event
                        .dyn_ref::<web_sys::MouseEvent>()
                        .is_some_and(|event| event.offset_x() > column.client_width())
            })
        }
        "keydown" => event
            .dyn_ref::<web_sys::KeyboardEvent>()
            .is_some_and(|event| matches!(event.key().as_str(), "ArrowUp" | "ArrowDown" | "PageUp" | "PageDown")),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_now_line_in_sight_does_not_scroll() {
        let sight = Sight { top: 100.0, height: 500.0 };
        assert_eq!(target(300.0, sight), None);
        assert_eq!(target(470.0, sight), None);
    }

    #[test]
    fn one_near_an_edge_comes_to_the_middle() {
        let sight = Sight { top: 100.0, height: 500.0 };
        assert_eq!(target(500.0, sight), Some(240.0));
        assert_eq!(target(2_000.0, sight), Some(1_740.0));
        assert_eq!(target(150.0, Sight { top: 400.0, height: 500.0 }), Some(0.0));
    }

    #[test]
    fn at_the_top_there_is_nothing_to_scroll() {
        assert_eq!(target(10.0, Sight { top: 0.0, height: 500.0 }), None);
    }
}
