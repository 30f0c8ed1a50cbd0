//! A map by member id. Ids are mostly dense, and there may be many that come in no order: so there is a slot for each,
//! and a short map for ids given out so late that they are beyond the slots (decision 16).

use crate::id::MemberId;
use crate::map::Map;

/// Ids below this have a slot.
const SLOTS: usize = if cfg!(test) { 8 } else { 1 << 17 };

/// A map by member id, in the order of the ids.
#[derive(Clone, Debug)]
pub(super) struct Roll<V> {
    slots: Vec<Option<V>>,
    beyond: Map<MemberId, V>,
    len: usize,
}

impl<V> Roll<V> {
    pub(super) const fn new() -> Self {
        Self { slots: Vec::new(), beyond: Map::new(), len: 0 }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn get(&self, id: &MemberId) -> Option<&V> {
        if id.index() < SLOTS { self.slots.get(id.index())?.as_ref() } else { self.beyond.get(id) }
    }

    pub(super) fn get_mut(&mut self, id: &MemberId) -> Option<&mut V> {
        if id.index() < SLOTS { self.slots.get_mut(id.index())?.as_mut() } else { self.beyond.get_mut(id) }
    }

    pub(super) fn contains_key(&self, id: &MemberId) -> bool {
        self.get(id).is_some()
    }

    pub(super) fn insert(&mut self, id: MemberId, value: V) {
        let before = if id.index() < SLOTS {
            while self.slots.len() <= id.index() {
                self.slots.push(None);
            }
            self.slots[id.index()].replace(value)
        } else {
            self.beyond.insert(id, value)
        };
        self.len += usize::from(before.is_none());
    }

    pub(super) fn remove(&mut self, id: &MemberId) {
        let removed = if id.index() < SLOTS {
            self.slots.get_mut(id.index()).and_then(Option::take)
        } else {
            self.beyond.remove(id)
        };
        self.len -= usize::from(removed.is_some());
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (MemberId, &V)> {
        let slots = (0..).map(MemberId).zip(&self.slots).filter_map(|(id, slot)| Some((id, slot.as_ref()?)));
        slots.chain(self.beyond.iter().map(|(id, value)| (*id, value)))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (MemberId, &mut V)> {
        let slots = (0..).map(MemberId).zip(&mut self.slots).filter_map(|(id, slot)| Some((id, slot.as_mut()?)));
        slots.chain(self.beyond.iter_mut().map(|(id, value)| (*id, value)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_does_what_a_b_tree_does(steps in prop::collection::vec((any::<bool>(), 0u32..6, any::<bool>()), 0..40)) {
            let (mut ours, mut theirs) = (Roll::new(), BTreeMap::new());
            for (adds, number, late) in steps {
                let id = MemberId(if late { SLOTS as u32 + number - 3 } else { number });
                if adds {
                    ours.insert(id, number);
                    theirs.insert(id, number);
                } else {
                    ours.remove(&id);
                    theirs.remove(&id);
                }
                prop_assert_eq!((ours.len(), ours.is_empty()), (theirs.len(), theirs.is_empty()));
                prop_assert_eq!((ours.get(&id), ours.contains_key(&id)), (theirs.get(&id), theirs.contains_key(&id)));
                prop_assert!(ours.iter().eq(theirs.iter().map(|(id, value)| (*id, value))));
                prop_assert_eq!(ours.iter_mut().count(), theirs.len());
                prop_assert_eq!(ours.get_mut(&id).copied(), theirs.get(&id).copied());
            }
        }
    }
}
