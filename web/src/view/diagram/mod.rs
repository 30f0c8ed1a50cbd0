//! The run as a sequence diagram at the cursor: the core's geometry as nodes of the page.
//!
//! What is drawn is a function of the layout and the cursor alone; only where it is scrolled to, and how wide the
//! column is, come from the browser. Rows that do not change from one frame to the next are not drawn again.

mod arrow;
mod band;
mod fold;
mod heads;
mod markup;
mod now;
mod rows;
mod scroll;

use std::rc::Rc;

use groupscope_core::diagram::{Device, Layout, Options, Scene, Window, heads};
use groupscope_core::time::Time;
use groupscope_core::view::View;
use yew::prelude::*;

use crate::clock::Playback;
use crate::run::{Opened, Run};
use crate::state::Follow;
use crate::view::Dispatch;

use markup::Markup;
use scroll::{use_following, use_width};

pub use markup::px;

/// What a [`Diagram`] shows.
#[derive(Clone, PartialEq, Properties)]
pub struct DiagramProps {
    /// The run.
    pub run: Rc<Run>,
    /// The folds that are open.
    pub opened: Rc<Opened>,
    /// The time at which it is shown.
    pub cursor: Time,
    /// Whether the clock goes.
    pub playback: Playback,
    /// Whether it scrolls with the now line.
    pub follow: Follow,
    /// Where actions go.
    pub dispatch: Dispatch,
}

/// A layout that is compared by its place in memory.
#[derive(Clone, Debug)]
pub struct Shared(Rc<Layout>);

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl std::ops::Deref for Shared {
    type Target = Layout;
    fn deref(&self) -> &Layout {
        &self.0
    }
}

impl From<Layout> for Shared {
    fn from(layout: Layout) -> Self {
        Self(Rc::new(layout))
    }
}

/// The diagram, in a column that scrolls.
#[component]
pub fn Diagram(props: &DiagramProps) -> Html {
    let root = use_node_ref();
    let width = use_width(&root);
    let layout = use_memo((Rc::clone(&props.run), Rc::clone(&props.opened), width), |(run, opened, width)| {
        width.map(|width| {
            Shared::from(run.layout(&Options { opened: Opened::clone(opened), ..Options::for_width(width) }))
        })
    });
    let now_y = layout.as_ref().as_ref().map(|layout| layout.y_at(props.cursor));
    use_following(&root, now_y, props.playback, props.follow, props.dispatch.clone());
    let playing = match props.playback {
        Playback::Paused => "false",
        Playback::Playing => "true",
    };
    let picture = layout.as_ref().as_ref().map(|layout| picture(props, layout));
    html! {
        <div ref={root} class="diagram" id="diagram" role="region" aria-label="Sequence diagram" tabindex="0"
            data-time={props.cursor.0.to_string()} data-playing={playing}>
            { for picture }
        </div>
    }
}

fn picture(props: &DiagramProps, layout: &Shared) -> Html {
    let view = View::at(&props.run.trace, props.cursor);
    let heads = heads(layout, &view, &props.run.plan, props.cursor);
    html! {
        <div class={format!("picture {}", device(layout))} style={format!("width:{}px", px(layout.width))}>
            { heads::heads_view(layout, &heads) }
            <div class="sheet" style={format!("height:{}px", px(layout.height))} role="group" aria-label="Messages and states">
                <Drawing layout={layout.clone()} cursor={props.cursor} />
                { fold::folds(layout, props.cursor, &props.dispatch) }
            </div>
        </div>
    }
}

/// What a [`Drawing`] shows.
#[derive(Clone, PartialEq, Properties)]
pub struct DrawingProps {
    /// The geometry.
    pub layout: Shared,
    /// The time at which it is shown.
    pub cursor: Time,
}

/// The picture below the heads, in sheets that lie on one another: what passes behind the bands, the bands, what
/// stands before them, the now line.
#[component]
pub fn Drawing(props: &DrawingProps) -> Html {
    let layout = &props.layout;
    let scene: Scene = layout.scene(props.cursor, Window::ALL);
    // What does not depend on the time is made once for a layout.
    let backdrop = use_memo(layout.clone(), |layout| {
        let mut out = Markup::default();
        now::rule_lines(layout, &mut out);
        band::hairlines(layout, &mut out);
        html! { <><defs>{ Html::from_html_unchecked(band::patterns().into()) }</defs><g>{ out.into_html() }</g></> }
    });
    let (width, height) = (px(layout.width), px(layout.height));
    let sheet = |inside: Html| html! { <svg class="gs" width={width.clone()} height={height.clone()}>{ inside }</svg> };
    html! {
        <>
            { sheet(html! { <>{ (*backdrop).clone() }<g>{ now::bed(layout, &scene).into_html() }</g></> }) }
            { rows::rows(layout, &scene, rows::Layer::Behind) }
            { sheet(band::lifelines(layout, &scene).into_html()) }
            { rows::rows(layout, &scene, rows::Layer::Before) }
            { sheet(now::line(layout, &scene).into_html()) }
        </>
    }
}

fn device(layout: &Layout) -> &'static str {
    match layout.options.device {
        Device::Wide => "wide",
        Device::Phone => "phone",
    }
}

/// Where the number of a step stands, px.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Pill {
    left: f64,
    width: f64,
    /// The size of its letters.
    size: f64,
}

fn pill(layout: &Layout, label: &str) -> Pill {
    let letters = label.chars().count() as f64;
    match layout.options.device {
        Device::Wide => Pill { left: 24.0, width: (16.0 + 7.3 * letters).max(24.0), size: 12.0 },
        Device::Phone => {
            let width = (12.0 + 6.7 * letters).max(20.0);
            Pill { left: layout.width - 4.0 - width, width, size: 11.0 }
        }
    }
}
