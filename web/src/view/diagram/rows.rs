//! Rows: messages, what the nodes do, the steps of the document.

use groupscope_core::diagram::{
    Content, Device, FoldRow, FoldState, Layout, Lifeline, NoteItem, NoteKind, Row, Scene, Shape, ShownRow, Side, Tense,
};
use yew::prelude::*;

use super::band::class;
use super::shape::{Rect, cross, path, px, text};
use super::{Shared, arrow};

/// What of a row is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Layer {
    /// What passes behind the bands: arrows with their labels.
    Behind,
    /// What lies over or beside them: notes, steps, cuts, the gutters.
    Before,
}

/// Whether the flag of the now line lies over what a row has in the left gutter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Covered {
    Yes,
    No,
}

/// So many rows are compared and drawn as one.
const CHUNK: usize = 16;

/// The rows of a layer.
pub(super) fn rows(layout: &Shared, scene: &Scene, layer: Layer) -> Html {
    let covered = |shown: &&ShownRow| layer == Layer::Before && scene.covers_gutter(layout.rows[shown.row].y);
    let chunk = |rows: &[ShownRow]| {
        let key = rows.first().map_or(0, |row| row.row);
        let covered: Vec<usize> = rows.iter().filter(covered).map(|shown| shown.row).collect();
        html! { <Chunk {key} layout={layout.clone()} rows={rows.to_vec()} {layer} {covered} /> }
    };
    html! { <g>{ for scene.rows.chunks(CHUNK).map(chunk) }</g> }
}

#[derive(Clone, PartialEq, Properties)]
struct ChunkProps {
    layout: Shared,
    rows: Vec<ShownRow>,
    layer: Layer,
    /// Those whose time the flag of the now line covers.
    covered: Vec<usize>,
}

/// Some rows, drawn again only if one of them has changed.
#[component]
fn Chunk(props: &ChunkProps) -> Html {
    let draw = |shown: &ShownRow| {
        let row = props.layout.rows.get(shown.row)?;
        match props.layer {
            Layer::Behind => behind(&props.layout, row, shown),
            Layer::Before => Some(before(props, row, shown)),
        }
    };
    html! { { for props.rows.iter().filter_map(draw) } }
}

/// A row that comes to pass is a new node, so that nothing of the future's is left in it.
fn key(shown: &ShownRow) -> String {
    match shown.tense {
        Tense::Past => shown.row.to_string(),
        Tense::Future => format!("{}-future", shown.row),
    }
}

fn behind(layout: &Layout, row: &Row, shown: &ShownRow) -> Option<Html> {
    let arrow = shown.arrow.as_ref()?;
    match &row.content {
        Content::Message(message) => Some(arrow::message(layout, row, message, arrow, key(shown))),
        Content::Close(close) => Some(arrow::close(layout, row, close, arrow, key(shown))),
        Content::Notes(_) | Content::Divider(_) | Content::Fold(_) => None,
    }
}

fn before(props: &ChunkProps, row: &Row, shown: &ShownRow) -> Html {
    let layout = &props.layout;
    let covered = if props.covered.contains(&shown.row) { Covered::Yes } else { Covered::No };
    let content = match (&row.content, shown.tense) {
        (Content::Notes(notes), Tense::Past) => html! { { for notes.iter().map(|item| note(layout, row, item)) } },
        (Content::Divider(label), _) => step(layout, row, label, covered),
        (Content::Fold(fold), _) => cuts(layout, row, fold),
        (Content::Notes(_), Tense::Future) | (Content::Message(_) | Content::Close(_), _) => html! {},
    };
    let gutters = match shown.tense {
        Tense::Past => {
            let time = row.time.as_ref().filter(|_| covered == Covered::No);
            let time = time.map(|time| text("time", (31.0, row.y + 4.0), 11.0, time));
            let rule = row.rule.as_ref();
            let rule = rule.map(|rule| text("rule", (layout.width - 31.0, row.y + 4.0), 11.0, rule));
            html! { <>{ for time }{ for rule }</> }
        }
        Tense::Future => html! {},
    };
    html! { <g key={key(shown)} class="row">{ gutters }{ content }</g> }
}

