//! The states of the lifelines as stretches of them, and the joins that the coordinator holds.

use super::arrange::{FoldKind, FoldState};
use super::layout::{Band, Content, Layout, Rail, Row, color};
use super::place::Metrics;
use super::story::{Change, Hold, Story};
use crate::id::{NodeId, RecordId};
use crate::time::Time;

/// A row at a lifeline, whose height a change of state follows.
#[derive(Clone, Copy)]
struct Touch {
    at: Time,
    id: RecordId,
    /// Where a state that begins with the row begins.
    begins: f64,
    /// Above this the row has not happened yet.
    upper: f64,
    /// Below this it has.
    lower: f64,
}

/// For each lifeline its states, from top to bottom.
pub(crate) fn bands(story: &Story, layout: &Layout) -> Vec<Vec<Band>> {
    let touches = touches(layout);
    let mut bands: Vec<Vec<Band>> = vec![Vec::new(); layout.lifelines.len()];
    let columns: crate::map::Map<NodeId, usize> =
        layout.lifelines.iter().enumerate().map(|(column, lifeline)| (lifeline.node, column)).collect();
    for change in &story.changes {
        let Some(&column) = columns.get(&change.node) else { continue };
        let band = &mut bands[column];
        let above = band.last().map_or(0.0, |band| band.y);
        let y = boundary(layout, &touches[column], change).max(above);
        band.push(Band { state: change.state, since: change.at, y });
    }
    bands
}

/// For each lifeline the rows of what its node itself does.
fn touches(layout: &Layout) -> Vec<Vec<Touch>> {
    let mut touches: Vec<Vec<Touch>> = vec![Vec::new(); layout.lifelines.len()];
    let columns: crate::map::Map<NodeId, usize> =
        layout.lifelines.iter().enumerate().map(|(column, lifeline)| (lifeline.node, column)).collect();
    let mut touch = |node: NodeId, touch: Touch| {
        if let Some(&column) = columns.get(&node) {
            touches[column].push(touch);
        }
    };
    for row in &layout.rows {
        let arrow = Touch { at: row.at, id: row.id, begins: row.y, upper: row.y - 4.0, lower: row.y + 4.0 };
        match &row.content {
            Content::Message(message) => touch(message.from, arrow),
            Content::Close(close) => touch(close.from, arrow),
            Content::Notes(notes) => {
                for note in notes {
                    let begins = row.y - 8.0;
                    touch(note.node, Touch { at: row.at, id: note.id, begins, upper: begins, lower: row.y + 8.0 });
                }
            }
            Content::Divider(_) | Content::Fold(_) => {}
        }
    }
    touches
}

/// Where a state begins: at the row that tells of the change, else at the arrow that brought it about, else where the
/// now line stands at its moment; always between the rows of what the node did before and after.
fn boundary(layout: &Layout, touches: &[Touch], change: &Change) -> f64 {
    if change.at == Time::ZERO {
        return 0.0;
    }
    if let Some((row, kind)) = closed_fold(layout, change.at) {
        return match kind {
            FoldKind::StartUp => 0.0,
            FoldKind::Heartbeats => row.y,
        };
    }
    let next = touches.partition_point(|touch| (touch.at, touch.id) < (change.at, change.id));
    let after = touches.get(next);
    if let Some(touch) = after.filter(|touch| touch.id == change.id) {
        return touch.begins;
    }
    let least = next.checked_sub(1).map_or(0.0, |before| touches[before].lower);
    let most = after.map_or(layout.height, |touch| touch.upper);
    let arrow = change.sent.and_then(|sent| layout.row_of(sent)).map(|row| layout.rows[row].y);
    let soon = after.filter(|touch| touch.at == change.at).map(|touch| touch.upper);
    let wanted = arrow.or(soon).unwrap_or_else(|| layout.y_at(change.at));
    wanted.min(most).max(least)
}

/// The closed fold that a moment lies in.
fn closed_fold(layout: &Layout, at: Time) -> Option<(&Row, FoldKind)> {
    let next = layout.rows.partition_point(|row| row.at <= at);
    let mut before = layout.rows[..next].iter().rev();
    let row = before.next()?;
    match &row.content {
        Content::Fold(fold) if fold.state == FoldState::Closed && at < fold.until => Some((row, fold.kind)),
        Content::Fold(_) | Content::Message(_) | Content::Close(_) | Content::Notes(_) | Content::Divider(_) => None,
    }
}

/// The held joins, each in the first lane that is free.
pub(crate) fn rails(story: &Story, layout: &Layout, metrics: &Metrics) -> Vec<Rail> {
    let mut lanes: Vec<f64> = Vec::new();
    let mut rails = Vec::with_capacity(story.holds.len());
    for hold in &story.holds {
        let Some(mut rail) = rail(layout, hold) else { continue };
        let free = lanes.iter().position(|lowest| *lowest + 4.0 <= rail.top);
        let lane = free.unwrap_or(lanes.len());
        match lanes.get_mut(lane) {
            Some(lowest) => *lowest = rail.bottom,
            None => lanes.push(rail.bottom),
        }
        rail.x -= metrics.rail + metrics.rail_step * lane as f64;
        if rail.x > 2.0 {
            rails.push(rail);
        }
    }
    rails
}

/// A rail that still stands on its lifeline; `None` for one without height.
fn rail(layout: &Layout, hold: &Hold) -> Option<Rail> {
    let lifeline_x = layout.lifelines[layout.lifeline(hold.broker.into())?].x;
    let row_y = |id: RecordId| layout.row_of(id).map(|row| layout.rows[row].y);
    let hidden = |at: Time| closed_fold(layout, at).map(|(row, _)| row.bottom);
    let top = row_y(hold.join).or_else(|| hidden(hold.since)).unwrap_or_else(|| layout.y_at(hold.since));
    let bottom = hold.until.map(|(at, id)| row_y(id).or_else(|| hidden(at)).unwrap_or_else(|| layout.y_at(at)));
    let bottom = bottom.unwrap_or(layout.height).max(top);
    (bottom > top).then(|| Rail {
        consumer: hold.consumer,
        color: color(hold.consumer),
        x: lifeline_x,
        lifeline_x,
        top,
        bottom,
        since: hold.since,
        until: hold.until.map_or(Time::MAX, |(at, _)| at),
    })
}
