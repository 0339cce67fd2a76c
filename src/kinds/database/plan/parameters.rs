//! Settings of PostgreSQL: which are the user's, and why the others are not.

use crate::kinds::Violation;
use crate::kinds::database::object::fields;
use crate::kinds::pod_template::Strings;
use crate::kinds::prose::beginning;
use regex_lite::Regex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A quoted name is cut here.
const NAME_CHARACTERS: usize = 80;

const FILES: &str = "the operator writes the server's files and says where they are";
const LOGS: &str = "the server's log goes where kubectl logs finds it";
const WORDS: &str = "the operator reads what the server says";
const REPLICATION: &str = "the operator sets up replication and says who the primary is";
const RECOVERY: &str = "a server recovers what its own volume holds; restore a backup with spec.restoreFrom";
const ARCHIVE: &str = "the operator makes the backups: spec.backup";
const DURABILITY: &str = "without it a crash loses or spoils what was committed";
const SPACE: &str = "it follows from spec.storage.size, so that the log of writes cannot fill the volume";
const PASSWORDS: &str = "the operator stores passwords as SCRAM-SHA-256 verifiers";
const ADDRESS: &str = "clients come by the Services that the operator keeps";
const TLS: &str = "the operator keeps the server's certificates";
const INCLUDES: &str = "a file that is included could say anything; write the settings themselves";
const OWN: &str = "it is how the operator sees which settings a server has read";
const OVERRIDES: &str = "settings that are changed in the server would win over the spec";

/// Settings that are the operator's, and why; one that ends with `*` stands for all that begin so. The port has a field.
pub const OWNED: &[(&str, &str)] = &[
    ("allow_alter_system", OVERRIDES),
    ("archive_*", ARCHIVE),
    ("bonjour*", ADDRESS),
    ("cluster_name", REPLICATION),
    ("config_file", FILES),
    ("data_directory", FILES),
    ("data_sync_retry", DURABILITY),
    ("event_source", LOGS),
    ("external_pid_file", FILES),
    ("fsync", DURABILITY),
    ("full_page_writes", DURABILITY),
    ("hba_file", FILES),
    ("hot_standby", REPLICATION),
    ("hot_standby_feedback", REPLICATION),
    ("ident_file", FILES),
    ("ignore_checksum_failure", DURABILITY),
    ("include", INCLUDES),
    ("include_dir", INCLUDES),
    ("include_if_exists", INCLUDES),
    ("lc_messages", WORDS),
    ("listen_addresses", ADDRESS),
    ("log_destination", LOGS),
    ("log_directory", LOGS),
    ("log_file_mode", LOGS),
    ("log_filename", LOGS),
    ("logging_collector", LOGS),
    ("max_slot_wal_keep_size", SPACE),
    ("max_wal_size", SPACE),
    ("min_wal_size", SPACE),
    ("password_encryption", PASSWORDS),
    ("pointsman.*", OWN),
    ("port", "spec.port says it"),
    ("primary_conninfo", REPLICATION),
    ("primary_slot_name", REPLICATION),
    ("promote_trigger_file", REPLICATION),
    ("recovery_*", RECOVERY),
    ("restore_command", RECOVERY),
    ("ssl", TLS),
    ("ssl_*", TLS),
    ("stats_temp_directory", FILES),
    ("synchronous_standby_names", REPLICATION),
    ("syslog_*", LOGS),
    ("unix_socket_*", ADDRESS),
    ("wal_keep_segments", SPACE),
    ("wal_keep_size", SPACE),
    ("wal_level", REPLICATION),
    ("wal_log_hints", REPLICATION),
    ("wal_retrieve_retry_interval", REPLICATION),
    ("zero_damaged_pages", DURABILITY),
];

// The pattern is a constant that a test compiles.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62})?$").expect("the pattern of a setting's name compiles")
});

/// Why a setting is not the user's; PostgreSQL does not tell capitals from small letters.
pub fn owned(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let covers = |row: &str| row.strip_suffix('*').map_or(row == name, |beginning| name.starts_with(beginning));
    OWNED.iter().find(|(row, _)| covers(row)).map(|(_, why)| *why)
}

/// Every setting that is not legal, or not the user's.
pub fn illegal(parameters: &Strings) -> Vec<Violation> {
    let mut faults = Vec::new();
    let mut seen = BTreeMap::new();
    for (name, value) in parameters {
        let at = format!("spec.parameters[{}]", beginning(name, NAME_CHARACTERS));
        let mut fault = |text: String| faults.push(Violation::invalid(&at, text));
        if !NAME.is_match(name) {
            fault("it is no name of a setting; write letters, digits and '_', with a prefix and '.' for an extension's".to_owned());
        } else if let Some(why) = owned(name) {
            fault(format!("it is the operator's: {why}. Remove it."));
        } else if let Some(other) = seen.insert(name.to_ascii_lowercase(), name) {
            fault(format!("{other} is the same setting: PostgreSQL does not tell capitals from small letters. Keep one of them."));
        }
        if value.len() > fields::PARAMETER_LENGTH {
            fault(format!("the value is over {} bytes long", fields::PARAMETER_LENGTH));
        }
        if value.chars().any(char::is_control) {
            fault("the value holds a line break or another control character, which no setting of PostgreSQL can; remove it".to_owned());
        }
    }
    if parameters.len() > fields::PARAMETERS {
        let text = format!("{} settings are over {}", parameters.len(), fields::PARAMETERS);
        faults.push(Violation::invalid("spec.parameters", text));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_says_why() {
        assert!(OWNED.is_sorted_by(|one, other| one.0 < other.0), "{OWNED:?}");
        assert_eq!(owned("FSync"), Some(DURABILITY));
        assert_eq!(owned("ssl"), Some(TLS));
        assert_eq!(owned("recovery_target_time"), Some(RECOVERY));
        for users in ["work_mem", "max_connections", "shared_preload_libraries", "pg_stat_statements.track", "sslx", "TimeZone"] {
            assert_eq!(owned(users), None, "{users}");
        }
    }
}
