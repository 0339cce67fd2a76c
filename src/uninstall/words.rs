//! What the person at the prompt reads.

use super::{Definition, Object, Part};

/// How many objects are listed by name.
const LISTED: usize = 20;

pub(super) const NOTHING: &str = "Nothing of pointsman is in this cluster.\n";

pub(super) fn held_by_helm(name: &str, namespace: &str) -> String {
    format!(
        "Nothing was removed: the Helm release {name} in namespace {namespace} holds this installation.\n\
         Type: helm uninstall {name} --namespace {namespace}\n\
         It leaves the definitions and their objects; then `pointsman uninstall` tells of those.\n"
    )
}

pub(super) fn unlisted(definition: &Definition, why: &str) -> String {
    format!(
        "Nothing was removed: the objects of CustomResourceDefinition {} cannot be listed, so nobody knows what would be lost: {why}\n\
         Where it is the conversion that fails, install again, so that they can be converted. Then type this again.\n",
        definition.part.name
    )
}

pub(super) fn held(objects: &[(&Definition, &Object)], runs: bool) -> String {
    let first = if runs { "Delete them while the operator runs" } else { "No operator is here any more: install again, then delete them" };
    format!(
        "Nothing was removed: {} for the operator before {} go (a finalizer of pointsman.dev):\n{}\
         {first}, and wait until they are gone:\n{}",
        counted(objects.len(), "object waits", "objects wait"),
        if objects.len() == 1 { "it can" } else { "they can" },
        names(objects),
        commands(objects, delete),
    )
}

pub(super) fn unconverted(definition: &Definition, runs: bool) -> String {
    let first = if runs { "First" } else { "No operator is here any more: install again, then" };
    format!(
        "Nothing was removed: objects of CustomResourceDefinition {} may be stored as {}, and they stay. Only the operator converts \
         them: without it they could be neither read nor changed, and a namespace with one in it could not be deleted.\n\
         {first}: pointsman migrate-storage\n",
        definition.part.name,
        definition.earlier.join(", "),
    )
}

pub(super) fn stuck(objects: &[(&Definition, &Object)]) -> String {
    format!(
        "Nothing was removed: somebody else holds {} until a finalizer is taken off:\n{}\
         Delete them first, and wait until whoever that is has let them go:\n{}",
        counted(objects.len(), "object", "objects"),
        listed(objects, |object| format!(": {}", object.finalizers)),
        commands(objects, delete),
    )
}

pub(super) fn protected(objects: &[(&Definition, &Object)]) -> String {
    let lift = |definition: &Definition, object: &Object| {
        format!("kubectl annotate {}/{} --namespace {} pointsman.dev/protected-", definition.short, object.name, object.namespace)
    };
    format!(
        "Nothing was removed: {} protected against removal:\n{}Whoever protected them can lift that:\n{}",
        counted(objects.len(), "object is", "objects are"),
        names(objects),
        commands(objects, lift),
    )
}

pub(super) fn preview(parts: &[Part], gone: &[&Definition], stays: &str) -> String {
    if parts.is_empty() {
        return format!("Nothing is left of pointsman but this.\n{stays}");
    }
    let objects: Vec<_> = gone.iter().flat_map(|&of| of.objects.iter().flatten().map(move |object| (of, object))).collect();
    let (flag, first) = match objects.len() {
        0 => ("", String::new()),
        count => {
            let count = counted(count, "object", "objects");
            (" --remove-objects", format!("First {count} of users, whose pods go with them:\n{}Then, in this order:\n", names(&objects)))
        }
    };
    let parts: String = parts.iter().map(line).collect();
    format!("Nothing was removed yet. `pointsman uninstall --yes{flag}` removes:\n{first}{parts}{stays}")
}

pub(super) fn removed(parts: &[Part], stays: &str) -> String {
    format!("pointsman is removed: {}.\n{stays}", counted(parts.len(), "object", "objects"))
}

/// The object in words.
pub(super) fn title(part: &Part) -> String {
    let namespace = part.namespace.as_ref().map(|namespace| format!(" in namespace {namespace}")).unwrap_or_default();
    format!("{} {}{namespace}", part.resource.kind, part.name)
}

fn line(part: &Part) -> String {
    let with = if part.resource.kind == "Namespace" { ", with all that is in it" } else { "" };
    format!("  {}{with}\n", title(part))
}

/// What stays, and why: definitions that hold objects, and the namespaces of the installation that hold such objects, or
/// what is somebody else's.
pub(super) fn stays(kept: &[&Definition], namespaces: &[&Part]) -> String {
    let namespace = |part: &&Part| {
        if part.holds(kept) { format!("{} stays too, because some of them are in it.\n", title(part)) } else { inhabited(part) }
    };
    kept.iter().map(|definition| stay(definition)).chain(namespaces.iter().map(namespace)).collect()
}

/// A namespace that stays for what others have in it, or for data that outlived its object.
fn inhabited(namespace: &Part) -> String {
    let all = namespace.others.len();
    let others: Vec<String> = namespace.others.iter().take(LISTED).map(|other| format!("  {other}\n")).collect();
    let others = others.concat();
    let more = if all > LISTED { format!("  and {} more\n", all - LISTED) } else { String::new() };
    format!(
        "{} stays, because {} that no installation made would go with it, and the data of claims for good:\n{others}{more}\
         Delete what nobody needs any more. Then, to remove the namespace too, type the same again.\n",
        title(namespace),
        counted(all, "object", "objects"),
    )
}

fn stay(definition: &Definition) -> String {
    let all: Vec<_> = definition.objects.iter().flatten().map(|object| (definition, object)).collect();
    let protected = all.iter().filter(|(_, object)| object.protected).count();
    let protected = match protected {
        0 => String::new(),
        count => format!("{} protected: while nothing is installed, nothing refuses to delete them.\n", counted(count, "is", "are")),
    };
    format!(
        "CustomResourceDefinition {} stays, because {} of users would go with it:\n{}\
         Their pods keep running, and nobody looks after them; install again, and somebody does.\n{protected}\
         To remove the objects and their pods too: pointsman uninstall --yes --remove-objects\n",
        definition.part.name,
        counted(all.len(), "object", "objects"),
        names(&all),
    )
}

fn names(objects: &[(&Definition, &Object)]) -> String {
    listed(objects, |_| String::new())
}

/// The names of the first of them, each with what is to be said of it, and how many more there are.
fn listed(objects: &[(&Definition, &Object)], of: impl Fn(&Object) -> String) -> String {
    let name = |(definition, object): &(&Definition, &Object)| {
        format!("  {}/{} in namespace {}{}\n", definition.short, object.name, object.namespace, of(object))
    };
    let listed: String = objects.iter().take(LISTED).map(name).collect();
    match objects.len().saturating_sub(LISTED) {
        0 => listed,
        more => format!("{listed}  and {more} more\n"),
    }
}

fn delete(definition: &Definition, object: &Object) -> String {
    format!("kubectl delete {}/{} --namespace {}", definition.short, object.name, object.namespace)
}

fn commands(objects: &[(&Definition, &Object)], command: impl Fn(&Definition, &Object) -> String) -> String {
    let lines: Vec<String> =
        objects.iter().take(LISTED).map(|(definition, object)| format!("  {}\n", command(definition, object))).collect();
    lines.concat()
}

fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}
