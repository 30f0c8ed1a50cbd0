//! What is wrong with the address, and the way to the start page.

use yew::prelude::*;

/// What a [`Problem`] shows.
#[derive(Clone, PartialEq, Properties)]
pub struct ProblemProps {
    /// What is wrong, in a sentence.
    pub message: AttrValue,
}

/// The message.
#[component]
pub fn Problem(props: &ProblemProps) -> Html {
    html! {
        <section class="problem" role="alert">
            <h2>{ "This link leads nowhere" }</h2>
            <p>{ &props.message }</p>
            <p><a href="#">{ "Go to the start page" }</a></p>
        </section>
    }
}
