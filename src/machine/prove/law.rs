//! What a kind says of facts that are true together, as data.

/// One law over a machine's facts.
#[derive(Clone, Copy, Debug)]
pub enum Law<E: 'static> {
    /// Exactly one of these is true.
    One(&'static [E]),
    /// At most one of these is true.
    AtMostOne(&'static [E]),
    /// Where one of the first is true, none of the second is.
    Excludes(&'static [E], &'static [E]),
    /// Where the first is true, one of the others is.
    Needs(E, &'static [E]),
}

impl<E: Copy> Law<E> {
    /// Is the law kept where these facts are true, and no others?
    pub fn holds(&self, is_true: &dyn Fn(E) -> bool) -> bool {
        let count = |of: &[E]| of.iter().filter(|event| is_true(**event)).count();
        match self {
            Law::One(group) => count(group) == 1,
            Law::AtMostOne(group) => count(group) <= 1,
            Law::Excludes(one, other) => count(one) == 0 || count(other) == 0,
            Law::Needs(fact, group) => !is_true(*fact) || count(group) > 0,
        }
    }
}
