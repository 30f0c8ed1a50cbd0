//! The heads of the lifelines: who, in which state, and the timer that matters most.

use groupscope_core::diagram::{Device, Head, Meter, Shape};
use yew::prelude::*;

use super::{Shared, band, px};

/// What [`Heads`] show.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct HeadsProps {
    /// The geometry.
    pub layout: Shared,
    /// The heads, in the order of the lifelines.
    pub heads: Vec<Head>,
}

/// The heads, which stay in view while the picture scrolls.
#[component]
pub(super) fn Heads(props: &HeadsProps) -> Html {
    let head = |(column, head): (usize, &Head)| {
        let left = props.layout.lifelines.get(column).map_or(0.0, |lifeline| lifeline.x);
        html! { <HeadView key={column} head={head.clone()} {left} device={props.layout.options.device} /> }
    };
    html! { <div class="heads">{ for props.heads.iter().enumerate().map(head) }</div> }
}

#[derive(Clone, PartialEq, Properties)]
struct HeadProps {
    head: Head,
    left: f64,
    device: Device,
}

#[component]
fn HeadView(props: &HeadProps) -> Html {
    let head = &props.head;
    let (name, words) = match props.device {
        Device::Wide => (&head.name, &head.words),
        Device::Phone => (&head.short, &head.brief),
    };
    let tag =
        head.tag.filter(|_| props.device == Device::Wide).map(|tag| html! { <small>{ format!("({tag})") }</small> });
    let meters = match props.device {
        Device::Wide => html! { <p class="meters">{ for head.meters.iter().map(meter) }</p> },
        Device::Phone => html! {},
    };
    html! {
        <div class="lane" style={format!("--x:{}px", px(props.left))}>
            <p class="name"><Swatch color={head.color} shape={Shape::of(head.state)} /><span>{ name }</span>{ tag }</p>
            <p class="state">{ words }</p>
            { meters }
        </div>
    }
}

fn meter(meter: &Meter) -> Html {
    let bar = meter.left.map(|left| {
        let width = format!("width:{}%", px(left * 100.0));
        html! { <i class={classes!("meter", band::class(meter.color, Shape::Solid))}><i style={width} /></i> }
    });
    html! { <span>{ &meter.label }{ bar }<b>{ &meter.text }</b></span> }
}

#[derive(Clone, PartialEq, Properties)]
struct SwatchProps {
    color: Option<u8>,
    shape: Shape,
}

/// A square that shows a state as the lifeline does.
#[component]
fn Swatch(props: &SwatchProps) -> Html {
    let shape = props.shape;
    let class = classes!(band::word(shape), band::class(props.color, shape));
    let inside = match shape {
        Shape::Line => html! { <path class="life" d="M6 0v12" /> },
        Shape::Dashed => html! { <path {class} d="M6 0v12" /> },
        Shape::Thin => html! { <rect {class} x="4.5" width="3" height="12" rx="1.5" /> },
        Shape::Solid | Shape::Rungs => {
            html! { <rect {class} width="12" height="12" rx="2" fill={band::fill(props.color, shape)} /> }
        }
        Shape::Hollow | Shape::Hatched => html! {
            <rect {class} x=".75" y=".75" width="10.5" height="10.5" rx="1.5" fill={band::fill(props.color, shape)} />
        },
    };
    html! { <svg key={band::word(shape)} class="gs swatch" viewBox="0 0 12 12" aria-hidden="true">{ inside }</svg> }
}
