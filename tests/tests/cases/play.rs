//! Plays a case and tells what came of it, in lines that a test can state.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use groupscope_core::cast::Cast;
use groupscope_core::id::{ConsumerId, MemberId, NodeId, Offset, Partition};
use groupscope_core::invariants::check;
use groupscope_core::message::{Message, Request, Response};
use groupscope_core::scenario::{Action, Command, MemberIds, Profile, Scenario};
use groupscope_core::sim::Simulation;
use groupscope_core::time::{Span, Time};
use groupscope_core::trace::{Callback, Fact, Formed, Record, Trace};

/// The scenario of a case, `tests/cases/ID.json`.
pub(crate) fn case(id: &str) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("cases/{id}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let scenario = Scenario::from_json(&text).unwrap_or_else(|error| panic!("case {id}: {error}"));
    assert_eq!(scenario.profile, Profile::Kafka2015, "cases are told of Kafka");
    scenario
}

/// The scenario with something changed.
pub(crate) fn with(mut scenario: Scenario, change: impl FnOnce(&mut Scenario)) -> Scenario {
    change(&mut scenario);
    scenario
}

/// The same under the document's own profile.
pub(crate) fn as_the_document(scenario: Scenario) -> Scenario {
    with(scenario, |scenario| scenario.profile = Profile::DocumentOption1)
}

pub(crate) fn at(millis: u64, action: Action) -> Command {
    Command { at: Span::from_millis(millis), action }
}

/// A run of a case to its end.
pub(crate) struct Run {
    simulation: Simulation,
}

/// Plays a scenario to its end. Under the document's own profile every invariant has to hold as well.
pub(crate) fn play(scenario: &Scenario) -> Run {
    assert_eq!(Scenario::from_json(&scenario.to_json()).as_ref(), Ok(scenario), "it can be written and read");
    let plan = scenario.plan().unwrap_or_else(|error| panic!("{}: {error}", scenario.title));
    let mut simulation = Simulation::new(Arc::clone(&plan));
    simulation.run();
    if plan.settings.member_ids == MemberIds::Consumer {
        let violations = check(&plan, simulation.trace(), simulation.now());
        assert!(violations.is_empty(), "{}: {violations:?}", scenario.title);
    }
    Run { simulation }
}

impl Run {
    fn trace(&self) -> &Trace {
        self.simulation.trace()
    }

    fn cast(&self) -> &Cast {
        self.trace().cast()
    }

    /// What `pick` makes of each record, each with its time before it.
    fn lines(&self, pick: impl Fn(&Record) -> Option<String>) -> Vec<String> {
        let told = self.trace().iter().filter_map(|(_, record)| Some((record.at, pick(record)?)));
        told.map(|(at, line)| format!("{at} {line}")).collect()
    }

    /// Each generation: when it was formed, its number, and who owns what, `10.08 2: C1 t 0-1, C2 t 2`.
    pub(crate) fn generations(&self) -> Vec<String> {
        self.lines(|record| {
            let Fact::AssignmentComputed { formed, .. } = &record.fact else { return None };
            Some(format!("{}: {}", formed.generation.number, self.shares(formed)))
        })
    }

    fn shares(&self, formed: &Formed) -> String {
        let share = |(member, partitions): &(MemberId, Arc<[Partition]>)| {
            let owned = self.partitions(partitions.iter().copied());
            format!("{} {owned}", self.member(*member)).trim_end().to_owned()
        };
        formed.assignment.iter().map(share).collect::<Vec<_>>().join(", ")
    }

    /// A member's name; where the coordinator gives out ids, its first id goes by the consumer's name alone.
    fn member(&self, member: MemberId) -> String {
        let name = self.cast().member_name(member);
        name.strip_suffix("#1").unwrap_or(&name).to_owned()
    }

