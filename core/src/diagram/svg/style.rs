//! The colours and strokes of a picture.

use super::Theme;

/// A colour in both themes.
struct Token {
    selector: &'static str,
    property: &'static str,
    light: &'static str,
    dark: &'static str,
}

const fn token(selector: &'static str, property: &'static str, light: &'static str, dark: &'static str) -> Token {
    Token { selector, property, light, dark }
}

/// What each class is coloured with. Consumers and brokers set `color`, which strokes and fills take up.
const TOKENS: &[Token] = &[
    token(".paper,.gs .halo,.gs .cut,.gs .hollow,.gs .pill,.gs .code,.gs .open", "fill", "#FFFFFF", "#121315"),
    token(".life,.gs .rule-line,.gs .pill,.gs .box", "stroke", "#CBCBC5", "#3C3F45"),
    token(".box", "fill", "#F6F6F3", "#191A1D"),
    token(".track", "fill", "#EDEDE9", "#212327"),
    token(".track", "stroke", "#E2E2DD", "#2B2D31"),
    token(".k,.gs .note,.gs .call,.gs .head,.gs .step", "fill", "#1A1B1D", "#ECECEA"),
    token(".code", "stroke", "#4F5257", "#B0B3B8"),
    token(".now", "stroke", "#1A1B1D", "#ECECEA"),
    token(".d,.gs .words,.gs .num", "fill", "#4F5257", "#B0B3B8"),
    token(".time,.gs .rule,.gs .fold,.gs .tag", "fill", "#686B70", "#94989E"),
    token(".chip,.gs .flag", "fill", "#FFD43B", "#F7CB45"),
    token(".bar,.gs .bed,.gs .ring", "stroke", "#FFD43B", "#F7CB45"),
    token(".refused", "fill", "#FCEDEC", "#3A1D1E"),
    token(".refused,.gs .cross", "stroke", "#B3202A", "#FF8A84"),
    token(".bad", "fill", "#B3202A", "#FF8A84"),
    token(".on", "fill", "#1A1B1D", "#1A1B1D"),
    token(".n", "color", "#8A8A83", "#6A6E75"),
    token(".ne", "color", "#66665F", "#858990"),
    token(".c1", "color", "#0F4C9A", "#5B9BF5"),
    token(".c2", "color", "#CC5500", "#F0853F"),
    token(".c3", "color", "#079688", "#4FDCC0"),
    token(".c4", "color", "#A33A83", "#CF74AD"),
    token(".c5", "color", "#3C8DC6", "#B5E3FF"),
    token(".c6", "color", "#4B4F56", "#9EA4AC"),
];

/// What does not depend on the theme.
const SHAPES: &str = "\
.gs{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;font-size:12px}\
.gs .k,.gs .d,.gs .call,.gs .time,.gs .rule,.gs .num,.gs .bad,.gs .step{font-family:ui-monospace,SFMono-Regular,Menlo,\
Consolas,'DejaVu Sans Mono',monospace;font-variant-ligatures:none;font-variant-numeric:tabular-nums}\
.gs .k,.gs .head,.gs .step,.gs .bad{font-weight:600}\
.gs .head{font-size:13px}.gs .tag{font-size:13px;font-weight:400}.gs .words,.gs .fold{font-size:11.5px}\
.gs .time,.gs .rule,.gs .num{font-size:11px}\
.gs .on{font-weight:600}\
.gs .solid,.gs .thin,.gs .fill,.gs .tip,.gs .dot{fill:currentColor}\
.gs .hollow,.gs .hatched{stroke:currentColor;stroke-width:1.5}\
.gs .dashed{stroke:currentColor;stroke-width:1.5;stroke-dasharray:4 4;fill:none}\
.gs .life,.gs .rule-line,.gs .now{stroke-width:1;fill:none}\
.gs .request,.gs .response,.gs .close,.gs .chevron,.gs .bars,.gs .tick{stroke:currentColor;stroke-width:1.5;fill:none}\
.gs .response{stroke-dasharray:5 3.5}.gs .close{stroke-dasharray:7 3 1.5 3}\
.gs .ahead{stroke:currentColor;stroke-width:1.5;stroke-dasharray:0 5;stroke-linecap:round;fill:none}\
.gs .flying{stroke-width:2}\
.gs .rail{stroke:currentColor;stroke-width:2;fill:none}\
.gs .cross{stroke-width:2;fill:none}.gs .ring{stroke-width:3;fill:none}\
.gs .pill,.gs .box,.gs .code,.gs .refused{stroke-width:1}\
.gs .bed{stroke-width:5}.gs .bar{stroke-width:3}\
.gs .future{opacity:.26}";

/// In the dark the now line is the yellow itself.
const DARK_NOW: &str = ".gs .bed{opacity:.35}.gs .now{stroke:#F7CB45;stroke-width:1.5}";

/// The style sheet of a picture.
pub(super) fn css(theme: Theme) -> String {
    let light: String = TOKENS.iter().map(|token| rule(token, token.light)).collect();
    let dark: String = TOKENS.iter().map(|token| rule(token, token.dark)).chain([DARK_NOW.to_owned()]).collect();
    match theme {
        Theme::Auto => format!("{SHAPES}{light}@media(prefers-color-scheme:dark){{{dark}}}"),
        Theme::Light => format!("{SHAPES}{light}"),
        Theme::Dark => format!("{SHAPES}{dark}"),
    }
}

fn rule(token: &Token, value: &str) -> String {
    format!(".gs {}{{{}:{value}}}", token.selector, token.property)
}
