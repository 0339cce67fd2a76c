//! What goes, what stays, and what has to be done first. Pure.

use super::words;
use super::{Definition, Found, OPERATOR, Object, Part, SHARED};

/// What the person at the prompt agreed to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Consent {
    /// Remove, and do not only tell.
    pub yes: bool,
    /// Remove the objects of users too, and the pods of all of them.
    pub objects: bool,
}

/// What is done about what was found.
#[derive(Debug)]
pub enum Verdict {
    /// Nothing, and this is why.
    Refused(String),
    /// Nothing: this is what would be done, or that there is nothing to do.
    Told(String),
    /// These go, in this order.
    Removed {
        /// Objects of users, and the definition that each is of.
        objects: Vec<(Definition, Object)>,
        /// Parts of the installation, definitions where they stand last but the namespace.
        parts: Vec<Part>,
        /// What is said when they are gone.
        said: String,
    },
}

/// Decides about an installation as it was found.
pub fn decide(found: &Found, consent: Consent) -> Verdict {
    if found.parts.is_empty() && found.definitions.is_empty() {
        return Verdict::Told(words::NOTHING.to_owned());
    }
    if let Some(why) = obstacle(found, consent) {
        return Verdict::Refused(why);
    }
    let (gone, kept): (Vec<&Definition>, Vec<&Definition>) = found.definitions.iter().partition(|definition| goes(definition, consent));
    let is_needed = |part: &&Part| part.resource.kind == SHARED && !kept.is_empty();
    let (namespaces, others): (Vec<&Part>, Vec<&Part>) =
        found.parts.iter().filter(|part| !is_needed(part)).partition(|part| part.resource.kind == "Namespace");
    let (left, last): (Vec<&Part>, Vec<&Part>) = namespaces.into_iter().partition(|namespace| stays(namespace, &kept));
    // First what could refuse the rest, then what acts, then what it acted with; a namespace last.
    let parts: Vec<Part> = others.into_iter().chain(gone.iter().map(|definition| &definition.part)).chain(last).cloned().collect();
    let stays = words::stays(&kept, &left);
    if !consent.yes {
        return Verdict::Told(words::preview(&parts, &gone, &stays));
    }
    let objects = gone.iter().flat_map(|&definition| {
        let objects = definition.objects.iter().flatten();
        objects.map(move |object| (definition.clone(), object.clone()))
    });
    Verdict::Removed { objects: objects.collect(), said: words::removed(&parts, &stays), parts }
}

/// What has to be done before anything is removed, in words.
fn obstacle(found: &Found, consent: Consent) -> Option<String> {
    let release = found.parts.iter().find_map(|part| part.release.as_ref());
    if let Some((name, namespace)) = release {
        return Some(words::held_by_helm(name, namespace));
    }
    if let Some((definition, why)) = found.definitions.iter().find_map(|one| Some((one, one.objects.as_ref().err()?))) {
        return Some(words::unlisted(definition, why));
    }
    let held = objects(found, |object| object.held);
    let runs = found.parts.iter().any(|part| part.resource.kind == OPERATOR);
    if !held.is_empty() {
        return Some(words::held(&held, runs));
    }
    let protected = objects(found, |object| object.protected);
    if consent.objects && !protected.is_empty() {
        return Some(words::protected(&protected));
    }
    let stuck = objects(found, |object| !object.finalizers.is_empty());
    if consent.objects && !stuck.is_empty() {
        return Some(words::stuck(&stuck));
    }
    let mut kept = found.definitions.iter().filter(|definition| !goes(definition, consent));
    kept.find(|definition| !definition.earlier.is_empty()).map(|definition| words::unconverted(definition, runs))
}

/// A definition goes where nothing goes with it, or where that is wished; never where what goes with it is not known.
fn goes(definition: &Definition, consent: Consent) -> bool {
    definition.objects.as_ref().is_ok_and(|objects| objects.is_empty() || consent.objects)
}

/// Would something go with this namespace that is to stay?
fn stays(namespace: &Part, kept: &[&Definition]) -> bool {
    !namespace.others.is_empty() || namespace.holds(kept)
}

fn objects(found: &Found, which: impl Fn(&Object) -> bool) -> Vec<(&Definition, &Object)> {
    let all = found.definitions.iter().flat_map(|definition| definition.objects.iter().flatten().map(move |object| (definition, object)));
    all.filter(|(_, object)| which(object)).collect()
}
