//! The page's components and its clock, in a browser.

#![cfg(target_arch = "wasm32")]

use std::time::Duration;

use groupscope_web::view::page::Page;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{Document, Element, Event, EventInit, HtmlElement, HtmlInputElement, KeyboardEvent, KeyboardEventInit};
use yew::AppHandle;
use yew::platform::time::sleep;

wasm_bindgen_test_configure!(run_in_browser);

/// A page mounted in the document, gone when the test ends.
struct Mounted {
    root: Element,
    app: Option<AppHandle<Page>>,
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Some(app) = self.app.take() {
            app.destroy();
        }
        self.root.remove();
    }
}

fn document() -> Document {
    web_sys::window().and_then(|window| window.document()).expect("a document")
}

/// Until what was dispatched is drawn, and the browser had its turn.
async fn drawn() {
    yew::scheduler::flush().await;
    sleep(Duration::from_millis(20)).await;
    yew::scheduler::flush().await;
}

/// Until something holds; fails if it does not come to.
async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..200 {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(25)).await;
    }
    panic!("it never comes to this: {what}");
}

/// Two texts that should be the same, by where they first differ.
fn assert_same(one: &str, other: &str) {
    let at = one.bytes().zip(other.bytes()).position(|(a, b)| a != b);
    let around = |text: &str| text.chars().skip(at.unwrap_or(0).saturating_sub(80)).take(160).collect::<String>();
    assert!(one == other, "one: {}\nother: {}", around(one), around(other));
}

impl Mounted {
    async fn at(hash: &str) -> Self {
        // As if the document had been loaded there: without the event of an address that changes.
        let history = web_sys::window().expect("a window").history().expect("a history");
        let address = if hash.is_empty() { "#" } else { hash };
        history.replace_state_with_url(&JsValue::NULL, "", Some(address)).expect("an address");
        let document = document();
        let root = document.create_element("div").expect("an element");
        root.set_attribute("style", "width:1000px").expect("an attribute");
        document.body().expect("a body").append_child(&root).expect("a child");
        let app = yew::Renderer::<Page>::with_root(root.clone()).render();
        let page = Self { root, app: Some(app) };
        until("the page is drawn", || page.count(".sheet svg, [role=alert]") > 0).await;
        drawn().await;
        page
    }

    fn find(&self, selector: &str) -> Option<Element> {
        self.root.query_selector(selector).expect("a selector")
    }

    fn count(&self, selector: &str) -> u32 {
        self.root.query_selector_all(selector).expect("a selector").length()
    }

    fn diagram(&self) -> Element {
        self.find("[data-time][data-playing]").expect("a diagram")
    }

    fn time(&self) -> u64 {
        self.diagram().get_attribute("data-time").and_then(|time| time.parse().ok()).expect("a time")
    }

    fn is_playing(&self) -> bool {
        self.diagram().get_attribute("data-playing").expect("an attribute") == "true"
    }

    async fn click(&self, name: &str) {
        let button = self.find(&format!("button[aria-label='{name}']")).unwrap_or_else(|| panic!("no button {name}"));
        button.unchecked_into::<HtmlElement>().click();
        drawn().await;
    }

    async fn press(&self, target: &Element, key: &str, change: impl Fn(&KeyboardEventInit)) -> KeyboardEvent {
        let init = KeyboardEventInit::new();
        init.set_key(key);
        init.set_bubbles(true);
        init.set_cancelable(true);
        change(&init);
        let event = KeyboardEvent::new_with_keyboard_event_init_dict("keydown", &init).expect("an event");
        target.dispatch_event(&event).expect("a target");
        drawn().await;
        event
    }
}

#[wasm_bindgen_test]
async fn it_opens_paused_with_something_on_its_way() {
    let page = Mounted::at("").await;
    assert!(!page.is_playing());
    assert_eq!(page.count("[data-message][data-state='in-flight']"), 1);
    for name in ["Play", "Next event", "Previous event", "Next step", "Previous step"] {
        assert_eq!(page.count(&format!("button[aria-label='{name}']")), 1, "{name}");
    }
}

#[wasm_bindgen_test]
async fn messages_and_lifelines_say_what_they_are() {
    let page = Mounted::at("#lesson=rebalance-new-consumer&t=8s").await;
    let selector =
        "[data-message='join'][data-kind='request'][data-from='C3'][data-to='B1'][data-state='delivered'][data-id]";
    assert_eq!(page.count(selector), 1);
    assert_eq!(page.count("[data-node='C3'][data-state='fetching']"), 1);
    assert_eq!(page.count("[data-step]"), 3);
    assert_eq!(page.count("[data-callback='onPartitionDeassigned']"), 2);
    assert_eq!(page.count("[data-callback='onPartitionAssigned']"), 3);
}

#[wasm_bindgen_test]
async fn what_is_still_to_come_is_drawn_but_not_told() {
    let page = Mounted::at("#lesson=rebalance-new-consumer&t=5.05s").await;
    assert_eq!(page.count("[data-message]"), 1);
    assert_eq!(page.count("[data-callback]"), 0);
    assert!(page.count("g.future") > 5);
}

#[wasm_bindgen_test]
async fn a_step_forward_and_back_leads_to_the_same_nodes() {
    let page = Mounted::at("#lesson=rebalance-member-fails").await;
    page.click("Next step").await;
    let mut seen = Vec::new();
    for _ in 0..12 {
        seen.push(page.diagram().outer_html());
        page.click("Next event").await;
    }
    for before in seen.into_iter().rev() {
        page.click("Previous event").await;
        assert_same(&page.diagram().outer_html(), &before);
    }
}

