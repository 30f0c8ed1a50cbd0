//! What just happened, with its rule, and the document's steps.

use std::rc::Rc;

use yew::prelude::*;

use crate::run::Step;
use crate::state::Action;
use crate::view::Dispatch;
use crate::view::words::words;

/// What a [`Caption`] shows.
#[derive(Clone, PartialEq, Properties)]
pub struct CaptionProps {
    /// The ids of the rules that it carries out, `HB3 RB1`; empty if the protocol does not speak of it.
    pub rules: AttrValue,
    /// What happened.
    pub text: AttrValue,
    /// The steps of the document.
    pub steps: Rc<[Step]>,
    /// The one that the cursor is in.
    pub current: Option<usize>,
    /// Where actions go.
    pub dispatch: Dispatch,
}

/// The caption.
#[component]
pub fn Caption(props: &CaptionProps) -> Html {
    let chip = (!props.rules.is_empty()).then(|| html! { <span class="rule-id lit">{ &props.rules }</span> });
    html! {
        <div class="caption">
            <p role="status">{ chip }<span class="text">{ words(&props.text) }</span></p>
            <Steps steps={props.steps.clone()} current={props.current} dispatch={props.dispatch.clone()} />
        </div>
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
