//! Beside the diagram: the rule just carried out, and what the lesson is about.

use groupscope_core::rules::{Rule, Rules};
use yew::prelude::*;

use crate::view::words::words;

/// What [`About`] shows.
#[derive(Clone, PartialEq, Properties)]
pub struct AboutProps {
    /// The rules just carried out.
    pub rules: Rules,
    /// The lesson's title.
    pub title: AttrValue,
    /// Its introduction; an empty line parts paragraphs.
    pub introduction: AttrValue,
}

/// The side column.
#[component]
pub fn About(props: &AboutProps) -> Html {
    html! {
        <aside class="side" id="about" aria-label="About">
            <LitRules rules={props.rules} />
            <Introduction title={props.title.clone()} introduction={props.introduction.clone()} />
        </aside>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct LitRulesProps {
    rules: Rules,
}

#[component]
fn LitRules(props: &LitRulesProps) -> Html {
    if props.rules.is_empty() {
        return html! {};
    }
    html! {
        <section class="rules">
            <h2>{ "The rule just carried out" }</h2>
            { for props.rules.iter().map(rule) }
        </section>
    }
}

fn rule(rule: Rule) -> Html {
    html! {
        <article key={rule.id()}>
            <p class="lit-rule"><span class="rule-id lit">{ rule.id() }</span>{ rule.section().title() }</p>
            <h3>{ rule.title() }</h3>
            <p>{ words(rule.text()) }</p>
        </article>
    }
}

#[derive(Clone, PartialEq, Properties)]
struct IntroductionProps {
    title: AttrValue,
    introduction: AttrValue,
}

#[component]
fn Introduction(props: &IntroductionProps) -> Html {
    let paragraphs = props.introduction.split("\n\n").filter(|text| !text.trim().is_empty());
    html! {
        <section class="introduction">
            <h2>{ "This lesson" }</h2>
            <h3>{ &props.title }</h3>
            { for paragraphs.map(|text| html! { <p>{ words(text) }</p> }) }
        </section>
    }
}
