//! Names as people read them.

use crate::cast::Cast;
use crate::id::{ConsumerId, NodeId, NodeKind};
use crate::time::Span;

/// A node within a sentence: `consumer 3` for C3, `broker 1` for B1, any other consumer by its name.
#[must_use]
pub fn node_name(cast: &Cast, node: NodeId) -> String {
    match node.kind() {
        NodeKind::Broker(broker) => format!("broker {}", broker.0 + 1),
        NodeKind::Consumer(consumer) => consumer_name(cast, consumer),
    }
}

/// A consumer within a sentence: `consumer 3` for C3, any other by its name.
#[must_use]
pub fn consumer_name(cast: &Cast, consumer: ConsumerId) -> String {
    match number(cast, consumer) {
        Some(number) => format!("consumer {number}"),
        None => cast.consumer(consumer).to_owned(),
    }
}

/// Several consumers within a sentence: `consumers 1 and 2`, `consumer 3`, `billing-a and billing-b`.
#[must_use]
pub fn consumer_names(cast: &Cast, consumers: &[ConsumerId]) -> String {
    match consumers {
        [one] => consumer_name(cast, *one),
        several if several.iter().all(|consumer| number(cast, *consumer).is_some()) => {
            format!("consumers {}", short_names(cast, several))
        }
        several => short_names(cast, several),
    }
}

/// Several consumers where it is clear what is meant: `1 and 2`; from five on `7 others`.
#[must_use]
pub(crate) fn short_names(cast: &Cast, consumers: &[ConsumerId]) -> String {
    if consumers.len() > 4 {
        return format!("{} others", consumers.len());
    }
    let name = |consumer: &ConsumerId| {
        number(cast, *consumer).map_or_else(|| cast.consumer(*consumer).to_owned(), str::to_owned)
    };
    match consumers {
        [] => "nobody".to_owned(),
        [one] => name(one),
        [most @ .., last] => {
            format!("{} and {}", most.iter().map(name).collect::<Vec<_>>().join(", "), name(last))
        }
    }
}

/// With a capital, as it begins a sentence or stands in a head.
#[must_use]
pub(crate) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A length of time as it stands in a sentence: `3 s`, `250 ms`, `1.5 s`.
#[must_use]
pub(crate) fn span_words(span: Span) -> String {
    if span < Span::from_secs(1) {
        return format!("{} ms", span.as_micros() / 1_000);
    }
    let tenths = span.as_micros() / 100_000;
    if tenths.is_multiple_of(10) { format!("{} s", tenths / 10) } else { format!("{}.{} s", tenths / 10, tenths % 10) }
}

/// The digits of a name such as `C3`.
fn number(cast: &Cast, consumer: ConsumerId) -> Option<&str> {
    let digits = cast.consumer(consumer).strip_prefix('C')?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}
