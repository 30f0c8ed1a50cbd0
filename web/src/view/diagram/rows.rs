//! Rows: messages, what the nodes do, the steps of the document.

use groupscope_core::diagram::{
    Content, FoldRow, FoldState, Layout, NoteItem, NoteKind, Row, Scene, Shape, ShownRow, Side, Tense,
};
use yew::prelude::*;

use super::arrow;
use super::band::class;
use super::{Shared, cross, px};

/// What of a row is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Layer {
    /// What passes behind the bands: arrows with their labels.
    Behind,
    /// What lies over or beside them: notes, steps, cuts, the gutters.
    Before,
}

/// So many rows are compared and drawn as one.
const CHUNK: usize = 16;

/// The rows of a layer.
pub(super) fn rows(layout: &Shared, scene: &Scene, layer: Layer) -> Html {
    let covered = covered(layout, scene);
    let chunk = |rows: &[ShownRow]| {
        let key = rows.first().map_or(0, |row| row.row);
        let covered = covered.filter(|row| layer == Layer::Before && rows.iter().any(|shown| shown.row == *row));
        html! { <Chunk {key} layout={layout.clone()} rows={rows.to_vec()} {layer} {covered} /> }
    };
    html! { <g>{ for scene.rows.chunks(CHUNK).map(chunk) }</g> }
}

/// The row whose time the flag of the now line would cover.
fn covered(layout: &Layout, scene: &Scene) -> Option<usize> {
    const REACH: f64 = 15.0;
    let near = |shown: &&ShownRow| {
        let row = &layout.rows[shown.row];
        row.time.is_some() && shown.tense == Tense::Past && (scene.now_y - row.y).abs() < REACH
    };
    scene.rows.iter().rev().find(near).map(|shown| shown.row)
}

#[derive(Clone, PartialEq, Properties)]
struct ChunkProps {
    layout: Shared,
    rows: Vec<ShownRow>,
    layer: Layer,
    covered: Option<usize>,
}

#[component]
fn Chunk(props: &ChunkProps) -> Html {
    let draw = |shown: &ShownRow| {
        let row = props.layout.rows.get(shown.row)?;
        match props.layer {
            Layer::Behind => behind(&props.layout, row, shown),
            Layer::Before => Some(before(&props.layout, row, shown, props.covered)),
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

fn before(layout: &Layout, row: &Row, shown: &ShownRow, covered: Option<usize>) -> Html {
    let content = match (&row.content, shown.tense) {
        (Content::Notes(notes), Tense::Past) => html! { { for notes.iter().map(|item| note(layout, row, item)) } },
        (Content::Divider(label), _) => step(layout, row, label),
        (Content::Fold(fold), _) => cuts(layout, row, fold),
        (Content::Notes(_), Tense::Future) | (Content::Message(_) | Content::Close(_), _) => html! {},
    };
    let gutters = match shown.tense {
        Tense::Past => gutters(layout, row, row.time.as_ref().filter(|_| covered != Some(shown.row))),
        Tense::Future => html! {},
    };
    html! { <g key={key(shown)} class="row">{ gutters }{ content }</g> }
}

fn gutters(layout: &Layout, row: &Row, shown_time: Option<&String>) -> Html {
    let y = px(row.y + 4.0);
    let time = |time: &String| html! { <text class="time" x="31" y={y.clone()}>{ time }</text> };
    let rule = |rule: &String| html! { <text class="rule" x={px(layout.width - 31.0)} y={y.clone()}>{ rule }</text> };
    html! { <>{ for shown_time.map(time) }{ for row.rule.iter().map(rule) }</> }
}

/// The pill of a step of the document.
fn step(layout: &Layout, row: &Row, label: &str) -> Html {
    let pill = super::pill(layout, label);
    html! {
        <g data-step={label.to_owned()}>
            <rect class="pill" x={px(pill.left + 0.5)} y={px(row.y - 9.5)} width={px(pill.width - 1.0)} height="19" rx="9.5" />
            <text class="step" x={px(pill.left + pill.width / 2.0)} y={px(row.y + 4.0)} font-size={px(pill.size)}>{ label }</text>
        </g>
    }
}

/// A slanted cut through the bands, where a fold hides rows.
fn cuts(layout: &Layout, row: &Row, fold: &FoldRow) -> Html {
    if fold.state == FoldState::Open || row.bottom <= row.top {
        return html! {};
    }
    let cut = |x: f64| {
        let (left, right) = (px(x - 7.0), px(x + 7.0));
        let (a, b, c, d) = (px(row.y + 1.5), px(row.y - 6.5), px(row.y - 1.5), px(row.y + 6.5));
        html! { <path class="cut" d={format!("M{left} {a}L{right} {b}V{c}L{left} {d}Z")} /> }
    };
    html! { { for layout.lifelines.iter().map(|lifeline| cut(lifeline.x)) } }
}

/// Words at a lifeline.
fn note(layout: &Layout, row: &Row, note: &NoteItem) -> Html {
    let color = layout.lifeline(note.node).and_then(|column| layout.lifelines[column].color);
    let class = class(color, Shape::Hollow);
    let (from, to) = match note.side {
        Side::Right => (note.x + 6.0, (note.x + 13.0).min(note.space.x)),
        Side::Left => (note.x - 6.0, (note.x - 13.0).max(note.space.right())),
    };
    let tick = || html! { <path class="tick" d={format!("M{} {}H{}", px(from), px(row.y), px(to))} /> };
    let id = note.id.0.to_string();
    match note.kind {
        NoteKind::Callback(callback) => html! {
            <g {class} data-id={id} data-callback={callback.name()}>{ tick() }{ boxed(note) }</g>
        },
        NoteKind::Plain | NoteKind::Intervention => {
            html! { <g {class} data-id={id}>{ tick() }{ words(row, note) }</g> }
        }
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
    html! {
        <>
            <rect class="box" x={px(space.x + 0.5)} y={px(space.y + 0.5)} width={px(space.width - 1.0)} height={px(space.height - 1.0)} rx="4" />
            { for note.lines.iter().enumerate().map(|(i, line)| html! {
                <text {class} x={px(x)} y={px(first + note.leading * i as f64)} font-size={px(note.size)}>{ line }</text>
            }) }
        </>
    }
}

fn words(row: &Row, note: &NoteItem) -> Html {
    let (class, x) = match note.side {
        Side::Right => ("note", note.space.x),
        Side::Left => ("note end", note.space.right()),
    };
    html! {
        { for note.lines.iter().enumerate().map(|(i, line)| html! {
            <text {class} x={px(x)} y={px(row.y + 4.0 + note.leading * i as f64)} font-size={px(note.size)}>{ line }</text>
        }) }
    }
}
