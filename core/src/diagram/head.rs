//! The heads of the lifelines at a moment: name, state in words, timers.

use super::layout::{Layout, color};
use super::names::node_name;
use crate::id::{BrokerId, ConsumerId, MemberId, NodeId, NodeKind};
use crate::scenario::Plan;
use crate::time::{Span, Time};
use crate::view::{NodeState, Process, Room, View};

/// The head of a lifeline.
#[derive(Clone, PartialEq, Debug)]
pub struct Head {
    /// Whose.
    pub node: NodeId,
    /// Its name: `Coordinator · broker 1`, `Consumer 2`.
    pub name: String,
    /// Its name where there is little room: `Coord.`, `C2`.
    pub short: String,
    /// A word after the name: `new` for a consumer that has not been a member yet.
    pub tag: Option<&'static str>,
    /// What the swatch shows.
    pub state: NodeState,
    /// The consumer's colour, 0 to 5.
    pub color: Option<u8>,
    /// The state in words: `fetching orders 0, 1, 2`.
    pub words: String,
    /// The state in a word or two: `fetching`.
    pub brief: String,
    /// Its timers.
    pub meters: Vec<Meter>,
}

/// A timer in a head: a label, a bar that drains, a number.
#[derive(Clone, PartialEq, Debug)]
pub struct Meter {
    /// What runs out: `next ping`; at the coordinator the number of the member.
    pub label: String,
    /// The colour of the bar, 0 to 5.
    pub color: Option<u8>,
    /// What is left of it, 0 to 1; `None` where nothing runs out.
    pub left: Option<f64>,
    /// The number after it, in seconds, or a word.
    pub text: String,
}

/// More members than this, and the coordinator's head shows only the shortest timers and a count.
const MOST_METERS: usize = 4;

/// The heads of a layout's lifelines at `now`. `view` is the state at that moment.
#[must_use]
pub fn heads(layout: &Layout, view: &View, plan: &Plan, now: Time) -> Vec<Head> {
    layout.lifelines.iter().map(|lifeline| head(view, plan, lifeline.node, now)).collect()
}

fn head(view: &View, plan: &Plan, node: NodeId, now: Time) -> Head {
    let (name, short, tag, meters, color) = match node.kind() {
        NodeKind::Broker(broker) => {
            let (name, short) = broker_names(view, broker);
            let meters = if broker == view.coordinator { member_meters(view, now) } else { Vec::new() };
            (name, short, None, meters, None)
        }
        NodeKind::Consumer(consumer) => {
            let is_new = view.process(node).is_up() && view.consumer(consumer).generation.is_none();
            let name = super::names::capital(&node_name(view.cast(), node));
            let meters = consumer_meter(view, plan, consumer, now).into_iter().collect();
            (name, view.cast().node(node), is_new.then_some("new"), meters, Some(color(consumer)))
        }
    };
    let (words, brief) = (view.words(node, Room::Wide), view.words(node, Room::Narrow));
    Head { node, name, short, tag, state: view.state(node), color, words, brief, meters }
}

fn broker_names(view: &View, broker: BrokerId) -> (String, String) {
    let number = broker.0 + 1;
    if broker == view.coordinator {
        (format!("Coordinator · broker {number}"), "Coord.".to_owned())
    } else {
        (format!("Broker {number}"), format!("B{number}"))
    }
}

/// For each member how long its silence may last yet.
fn member_meters(view: &View, now: Time) -> Vec<Meter> {
    if !view.process(view.coordinator.into()).is_up() {
        return Vec::new();
    }
    let mut members: Vec<(MemberId, Option<Time>)> =
        view.group.members.keys().map(|member| (*member, view.group.deadline(*member))).collect();
    let count = members.len();
    if count > MOST_METERS {
        members.sort_by_key(|(_, deadline)| deadline.unwrap_or(Time::MAX));
        members.truncate(2);
    }
    let mut meters: Vec<Meter> =
        members.iter().map(|(member, deadline)| member_meter(view, *member, *deadline, now)).collect();
    if count > MOST_METERS {
        meters.push(Meter { label: format!("of {count}"), color: None, left: None, text: String::new() });
    }
    meters
}

fn member_meter(view: &View, member: MemberId, deadline: Option<Time>, now: Time) -> Meter {
    let consumer = view.cast().member(member);
    let name = view.cast().consumer(consumer);
    let label = name.strip_prefix('C').unwrap_or(name).to_owned();
    let color = Some(color(consumer));
    let whole = view.group.members.get(&member).map_or(Span::ZERO, |member| member.session_timeout);
    match deadline {
        None => Meter { label, color, left: None, text: "held".to_owned() },
        Some(at) => Meter { label, color, left: Some(share(at.since(now), whole)), text: tenths(at.since(now)) },
    }
}

/// The one timer of a consumer that matters most.
fn consumer_meter(view: &View, plan: &Plan, id: ConsumerId, now: Time) -> Option<Meter> {
    let consumer = view.consumer(id);
    let settings = plan.consumers.get(id.index())?;
    let drains = |label: &str, until: Time, whole: Span| {
        let left = until.since(now);
        let (label, left, text) = (label.to_owned(), Some(share(left, whole)), hundredths(left));
        Some(Meter { label, color: Some(color(id)), left, text })
    };
    let says = |label: &str, text: String| Some(Meter { label: label.to_owned(), color: None, left: None, text });
    match consumer.process {
        Process::NotStarted | Process::Down { .. } => return None,
        Process::Paused { since } => return says("for", hundredths(now.since(since))),
        Process::Up { .. } => {}
    }
    if let Some((_, until)) = consumer.callback {
        return drains("returns in", until, settings.callback_time);
    }
    if let Some((join, _)) = consumer.joining {
        let held = view.group.members.values().filter_map(|member| member.held).find(|held| held.join == join);
        return match held {
            Some(held) => says("held for", hundredths(now.since(held.since))),
            None => says("join on its way", String::new()),
        };
    }
    if view.state(id.into()) == NodeState::Zombie {
        return says("still at generation", consumer.generation.unwrap_or_default().number.to_string());
    }
    let overdue = consumer.unanswered_since.filter(|since| consumer.last_heartbeat.is_some_and(|last| last > *since));
    if let (Some(since), Some(limit)) = (overdue, settings.coordinator_timeout) {
        return drains("answer due", since + limit, limit);
    }
    let since = consumer.heartbeat_since?;
    drains("next ping", since + settings.heartbeat_interval, settings.heartbeat_interval)
}

fn share(left: Span, whole: Span) -> f64 {
    if whole == Span::ZERO { 0.0 } else { (left.as_secs_f64() / whole.as_secs_f64()).min(1.0) }
}

fn tenths(span: Span) -> String {
    let tenths = span.as_micros() / 100_000;
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn hundredths(span: Span) -> String {
    let hundredths = span.as_micros() / 10_000;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}
