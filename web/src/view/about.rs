//! Beside the diagram: the rule just carried out, and what the lesson is about.

use groupscope_core::lessons::Lesson;
use groupscope_core::rules::{Rule, Rules};
use yew::prelude::*;

use crate::view::words::words;

/// The side column, with the rules just carried out.
pub fn about(lesson: &'static Lesson, rules: Rules) -> Html {
    let lit = (!rules.is_empty()).then(|| {
        html! { <section><h2>{ "The rule just carried out" }</h2>{ for rules.iter().map(rule) }</section> }
    });
    // An empty line parts paragraphs.
    let paragraphs = lesson.introduction().split("\n\n").filter(|text| !text.trim().is_empty());
    html! {
        <aside class="side" id="about" aria-label="About">
            { for lit }
            <section class="introduction">
                <h2>{ "This lesson" }</h2>
                <h3>{ lesson.title() }</h3>
                { for paragraphs.map(|text| html! { <p>{ words(text) }</p> }) }
            </section>
        </aside>
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
