//! Rows: messages, what the nodes do, the steps of the document.

use groupscope_core::diagram::{
    Content, Device, FoldRow, FoldState, Layout, NoteItem, NoteKind, Row, Scene, Shape, ShownRow, Side, Tense, Travel,
};
use yew::prelude::*;

use super::band::class;
use super::markup::{Markup, Rect, Way, px};
use super::{Shared, arrow};

/// What of a row is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Layer {
    /// What passes behind the bands: arrows with their labels.
    Behind,
    /// What lies over or beside them: notes, steps, cuts, the gutters.
    Before,
}

/// So many rows are compared and drawn as one; the browser leaves out those that are out of sight.
const CHUNK: usize = 32;
/// How far the marks of a row may reach beyond it, px.
const BLEED: f64 = 8.0;

/// The rows of a layer.
pub(super) fn rows(layout: &Shared, scene: &Scene, layer: Layer) -> Html {
    let covered = |shown: &&ShownRow| layer == Layer::Before && scene.covers_gutter(layout.rows[shown.row].y);
    let chunk = |rows: &[ShownRow]| {
        let key = rows.first().map_or(0, |row| row.row);
        let covered: Vec<usize> = rows.iter().filter(covered).map(|shown| shown.row).collect();
        html! { <Chunk {key} layout={layout.clone()} rows={rows.to_vec()} {layer} {covered} /> }
    };
    html! { { for scene.rows.chunks(CHUNK).map(chunk) } }
}

#[derive(Clone, PartialEq, Properties)]
struct ChunkProps {
    layout: Shared,
    rows: Vec<ShownRow>,
    layer: Layer,
    /// Those whose place in the left gutter the flag of the now line takes.
    covered: Vec<usize>,
}

/// Some rows, drawn again only if one of them has changed.
#[component]
fn Chunk(props: &ChunkProps) -> Html {
    let at = |shown: &ShownRow| &props.layout.rows[shown.row];
    let top = props.rows.first().map_or(0.0, |shown| at(shown).top) - BLEED;
    let height = props.rows.last().map_or(0.0, |shown| at(shown).bottom) + BLEED - top;
    let width = props.layout.width;
    let drawn = match props.layer {
        Layer::Behind => behind(props),
        Layer::Before => before(props),
    };
    html! {
        <div class="chunk" style={format!("top:{}px;height:{}px", px(top), px(height))}>
            <svg class="gs" viewBox={format!("0 {} {} {}", px(top), px(width), px(height))}>{ drawn }</svg>
        </div>
    }
}

fn behind(props: &ChunkProps) -> Html {
    let mut still = Markup::default();
    let mut flying = Vec::new();
    still.open("still", &[]);
    for shown in &props.rows {
        let (row, Some(arrow)) = (&props.layout.rows[shown.row], &shown.arrow) else { continue };
        match arrow.state {
            Travel::InFlight { .. } => flying.extend(arrow::flying(&props.layout, row, arrow)),
            Travel::Ahead | Travel::Delivered | Travel::Lost { .. } => {
                arrow::still(&props.layout, row, arrow, &mut still)
            }
        }
    }
    still.close();
    html! { <>{ still.into_html() }<g>{ for flying }</g></> }
}

fn before(props: &ChunkProps) -> Html {
    let layout = &props.layout;
    let mut still = Markup::default();
    let mut told = Vec::new();
    still.open("still", &[]);
    for shown in &props.rows {
        let row = &layout.rows[shown.row];
        let covered = if props.covered.contains(&shown.row) { Covered::Yes } else { Covered::No };
        match &row.content {
            Content::Divider(label) => step(layout, row, label, covered, &mut still),
            Content::Fold(fold) => cuts(layout, row, fold, &mut still),
            Content::Notes(notes) if shown.tense == Tense::Past => {
                told.push(html! { <g key={shown.row}>{ notes_view(layout, row, notes) }</g> });
            }
            Content::Notes(_) | Content::Message(_) | Content::Close(_) => {}
        }
        if shown.tense == Tense::Past {
            gutters(layout, row, covered, &mut still);
        }
    }
    still.close();
    html! { <>{ still.into_html() }<g>{ for told }</g></> }
}

