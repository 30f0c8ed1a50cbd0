//! An outside oracle: what Kafka's own coordinator answered in October 2015, at the last commit where it computed the
//! assignment itself and a rebalance took one round of joins (apache/kafka at 6e747d42974b). The profile `kafka-2015`
//! has to agree with every fact; `docs/oracle.md` says where the document's own profile does, and a test here computes
//! that table.

#[path = "oracle/assignments.rs"]
mod assignments;
#[path = "oracle/checks.rs"]
mod checks;
#[path = "oracle/desk.rs"]
mod desk;
#[path = "oracle/responses.rs"]
mod responses;
#[path = "oracle/states.rs"]
mod states;

use groupscope_core::scenario::{GroupPlan, GroupSettings, Profile};
use groupscope_core::time::Span;

/// A profile's coordinator with the bounds that Kafka's own tests set: sessions of 10 ms to 200 ms.
fn settings(profile: Profile) -> GroupPlan {
    let own = GroupSettings {
        min_session_timeout: Some(Span::from_millis(10)),
        max_session_timeout: Some(Span::from_millis(200)),
        ..GroupSettings::default()
    };
    GroupPlan::new(profile, &own)
}
