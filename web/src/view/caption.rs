//! What just happened, with its rule, and the document's steps.

use std::rc::Rc;

use groupscope_core::diagram::{Caption, Segment};
use yew::prelude::*;

use crate::run::Step;
use crate::state::Action;
use crate::view::Dispatch;

/// What a [`CaptionView`] shows.
#[derive(Clone, PartialEq, Properties)]
pub struct CaptionProps {
    /// What happened, if anything has.
    pub caption: Option<Caption>,
    /// The steps of the document.
    pub steps: Rc<[Step]>,
    /// The one that the cursor is in.
    pub current: Option<usize>,
    /// Where actions go.
    pub dispatch: Dispatch,
}

/// The caption.
#[component]
pub fn CaptionView(props: &CaptionProps) -> Html {
    let rule = props.caption.iter().filter_map(|caption| caption.rule.as_ref());
    let words = match &props.caption {
        Some(caption) => html! { { for caption.words.iter().map(segment) } },
        None => html! { { "Nothing has happened yet." } },
    };
    html! {
        <div class="caption">
            <p role="status">
                { for rule.map(|rule| html! { <span class="rule-id lit">{ rule }</span> }) }
                <span class="text">{ words }</span>
            </p>
            <Steps steps={props.steps.clone()} current={props.current} dispatch={props.dispatch.clone()} />
        </div>
    }
}

fn segment(segment: &Segment) -> Html {
    match segment {
        Segment::Text(text) => html! { { text } },
        Segment::Code(name) => html! { <code>{ name }</code> },
    }
}

#[derive(Clone, PartialEq, Properties)]
struct StepsProps {
    steps: Rc<[Step]>,
    current: Option<usize>,
    dispatch: Dispatch,
}

#[component]
fn Steps(props: &StepsProps) -> Html {
    if props.steps.is_empty() {
        return html! {};
    }
    let pill = |(i, step): (usize, &Step)| {
        let (dispatch, at) = (props.dispatch.clone(), step.at);
        let current = (props.current == Some(i)).then_some("step");
        html! {
            <li key={i}>
                <button aria-label={format!("Step {}", step.label)} aria-current={current}
                    onclick={move |_: MouseEvent| dispatch.dispatch(Action::Seek(at))}>
                    { &step.label }
                </button>
            </li>
        }
    };
    html! {
        <nav class="steps-nav" aria-label="Steps of the document">
            <ol class="steps">{ for props.steps.iter().enumerate().map(pill) }</ol>
        </nav>
    }
}
