//! The built-in lessons: scenarios that play the document's pictures, and more, each with a golden trace.

use std::sync::{Arc, LazyLock};

use crate::rules::Section;
use crate::scenario::{Plan, Scenario};

/// A built-in lesson.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// Its name in links and on the command line.
    pub id: &'static str,
    /// The document's section that it belongs to.
    pub section: Section,
    /// What it runs; its title and introduction are the lesson's.
    pub scenario: Scenario,
    /// The scenario as written.
    pub json: &'static str,
}

impl Lesson {
    /// A few words that name it.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.scenario.title
    }

    /// A paragraph that introduces it.
    #[must_use]
    pub fn introduction(&self) -> &str {
        &self.scenario.introduction
    }

    /// Its plan.
    ///
    /// # Panics
    /// Never: a test makes the plan of every lesson.
    #[must_use]
    pub fn plan(&self) -> Arc<Plan> {
        self.scenario.plan().unwrap_or_else(|error| panic!("lesson {}: {error}", self.id))
    }
}

/// The lesson that the page opens with.
pub const FIRST: &str = "rebalance-new-consumer";

static LESSONS: LazyLock<Vec<Lesson>> = LazyLock::new(|| {
    let lesson = |id, section, json| {
        let scenario = Scenario::from_json(json).unwrap_or_else(|error| panic!("lesson {id}: {error}"));
        Lesson { id, section, scenario, json }
    };
    macro_rules! lessons {
        ($($id:literal in $section:ident,)*) => {
            vec![$(lesson($id, Section::$section, include_str!(concat!("lessons/", $id, ".json"))),)*]
        };
    }
    lessons! {
        "heartbeat" in FailureDetection,
        "consumer-failure" in FailureDetection,
        "coordinator-hang" in FailureDetection,
        "coordinator-crash" in FailureDetection,
        "stale-generation" in FailureDetection,
        "discovery" in Startup,
        "unknown-consumer" in Startup,
        "subscription-change" in Startup,
        "rejoin" in Joining,
        "topic-change" in Joining,
        "unknown-group" in Joining,
        "fatal-join" in Joining,
        "rebalance-new-consumer" in Rebalance,
        "rebalance-member-fails" in Rebalance,
        "slow-heartbeat" in Rebalance,
        "rebalance-socket-close" in Rebalance,
        "failover-error-code" in Rebalance,
        "failover-socket-close" in Rebalance,
        "failover-lost-state" in Rebalance,
        "old-coordinator" in Rebalance,
        "commit-accepted" in Offsets,
        "commit-not-member" in Offsets,
        "commit-not-owner" in Offsets,
        "commit-old-generation" in Offsets,
        "commit-retry" in Offsets,
        "zombie" in Offsets,
        "slow-processing" in Architecture,
    }
});

/// Every lesson, in the document's order.
#[must_use]
pub fn all() -> &'static [Lesson] {
    &LESSONS
}

/// The lesson of a name.
#[must_use]
pub fn find(id: &str) -> Option<&'static Lesson> {
    LESSONS.iter().find(|lesson| lesson.id == id)
}
