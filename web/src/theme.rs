//! Light and dark: as the reader's system has it, until they switch. The choice is kept in their browser.
//!
//! `index.html` applies a kept choice before the page is drawn; the colours themselves are in `css/tokens.css`.

/// Where the browser keeps the choice.
const KEY: &str = "groupscope-theme";

/// Switches from light to dark or back.
pub fn switch() {
    let Some(window) = web_sys::window() else { return };
    let Some(root) = window.document().and_then(|document| document.document_element()) else { return };
    let dark = match root.get_attribute("data-theme") {
        Some(theme) => theme == "dark",
        None => window.match_media("(prefers-color-scheme: dark)").ok().flatten().is_some_and(|query| query.matches()),
    };
    let next = if dark { "light" } else { "dark" };
    // A browser that forbids keeping things still switches for as long as the page is open.
    let _ = root.set_attribute("data-theme", next);
    if let Ok(Some(storage)) = window.local_storage() {
        let _ = storage.set_item(KEY, next);
    }
}
