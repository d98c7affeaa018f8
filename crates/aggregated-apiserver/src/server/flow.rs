//! How much is under way at one time, in all and for one user.
//!
//! What is too much is refused with 429 and `Retry-After`, which clients honour, before it costs anything. The limit for one user keeps
//! a client that has gone wild from taking the places of all others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::identity::User;
use crate::status::ApiStatus;

/// Places, some of them taken.
#[derive(Debug)]
pub(crate) struct Flow {
    total: usize,
    per_user: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    users: HashMap<String, usize>,
}

/// A place, free again when dropped.
#[derive(Debug)]
pub(crate) struct Place {
    flow: Arc<Flow>,
    user: String,
}

impl Flow {
    pub(crate) fn new(total: usize, per_user: usize) -> Arc<Self> {
        Arc::new(Self { total, per_user, taken: Mutex::default() })
    }

    /// Takes a place. Members of `system:masters` always get one.
    pub(crate) fn enter(self: &Arc<Self>, user: &User) -> Result<Place, ApiStatus> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.users.get(&user.name).copied().unwrap_or_default();
        if !user.is_in("system:masters") && (taken.all >= self.total || own >= self.per_user) {
            return Err(ApiStatus::too_many_requests(1));
        }
        taken.all += 1;
        taken.users.insert(user.name.clone(), own + 1);
        Ok(Place { flow: self.clone(), user: user.name.clone() })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.flow.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all = taken.all.saturating_sub(1);
        match taken.users.get_mut(&self.user) {
            Some(own) if *own > 1 => *own -= 1,
            _ => {
                taken.users.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str) -> User {
        User { name: name.into(), ..User::default() }
    }

    #[test]
    fn one_user_cannot_take_all_places() {
        let flow = Flow::new(3, 2);
        let first = flow.enter(&user("a")).unwrap();
        let _second = flow.enter(&user("a")).unwrap();
        let refused = flow.enter(&user("a")).unwrap_err();
        assert_eq!((refused.code().as_u16(), refused.retry_after_seconds()), (429, Some(1)));
        let _third = flow.enter(&user("b")).unwrap();
        assert!(flow.enter(&user("c")).is_err(), "all places are taken");
        let master = User { groups: vec!["system:masters".into()], ..user("root") };
        let _fourth = flow.enter(&master).unwrap();
        drop(first);
        assert!(flow.enter(&user("c")).is_err(), "three are still taken");
        drop(_third);
        assert!(flow.enter(&user("c")).is_ok());
    }

    #[test]
    fn nothing_is_remembered_of_those_who_left() {
        let flow = Flow::new(10, 10);
        drop((
            flow.enter(&user("a")).unwrap(),
            flow.enter(&user("a")).unwrap(),
            flow.enter(&user("b")).unwrap(),
        ));
        let taken = flow.taken.lock().unwrap();
        assert_eq!((taken.all, taken.users.len()), (0, 0));
    }
}
