//! Folds: a run of rows in one sentence, opened by a press.

use groupscope_core::diagram::{Content, FoldRow, FoldState, Row};
use groupscope_core::time::Time;
use yew::prelude::*;

use super::{Shared, px};
use crate::state::Action;
use crate::view::Dispatch;

/// What [`Folds`] show.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct FoldsProps {
    /// The geometry.
    pub layout: Shared,
    /// The time at which it is shown.
    pub cursor: Time,
    /// Where actions go.
    pub dispatch: Dispatch,
}

/// The sentences of the folds that have come to pass, as buttons over the picture.
#[component]
pub(super) fn Folds(props: &FoldsProps) -> Html {
    let fold = |row: &Row| match &row.content {
        Content::Fold(fold) if fold.until <= props.cursor && !fold.words.is_empty() => {
            Some(button(fold, &props.dispatch))
        }
        Content::Fold(_) | Content::Message(_) | Content::Close(_) | Content::Notes(_) | Content::Divider(_) => None,
    };
    html! { { for props.layout.rows.iter().filter_map(fold) } }
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
