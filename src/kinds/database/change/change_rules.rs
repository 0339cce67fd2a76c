//! Changes that no release of this operator makes: one row each, with what to do instead.

use crate::kinds::Violation;
use crate::kinds::database::object::rules::{FIXED_NAME, FIXED_PORT};
use crate::kinds::database::plan::Plan;
use crate::kinds::database::plan::version;
use crate::kinds::database::plan::volume::{Size, Volume};
use std::collections::BTreeSet;

const FIXED_CLASS: &str = "a claim keeps the StorageClass that it was made with. Create a second Database on the other class and restoreFrom a backup of this one.";
const UNUSED_CLASS: &str = "a claim keeps the StorageClass that it was made with. This object was never Ready and has served nobody: delete it, and create it again on the other class.";
const SHRUNK: &str = "a volume cannot shrink. Create a second Database of that size and restoreFrom a backup of this one.";
const DROPPED: &str =
    "dropping an extension can drop data that is stored with it. Leave it in the list: one that nobody uses does no harm.";
/// Why a backup is not brought back twice.
pub const RESTORED: &str = "a backup is brought back before the first Ready alone: later it would replace what was written since. Leave the field as it was; to bring back another backup, create a second Database.";
const FIXED_BACKUPS: &str = "a claim keeps the StorageClass that it was made with. Leave it; a second Database can have another.";
const UNUSED_BACKUPS: &str = "a claim keeps the StorageClass that it was made with. That of the backups has no volume yet and holds nothing: pause this object (pointsman.dev/paused=true), delete that claim, change the class, and resume.";
const SHRUNK_BACKUPS: &str = "a volume cannot shrink. Leave the size; a second Database can have another.";
const ANOTHER_MAJOR: &str =
    "this release changes no major version. Create a second Database with the other image and restoreFrom a backup of this one.";

/// What stands before a change.
#[derive(Clone, Debug, Default)]
pub struct Before {
    /// What was ready last.
    pub good: Option<Plan>,
    /// What was ordered last.
    pub applied: Option<Plan>,
    /// The volumes of the servers that exist.
    pub data: Vec<Volume>,
    /// The volume of the backups, if it exists.
    pub backups: Option<Volume>,
    /// Has the claim of the backups got its volume?
    pub backups_are_bound: bool,
}

/// The difference that a row finds: from and to, as they are printed.
type Difference = Option<(String, String)>;

/// One change that is not made.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The field, in the stored version.
    pub field: &'static str,
    /// Why, and what to do instead.
    pub why: &'static str,
    differs: fn(&Before, &Plan) -> Difference,
}

/// Every change that is not made.
pub const ROWS: &[Row] = &[
    Row { field: "spec.databaseName", why: FIXED_NAME, differs: |before, plan| good(before, plan, |plan| plan.database.clone()) },
    Row { field: "spec.port", why: FIXED_PORT, differs: |before, plan| good(before, plan, |plan| plan.port.to_string()) },
    Row { field: "spec.image", why: ANOTHER_MAJOR, differs: another_major },
    Row {
        field: "spec.storage.size",
        why: SHRUNK,
        differs: |before, plan| shrunk(&before.data, before.ordered().map(|plan| &plan.storage), &plan.storage.size),
    },
    Row {
        field: "spec.storage.storageClassName",
        why: FIXED_CLASS,
        differs: |before, plan| data_class(before, plan).filter(|_| before.good.is_some()),
    },
    Row {
        field: "spec.storage.storageClassName",
        why: UNUSED_CLASS,
        differs: |before, plan| data_class(before, plan).filter(|_| before.good.is_none()),
    },
    Row { field: "spec.extensions", why: DROPPED, differs: dropped },
    Row {
        field: "spec.backup.storage.size",
        why: SHRUNK_BACKUPS,
        differs: |before, plan| {
            let ordered = before.ordered().map(|plan| &plan.backup.storage);
            shrunk(before.backups.as_slice(), ordered, &plan.backup.storage.size).filter(|_| !follows(before, plan))
        },
    },
    Row {
        field: "spec.backup.storage.storageClassName",
        why: FIXED_BACKUPS,
        differs: |before, plan| backups_class(before, plan).filter(|_| before.backups_are_bound),
    },
    Row {
        field: "spec.backup.storage.storageClassName",
        why: UNUSED_BACKUPS,
        differs: |before, plan| backups_class(before, plan).filter(|_| !before.backups_are_bound),
    },
    Row { field: "spec.restoreFrom", why: RESTORED, differs: |before, plan| good(before, plan, source) },
];

