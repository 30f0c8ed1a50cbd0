//! The released page in a browser, end to end. `cargo xtask test e2e` runs these; a plain `cargo test` passes over
//! them, because they need Chromium and the page in `dist/`.

use groupscope_tests::web::{Page, Theme, Viewport, keys, lessons};
use std::time::Duration;

/// The lesson that is the document's longest example.
const EXAMPLE: &str = "rebalance-new-consumer";
/// Enough for a lesson's whole run at eight times its pace, on a busy machine.
const RUN: Duration = Duration::from_secs(120);

#[test]
#[ignore = "needs a browser"]
fn every_lesson_comes_to_the_same_end_by_the_clock_and_by_hand() {
    let page = Page::open(EXAMPLE);
    for lesson in lessons() {
        page.load(lesson);
        page.step();
        let stepped = page.messages();
        page.play(RUN);
        assert_eq!(page.messages(), stepped, "{lesson}");
        assert!(!stepped.is_empty(), "{lesson} ends without a message in its diagram");
        page.assert_no_console_errors();
    }
}

#[test]
#[ignore = "needs a browser"]
fn the_page_opens_with_the_example_paused() {
    let page = Page::open(EXAMPLE);
    page.step();
    let of_lesson = page.messages();
    page.load_at("");
    assert!(!page.is_playing());
    page.step();
    assert_eq!(page.messages(), of_lesson);
    page.assert_no_console_errors();
}

#[test]
#[ignore = "needs a browser"]
fn stepping_back_shows_what_stepping_forward_showed() {
    let page = Page::open(EXAMPLE);
    for lesson in lessons() {
        let most = if lesson == EXAMPLE { 100 } else { 20 };
        for unit in ["event", "step"] {
            page.load(lesson);
            page.rewind();
            let difference = page.run(&format!(
                "const there = await pressAsLongAsItMoves('Next {unit}', {most});
                 if (there.length < 2) return 'nothing happens';
                 for (let i = there.length - 2; i >= 0; i--) {{
                   await press('Previous {unit}');
                   const back = markup();
                   if (back === there[i]) continue;
                   let at = 0;
                   while (back[at] === there[i][at]) at++;
                   const around = (text) => text.slice(Math.max(0, at - 80), at + 80);
                   return `{unit} ${{i}}, forward: ${{around(there[i])}} back: ${{around(back)}}`;
                 }}
                 return '';"
            ));
            assert_eq!(difference, "", "{lesson}, by {unit}");
        }
    }
    page.assert_no_console_errors();
}

/// "Take the rebalance procedure upon new consumer startup for example".
#[test]
#[ignore = "needs a browser"]
fn the_example_shows_the_documents_messages_in_the_documents_order() {
    let page = Page::open(EXAMPLE);
    page.step();
    let messages: Vec<String> = page.messages().iter().map(ToString::to_string).collect();
    let first = messages.iter().position(|message| message.starts_with("C3 -> B1 join")).expect("consumer 3 joins");
    let document = [
        "C3 -> B1 join request",
        "C1 -> B1 heartbeat request",
        "B1 -> C1 heartbeat response",
        "C2 -> B1 heartbeat request",
        "B1 -> C2 heartbeat response",
        "C1 -> B1 join request",
        "C2 -> B1 join request",
        "B1 -> C3 join response",
        "B1 -> C1 join response",
        "B1 -> C2 join response",
    ];
    assert_eq!(messages[first..][..document.len()], document);
}

#[test]
#[ignore = "needs a browser"]
fn keys_do_what_buttons_do() {
    let page = Page::open(EXAMPLE);
    page.run("document.activeElement.blur();");
    for (key, button) in
        [('.', "Next event"), (',', "Previous event"), (keys::RIGHT, "Next step"), (keys::LEFT, "Previous step")]
    {
        page.press(&['5']);
        page.click(button);
        let by_button = page.time_us();
        page.run("document.activeElement.blur();");
        page.press(&['5']);
        page.press(&[key]);
        assert_eq!(page.time_us(), by_button, "{key:?} is {button}");
    }
    page.assert_no_console_errors();
}

#[test]
#[ignore = "needs a browser"]
fn keys_move_the_cursor_and_the_clock() {
    let page = Page::open(EXAMPLE);
    let end_us = page.wind();
    page.rewind();
    for tenth in 0..10 {
        page.press(&[char::from(b'0' + tenth)]);
        assert!(
            page.time_us().abs_diff(end_us * u64::from(tenth) / 10) <= 1,
            "{tenth} is at {} of {end_us}",
            page.time_us()
        );
    }
    page.rewind();
    for key in ['k', ' '] {
        page.press(&[key]);
        assert!(page.is_playing(), "{key:?} plays");
        page.press(&[key]);
        assert!(!page.is_playing(), "{key:?} pauses");
    }
    page.assert_no_console_errors();
}

#[test]
#[ignore = "needs a browser"]
fn nothing_makes_the_page_scroll_sideways() {
    let page = Page::open(EXAMPLE);
    for lesson in lessons() {
        page.load(lesson);
        for moment in [keys::HOME, keys::END] {
            page.press(&[moment]);
            for width in [360, 1280, 1920] {
                page.browser.set_viewport(Viewport { width, height: 800 });
                let needed = page.run("await drawn(); return document.scrollingElement.scrollWidth;");
                assert!(
                    needed.as_u64().is_some_and(|needed| needed <= width.into()),
                    "{lesson} needs {needed} of {width} px"
                );
            }
        }
    }
}

#[test]
#[ignore = "needs a browser"]
fn the_page_follows_the_readers_theme() {
    let page = Page::open(EXAMPLE);
    let [light, dark] = [Theme::Light, Theme::Dark].map(|theme| {
        page.browser.set_theme(theme);
        page.run("await drawn(); return getComputedStyle(document.body).backgroundColor;")
    });
    assert_ne!(light, dark);
}
