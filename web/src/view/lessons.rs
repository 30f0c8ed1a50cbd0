//! The lessons, grouped by the document's sections.

use std::rc::Rc;

use groupscope_core::lessons::Lesson;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, ScrollIntoViewOptions, ScrollLogicalPosition};
use yew::prelude::*;

use crate::address::{self, Address};
use crate::catalogue::{self, Group};
use crate::state::{Action, Panel};
use crate::view::icon::{Glyph, icon_button};
use crate::view::{Dispatch, doing};

/// What the [`Lessons`] show.
#[derive(Clone, PartialEq, Properties)]
pub struct LessonsProps {
    /// The id of the lesson shown.
    pub current: Option<&'static str>,
    /// Those opened so far.
    pub visited: Rc<Vec<&'static str>>,
    /// What is open over the page.
    pub panel: Panel,
    /// Where actions go.
    pub dispatch: Dispatch,
}

impl LessonsProps {
    fn progress(&self, lesson: &Lesson) -> Progress {
        if self.current == Some(lesson.id) {
            Progress::Current
        } else if self.visited.contains(&lesson.id) {
            Progress::Opened
        } else {
            Progress::New
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    New,
    Opened,
    Current,
}

/// The lessons, as a column or, where there is no room for it, as a sheet over the page.
#[component]
pub fn Lessons(props: &LessonsProps) -> Html {
    let groups = use_memo((), |()| catalogue::groups());
    let nav = use_node_ref();
    use_current_in_sight(&nav, props.current, props.panel);
    let close = doing(&props.dispatch, Action::Open(Panel::None));
    let open = match props.panel {
        Panel::Lessons => "true",
        Panel::None | Panel::Help => "false",
    };
    html! {
        <nav ref={nav} class="lessons" id="lessons" aria-label="Lessons" data-open={open}>
            <div class="backdrop" onclick={close.clone()} />
            <div class="sheet">
                <div class="head">
                    { icon_button("icon-button", "Close the lessons", Glyph::Close, close) }
                    <span>{ "Lessons" }</span>
                </div>
                { for groups.iter().map(|group| section(props, group)) }
            </div>
        </nav>
    }
}

/// Scrolls the list to the lesson shown; where the list has just been opened over the page, the focus goes there too,
/// and back to the button when it is closed.
#[hook]
fn use_current_in_sight(nav: &NodeRef, current: Option<&'static str>, panel: Panel) {
    let nav = nav.clone();
    use_effect_with((current, panel), move |(_, panel)| {
        let Some(nav) = nav.cast::<Element>() else { return };
        let find = |root: &Element, selector: &str| -> Option<HtmlElement> {
            root.query_selector(selector).ok().flatten().and_then(|element| element.dyn_into().ok())
        };
        let current = find(&nav, "[aria-current]");
        if let Some(current) = &current {
            let options = ScrollIntoViewOptions::new();
            options.set_block(ScrollLogicalPosition::Nearest);
            current.scroll_into_view_with_scroll_into_view_options(&options);
        }
        let focused = match panel {
            Panel::Lessons => current,
            Panel::None if nav.contains(nav.owner_document().and_then(|page| page.active_element()).as_deref()) => {
                nav.parent_element().and_then(|page| find(&page, ".menu"))
            }
            Panel::None | Panel::Help => None,
        };
        if let Some(focused) = focused {
            // A button that the page is too wide to show takes no focus, which is as it should be.
            let _ = focused.focus();
        }
    });
}

fn section(props: &LessonsProps, group: &Group) -> Html {
    let opened = group.lessons.iter().filter(|lesson| props.progress(lesson) != Progress::New).count();
    let count = format!("{opened}/{}", group.lessons.len());
    let words = format!("{opened} of {} opened", group.lessons.len());
    html! {
        <section key={group.section.title()}>
            <h2>
                { group.section.title() }
                <span class="count" aria-hidden="true">{ count }</span>
                <span class="unseen">{ words }</span>
            </h2>
            <ul>{ for group.lessons.iter().map(|lesson| item(props, lesson)) }</ul>
        </section>
    }
}

fn item(props: &LessonsProps, lesson: &'static Lesson) -> Html {
    let progress = props.progress(lesson);
    let current = (progress == Progress::Current).then_some("page");
    // The link writes the address, which shows the lesson; one whose address stands there already starts anew.
    let choose = doing(&props.dispatch, Action::Visit(Ok(Address::lesson(lesson.id))));
    html! {
        <li key={lesson.id}>
            <a href={address::of_lesson(lesson.id)} aria-current={current} onclick={choose}>
                { tick(progress) }<span>{ lesson.title() }</span>
            </a>
        </li>
    }
}

fn tick(progress: Progress) -> Html {
    let inside = match progress {
        Progress::New => html! { <circle class="ring" cx="6" cy="6" r="5.25" /> },
        Progress::Opened => {
            html! { <><circle class="disc" cx="6" cy="6" r="6" /><path class="check" d="m3.4 6.2 1.8 1.8 3.4-3.8" /></> }
        }
        Progress::Current => {
            html! { <><circle class="ring" cx="6" cy="6" r="5.25" /><path class="half" d="M6 0v12A6 6 0 0 0 6 0z" /></> }
        }
    };
    html! { <svg class="tick" viewBox="0 0 12 12" aria-hidden="true">{ inside }</svg> }
}
