//! A broker: it answers metadata requests (CD1), and group requests if it is the coordinator.

use std::sync::Arc;

use crate::cluster::Cluster;
use crate::coordinator::{
    Coordinator, CoordinatorContext, CoordinatorEffect, CoordinatorTimer, ReplyTo, Written, not_coordinator,
};
use crate::id::{BrokerId, Generation, TopicId};
use crate::message::{Metadata, Request, Response};
use crate::rules::{Rule, Rules};
use crate::scenario::{GroupSettings, GroupStateKept};

/// A broker.
#[derive(Clone, Debug)]
pub struct Broker {
    id: BrokerId,
    /// The broker that it takes for the coordinator.
    coordinator_known: Option<BrokerId>,
    settings: GroupSettings,
    /// The coordinator's part, if the role is its own.
    coordinator: Option<Coordinator>,
}

impl Broker {
    /// A broker that takes `coordinator` for the coordinator of the group, which may be itself.
    #[must_use]
    pub fn new(id: BrokerId, coordinator: BrokerId, settings: &GroupSettings) -> Self {
        let own = (id == coordinator).then(|| Coordinator::new(id, settings.clone()));
        Self { id, coordinator_known: Some(coordinator), settings: settings.clone(), coordinator: own }
    }

    /// The generation that a number named by hand stands for, at the coordinator.
    #[must_use]
    pub fn generation_numbered(&self, number: u32) -> Option<Generation> {
        Some(self.coordinator.as_ref()?.generation_numbered(number))
    }

    /// What has been written of the group, if this broker is its coordinator.
    #[must_use]
    pub fn written(&self) -> Option<Written> {
        Some(self.coordinator.as_ref()?.written())
    }

    /// The process starts again after a crash, and finds what was written if group state is kept (decision 2).
    pub fn handle_restart(&mut self, written: Option<Written>, cx: &mut CoordinatorContext<'_>) {
        let Some(written) = written else { return };
        let mut coordinator = Coordinator::new(self.id, self.settings.clone());
        match self.settings.state {
            GroupStateKept::Replicated => coordinator.recover(written, cx),
            GroupStateKept::Lost => coordinator.forget(&written, cx),
        }
        self.coordinator = Some(coordinator);
    }

    /// Handles a request.
    pub fn handle_request(&mut self, to: ReplyTo, request: &Request, cx: &mut CoordinatorContext<'_>) {
        let (response, rules) = match (request, &mut self.coordinator) {
            (Request::Metadata { topics }, _) => (self.metadata(topics, cx.cluster), Rules::of(&[Rule::CD1])),
            (Request::Join(_) | Request::Heartbeat { .. } | Request::Commit(_), Some(coordinator)) => {
                return coordinator.handle_request(to, request, cx);
            }
            (Request::Join(_) | Request::Heartbeat { .. } | Request::Commit(_), None) => match not_coordinator(request)
            {
                Some(response) => (response, Rules::NONE),
                None => return,
            },
        };
        cx.effects.push(CoordinatorEffect::Reply { to, response, rules });
    }

    /// Handles a timer that fired.
    pub fn handle_timer(&mut self, timer: CoordinatorTimer, cx: &mut CoordinatorContext<'_>) {
        if let Some(coordinator) = &mut self.coordinator {
            coordinator.handle_timer(timer, cx);
        }
    }

    fn metadata(&self, topics: &[TopicId], cluster: &Cluster) -> Response {
        Response::Metadata(Arc::new(Metadata {
            brokers: Arc::clone(cluster.brokers()),
            topics: cluster.counts(topics),
            coordinator: self.coordinator_known,
        }))
    }
}
