//! A diagram of many messages, drawn once and timed: what `cargo xtask bench` compares with others.
//!
//! The page at `#bench=1000` simulates a run of that many messages, and then times, from the trace on: the story, the
//! layout, the nodes, and the frame until it is painted. Nothing is folded and nothing is left out. When it is done,
//! the diagram's parent carries `data-bench-ms`, the time in milliseconds.

use std::rc::Rc;
use std::sync::Arc;

use groupscope_core::cast::Cast;
use groupscope_core::diagram::{Folding, Layout, Options, Story};
use groupscope_core::id::{ConsumerId, MemberId};
use groupscope_core::lessons;
use groupscope_core::scenario::{ConsumerPlan, Latency, Order, Plan};
use groupscope_core::sim::Simulation;
use groupscope_core::time::{Span, Time};
use groupscope_core::trace::{Fact, Trace};
use yew::prelude::*;

use crate::clock;
use crate::view::diagram::{Drawing, Shared, px};

/// As many consumers as send the messages.
const CONSUMERS: usize = 10;
/// The most messages that are drawn.
const MOST_MESSAGES: u32 = 100_000;

/// A trace of this many messages: heartbeats and their answers, after the consumers have joined. Their distances
/// differ, so that no two messages are sent at one moment once the group is stable, and the number is exact.
///
/// # Panics
/// Never: a test makes one.
#[must_use]
pub fn trace_of(messages: u32) -> Trace {
    let mut simulation = Simulation::new(plan());
    let mut sent = 0;
    while sent < messages.min(MOST_MESSAGES) {
        let Some(next) = simulation.next_event_time() else { break };
        let seen = simulation.trace().len();
        simulation.run_until(next);
        let is_sent = |fact: &Fact| matches!(fact, Fact::Sent { .. });
        sent += simulation.trace().from(seen).filter(|(_, record)| is_sent(&record.fact)).count() as u32;
    }
    simulation.trace().clone()
}

/// The plan of the run: that of the first lesson, with consumers of its own. (No scenario is read, so that the page does
/// not have to carry what reads one.)
fn plan() -> Arc<Plan> {
    let mut plan = (*lessons::all()[0].plan()).clone();
    let ids = || 0..CONSUMERS as u32;
    plan.cast = Arc::new(Cast {
        consumers: ids().map(|i| format!("C{}", i + 1)).collect(),
        members: ids().map(ConsumerId).collect(),
        member_ids: ids().map(MemberId).collect(),
        ..(*plan.cast).clone()
    });
    let (session, micros) = (Span::from_secs(30), |i: u32| u64::from(11_003 + i * 701));
    let consumer = |i: u32| ConsumerPlan {
        id: ConsumerId(i),
        member: MemberId(i),
        latency: Latency::Fixed(Span::from_micros(micros(i))),
        session_timeout: session,
        heartbeat_interval: session.fraction(1, 3),
        first_heartbeat: session.fraction(1, 3),
        coordinator_timeout: Some(session.fraction(2, 3)),
        ..(*plan.consumers[0]).clone()
    };
    plan.consumers = ids().map(|i| Arc::new(consumer(i))).collect();
    let start = |i: u32| (Time::ZERO + Span::from_millis(u64::from(i) * 37), Order::Start(ConsumerId(i).into()));
    plan.orders = ids().map(start).collect();
    plan.picture = None;
    Arc::new(plan)
}

/// What a [`Bench`] draws.
#[derive(Clone, PartialEq, Properties)]
pub struct BenchProps {
    /// How many messages.
    pub messages: u32,
}

#[derive(Clone, PartialEq)]
enum Progress {
    /// The trace is there.
    Ready(Rc<Traced>),
    /// The diagram is mounted since `started`, in milliseconds.
    Drawn { layout: Shared, end: Time, started: f64 },
    /// It is painted; it took this long, in milliseconds.
    Painted { layout: Shared, end: Time, took: f64 },
}

struct Traced(Trace);

impl PartialEq for Traced {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// Draws a diagram and times it.
#[component]
pub fn Bench(props: &BenchProps) -> Html {
    let messages = props.messages;
    let progress = use_state_eq(move || Progress::Ready(Rc::new(Traced(trace_of(messages)))));
    {
        let progress = progress.clone();
        use_effect_with((*progress).clone(), move |now| {
            // The page is painted first, so that the time is of the diagram alone.
            let next = match now.clone() {
                Progress::Ready(trace) => Some(clock::after_paint(move || {
                    let started = now_ms();
                    let (layout, end) = place(&trace.0);
                    progress.set(Progress::Drawn { layout, end, started });
                })),
                Progress::Drawn { layout, end, started } => Some(clock::after_paint(move || {
                    progress.set(Progress::Painted { layout, end, took: now_ms() - started });
                })),
                Progress::Painted { .. } => None,
            };
            move || drop(next)
        });
    }
    let drawn = |layout: &Shared, end: Time| {
        html! {
            <div class="sheet" style={format!("width:{}px;height:{}px", px(layout.width), px(layout.height))}>
                <Drawing layout={layout.clone()} cursor={end} />
            </div>
        }
    };
    match &*progress {
        Progress::Ready(_) => html! { <div class="bench" /> },
        Progress::Drawn { layout, end, .. } => html! { <div class="bench">{ drawn(layout, *end) }</div> },
        Progress::Painted { layout, end, took } => {
            html! { <div class="bench" data-bench-ms={px(*took)}>{ drawn(layout, *end) }</div> }
        }
    }
}

/// Everything that happened, with nothing folded.
fn place(trace: &Trace) -> (Shared, Time) {
    let options = Options { folding: Folding::Nothing, ..Options::for_width(1_600.0) };
    (Layout::new(&Story::of(trace), None, &options).into(), trace.end())
}

fn now_ms() -> f64 {
    web_sys::window().and_then(|window| window.performance()).map_or(0.0, |performance| performance.now())
}

#[cfg(test)]
mod tests {
    use super::*;
    use groupscope_core::diagram::{Content, Tense, Window};

    #[test]
    fn as_many_messages_are_drawn_as_are_asked_for() {
        for messages in [1, 997, 1_000] {
            let (layout, end) = place(&trace_of(messages));
            let scene = layout.scene(end, Window::ALL);
            let drawn = scene.rows.iter().filter(|shown| {
                shown.tense == Tense::Past && matches!(layout.rows[shown.row].content, Content::Message(_))
            });
            assert_eq!(drawn.count() as u32, messages);
        }
    }
}
