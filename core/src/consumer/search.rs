//! Finding the coordinator and connecting to it (ST2, CD1, decision 10), and looking for new partitions (JG3).

use std::sync::Arc;

use super::{Consumer, ConsumerContext, ConsumerEffect, ConsumerTimer, Session};
use crate::id::{BrokerId, Correlation};
use crate::map::Map;
use crate::message::{Metadata, Request};
use crate::rules::Rule::{CD1, JG3, OC5, SC2, ST2};
use crate::rules::Rules;
use crate::time::Time;
use crate::trace::{CoordinatorFailure, Fact};

/// What to do once the coordinator is found and connected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Want {
    /// Join.
    Join,
    /// Send a heartbeat, to learn whether this consumer is still a member (decision 1, OC5).
    Probe,
}

/// A search for the coordinator.
#[derive(Clone, Copy, Debug)]
pub(super) struct Search {
    pub(super) want: Want,
    /// The broker to ask next.
    next: BrokerId,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Connecting to a broker to ask it, or waiting for its answer.
    Asking(BrokerId),
    /// Waiting before the next one is asked.
    BackingOff,
    /// Connecting to the coordinator.
    Connecting(BrokerId),
}

/// The consumer's channels: one to each broker at most (decision 3).
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    links: Map<BrokerId, Link>,
}

#[derive(Clone, Debug)]
enum Link {
    /// Being opened since then.
    Opening(Time),
    /// Open, with metadata requests that wait for an answer, and since when.
    Open(Vec<(Correlation, Time)>),
}

impl Links {
    fn is_open(&self, broker: BrokerId) -> bool {
        matches!(self.links.get(&broker), Some(Link::Open(_)))
    }

    /// Forgets every channel and returns whose they were.
    pub(super) fn close_all(&mut self) -> Vec<BrokerId> {
        std::mem::take(&mut self.links).into_keys().collect()
    }

    /// For each channel that has something outstanding, since when.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (BrokerId, Time)> + '_ {
        self.links.iter().filter_map(|(broker, link)| match link {
            Link::Opening(since) => Some((*broker, *since)),
            Link::Open(requests) => requests.first().map(|(_, since)| (*broker, *since)),
        })
    }
}

impl Consumer {
    /// The coordinator, if there is an open channel to it.
    pub(super) fn connected_coordinator(&self) -> Option<BrokerId> {
        self.coordinator.filter(|broker| self.links.is_open(*broker))
    }

    /// ST2: does what is wanted at the coordinator, after finding it and connecting if need be.
    pub(super) fn seek(&mut self, want: Want, cx: &mut ConsumerContext<'_>) {
        match self.connected_coordinator() {
            Some(broker) => self.reached(broker, want, cx),
            None => self.start_search(want, cx),
        }
    }

    /// Asks for the coordinator, the lowest broker first (decision 10). A search that is under way goes on.
    pub(super) fn start_search(&mut self, want: Want, cx: &mut ConsumerContext<'_>) {
        let lowest = BrokerId(0);
        if self.search.is_none() {
            self.search = Some(Search { want, next: lowest, stage: Stage::BackingOff });
            self.ask_next(cx);
        }
    }

    pub(super) fn ask_next(&mut self, cx: &mut ConsumerContext<'_>) {
        let Some(search) = &mut self.search else { return };
        let brokers = cx.cluster.brokers().len() as u16;
        let broker = search.next;
        search.next = BrokerId((broker.0 + 1) % brokers.max(1));
        search.stage = Stage::Asking(broker);
        if self.links.is_open(broker) {
            self.ask(broker, self.search_rules(), cx);
        } else {
            self.open(broker, cx);
        }
    }

    /// ST2; and SC2, where it follows a broken pipe, or OC5, where it follows a refused commit.
    fn search_rules(&self) -> Rules {
        let wants_probe = self.search.is_some_and(|search| search.want == Want::Probe);
        if self.commits.has_retry() && wants_probe {
            Rules::of(&[ST2, OC5])
        } else if self.join_rules.contains(SC2) {
            Rules::of(&[ST2, SC2])
        } else {
            Rules::of(&[ST2])
        }
    }

