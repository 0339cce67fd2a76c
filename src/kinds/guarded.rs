//! Fields of a spec that take more than the right to write the object: by them its writer would reach what is not his.

/// A field, the values that take more, and what they take.
#[derive(Clone, Copy, Debug)]
pub struct Guarded {
    /// The field, from the object on.
    pub field: &'static str,
    /// Which of its values.
    pub values: Values,
    /// What its writer has to be allowed.
    pub right: Right,
    /// Why: what whoever writes it could do.
    pub why: &'static str,
}

/// Values of a field.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// Whatever is written there.
    All,
    /// All but the default.
    AllBut(&'static str),
    /// This one, on an object that is there: one may be made with it.
    Only(&'static str),
}

/// What somebody may be allowed, beside writing the object.
#[derive(Clone, Copy, Debug)]
pub enum Right {
    /// To create pods in the namespace.
    CreatePods,
    /// To create Services in the namespace.
    CreateServices,
    /// To answer at the risk of data.
    Answer,
}

/// What every kind lets its users say of the pods.
pub const POD_TEMPLATE: Guarded = Guarded {
    field: "spec.podTemplate",
    values: Values::All,
    right: Right::CreatePods,
    why: "by it pods run as any ServiceAccount, at any priority, on any node, and under any label of the namespace",
};
