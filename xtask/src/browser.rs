//! Chromium and its driver, for the tests in a browser.

use crate::run::{command, output, root, run};
use crate::tools::Toolbox;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// Where browsers are that are not on the `PATH`.
const BROWSER_FILES: [&str; 3] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
];
const MISSING: &str = "the tests need Chromium (or Chrome) and the ChromeDriver of the same version, on the PATH or \
    named by the environment variables CHROME and CHROMEDRIVER. On Debian and Ubuntu: \
    `apt-get install chromium chromium-driver`; on macOS: `brew install --cask chromium chromedriver`; elsewhere: \
    https://googlechromelabs.github.io/chrome-for-testing";

/// Finds or installs Chromium and its driver, and tells the tests where they are.
pub(crate) fn add(tools: &mut Toolbox) -> Result<()> {
    if find().is_none() {
        install()?;
    }
    let (browser, driver) = find().context(MISSING)?;
    tools.set("WASM_BINDGEN_TEST_WEBDRIVER_JSON", write_capabilities(&browser)?);
    tools.set("CHROMEDRIVER", driver);
    Ok(())
}

/// The browser and its driver.
fn find() -> Option<(PathBuf, PathBuf)> {
    let named = |variable| std::env::var_os(variable).map(PathBuf::from);
    let browser = named("CHROME")
        .or_else(|| BROWSERS.iter().find_map(|name| which::which(name).ok()))
        .or_else(|| BROWSER_FILES.iter().map(PathBuf::from).find(|path| path.is_file()))?;
    let driver = named("CHROMEDRIVER").or_else(|| which::which("chromedriver").ok())?;
    Some((browser, driver))
}

/// Installs both with apt, where this user may.
fn install() -> Result<()> {
    if which::which("apt-get").is_err() {
        bail!(MISSING);
    }
    let root = output(command("id").arg("-u")).is_some_and(|id| id.trim() == "0");
    if !root && output(command("sudo").args(["-n", "true"])).is_none() {
        bail!(MISSING);
    }
    println!("installing Chromium and its driver with apt (2 min, once) ...");
    let apt = |words: &str| {
        let mut apt = if root { command("apt-get") } else { command("sudo") };
        if !root {
            apt.args(["-n", "apt-get"]);
        }
        run(apt.args(words.split(' ')).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt("-qq update")?;
    apt("-qq -y install --no-install-recommends chromium chromium-driver").context(MISSING)
}

/// `webdriver.json` with this machine's browser in it, for wasm-bindgen's test runner and the end-to-end tests.
fn write_capabilities(browser: &Path) -> Result<PathBuf> {
    let given = fs::read_to_string(root().join("webdriver.json")).context("cannot read webdriver.json")?;
    let mut capabilities: serde_json::Value = serde_json::from_str(&given).context("webdriver.json")?;
    capabilities["goog:chromeOptions"]["binary"] = browser.to_string_lossy().into();
    let folder = root().join("target");
    fs::create_dir_all(&folder).with_context(|| format!("cannot write {}", folder.display()))?;
    let path = folder.join("webdriver.json");
    fs::write(&path, capabilities.to_string()).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