    fn open(&mut self, broker: BrokerId, cx: &mut ConsumerContext<'_>) {
        if !self.links.links.contains_key(&broker) {
            self.links.links.insert(broker, Link::Opening(cx.now));
            cx.effects.push(ConsumerEffect::Open(broker));
        }
    }

    fn ask(&mut self, broker: BrokerId, rules: Rules, cx: &mut ConsumerContext<'_>) {
        let request = Request::Metadata { topics: Arc::clone(&self.topics) };
        let correlation = self.send(broker, request, rules, cx);
        if let Some(Link::Open(requests)) = self.links.links.get_mut(&broker) {
            requests.push((correlation, cx.now));
        }
    }

    pub(super) fn opened(&mut self, broker: BrokerId, cx: &mut ConsumerContext<'_>) {
        if let Some(link) = self.links.links.get_mut(&broker) {
            *link = Link::Open(Vec::new());
        }
        match self.search.map(|search| (search.stage, search.want)) {
            Some((Stage::Asking(asked), _)) if asked == broker => self.ask(broker, self.search_rules(), cx),
            Some((Stage::Connecting(coordinator), want)) if coordinator == broker => self.reached(broker, want, cx),
            Some((Stage::Asking(_) | Stage::Connecting(_) | Stage::BackingOff, _)) | None => {}
        }
    }

    /// The coordinator is found and connected.
    fn reached(&mut self, broker: BrokerId, want: Want, cx: &mut ConsumerContext<'_>) {
        self.search = None;
        match want {
            Want::Join => self.send_join(broker, cx),
            Want::Probe => self.probe(cx),
        }
    }

    pub(super) fn metadata_answered(
        &mut self,
        broker: BrokerId,
        correlation: Correlation,
        metadata: &Metadata,
        cx: &mut ConsumerContext<'_>,
    ) {
        let Some(Link::Open(requests)) = self.links.links.get_mut(&broker) else { return };
        let Some(place) = requests.iter().position(|(sent, _)| *sent == correlation) else { return };
        requests.remove(place);
        if let Some(search) = &mut self.search
            && search.stage == Stage::Asking(broker)
        {
            // Decision 10: a broker that names one that has just denied it has not learned of the move yet.
            match metadata.coordinator {
                Some(coordinator) if self.denied.take() != Some(coordinator) => self.found(coordinator, cx),
                Some(_) | None => self.back_off(cx),
            }
        }
        self.look_for_changes(metadata, cx);
    }

    fn found(&mut self, coordinator: BrokerId, cx: &mut ConsumerContext<'_>) {
        let fact = Fact::CoordinatorFound { consumer: self.plan.id, broker: coordinator };
        cx.note(fact, Rules::of(&[ST2, CD1]));
        if let Some(before) = self.coordinator.replace(coordinator)
            && before != coordinator
        {
            self.unanswered.clear();
            cx.cancel(ConsumerTimer::CoordinatorTimeout);
        }
        let Some(search) = &mut self.search else { return };
        let want = search.want;
        search.stage = Stage::Connecting(coordinator);
        if self.links.is_open(coordinator) {
            self.reached(coordinator, want, cx);
        } else {
            self.open(coordinator, cx);
        }
    }

    fn back_off(&mut self, cx: &mut ConsumerContext<'_>) {
        if let Some(search) = &mut self.search {
            search.stage = Stage::BackingOff;
            cx.set(ConsumerTimer::BackOff, self.plan.back_off);
        }
    }

    /// A channel is closed, or could not be opened.
    pub(super) fn closed(&mut self, broker: BrokerId, cx: &mut ConsumerContext<'_>) {
        if self.links.links.remove(&broker).is_none() {
            return;
        }
        self.link_lost(broker, CoordinatorFailure::ChannelClosed, cx);
    }

