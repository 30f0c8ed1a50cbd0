//! Pictures of the page: `cargo xtask shots`. Every lesson as it opens, at each of its steps, and at its end, for each
//! size and theme.

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use clap::{Parser, ValueEnum};
use groupscope_tests::web::{Page, Site, Theme, Viewport, lessons};
use std::fs;
use std::path::PathBuf;

const VIEWPORTS: [Viewport; 3] = [
    Viewport { width: 360, height: 800 },
    Viewport { width: 1280, height: 800 },
    Viewport { width: 1920, height: 1080 },
];

/// Take pictures of the page; without filters all of them
#[derive(Parser)]
#[command(name = "cargo xtask shots")]
struct Options {
    /// Only these lessons
    #[arg(long = "lesson", value_parser = PossibleValuesParser::new(lessons()))]
    lessons: Vec<String>,
    /// Only these widths in pixels; others than 360, 1280 and 1920 are 800 high
    #[arg(long = "width")]
    widths: Vec<u32>,
    /// Only these themes
    #[arg(long = "theme", value_enum)]
    themes: Vec<ThemeName>,
    /// Only at these times, such as 4.6s, instead of at the steps
    #[arg(long = "at")]
    times: Vec<String>,
    /// The folder with the page
    #[arg(long)]
    site: PathBuf,
    /// The folder for the pictures
    #[arg(long)]
    out: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum ThemeName {
    Light,
    Dark,
}

fn main() -> Result<()> {
    let options = Options::parse();
    fs::create_dir_all(&options.out).with_context(|| format!("cannot write {}", options.out.display()))?;
    let page = Page::new(Site::new(&options.site));
    for viewport in options.viewports() {
        page.browser.set_viewport(viewport);
        for lesson in options.lessons() {
            if options.times.is_empty() {
                page.load(lesson);
                shoot_steps(&page, &options, lesson, viewport)?;
            }
            for time in &options.times {
                page.load_at(&format!("#lesson={lesson}&t={time}"));
                shoot(&page, &options, &format!("{lesson}-{}-{time}", viewport.width))?;
            }
        }
    }
    for error in page.browser.console_errors() {
        println!("on the console: {error}");
    }
    Ok(())
}

impl Options {
    fn lessons(&self) -> Vec<&str> {
        if self.lessons.is_empty() { lessons().collect() } else { self.lessons.iter().map(String::as_str).collect() }
    }

    fn viewports(&self) -> Vec<Viewport> {
        let of_width = |width: &u32| {
            let usual = VIEWPORTS.into_iter().find(|viewport| viewport.width == *width);
            usual.unwrap_or(Viewport { width: *width, height: 800 })
        };
        if self.widths.is_empty() { VIEWPORTS.to_vec() } else { self.widths.iter().map(of_width).collect() }
    }

    fn themes(&self) -> Vec<Theme> {
        let of_name = |name: &ThemeName| match name {
            ThemeName::Light => Theme::Light,
            ThemeName::Dark => Theme::Dark,
        };
        if self.themes.is_empty() { vec![Theme::Light, Theme::Dark] } else { self.themes.iter().map(of_name).collect() }
    }
}

/// As it opens, then from its start step by step, then at its end.
fn shoot_steps(page: &Page, options: &Options, lesson: &str, viewport: Viewport) -> Result<()> {
    let name = |moment: &str| format!("{lesson}-{}-{moment}", viewport.width);
    shoot(page, options, &name("opening"))?;
    page.rewind();
    shoot(page, options, &name("start"))?;
    for step in 1.. {
        let before_us = page.time_us();
        page.click("Next step");
        if page.time_us() == before_us {
            break;
        }
        shoot(page, options, &name(&format!("step{step}")))?;
    }
    page.wind();
    shoot(page, options, &name("end"))
}

fn shoot(page: &Page, options: &Options, name: &str) -> Result<()> {
    for theme in options.themes() {
        page.browser.set_theme(theme);
        page.run("await drawn();");
        let path = options.out.join(format!("{name}-{}.png", theme.name()));
        fs::write(&path, page.browser.screenshot()).with_context(|| format!("cannot write {}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}
