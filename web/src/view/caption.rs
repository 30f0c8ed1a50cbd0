//! What just happened, with its rule, and the document's steps.

use groupscope_core::diagram::{Caption, Segment};
use yew::prelude::*;

use crate::run::Step;
use crate::state::Action;
use crate::view::{Dispatch, doing};

/// The caption, `None` before anything has happened; `current` is the step that the cursor is in.
pub fn caption(caption: Option<&Caption>, steps: &[Step], current: Option<usize>, dispatch: &Dispatch) -> Html {
    let rule = caption.and_then(|caption| caption.rule.as_ref());
    let words = match caption {
        Some(caption) => html! { { for caption.words.iter().map(segment) } },
        None => html! { { "Nothing has happened yet." } },
    };
    let pills = steps.iter().enumerate().map(|(i, step)| pill(step, (current == Some(i)).then_some("step"), dispatch));
    let steps = (!steps.is_empty()).then(|| {
        html! { <nav class="steps-nav" aria-label="Steps of the document"><ol class="steps">{ for pills }</ol></nav> }
    });
    html! {
        <div class="caption">
            <p role="status">
                { for rule.map(|rule| html! { <span class="rule-id lit">{ rule }</span> }) }
                <span class="text">{ words }</span>
            </p>
            { for steps }
        </div>
    }
}

fn segment(segment: &Segment) -> Html {
    match segment {
        Segment::Text(text) => html! { { text } },
        Segment::Code(name) => html! { <code>{ name }</code> },
    }
}

fn pill(step: &Step, aria_current: Option<&'static str>, dispatch: &Dispatch) -> Html {
    html! {
        <li key={step.at.0}>
            <button aria-label={format!("Step {}", step.label)} aria-current={aria_current}
                onclick={doing(dispatch, Action::Seek(step.at))}>
                { &step.label }
            </button>
        </li>
    }
}
