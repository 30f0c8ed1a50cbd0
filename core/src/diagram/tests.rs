//! What must hold for every picture, on the lessons and on rougher runs.

mod runs;

use super::svg::{Figure, Theme};
use super::text::{Charset, to_text};
use super::*;
use crate::time::Time;
use crate::trace::Trace;
use crate::view::View;
use runs::{Run, lesson, runs};

const WIDTHS: [f64; 7] = [320.0, 360.0, 390.0, 640.0, 740.0, 889.0, 1400.0];

fn options(width: f64, folding: Folding) -> Options {
    Options { folding, ..Options::for_width(width) }
}

/// Every layout of a run that the tests look at.
fn layouts(run: &Run) -> Vec<Layout> {
    let story = Story::of(&run.trace);
    let foldings = [Folding::AsPictured, Folding::Nothing];
    let kinds = WIDTHS.iter().flat_map(|width| foldings.map(|folding| options(*width, folding)));
    kinds.map(|options| Layout::new(&story, run.plan.picture.as_ref(), &options)).collect()
}

/// Everything that is written in a picture, with its place.
fn written(layout: &Layout) -> Vec<(String, TextBox)> {
    let mut written = Vec::new();
    for row in &layout.rows {
        match &row.content {
            Content::Message(message) => {
                let label = &message.label;
                written.push((format!("{} {}", label.strong, label.detail), label.space));
            }
            Content::Close(close) => written.push((close.label.strong.clone(), close.label.space)),
            Content::Notes(notes) => {
                written.extend(notes.iter().map(|note| (note.lines.join("/"), note.space)));
            }
            Content::Fold(fold) if !fold.words.is_empty() => written.push((fold.words.clone(), fold.space)),
            Content::Fold(_) | Content::Divider(_) => {}
        }
    }
    written
}

#[test]
fn no_two_labels_overlap_and_none_crosses_a_lifeline() {
    for run in runs() {
        for layout in layouts(&run) {
            let written = written(&layout);
            let width = layout.options.width;
            for (position, (text, space)) in written.iter().enumerate() {
                for lifeline in &layout.lifelines {
                    let apart = space.right() <= lifeline.x - 4.5 || space.x >= lifeline.x + 4.5;
                    assert!(apart, "{} at {width}: `{text}` crosses {}", run.name, lifeline.id);
                }
                assert!(space.x >= 0.0 && space.right() <= layout.width, "{} at {width}: `{text}`", run.name);
                // Rows follow one another downward, so only those near can meet.
                for (other, near) in written.iter().skip(position + 1).take(12) {
                    assert!(!space.overlaps(near), "{} at {width}: `{text}` meets `{other}`", run.name);
                }
            }
        }
    }
}

#[test]
fn rows_follow_one_another() {
    for run in runs() {
        for layout in layouts(&run) {
            for pair in layout.rows.windows(2) {
                assert_eq!(pair[0].bottom, pair[1].top, "{}", run.name);
                assert!(pair[0].at <= pair[1].at, "{}", run.name);
            }
            for row in &layout.rows {
                assert!(row.top <= row.y && row.y <= row.bottom, "{}", run.name);
            }
            for bands in &layout.bands {
                assert!(bands.windows(2).all(|pair| pair[0].y <= pair[1].y && pair[0].since <= pair[1].since));
            }
        }
    }
}

#[test]
fn everything_is_shown_when_nothing_is_folded() {
    for run in runs() {
        let layout = Layout::new(&Story::of(&run.trace), run.plan.picture.as_ref(), &options(889.0, Folding::Nothing));
        let shown = layout.rows.iter().filter(|row| matches!(row.content, Content::Message(_))).count();
        let sent = run.trace.iter().filter(|(_, record)| matches!(record.fact, crate::trace::Fact::Sent { .. }));
        assert_eq!(shown, sent.count(), "{}", run.name);
    }
}

#[test]
fn the_now_line_only_goes_down_and_leads_back() {
    for run in runs() {
        for layout in layouts(&run) {
            let mut last = 0.0;
            for step in 0..=400u64 {
                let time = Time(layout.end.as_micros() * step / 400);
                let y = layout.y_at(time);
                assert!(y >= last && y <= layout.height, "{} at {time}", run.name);
                last = y;
            }
            for step in 0..=400 {
                // The line stands at the height at that time, or passes it in the step that it makes then.
                let y = layout.height * f64::from(step) / 400.0;
                let time = layout.time_at(y);
                let before = layout.y_at(Time(time.as_micros().saturating_sub(1)));
                let after = layout.y_at(Time(time.as_micros() + 1));
                let passes = before <= y + 0.1 && (after >= y - 0.1 || time == layout.end);
                assert!(passes || time == Time::ZERO, "{} at {time}: {before} {y}", run.name);
            }
        }
    }
}

