//! Folds: a run of rows in one sentence, opened by a press.

use groupscope_core::diagram::{Content, FoldRow, FoldState, Layout, Row};
use groupscope_core::time::Time;
use yew::prelude::*;

use super::markup::px;
use crate::state::Action;
use crate::view::Dispatch;

/// The sentences of the folds that have come to pass, as buttons over the picture.
pub(super) fn folds(layout: &Layout, cursor: Time, dispatch: &Dispatch) -> Html {
    let fold = |row: &Row| match &row.content {
        Content::Fold(fold) if fold.until <= cursor && !fold.words.is_empty() => Some(button(fold, dispatch)),
        Content::Fold(_) | Content::Message(_) | Content::Close(_) | Content::Notes(_) | Content::Divider(_) => None,
    };
    html! { { for layout.rows.iter().filter_map(fold) } }
}

fn button(fold: &FoldRow, dispatch: &Dispatch) -> Html {
    let (dispatch, id) = (dispatch.clone(), fold.id);
    let style = format!("left:{}px;top:{}px", px(fold.space.x), px(fold.space.y));
    let expanded = match fold.state {
        FoldState::Open => "true",
        FoldState::Closed => "false",
    };
    html! {
        <button key={id.0} class="fold" {style} aria-expanded={expanded} data-state={fold.state.word()}
            onclick={move |_: MouseEvent| dispatch.dispatch(Action::Fold(id))}>
            { &fold.words }
        </button>
    }
}