/// The pill of a step of the document; not seen where the flag of the now line has its place.
fn step(layout: &Layout, row: &Row, label: &str, covered: Covered) -> Html {
    let class = match (covered, layout.options.device) {
        (Covered::Yes, Device::Wide) => "covered",
        (Covered::Yes, Device::Phone) | (Covered::No, _) => "uncovered",
    };
    let pill = super::pill(layout, label);
    let outline = Rect { x: pill.left, y: row.y - 10.0, width: pill.width, height: 20.0, radius: 9.5 };
    html! {
        <g {class} data-step={label.to_owned()}>
            { outline.inset(0.5).view("pill", None) }
            { text("step", (pill.left + pill.width / 2.0, row.y + 4.0), pill.size, label) }
        </g>
    }
}

/// A slanted cut through the bands, where a fold hides rows.
fn cuts(layout: &Layout, row: &Row, fold: &FoldRow) -> Html {
    if fold.state == FoldState::Open || row.bottom <= row.top {
        return html! {};
    }
    let cut = |lifeline: &Lifeline| {
        let [left, right] = [lifeline.x - 7.0, lifeline.x + 7.0].map(px);
        let [a, b, c, d] = [row.y + 1.5, row.y - 6.5, row.y - 1.5, row.y + 6.5].map(px);
        path("cut", format!("M{left} {a}L{right} {b}V{c}L{left} {d}Z"))
    };
    html! { { for layout.lifelines.iter().map(cut) } }
}

/// Words at a lifeline.
fn note(layout: &Layout, row: &Row, note: &NoteItem) -> Html {
    let color = layout.lifeline(note.node).and_then(|column| layout.lifelines[column].color);
    let class = class(color, Shape::Hollow);
    let (from, to) = match note.side {
        Side::Right => (note.x + 6.0, (note.x + 13.0).min(note.space.x)),
        Side::Left => (note.x - 6.0, (note.x - 13.0).max(note.space.right())),
    };
    let tick = path("tick", format!("M{} {}H{}", px(from), px(row.y), px(to)));
    let id = note.id.0.to_string();
    match note.kind {
        NoteKind::Callback(callback) => html! {
            <g {class} data-id={id} data-callback={callback.name()}>{ tick }{ boxed(note) }</g>
        },
        NoteKind::Plain | NoteKind::Intervention => html! { <g {class} data-id={id}>{ tick }{ words(row, note) }</g> },
        NoteKind::Removed => html! { <g {class} data-id={id}>{ cross(note.x, row.y, 5.0) }{ words(row, note) }</g> },
    }
}

/// A callback's name in its box.
fn boxed(note: &NoteItem) -> Html {
    let space = note.space;
    let lines = note.lines.len();
    let first = space.y + space.height / 2.0 - (lines as f64 - 1.0) * note.leading / 2.0 + note.size * 0.34;
    let (class, x) =
        if lines > 1 { ("call", space.x + note.pad) } else { ("call middle", space.x + space.width / 2.0) };
    let outline = Rect { x: space.x, y: space.y, width: space.width, height: space.height, radius: 4.0 };
    html! { <>{ outline.inset(0.5).view("box", None) }{ lined(note, class, x, first) }</> }
}

fn words(row: &Row, note: &NoteItem) -> Html {
    let (class, x) = match note.side {
        Side::Right => ("note", note.space.x),
        Side::Left => ("note end", note.space.right()),
    };
    lined(note, class, x, row.y + 4.0)
}

fn lined(note: &NoteItem, class: &'static str, x: f64, first: f64) -> Html {
    let line = |(i, line): (usize, &String)| text(class, (x, first + note.leading * i as f64), note.size, line);
    html! { { for note.lines.iter().enumerate().map(line) } }
}
