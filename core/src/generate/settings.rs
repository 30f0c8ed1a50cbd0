//! Random settings.

use super::Temper;
use super::draw::Draw;
use crate::scenario::{
    AssignmentStrategy, CompletionCheck, ConsumerSettings, Dialect, GroupSettings, GroupStateKept, Heard, JoinWindow,
    Limit, MemberIds, MissingJoin, Off, OnClose, OnCoordinatorFailure, OnDeassigned, RebalanceBy, UnchangedJoin,
};
use crate::time::Span;

/// The longest session timeout of a fair scenario, and the longest that its coordinator allows, in milliseconds.
const LONGEST_SESSION: u64 = 12_000;

pub(super) fn consumer(draw: &mut Draw, temper: Temper) -> ConsumerSettings {
    let limits = match temper {
        Temper::Fair => ConsumerSettings {
            session_timeout: Some(Span::from_millis(draw.between(30, LONGEST_SESSION / 100) * 100)),
            ..ConsumerSettings::default()
        },
        Temper::Wild => wild_limits(draw),
    };
    let longest_callback = match temper {
        Temper::Fair => 400,
        Temper::Wild => 2_000,
    };
    ConsumerSettings {
        metadata_refresh: draw.seldom(3, |d| d.interval(20_000)),
        commit_interval: draw.seldom(2, |d| limit(d, 5_000)),
        on_deassigned: draw.seldom(2, |d| d.pick(&[OnDeassigned::Nothing, OnDeassigned::Commit])),
        callback_time: draw.seldom(2, |d| d.span(longest_callback)),
        processed_per_second: draw.seldom(2, |d| d.below(2_000) as u32),
        on_coordinator_failure: draw
            .seldom(3, |d| d.pick(&[OnCoordinatorFailure::Resume, OnCoordinatorFailure::Rejoin])),
        on_close: draw.seldom(3, |d| d.pick(&[OnClose::Silent, OnClose::Leave])),
        ..limits
    }
}

/// Timeouts that need not fit together.
fn wild_limits(draw: &mut Draw) -> ConsumerSettings {
    ConsumerSettings {
        session_timeout: Some(draw.interval(LONGEST_SESSION)),
        heartbeat_interval: draw.seldom(6, |d| d.interval(6_000)),
        coordinator_timeout: draw.seldom(6, |d| limit(d, 8_000)),
        join_timeout: draw.seldom(6, |d| d.interval(30_000)),
        request_timeout: draw.seldom(6, |d| d.interval(4_000)),
        back_off: draw.seldom(6, |d| d.interval(1_000)),
        ..ConsumerSettings::default()
    }
}

fn limit(draw: &mut Draw, longest: u64) -> Limit {
    if draw.one_in(4) { Limit::Off(Off::Off) } else { Limit::After(draw.interval(longest)) }
}

pub(super) fn group(draw: &mut Draw, temper: Temper) -> GroupSettings {
    let longest = match temper {
        Temper::Fair => LONGEST_SESSION,
        Temper::Wild => draw.between(1_000, 20_000),
    };
    GroupSettings {
        rebalance: draw.seldom(5, |d| d.pick(&[RebalanceBy::ErrorCode, RebalanceBy::SocketClose])),
        assignment: draw.seldom(2, |d| d.pick(&[AssignmentStrategy::Range, AssignmentStrategy::RoundRobin])),
        min_session_timeout: draw.seldom(8, |d| Span::from_millis(d.between(1, 1_000))),
        max_session_timeout: Some(Span::from_millis(longest)),
        max_size: draw.seldom(8, |d| d.between(1, 4) as u32),
        partition_check: draw.seldom(2, |d| d.interval(6_000)),
        state: draw.seldom(3, |d| d.pick(&[GroupStateKept::Replicated, GroupStateKept::Lost])),
        takeover_delay: draw.seldom(2, |d| d.interval(6_000)),
        metadata_propagation: draw.seldom(3, |d| d.span(2_000)),
        member_ids: draw.seldom(4, |d| d.pick(&[MemberIds::Consumer, MemberIds::Coordinator])),
        missing_join: draw.seldom(4, |d| d.pick(&[MissingJoin::Retry, MissingJoin::Complete])),
        join_window: draw.seldom(4, |d| d.pick(&[JoinWindow::Own, JoinWindow::Longest])),
        completion_check: draw
            .seldom(4, |d| d.pick(&[CompletionCheck::All, CompletionCheck::Left, CompletionCheck::Never])),
        unchanged_join: draw.seldom(4, |d| d.pick(&[UnchangedJoin::Rebalance, UnchangedJoin::Answer])),
        heard: draw.seldom(4, |d| d.pick(&[Heard::All, Heard::Valid])),
        dialect: draw.seldom(4, |d| d.pick(&[Dialect::Document, Dialect::Kafka2015])),
    }
}