    /// Partitions by topic, with ranges: `t 0-2 5, u 1`.
    fn partitions(&self, partitions: impl Iterator<Item = Partition>) -> String {
        let mut topics: BTreeMap<_, Vec<(u32, u32)>> = BTreeMap::new();
        for Partition { topic, index } in partitions {
            let ranges = topics.entry(topic).or_default();
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == index => *last = index,
                Some(_) | None => ranges.push((index, index)),
            }
        }
        let range =
            |(first, last): &(u32, u32)| if first == last { format!("{first}") } else { format!("{first}-{last}") };
        let topic = |(topic, ranges): (_, &Vec<_>)| {
            let ranges: Vec<_> = ranges.iter().map(range).collect();
            format!("{} {}", self.cast().topic(topic), ranges.join(" "))
        };
        topics.iter().map(|(id, ranges)| topic((*id, ranges))).collect::<Vec<_>>().join(" ")
    }

    /// When each rebalance began.
    pub(crate) fn rebalances(&self) -> Vec<String> {
        self.lines(|record| {
            if let Fact::RebalanceStarted { why, .. } = &record.fact {
                let why = format!("{why:?}");
                Some(why.split('(').next().unwrap_or_default().to_owned())
            } else if let Fact::RebalanceRetried { .. } = &record.fact {
                Some("Retried".to_owned())
            } else {
                None
            }
        })
    }

    /// Who was removed from the group, when and why.
    pub(crate) fn removals(&self) -> Vec<String> {
        self.lines(|record| {
            let Fact::MemberRemoved { member, why, .. } = &record.fact else { return None };
            Some(format!("{} {why:?}", self.member(*member)))
        })
    }

    /// Who became a member, and when.
    pub(crate) fn admissions(&self) -> Vec<String> {
        self.lines(|record| {
            let Fact::MemberAdded { member, .. } = &record.fact else { return None };
            Some(self.member(*member))
        })
    }

    /// What each commit was answered, when, and in whose name it came.
    pub(crate) fn commits(&self) -> Vec<String> {
        self.lines(|record| {
            let Fact::CommitChecked { verdict, .. } = &record.fact else { return None };
            let outcome = verdict.outcome.map_or_else(|error| error.name(), |()| "OK");
            Some(format!("{} {outcome}", self.member(verdict.commit.member)))
        })
    }

    /// Every time a consumer took its coordinator for failed.
    pub(crate) fn coordinator_failures(&self) -> Vec<String> {
        self.lines(|record| {
            let Fact::CoordinatorFailed { consumer, broker, why } = &record.fact else { return None };
            Some(format!("{} {} {why:?}", self.cast().consumer(*consumer), self.cast().node((*broker).into())))
        })
    }

    /// Every callback of a consumer, with the partitions it is about: `+` for assigned, `-` for deassigned.
    pub(crate) fn callbacks(&self, name: &str) -> Vec<String> {
        self.lines(|record| {
            let Fact::CallbackStarted { consumer, callback, partitions, .. } = &record.fact else { return None };
            let sign = match callback {
                Callback::Assigned => '+',
                Callback::Deassigned => '-',
            };
            let owned = self.partitions(partitions.iter().copied());
            (self.cast().consumer(*consumer) == name).then(|| format!("{sign} {owned}").trim_end().to_owned())
        })
    }

    /// The errors that a consumer was answered, by the request's kind: when it took them.
    pub(crate) fn refusals(&self, name: &str) -> Vec<String> {
        self.lines(|record| {
            let Fact::Received { node, sent } = record.fact else { return None };
            let Fact::Sent { message, .. } = &self.trace()[sent].fact else { return None };
            let error = message.error()?;
            (self.cast().node(node) == name).then(|| format!("{} {error}", message.kind().word()))
        })
    }

    /// How many requests a consumer sent that `is_counted`.
    pub(crate) fn sent(&self, name: &str, is_counted: impl Fn(&Request) -> bool) -> usize {
        let is_from = |from: NodeId| self.cast().node(from) == name;
        let sent = self.trace().iter().filter(|(_, record)| {
            let Fact::Sent { from, message: Message::Request(request), .. } = &record.fact else { return false };
            is_from(*from) && is_counted(request)
        });
        sent.count()
    }

    /// The stretches of time in which two consumers or more fetched a partition. (No case resumes a process that fetched.)
    pub(crate) fn overlaps(&self) -> Vec<String> {
        let mut fetching: BTreeMap<ConsumerId, Vec<Partition>> = BTreeMap::new();
        let mut since: BTreeMap<Partition, Time> = BTreeMap::new();
        let mut found: BTreeMap<(Time, Time), Vec<Partition>> = BTreeMap::new();
        for (_, record) in self.trace().iter() {
            if let Fact::FetchStarted { consumer, from } = &record.fact {
                fetching.insert(*consumer, from.iter().map(|(partition, _)| *partition).collect());
            } else if let Fact::FetchStopped { consumer, .. } = &record.fact {
                fetching.remove(consumer);
            } else if let Fact::ProcessCrashed { node } | Fact::ProcessPaused { node } = &record.fact {
                node.consumer().and_then(|consumer| fetching.remove(&consumer));
            }
            let readers = |partition: &Partition| fetching.values().filter(|list| list.contains(partition)).count();
            let all: Vec<Partition> = fetching.values().flatten().copied().chain(since.keys().copied()).collect();
            for partition in all {
                if readers(&partition) > 1 {
                    since.entry(partition).or_insert(record.at);
                } else if let Some(from) = since.remove(&partition) {
                    found.entry((from, record.at)).or_default().push(partition);
                }
            }
        }
        let line = |((from, to), list): (&(Time, Time), &Vec<Partition>)| {
            format!("{from} to {to}: {}", self.partitions(list.iter().copied()))
        };
        found.iter().map(line).collect()
    }

    /// The committed offset of a partition of the only topic at the end.
    pub(crate) fn committed(&self, index: u32) -> u64 {
        let topic = groupscope_core::id::TopicId(0);
        let Offset(offset) = self.simulation.committed(Partition { topic, index });
        offset
    }

    /// How many committed offsets went back.
    pub(crate) fn went_back(&self) -> u32 {
        let back = self
            .trace()
            .iter()
            .map(|(_, record)| if let Fact::OffsetsAppended { backwards, .. } = record.fact { backwards } else { 0 });
        back.sum()
    }

    /// What a join of a consumer was answered last: the generation's number and the partition counts it was told.
    pub(crate) fn last_join(&self, name: &str) -> Option<(u32, Vec<u32>)> {
        let answers = self.trace().iter().filter_map(|(_, record)| {
            let Fact::Sent { to, message: Message::Response(Response::Join(Ok(joined))), .. } = &record.fact else {
                return None;
            };
            let counts = joined.counts.iter().map(|(_, count)| *count).collect();
            (self.cast().node(*to) == name).then_some((joined.generation.number, counts))
        });
        answers.last()
    }
}
