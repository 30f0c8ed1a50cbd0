//! The rules of the protocol: ids that are public API, titles, and texts in our words.
//!
//! Every fact of a trace names the rules it carries out.

use serde::Serialize;

macro_rules! rules {
    ($($id:ident, $section:ident, $title:literal, $text:literal;)*) => {
        /// A rule of the protocol. The names are public API.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
        #[repr(u8)]
        pub enum Rule {
            $(#[doc = $text] $id,)*
        }

        impl Rule {
            /// Every rule, in the document's order.
            pub const ALL: &[Rule] = &[$(Rule::$id,)*];

            /// The id as people write it, `HB1`.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Rule::$id => stringify!($id),)* }
            }

            /// A few words that name it.
            #[must_use]
            pub const fn title(self) -> &'static str {
                match self { $(Rule::$id => $title,)* }
            }

            /// What must hold, in a sentence or two.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Rule::$id => $text,)* }
            }

            /// Where the document has it.
            #[must_use]
            pub const fn section(self) -> Section {
                match self { $(Rule::$id => Section::$section,)* }
            }
        }
    };
}

/// A section of the design document.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
pub enum Section {
    /// Heartbeats, and how each side finds out that the other has failed.
    FailureDetection,
    /// Start-up, subscription, finding the coordinator.
    Startup,
    /// Joining the group.
    Joining,
    /// When the coordinator rebalances, and how in option 1.
    Rebalance,
    /// How it rebalances in option 2.
    SocketClose,
    /// Commits.
    Offsets,
    /// What follows for the consumer's own design.
    Architecture,
    /// What the document claims of its options.
    Tradeoffs,
}

impl Section {
    /// The section's title as the page shows it.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::FailureDetection => "Failure detection",
            Self::Startup => "Startup and discovery",
            Self::Joining => "Joining the group",
            Self::Rebalance => "Group rebalance",
            Self::SocketClose => "Rebalance by closing sockets",
            Self::Offsets => "Offset management",
            Self::Architecture => "Consumer architecture",
            Self::Tradeoffs => "Trade-offs",
        }
    }
}

