//! The page against Mermaid: `cargo xtask bench`. Both draw a diagram of the same 1,000 messages in the same browser,
//! one after the other, several times over; the time is from the trace to the painted frame.

use anyhow::{Context, Result, ensure};
use clap::Parser;
use groupscope_tests::web::{Browser, Site, Viewport};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

const MESSAGES: usize = 1000;
/// After one round that does not count: it compiles and warms up both.
const ROUNDS: usize = 7;
/// How many times faster than Mermaid the page has to be.
const LEAST_RATIO: f64 = 10.0;

/// Compare the page with Mermaid
#[derive(Parser)]
struct Options {
    /// The folder with the released page
    #[arg(long)]
    site: PathBuf,
    /// The file mermaid.min.js
    #[arg(long)]
    mermaid: PathBuf,
    /// A folder to serve Mermaid from
    #[arg(long)]
    out: PathBuf,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let browser = Browser::start();
    browser.set_viewport(Viewport { width: 1280, height: 800 });
    let (page, mermaid) = (Site::new(&options.site), mermaid_site(&options)?);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (us, text) = draw_page(&browser, &page)?;
        let them = draw_mermaid(&browser, &mermaid, &text)?;
        println!(
            "round {round}: page {us:.1} ms, Mermaid {them:.1} ms{}",
            if round == 0 { " (not counted)" } else { "" }
        );
        if round > 0 {
            ours.push(us);
            theirs.push(them);
        }
    }
    let (us, them) = (median(ours), median(theirs));
    let ratio = them / us;
    println!("medians of {ROUNDS}, for {MESSAGES} messages: page {us:.1} ms, Mermaid {them:.1} ms, ratio {ratio:.1}");
    ensure!(ratio >= LEAST_RATIO, "the page is {ratio:.1} times faster than Mermaid, less than {LEAST_RATIO}");
    Ok(())
}

/// A folder with Mermaid and the document that runs it.
fn mermaid_site(options: &Options) -> Result<Site> {
    let out = &options.out;
    fs::create_dir_all(out).with_context(|| format!("cannot write {}", out.display()))?;
    fs::copy(&options.mermaid, out.join("mermaid.min.js")).context("cannot copy Mermaid")?;
    fs::write(out.join("index.html"), include_str!("mermaid.html")).context("cannot write its document")?;
    Ok(Site::new(out))
}

/// The time in milliseconds, and the same diagram in Mermaid's language.
fn draw_page(browser: &Browser, site: &Site) -> Result<(f64, String)> {
    browser.go("about:blank");
    browser.go(&site.url(&format!("#bench={MESSAGES}")));
    browser.wait("document.querySelector('[data-bench-ms]')", Duration::from_secs(60));
    let time = browser.eval("return Number(document.querySelector('[data-bench-ms]').dataset.benchMs);", &[]);
    let drawn = "return [...document.querySelectorAll('[data-message]')].map((message) => ({...message.dataset}));";
    let drawn = browser.eval(drawn, &[]);
    let drawn = drawn.as_array().context("no list of messages")?;
    Ok((checked(&time, drawn.len())?, mermaid_text(drawn)?))
}

/// The time in milliseconds.
fn draw_mermaid(browser: &Browser, site: &Site, text: &str) -> Result<f64> {
    browser.go(&site.url(""));
    let time = browser.eval("return draw(arguments[0]);", &[json!(text)]);
    let drawn = browser.eval("return messages();", &[]).as_u64().context("no number of messages")?;
    checked(&time, usize::try_from(drawn)?)
}

/// The time, if nothing was left out.
fn checked(time_ms: &Value, drawn: usize) -> Result<f64> {
    ensure!(drawn == MESSAGES, "{drawn} messages are drawn, not {MESSAGES}");
    time_ms.as_f64().with_context(|| format!("{time_ms} is no time"))
}

/// Requests with solid arrows, responses with dashed ones.
fn mermaid_text(drawn: &[Value]) -> Result<String> {
    let mut text = String::from("sequenceDiagram\n");
    for message in drawn {
        let field = |name: &str| message[name].as_str().with_context(|| format!("no data-{name}: {message}"));
        let (from, to, about, kind) = (field("from")?, field("to")?, field("message")?, field("kind")?);
        let arrow = if kind == "request" { "->>" } else { "-->>" };
        text.push_str(&format!("    {from}{arrow}{to}: {about} {kind}\n"));
    }
    Ok(text)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
