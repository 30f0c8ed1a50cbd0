//! The built-in lessons: scenarios that play the document's pictures, and more, each with a golden trace.
//!
//! They are written as JSON, beside this file. What is run are their plans, which stand as a few bytes each in
//! `packed.bin`: the page carries those instead of all that reads scenarios. A test holds the two together, and
//! writes the bytes anew where they differ.

use std::sync::{Arc, LazyLock};

use crate::pack::Pack;
use crate::rules::Section;
use crate::scenario::{Plan, Scenario};

/// A built-in lesson.
#[derive(Clone, Debug)]
pub struct Lesson {
    /// Its name in links and on the command line.
    pub id: &'static str,
    /// The document's section that it belongs to.
    pub section: Section,
    title: String,
    introduction: String,
    plan: Arc<Plan>,
}

impl Lesson {
    /// A few words that name it.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// A paragraph that introduces it.
    #[must_use]
    pub fn introduction(&self) -> &str {
        &self.introduction
    }

    /// Its plan.
    #[must_use]
    pub fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.plan)
    }

    /// The scenario that it runs, as JSON.
    #[must_use]
    pub fn json(&self) -> &'static str {
        JSON.iter().find(|(id, _)| *id == self.id).map_or("", |(_, json)| json)
    }

    /// The scenario that it runs.
    ///
    /// # Panics
    /// Never: a test reads every lesson.
    #[must_use]
    pub fn scenario(&self) -> Scenario {
        Scenario::from_json(self.json()).unwrap_or_else(|error| panic!("lesson {}: {error}", self.id))
    }
}

/// The lesson that the page opens with.
pub const FIRST: &str = "rebalance-new-consumer";

macro_rules! lessons {
    ($($id:literal in $section:ident,)*) => {
        const LIST: &[(&str, Section)] = &[$(($id, Section::$section),)*];
        const JSON: &[(&str, &str)] = &[$(($id, include_str!(concat!("lessons/", $id, ".json"))),)*];
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

/// For each lesson, in order: title, introduction, plan.
static PACKED: &[u8] = include_bytes!("lessons/packed.bin");

static LESSONS: LazyLock<Vec<Lesson>> = LazyLock::new(|| {
    let mut bytes = PACKED;
    let mut lessons = Vec::new();
    for (id, section) in LIST {
        let Some(((title, introduction), plan)) = Pack::unpack(&mut bytes) else { break };
        lessons.push(Lesson { id, section: *section, title, introduction, plan });
    }
    lessons
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the bytes differ from the JSON they are written anew, and the test fails this once.
    #[test]
    fn the_packed_lessons_are_the_written_ones() {
        let mut bytes = Vec::new();
        for (id, json) in JSON {
            let scenario = Scenario::from_json(json).unwrap_or_else(|error| panic!("lesson {id}: {error}"));
            let plan = scenario.plan().unwrap_or_else(|error| panic!("lesson {id}: {error}"));
            ((scenario.title, scenario.introduction), plan).pack(&mut bytes);
        }
        if bytes != PACKED {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/lessons/packed.bin");
            std::fs::write(path, &bytes).expect("the file can be written");
            panic!("{path} was out of date and has been written anew: run the tests again");
        }
        assert_eq!(all().len(), LIST.len());
    }
}