/// Every unsupported difference between what stands and what `wanted` asks for.
pub fn unsupported(before: &Before, wanted: &Plan) -> Vec<Violation> {
    let found = |row: &Row| (row.differs)(before, wanted).map(|(from, to)| Violation::unsupported(row.field, from, to, row.why));
    ROWS.iter().filter_map(found).collect()
}

impl Before {
    /// What the volumes were made by.
    fn ordered(&self) -> Option<&Plan> {
        self.applied.as_ref().or(self.good.as_ref())
    }
}

/// What was good differs from what is wanted: before the first Ready all can be mended.
fn good(before: &Before, wanted: &Plan, value: impl Fn(&Plan) -> String) -> Difference {
    let (from, to) = (value(before.good.as_ref()?), value(wanted));
    (from != to).then_some((from, to))
}

fn source(plan: &Plan) -> String {
    match &plan.restore_from {
        Some(source) => format!("{}/{}", source.claim_name, source.file.as_deref().unwrap_or("(the newest)")),
        None => "(none)".to_owned(),
    }
}

/// A tag that names no version is left to the probe of the image.
fn another_major(before: &Before, wanted: &Plan) -> Difference {
    let (from, to) = (&before.good.as_ref()?.template.image, &wanted.template.image);
    let majors = version::major(from).zip(version::major(to));
    majors.filter(|(from, to)| from != to).map(|_| (from.clone(), to.clone()))
}

/// Is less wanted than stands? Who has made a volume larger by hand has not asked for a smaller one.
fn shrunk(volumes: &[Volume], ordered: Option<&Volume>, wanted: &Size) -> Difference {
    let largest = volumes.iter().map(|volume| &volume.size).max_by_key(|size| size.bytes)?;
    let asked = ordered.is_none_or(|ordered| wanted.bytes < ordered.size.bytes);
    (asked && wanted.bytes < largest.bytes).then(|| (largest.to_string(), wanted.to_string()))
}

/// Is the size of the backups that of a server, which cannot be either? Then that alone is said: it may be all that was written.
fn follows(before: &Before, wanted: &Plan) -> bool {
    let ordered = before.ordered().map(|plan| &plan.storage);
    wanted.backup.storage.size == wanted.storage.size && shrunk(&before.data, ordered, &wanted.storage.size).is_some()
}

/// Where a spec names no class, the cluster's default was taken, whichever it was then.
fn another_class(volumes: &[Volume], ordered: Option<&Volume>, wanted: &Volume) -> Difference {
    let real = volumes.first()?.class.as_ref();
    let same = match &wanted.class {
        Some(class) => Some(class) == real,
        None => ordered.is_none_or(|ordered| ordered.class.is_none()),
    };
    let shown = |class: Option<&String>| class.map_or("(the cluster's default)".to_owned(), Clone::clone);
    (!same).then(|| (shown(real), shown(wanted.class.as_ref())))
}

fn data_class(before: &Before, wanted: &Plan) -> Difference {
    another_class(&before.data, before.ordered().map(|plan| &plan.storage), &wanted.storage)
}

/// Where nobody wrote a class of the backups, it is that of a server: then that alone is said.
fn backups_class(before: &Before, wanted: &Plan) -> Difference {
    let ordered = before.ordered().map(|plan| &plan.backup.storage);
    let follows = wanted.backup.storage.class == wanted.storage.class && data_class(before, wanted).is_some();
    another_class(before.backups.as_slice(), ordered, &wanted.backup.storage).filter(|_| !follows)
}

fn dropped(before: &Before, wanted: &Plan) -> Difference {
    let good = &before.good.as_ref()?.extensions;
    let shown = |extensions: &BTreeSet<String>| match extensions.len() {
        0 => "(none)".to_owned(),
        _ => extensions.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
    };
    (!good.is_subset(&wanted.extensions)).then(|| (shown(good), shown(&wanted.extensions)))
}