rules! {
    HB1, FailureDetection, "A heartbeat every third of the session", "A consumer sends a heartbeat with its generation number each time a third of its session timeout has passed.";
    HB2, FailureDetection, "Answered at once", "The coordinator answers a heartbeat immediately when it carries the current generation.";
    HB3, FailureDetection, "Silence for a session: consumer failed", "When the coordinator has heard nothing from a consumer for that consumer's session timeout, it treats the consumer as failed.";
    HB4, FailureDetection, "No answer for two thirds: coordinator failed", "When a heartbeat has gone unanswered for two thirds of the session timeout, the consumer treats the coordinator as failed, however many heartbeats it has sent since.";
    HB5, FailureDetection, "Channel closed: coordinator failed", "A consumer that finds its channel to the coordinator closed treats the coordinator as failed.";
    HB6, FailureDetection, "Wrong generation: refused", "A heartbeat with an older or a newer generation is refused, which makes its consumer join again.";
    ST1, Startup, "Starting is a change of subscription", "Starting up and changing the subscription are one behaviour: subscribe, the first time from an empty list, and then join.";
    ST2, Startup, "Find the coordinator, then connect", "A consumer without a connection to the coordinator finds it by a metadata request and then connects to it.";
    CD1, Startup, "Any broker knows", "Any broker answers a metadata request, with the cluster, the leaders of the partitions asked for, and the coordinator of the group.";
    JG1, Joining, "A join carries the subscription and waits", "A join carries the consumer's present subscription. The consumer then waits for the answer: an assignment or a refusal.";
    JG2, Joining, "A join rebalances the group", "A join makes the coordinator rebalance. One that comes during a rebalance takes part in it and starts no other.";
    JG3, Joining, "When to join", "A consumer joins when it does not know its partitions, as when it has just started, or when it learns that a topic has changed, from metadata or from its own subscription.";
    RB1, Rebalance, "Rebalance: a consumer failed", "The coordinator rebalances the group when a consumer has failed.";
    RB2, Rebalance, "Rebalance: a join came", "The coordinator rebalances the group when a consumer, known or unknown, asks to join.";
    RB3, Rebalance, "Rebalance: partitions changed", "The coordinator rebalances the group when the partitions of a subscribed topic change.";
    EC0, Rebalance, "Told in the heartbeat's answer", "In option 1 the coordinator tells the members of a rebalance by an error code in the answers to their heartbeats. A member whose join it already holds is not told.";
    EC1, Rebalance, "Stop, call back, join", "Told of a rebalance, a consumer stops fetching, calls onPartitionDeassigned() and joins. It gives up what it holds before every join, whatever the reason.";
    EC2, Rebalance, "Hold the join until all have joined", "The coordinator holds a join for a known group until every member has joined. A join for an unknown group creates the group and is answered without waiting.";
    EC3, Rebalance, "Assignment and generation in the answer", "The coordinator computes the assignment and the number of the new generation and sends both in the answers to the joins.";
    EC4, Rebalance, "Missing for a session: removed, retry", "A member whose join has not come within its session timeout is removed, and the rebalance starts again: the others are told to join once more.";
    EC5, Rebalance, "Record, call back, fetch", "With a normal answer to its join a consumer records the generation, calls onPartitionAssigned() and starts fetching.";
    EC6, Rebalance, "Fatal or again", "With an error in answer to its join a consumer stops and throws if the error is fatal, and otherwise joins again.";
    SC0, SocketClose, "Told by a closed socket", "In option 2 the coordinator tells the members of a rebalance by closing their sockets. A member whose join it already holds keeps its socket.";
    SC1, SocketClose, "Broken pipe: stop and call back", "On a broken pipe a consumer stops fetching and calls onPartitionDeassigned().";
    SC2, SocketClose, "Find the coordinator, join there", "It then finds the coordinator, which may be a new one, by a metadata request and joins there.";
    SC3, SocketClose, "Answer when all have joined", "When all members have joined, the coordinator sends the assignment and the new generation in the answers to the joins.";
    SC4, SocketClose, "Unknown group: answered at once", "A join for an unknown group is answered at once, waiting for nobody.";
    SC5, SocketClose, "One kind of failure", "Losing the coordinator and being told to rebalance are one event to the consumer: there is no separate path for a failed heartbeat.";
    OC1, Offsets, "Commit: a member of the group", "A commit is accepted only from a member of the group.";
    OC2, Offsets, "Commit: owns the partitions", "A commit is accepted only from the owner of every partition it names.";
    OC3, Offsets, "Commit: the current generation", "A commit is accepted only with the current generation number.";
    OC4, Offsets, "Accepted: appended to the log", "An accepted commit is appended to the offset log of its partitions. A refused one leaves no trace there.";
    OC5, Offsets, "Refused: find, heartbeat, retry once", "A consumer whose commit was refused finds the coordinator, connects, sends a heartbeat and after a valid answer retries once, with its present generation and positions. If the heartbeat is refused it joins first. What it no longer owns is dropped and reported to the application.";
    AR1, Architecture, "The coordinator never speaks first", "The coordinator listens on each channel, receives requests and answers them.";
    AR2, Architecture, "One thread", "A consumer has a single thread: a slow callback or slow processing delays its heartbeats as well.";
    TR1, Tradeoffs, "Option 1: no needless rebalance on failover", "With error codes, a group can survive a failover of its coordinator without a rebalance.";
    TR2, Tradeoffs, "Option 1: bounded by the heartbeat", "With error codes, a rebalance cannot end before the next heartbeat of every member.";
    TR3, Tradeoffs, "Option 2: faster, at a price", "Closing sockets lifts that bound, for one more metadata request per consumer and a needless rebalance at each failover.";
    TR4, Tradeoffs, "The slowest heartbeat decides", "How long a rebalance takes is set by the longest heartbeat interval among the members; when a member fails, by its session timeout.";
}

/// Up to four rules: those that one fact carries out, in the order in which they are shown.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Rules([Option<Rule>; 4]);

impl Rules {
    /// No rule: something that the protocol does not speak of.
    pub const NONE: Self = Self([None; 4]);

    /// The rules of a list.
    ///
    /// # Panics
    /// If there are more than four.
    #[must_use]
    pub const fn of(list: &[Rule]) -> Self {
        let mut rules = [None; 4];
        let mut i = 0;
        while i < list.len() {
            rules[i] = Some(list[i]);
            i += 1;
        }
        Self(rules)
    }

    /// The rules, in order.
    pub fn iter(self) -> impl Iterator<Item = Rule> {
        self.0.into_iter().flatten()
    }

    /// Whether `rule` is among them.
    #[must_use]
    pub fn contains(self, rule: Rule) -> bool {
        self.0.contains(&Some(rule))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0[0].is_none()
    }

    /// These and one more, if there is room and it is not among them yet.
    #[must_use]
    pub fn and(mut self, rule: Rule) -> Self {
        if !self.contains(rule)
            && let Some(slot) = self.0.iter_mut().find(|slot| slot.is_none())
        {
            *slot = Some(rule);
        }
        self
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl std::fmt::Display for Rules {
    /// The ids with a space between: `HB3 RB1`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, rule) in self.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            f.write_str(rule.id())?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Rule {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|rule| rule.id() == text).ok_or_else(|| format!("there is no rule `{text}`"))
    }
}