/// Whether the flag of the now line lies over what a row has in the left gutter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Covered {
    Yes,
    No,
}

fn gutters(layout: &Layout, row: &Row, covered: Covered, out: &mut Markup) {
    if let (Some(time), Covered::No) = (&row.time, covered) {
        out.text("time", (31.0, row.y + 4.0), 11.0, time);
    }
    if let Some(rule) = &row.rule {
        out.text("rule", (layout.width - 31.0, row.y + 4.0), 11.0, rule);
    }
}

/// The pill of a step of the document; not seen where the flag of the now line has its place.
fn step(layout: &Layout, row: &Row, label: &str, covered: Covered, out: &mut Markup) {
    let class = match (covered, layout.options.device) {
        (Covered::Yes, Device::Wide) => "covered",
        (Covered::Yes, Device::Phone) | (Covered::No, _) => "uncovered",
    };
    let pill = super::pill(layout, label);
    let outline = Rect { x: pill.left, y: row.y - 10.0, width: pill.width, height: 20.0, radius: 9.5 };
    out.open(class, &[("step", label)]);
    out.rect("pill", outline.inset(0.5), None);
    out.text("step", (pill.left + pill.width / 2.0, row.y + 4.0), pill.size, label);
    out.close();
}

/// A slanted cut through the bands, where a fold hides rows.
fn cuts(layout: &Layout, row: &Row, fold: &FoldRow, out: &mut Markup) {
    if fold.state == FoldState::Open || row.bottom <= row.top {
        return;
    }
    for lifeline in &layout.lifelines {
        let (left, right) = (lifeline.x - 7.0, lifeline.x + 7.0);
        let cut = Way::from(left, row.y + 1.5).to(right, row.y - 6.5).along(row.y - 1.5).to(left, row.y + 6.5).closed();
        out.path("cut", &cut);
    }
}

/// What nodes did at one moment, in words at their lifelines.
fn notes_view(layout: &Layout, row: &Row, notes: &[NoteItem]) -> Html {
    let mut out = Markup::default();
    for note in notes {
        let color = layout.lifeline(note.node).and_then(|column| layout.lifelines[column].color);
        let (class, id) = (format!("row {}", class(color, Shape::Hollow)), note.id.0.to_string());
        let (from, to) = match note.side {
            Side::Right => (note.x + 6.0, (note.x + 13.0).min(note.space.x)),
            Side::Left => (note.x - 6.0, (note.x - 13.0).max(note.space.right())),
        };
        let tick = Way::from(from, row.y).across(to);
        match note.kind {
            NoteKind::Callback(callback) => {
                out.open(&class, &[("id", &id), ("callback", callback.name())]);
                out.path("tick", &tick);
                boxed(note, &mut out);
            }
            NoteKind::Plain | NoteKind::Intervention => {
                out.open(&class, &[("id", &id)]);
                out.path("tick", &tick);
                words(row, note, &mut out);
            }
            NoteKind::Removed => {
                out.open(&class, &[("id", &id)]);
                out.cross(note.x, row.y, 5.0);
                words(row, note, &mut out);
            }
        }
        out.close();
    }
    out.into_html()
}

/// A callback's name in its box.
fn boxed(note: &NoteItem, out: &mut Markup) {
    let space = note.space;
    let lines = note.lines.len();
    let first = space.y + space.height / 2.0 - (lines as f64 - 1.0) * note.leading / 2.0 + note.size * 0.34;
    let (class, x) =
        if lines > 1 { ("call", space.x + note.pad) } else { ("call middle", space.x + space.width / 2.0) };
    let outline = Rect { x: space.x, y: space.y, width: space.width, height: space.height, radius: 4.0 };
    out.rect("box", outline.inset(0.5), None);
    lined(note, class, x, first, out);
}

fn words(row: &Row, note: &NoteItem, out: &mut Markup) {
    let (class, x) = match note.side {
        Side::Right => ("note", note.space.x),
        Side::Left => ("note end", note.space.right()),
    };
    lined(note, class, x, row.y + 4.0, out);
}

fn lined(note: &NoteItem, class: &str, x: f64, first: f64, out: &mut Markup) {
    for (i, line) in note.lines.iter().enumerate() {
        out.text(class, (x, first + note.leading * i as f64), note.size, line);
    }
}
