//! Names of the children: what users see and type, and what a CronJob, a StatefulSet and a Job may be called at all.

/// The Service of the primary, the StatefulSet, the CronJob and the PodDisruptionBudget.
pub fn own(name: &str) -> String {
    name.to_owned()
}

/// The Service of the read replicas.
pub fn read_only(name: &str) -> String {
    format!("{name}-ro")
}

/// The headless Service that gives each pod an address.
pub fn pods(name: &str) -> String {
    format!("{name}-pods")
}

/// The pod of an ordinal.
pub fn pod(name: &str, ordinal: u32) -> String {
    format!("{name}-{ordinal}")
}

/// The template of the servers' claims.
pub const DATA: &str = "data";

/// The claim of an ordinal, as the StatefulSet names it.
pub fn claim(name: &str, ordinal: u32) -> String {
    format!("{DATA}-{name}-{ordinal}")
}

/// The claim that keeps the dumps.
pub fn backups(name: &str) -> String {
    format!("{name}-backups")
}

/// The Secret that applications connect with.
pub fn application(name: &str) -> String {
    format!("{name}-app")
}

/// The Secret that no user mounts.
pub fn internal(name: &str) -> String {
    format!("{name}-internal")
}

/// The ConfigMap that says who the primary is.
pub fn topology(name: &str) -> String {
    format!("{name}-topology")
}

/// A ConfigMap with the settings that need a restart, by their digest: one that is in use never changes.
pub fn configuration(name: &str, digest: &str) -> String {
    format!("{name}-config-{digest}")
}

/// The ConfigMap with the settings that are reloaded.
pub fn settings(name: &str) -> String {
    format!("{name}-settings")
}

/// The ConfigMap that outlives the object and says where its last dump is: the first one, or a later one.
pub fn tombstone(name: &str, uid: &str, number: u32) -> String {
    let beginning: String = uid.chars().take(5).collect();
    match number {
        0 | 1 => format!("{name}-tombstone-{beginning}"),
        number => format!("{name}-tombstone-{beginning}-{number}"),
    }
}

/// Work that one Job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Makes role, database and extensions.
    Init,
    /// Takes the last dump before deletion.
    Snapshot,
    /// Looks into an image.
    Probe,
    /// Brings a backup back.
    Restore,
    /// Asks every server which settings it has read, and how far it is.
    Generation,
}

impl Work {
    /// Every piece of work.
    pub const ALL: [Work; 5] = [Work::Init, Work::Snapshot, Work::Probe, Work::Restore, Work::Generation];

    /// Does it take as long as there is data? One that was begun is waited for, whatever was asked meanwhile.
    pub fn is_long(self) -> bool {
        matches!(self, Work::Snapshot | Work::Restore)
    }

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Work::Init => "init",
            Work::Snapshot => "snapshot",
            Work::Probe => "probe",
            Work::Restore => "restore",
            Work::Generation => "generation",
        }
    }

    /// The same in four letters: with them, and an id of five, the longest name is as long as a Job's may be.
    fn short_name(self) -> &'static str {
        match self {
            Work::Init => "init",
            Work::Snapshot => "dump",
            Work::Probe => "look",
            Work::Restore => "load",
            Work::Generation => "read",
        }
    }
}

/// The Job of a piece of work; of one that is done again, under the id of the question that was answered so.
pub fn job(name: &str, work: Work, again: Option<&str>) -> String {
    match again {
        None => format!("{name}-{}", work.name()),
        Some(id) => format!("{name}-{}-{id}", work.short_name()),
    }
}

/// The names of the objects that may have a child of this name: each name is its own child, and each beginning of it that is
/// followed by what children's names end with.
pub fn owners(child: &str) -> Vec<String> {
    let claims = child.strip_prefix(DATA).and_then(|rest| rest.strip_prefix('-'));
    let ordinal = claims.and_then(|rest| rest.rsplit_once('-')).filter(|(_, ordinal)| ordinal.parse::<u32>().is_ok());
    let cuts = child.match_indices('-').map(|(at, _)| at).filter(|at| {
        let ending = &child[at + 1..];
        let first = ending.split('-').next().unwrap_or_default();
        ENDINGS.contains(&first) || Work::ALL.iter().any(|work| [work.name(), work.short_name()].contains(&first))
    });
    let beginnings = cuts.map(|at| child[..at].to_owned());
    let claimed = ordinal.map(|(name, _)| name.to_owned());
    beginnings.chain(claimed).chain([child.to_owned()]).filter(|name| !name.is_empty()).collect()
}

/// The words after an object's name in the names of its children, Jobs aside.
const ENDINGS: [&str; 9] = ["ro", "pods", "backups", "app", "internal", "topology", "config", "settings", "tombstone"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::faults::is_label;
    use crate::kinds::object_rules::NAME_LENGTH;

    #[test]
    fn the_longest_name_leaves_room_for_every_child() {
        let name = "n".repeat(NAME_LENGTH);
        let last = u32::try_from(crate::kinds::database::object::fields::REPLICAS.1).expect("a few") - 1;
        // The limit of a CronJob's name; its Jobs carry eleven characters more.
        assert!(own(&name).len() <= 52);
        // Names of Services are labels; those of StatefulSets, Jobs and pods are values of labels.
        let revision = format!("{}-5d8f7b9c6d", own(&name));
        let labels = [read_only(&name), pods(&name), pod(&name, last), revision, own(&name) + "-1234567890"];
        let jobs = Work::ALL.into_iter().flat_map(|work| [job(&name, work, None), job(&name, work, Some("k7m2q"))]);
        for label in labels.into_iter().chain(jobs) {
            assert!(is_label(&label), "{label} has {} characters", label.len());
        }
        let digest = crate::kinds::digest::of(&name);
        let others =
            [claim(&name, last), backups(&name), application(&name), internal(&name), topology(&name), configuration(&name, &digest)];
        let more = [settings(&name), tombstone(&name, "0123456789", u32::MAX)];
        for other in others.into_iter().chain(more) {
            assert!(other.len() <= 253, "{other}");
        }
    }

    #[test]
    fn a_job_that_is_done_again_has_another_name() {
        assert_eq!(job("shop", Work::Snapshot, None), "shop-snapshot");
        assert_eq!(job("shop", Work::Snapshot, Some("k7m2q")), "shop-dump-k7m2q");
        let names: std::collections::BTreeSet<String> = Work::ALL.into_iter().map(|work| job("shop", work, Some("k7m2q"))).collect();
        assert_eq!(names.len(), Work::ALL.len());
    }

    #[test]
    fn a_tombstone_names_the_beginning_of_the_uid() {
        assert_eq!(tombstone("shop", "3f2a91c4-0000", 1), "shop-tombstone-3f2a9");
        assert_eq!(tombstone("shop", "3f2a91c4-0000", 2), "shop-tombstone-3f2a9-2");
        assert_eq!(claim("shop", 2), "data-shop-2");
    }
}
