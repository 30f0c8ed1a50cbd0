//! The page's components. Each shows a part of the [state](crate::state) and dispatches actions; none keeps state of
//! its own that another would need.

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

/// How a component tells the page what the reader did.
pub type Dispatch = yew::UseReducerDispatcher<crate::state::App>;