    fn link_lost(&mut self, broker: BrokerId, why: CoordinatorFailure, cx: &mut ConsumerContext<'_>) {
        match self.search.map(|search| search.stage) {
            Some(Stage::Connecting(other)) if other == broker => {
                self.coordinator = None;
                return self.back_off(cx);
            }
            Some(Stage::Asking(other)) if other == broker => self.back_off(cx),
            Some(Stage::Asking(_) | Stage::Connecting(_) | Stage::BackingOff) | None => {}
        }
        if self.coordinator == Some(broker) && self.session != Session::Ended {
            self.coordinator_failed(why, cx);
        }
    }

    /// Closes the channel to a broker from this end.
    pub(super) fn drop_link(&mut self, broker: BrokerId, cx: &mut ConsumerContext<'_>) {
        if self.links.links.remove(&broker).is_some() {
            cx.effects.push(ConsumerEffect::Close(broker));
        }
        self.commits_lost(cx);
    }

    // --- looking for new partitions (JG3, decision 14) ---

    pub(super) fn refresh_metadata(&mut self, cx: &mut ConsumerContext<'_>) {
        cx.set(ConsumerTimer::MetadataRefresh, self.plan.metadata_refresh);
        if let Some(broker) = self.connected_coordinator()
            && self.search.is_none()
        {
            self.ask(broker, Rules::of(&[JG3]), cx);
        }
    }

    fn look_for_changes(&mut self, metadata: &Metadata, cx: &mut ConsumerContext<'_>) {
        if self.session != Session::Member {
            return;
        }
        let Some(owned) = &self.owned else { return };
        let known = |topic| owned.counts.iter().find(|(t, _)| *t == topic).map(|(_, count)| *count);
        let grown = metadata.topics.iter().find(|(topic, count)| known(*topic).is_some_and(|known| *count > known));
        if let Some((topic, count)) = grown {
            let fact = Fact::TopicChangeSeen { consumer: self.plan.id, topic: *topic, count: *count };
            cx.note(fact, Rules::of(&[JG3]));
            self.give_up_and_join(Rules::of(&[JG3]), cx);
        }
    }

    // --- the request timeout (decision 10) ---

    /// Keeps the timer at the oldest thing that a broker owes an answer to.
    pub(super) fn watch_requests(&mut self, cx: &mut ConsumerContext<'_>) {
        let links = self.links.waiting().map(|(_, since)| since);
        let oldest = links.chain(self.commits.oldest()).min();
        let deadline = oldest.map(|since| since + self.plan.request_timeout);
        if self.commits.watched == deadline {
            return;
        }
        self.commits.watched = deadline;
        match deadline {
            Some(deadline) => cx.set(ConsumerTimer::RequestTimeout, deadline.since(cx.now)),
            None => cx.cancel(ConsumerTimer::RequestTimeout),
        }
    }

    /// Closes every channel on which something has gone unanswered for the request timeout.
    pub(super) fn requests_timed_out(&mut self, cx: &mut ConsumerContext<'_>) {
        self.commits.watched = None;
        let timeout = self.plan.request_timeout;
        let is_over = |since: Time| since + timeout <= cx.now;
        let mut late: Vec<_> = self.links.waiting().filter(|(_, since)| is_over(*since)).map(|(b, _)| b).collect();
        if let Some(coordinator) = self.coordinator
            && self.commits.oldest().is_some_and(is_over)
            && !late.contains(&coordinator)
        {
            late.push(coordinator);
        }
        if late.is_empty() {
            self.commits_lost(cx);
        }
        for broker in late {
            if self.links.links.remove(&broker).is_some() {
                cx.effects.push(ConsumerEffect::Close(broker));
                self.link_lost(broker, CoordinatorFailure::RequestTimeout, cx);
            }
        }
    }
}
