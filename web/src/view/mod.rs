//! What the page shows: functions of a part of the [state](crate::state), whose controls dispatch actions.
//!
//! A component stands only where something is kept from one drawing to the next, or need not be drawn again: each one
//! weighs a few kilobytes, which every reader loads.

pub mod about;
pub mod bar;
pub mod caption;
pub mod diagram;
pub mod help;
pub mod icon;
pub mod lessons;
pub mod page;
pub mod problem;
pub mod stage;
pub mod transport;
pub mod words;

use yew::{Callback, MouseEvent, UseReducerDispatcher};

use crate::state::{Action, App};

/// How a component tells the page what the reader did.
pub type Dispatch = UseReducerDispatcher<App>;

/// What a control does when it is pressed.
pub(crate) fn doing(dispatch: &Dispatch, action: Action) -> Callback<MouseEvent> {
    let dispatch = dispatch.clone();
    Callback::from(move |_| dispatch.dispatch(action.clone()))
}
