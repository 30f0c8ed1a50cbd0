//! The heads of the lifelines: who, in which state, and the timer that matters most.

use groupscope_core::diagram::{Device, Head, Layout, Meter, Shape, Tense};
use yew::prelude::*;

use super::band;
use super::markup::{Markup, Rect, Way, px};

/// The heads, which stay in view while the picture scrolls.
pub(super) fn heads_view(layout: &Layout, heads: &[Head]) -> Html {
    let device = layout.options.device;
    let lanes = layout.lifelines.iter().zip(heads).map(|(lifeline, head)| lane(head, lifeline.x, device));
    html! { <div class="heads">{ for lanes }</div> }
}

fn lane(head: &Head, x: f64, device: Device) -> Html {
    let (name, words) = match device {
        Device::Wide => (&head.name, &head.words),
        Device::Phone => (&head.short, &head.brief),
    };
    let wide = device == Device::Wide;
    let tag = head.tag.filter(|_| wide).map(|tag| html! { <small>{ format!("({tag})") }</small> });
    // Many timers are smaller, and then only numbers.
    let class = match head.meters.len() {
        0..=2 => "meters",
        3 => "meters small",
        _ => "meters bare",
    };
    let meters = wide.then(|| html! { <p {class}>{ for head.meters.iter().map(meter) }</p> });
    html! {
        <div class="lane" style={format!("--x:{}px", px(x))}>
            <p class="name">
                <svg class="gs swatch" viewBox="0 0 12 12" aria-hidden="true">{ swatch(head.color, Shape::of(head.state)) }</svg>
                <span>{ name }</span>{ for tag }
            </p>
            <p class="state">{ words }</p>
            { for meters }
        </div>
    }
}

fn meter(meter: &Meter) -> Html {
    let bar = |left: f64| {
        let class = format!("meter {}", band::class(meter.color, Shape::Solid));
        html! { <i {class}><i style={format!("width:{}%", px(left * 100.0))} /></i> }
    };
    html! { <span>{ &meter.label }{ for meter.left.map(bar) }<b>{ &meter.text }</b></span> }
}

/// A square that shows a state as the lifeline does.
fn swatch(color: Option<u8>, shape: Shape) -> Html {
    let (class, pattern) = band::paint(color, shape, Tense::Past);
    let square = Rect { x: 0.0, y: 0.0, width: 12.0, height: 12.0, radius: 2.0 };
    let mut out = Markup::default();
    match shape {
        Shape::Line | Shape::Dashed => out.path(&class, &Way::from(6.0, 0.0).along(12.0)),
        Shape::Thin => out.rect(&class, Rect { x: 4.5, width: 3.0, ..square }, None),
        Shape::Solid | Shape::Rungs => out.rect(&class, square, pattern.as_deref()),
        Shape::Hollow | Shape::Hatched => out.rect(&class, square.inset(0.75), pattern.as_deref()),
    }
    out.into_html()
}
