//! A broker: it answers metadata requests (CD1), and group requests if it is the coordinator.

use std::sync::Arc;

use crate::cluster::Cluster;
use crate::coordinator::{
    Coordinator, CoordinatorContext, CoordinatorEffect, CoordinatorTimer, ReplyTo, Written, not_coordinator,
};
use crate::id::{BrokerId, Epoch, Generation, TopicId};
use crate::message::{Metadata, Request, Response};
use crate::rules::{Rule, Rules};
use crate::scenario::{GroupPlan, GroupStateKept};

/// A broker.
#[derive(Clone, Debug)]
pub struct Broker {
    id: BrokerId,
    /// The broker that it takes for the coordinator; `None` where it knows of none (`CoordinatorNotAvailable`).
    known: Option<BrokerId>,
    settings: GroupPlan,
    /// How many consumers there are.
    consumers: u32,
    /// The coordinator's part, while it takes the role for its own.
    coordinator: Option<Coordinator>,
}

impl Broker {
    /// A broker that knows of no coordinator.
    #[must_use]
    pub fn new(id: BrokerId, consumers: u32, settings: &GroupPlan) -> Self {
        Self { id, known: None, settings: settings.clone(), consumers, coordinator: None }
    }

    // --- getters ---

    /// The generation that a number named by hand stands for, if this broker is coordinator.
    #[must_use]
    pub fn generation_numbered(&self, number: u32) -> Option<Generation> {
        Some(self.coordinator.as_ref()?.generation_numbered(number))
    }

    /// What has been written of the group, if this broker is its coordinator.
    #[must_use]
    pub fn written(&self) -> Option<Written> {
        Some(self.coordinator.as_ref()?.written())
    }

    // --- handlers ---

    /// Learns who is coordinator (decision 10). One that took itself for it resigns.
    pub fn handle_learned(&mut self, coordinator: BrokerId, cx: &mut CoordinatorContext<'_>) {
        self.known = Some(coordinator);
        if coordinator != self.id
            && let Some(mut own) = self.coordinator.take()
        {
            own.resign(cx);
        }
    }

    /// Takes up the role of coordinator in an epoch, with what was written of the group if group state is kept
    /// (decisions 2 and 10).
    pub fn handle_role(&mut self, epoch: Epoch, written: Option<Written>, cx: &mut CoordinatorContext<'_>) {
        self.known = Some(self.id);
        let mut coordinator = Coordinator::new(self.id, epoch, self.consumers, self.settings.clone());
        match (written, self.settings.state) {
            (None, _) => {}
            (Some(written), GroupStateKept::Replicated) => coordinator.recover(written, cx),
            (Some(written), GroupStateKept::Lost) => coordinator.forget(written, cx),
        }
        self.coordinator = Some(coordinator);
    }

    /// Handles a request.
    pub fn handle_request(&mut self, to: ReplyTo, request: &Request, cx: &mut CoordinatorContext<'_>) {
        if let Request::Metadata { topics } = request {
            let (response, rules) = (self.metadata(topics, cx.cluster), Rules::of(&[Rule::CD1]));
            return cx.effects.push(CoordinatorEffect::Reply { to, response, rules });
        }
        if let Some(coordinator) = &mut self.coordinator {
            coordinator.handle_request(to, request, cx);
            return self.drop_role_if_resigned();
        }
        if let Some(response) = not_coordinator(request) {
            cx.effects.push(CoordinatorEffect::Reply { to, response, rules: Rules::NONE });
        }
    }

    /// Handles a timer that fired.
    pub fn handle_timer(&mut self, timer: CoordinatorTimer, cx: &mut CoordinatorContext<'_>) {
        if let Some(coordinator) = &mut self.coordinator {
            coordinator.handle_timer(timer, cx);
            self.drop_role_if_resigned();
        }
    }

    fn drop_role_if_resigned(&mut self) {
        if self.coordinator.as_ref().is_some_and(Coordinator::has_resigned) {
            self.coordinator = None;
            self.known = None;
        }
    }

    fn metadata(&self, topics: &[TopicId], cluster: &Cluster) -> Response {
        Response::Metadata(Arc::new(Metadata {
            brokers: Arc::clone(cluster.brokers()),
            topics: cluster.counts(topics),
            coordinator: self.known,
        }))
    }
}