/// What a reader sees change, besides the now line.
fn seen(layout: &Layout, time: Time) -> impl PartialEq + std::fmt::Debug {
    let scene = layout.scene(time, Window::ALL);
    let rows: Vec<_> = scene
        .rows
        .iter()
        .map(|shown| (shown.tense, shown.arrow.as_ref().map(|arrow| std::mem::discriminant(&arrow.state))))
        .collect();
    let states: Vec<_> = scene.lifelines.iter().map(|lifeline| lifeline.state).collect();
    (rows, states, scene.rails.iter().map(|rail| rail.state).collect::<Vec<_>>())
}

#[test]
fn each_event_changes_the_picture() {
    for run in runs() {
        let story = Story::of(&run.trace);
        let layout = Layout::new(&story, run.plan.picture.as_ref(), &options(889.0, Folding::AsPictured));
        for at in layout.event_times.iter().take(120) {
            let before = Time(at.as_micros().saturating_sub(1));
            if before < *at {
                assert_ne!(seen(&layout, before), seen(&layout, *at), "{} at {at}", run.name);
            }
        }
    }
}

#[test]
fn events_and_steps_lead_forward_and_back() {
    let run = lesson("rebalance-member-fails");
    let layout = Layout::new(&Story::of(&run.trace), run.plan.picture.as_ref(), &options(889.0, Folding::AsPictured));
    let labels: Vec<&str> = layout.steps.iter().map(|step| step.label.as_str()).collect();
    assert_eq!(labels[..3], ["1", "2/3", "4/6"]);
    let mut time = Time::ZERO;
    let mut forward = Vec::new();
    while let Some(next) = layout.next_event(time) {
        assert!(next > time);
        forward.push(next);
        time = next;
    }
    assert_eq!(time, *layout.event_times.last().expect("things happen"));
    for pair in forward.windows(2) {
        assert_eq!(layout.previous_event(pair[1]), Some(pair[0]));
    }
    let second = layout.next_step(layout.steps[0].at).expect("a second step");
    assert_eq!(layout.previous_step(second.at).map(|step| &step.label), Some(&layout.steps[0].label));
    assert_eq!(layout.step_at(second.at).map(|step| &step.label), Some(&second.label));
}

#[test]
fn a_fold_opens_in_place() {
    let run = lesson("rebalance-new-consumer");
    let story = Story::of(&run.trace);
    let closed = Layout::new(&story, run.plan.picture.as_ref(), &options(889.0, Folding::AsPictured));
    let Content::Fold(fold) = &closed.rows[0].content else { panic!("the picture begins with a fold") };
    assert_eq!(fold.kind, FoldKind::StartUp);
    let mut open = options(889.0, Folding::AsPictured);
    open.opened.insert(fold.id);
    let open = Layout::new(&story, run.plan.picture.as_ref(), &open);
    assert!(open.rows.len() > closed.rows.len());
    let Content::Fold(fold) = &open.rows[0].content else { panic!("its place stays marked") };
    assert_eq!(fold.state, FoldState::Open);
}

#[test]
fn what_is_to_come_has_no_words() {
    let run = lesson("rebalance-new-consumer");
    let layout = Layout::new(&Story::of(&run.trace), run.plan.picture.as_ref(), &options(889.0, Folding::AsPictured));
    let mut last = 0;
    for at in &layout.event_times {
        let svg = svg(&run.trace, &run, &layout, *at, Theme::Light);
        let marked = svg.matches("data-message=").count();
        let begun = layout.rows.iter().filter(|row| matches!(row.content, Content::Message(_)) && row.at <= *at);
        assert_eq!(marked, begun.count(), "at {at}");
        assert!(marked >= last);
        last = marked;
        if *at < layout.end {
            assert_eq!(svg.matches("start fetching").count() == 3, *at >= Time(6_170_000), "at {at}");
        }
    }
}

fn svg(trace: &Trace, run: &Run, layout: &Layout, now: Time, theme: Theme) -> String {
    let heads = heads(layout, &View::at(trace, now), &run.plan, now);
    let (title, description) = (run.name, "a <test> & more");
    Figure { layout, heads: &heads, now, title, description, theme, prefix: "p-" }.to_svg()
}