#[wasm_bindgen_test]
async fn the_clock_moves_the_cursor_until_it_is_paused() {
    let page = Mounted::at("#lesson=heartbeat&t=1s").await;
    page.click("Play").await;
    assert!(page.is_playing());
    sleep(Duration::from_millis(400)).await;
    page.click("Pause").await;
    let there = page.time();
    assert!(!page.is_playing() && there > 1_000_000, "{there}");
    sleep(Duration::from_millis(200)).await;
    assert_eq!(page.time(), there);
}

#[wasm_bindgen_test]
async fn the_clock_stops_at_the_end_of_the_run() {
    let page = Mounted::at("#lesson=discovery&t=3.9s").await;
    let speed =
        page.find("select[aria-label='Speed']").expect("a speed").unchecked_into::<web_sys::HtmlSelectElement>();
    speed.set_value("8×");
    let init = EventInit::new();
    init.set_bubbles(true);
    speed.dispatch_event(&Event::new_with_event_init_dict("change", &init).expect("an event")).expect("a target");
    page.click("Play").await;
    until("it stops", || !page.is_playing()).await;
    let range = page.find("input[type=range]").expect("a range").unchecked_into::<HtmlInputElement>();
    assert_eq!(range.value(), range.max());
}

#[wasm_bindgen_test]
async fn the_scrubber_moves_the_cursor_and_says_where_it_is() {
    let page = Mounted::at("#lesson=rebalance-new-consumer").await;
    let range = page.find("input[type=range]").expect("a range").unchecked_into::<HtmlInputElement>();
    range.set_value("100");
    let init = EventInit::new();
    init.set_bubbles(true);
    range.dispatch_event(&Event::new_with_event_init_dict("input", &init).expect("an event")).expect("a target");
    drawn().await;
    assert_eq!(page.time(), 1_000_000);
    let text = range.get_attribute("aria-valuetext").expect("a text");
    assert!(text.starts_with("1.00 s of ") && text.contains("generation 1"), "{text}");
}

#[wasm_bindgen_test]
async fn keys_reach_the_player_but_not_from_fields_or_with_modifiers() {
    let page = Mounted::at("#lesson=rebalance-new-consumer").await;
    let body: Element = document().body().expect("a body").into();
    let start = page.time();
    let event = page.press(&body, ".", |_| {}).await;
    let next = page.time();
    assert!(next > start && event.default_prevented());
    page.press(&body, ".", |init| init.set_ctrl_key(true)).await;
    page.press(&body, ".", |init| init.set_alt_key(true)).await;
    page.press(&body, ".", |init| init.set_meta_key(true)).await;
    page.press(&page.find("select").expect("a select"), ".", |_| {}).await;
    assert_eq!(page.time(), next);
    page.press(&body, ",", |_| {}).await;
    assert!(page.time() < next);
    // A button has its own use for the space bar, the scrubber for the arrows.
    page.press(&page.find("button[aria-label='Next event']").expect("a button"), " ", |_| {}).await;
    page.press(&page.find("input[type=range]").expect("a range"), "ArrowRight", |_| {}).await;
    assert!(!page.is_playing());
    page.press(&body, "k", |_| {}).await;
    assert!(page.is_playing());
}

#[wasm_bindgen_test]
async fn the_help_lists_the_keys_and_closes() {
    let page = Mounted::at("").await;
    page.click("Help").await;
    let dialog = page.find("dialog").expect("a dialog");
    until("it is open", || dialog.has_attribute("open")).await;
    assert_eq!(page.count("dialog dt"), groupscope_web::keys::TABLE.len() as u32);
    page.click("Close the help").await;
    until("it is closed", || !dialog.has_attribute("open")).await;
}

#[wasm_bindgen_test]
async fn a_bad_link_says_what_is_wrong_and_leads_to_the_start_page() {
    let page = Mounted::at("#lesson=nothing").await;
    let problem = page.find("[role=alert]").expect("a message");
    assert!(problem.text_content().expect("a text").contains("nothing"));
    problem.query_selector("a").expect("a selector").expect("a link").unchecked_into::<HtmlElement>().click();
    until("the start page is shown", || page.count("[data-message]") == 1).await;
}

#[wasm_bindgen_test]
async fn choosing_a_lesson_shows_it_and_writes_the_address() {
    let page = Mounted::at("").await;
    let link = page.find("nav a[href='#lesson=heartbeat']").expect("a link");
    link.clone().unchecked_into::<HtmlElement>().click();
    until("it is shown", || link.get_attribute("aria-current").as_deref() == Some("page")).await;
    assert_eq!(web_sys::window().expect("a window").location().hash().expect("an address"), "#lesson=heartbeat");
    until("it is named", || document().title().starts_with("Heartbeats")).await;
}

#[wasm_bindgen_test]
async fn a_fold_opens_and_closes() {
    let page = Mounted::at("#lesson=rebalance-new-consumer").await;
    let messages = page.count("[data-message]");
    let fold = || page.find("button.fold").expect("a fold").unchecked_into::<HtmlElement>();
    fold().click();
    until("it is open", || page.count("[data-message]") > messages).await;
    fold().click();
    until("it is closed", || page.count("[data-message]") == messages).await;
}