#[test]
fn an_svg_stands_by_itself() {
    for run in runs() {
        for layout in layouts(&run).iter().step_by(4) {
            for now in [Time(layout.end.as_micros() / 2), layout.end] {
                let svg = svg(&run.trace, &run, layout, now, Theme::Auto);
                for foreign in ["<script", "foreignObject", "@font-face", "@import", "<image", "<use", "NaN", "inf"] {
                    assert!(!svg.contains(foreign), "{}: {foreign}", run.name);
                }
                assert_eq!(svg.matches("http").count(), 1, "only the name space: {}", run.name);
                assert!(svg.contains("a &lt;test&gt; &amp; more") && svg.contains("prefers-color-scheme:dark"));
                assert_eq!(svg.matches("<g").count(), svg.matches("</g>").count(), "{}", run.name);
            }
        }
    }
}

#[test]
fn marks_for_tests_and_styles_are_there() {
    let run = lesson("rebalance-socket-close");
    let layout = Layout::new(&Story::of(&run.trace), run.plan.picture.as_ref(), &options(889.0, Folding::AsPictured));
    let svg = svg(&run.trace, &run, &layout, layout.end, Theme::Dark);
    for mark in [
        r#"data-message="metadata" data-kind="request" data-from="C1" data-to="B1" data-state="delivered" data-id=""#,
        r#"data-message="join" data-kind="response" data-from="B1" data-to="C3" data-state="delivered" data-id=""#,
        r#"<g data-node="B1" data-state="stable">"#,
        r#"<g data-node="C2" data-state="fetching">"#,
        r#"data-channel=""#,
        r#"data-step="1""#,
        r#"data-callback="onPartitionDeassigned""#,
        r#"data-fold=""#,
    ] {
        assert!(svg.contains(mark), "{mark}");
    }
}

#[test]
fn a_lost_message_ends_in_a_cross() {
    let run = lesson("consumer-failure");
    let layout = Layout::new(&Story::of(&run.trace), run.plan.picture.as_ref(), &options(889.0, Folding::AsPictured));
    let scene = layout.scene(layout.end, Window::ALL);
    let lost =
        scene.rows.iter().filter_map(|row| row.arrow.as_ref()).filter(|arrow| arrow.state.word() == Some("lost"));
    assert_eq!(lost.count(), 2, "two pings of the consumer that is cut off");
}

#[test]
fn captions_are_sentences_of_two_lines() {
    for run in runs() {
        for heartbeats in [crate::scenario::Heartbeats::Fold, crate::scenario::Heartbeats::Show] {
            let captions = Captions::of(&run.trace, heartbeats);
            for caption in captions.iter() {
                let text = caption.text();
                assert!(text.ends_with('.') && !text.contains("  ") && !text.contains('`'), "{}: {text}", run.name);
                assert!(text.chars().next().is_some_and(|first| !first.is_lowercase()), "{}: {text}", run.name);
                assert!(text.len() <= 190, "{}: {text}", run.name);
                assert_eq!(captions.at(caption.at), Some(caption));
            }
        }
    }
}

#[test]
fn captions_of_the_new_consumer() {
    let run = lesson("rebalance-new-consumer");
    let captions = Captions::of(&run.trace, crate::scenario::Heartbeats::Fold);
    let told: String = captions
        .iter()
        .map(|caption| format!("{} {} {}\n", caption.at, caption.rule.as_deref().unwrap_or("-"), caption.text()))
        .collect();
    insta::assert_snapshot!(told);
}

/// The lessons that play the document's own pictures.
const PICTURES: [&str; 7] = [
    "heartbeat",
    "discovery",
    "unknown-consumer",
    "rejoin",
    "rebalance-new-consumer",
    "rebalance-member-fails",
    "rebalance-socket-close",
];

#[test]
fn pictures_as_text() {
    for id in PICTURES {
        let run = lesson(id);
        let layout = Layout::new(&Story::of(&run.trace), run.plan.picture.as_ref(), &Options::for_width(1600.0));
        insta::assert_snapshot!(format!("text-{id}"), to_text(&layout, layout.end, Charset::Unicode));
    }
}

#[test]
fn a_picture_in_ascii_while_messages_travel() {
    let run = lesson("rebalance-new-consumer");
    let layout = Layout::new(&Story::of(&run.trace), run.plan.picture.as_ref(), &Options::for_width(1600.0));
    let text = to_text(&layout, Time(5_550_000), Charset::Ascii);
    let words = text.chars().all(|c| c.is_ascii() || c == '–' || c == '·');
    assert!(words, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn a_picture_as_svg() {
    let run = lesson("rebalance-new-consumer");
    let layout = Layout::new(&Story::of(&run.trace), run.plan.picture.as_ref(), &Options::for_width(889.0));
    insta::assert_snapshot!(svg(&run.trace, &run, &layout, Time(5_750_000), Theme::Light));
}
