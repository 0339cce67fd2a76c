//! The Jobs that need no backup volume: init, probe, generation.

use std::fmt::Write as _;
use std::fs;

use crate::world::{APP_PASSWORD, World, said};

#[test]
fn init_makes_role_database_and_extensions_and_a_second_run_changes_nothing() {
    let world = World::new();
    let primary = world.primary();
    let catalog = "SELECT md5(string_agg(r::text, ',')) FROM (SELECT oid, rolname, rolcanlogin, rolsuper FROM pg_roles ORDER BY 1) r";
    let databases = "SELECT string_agg(d::text, ',') FROM (SELECT oid, datname, datdba, datacl FROM pg_database ORDER BY 1) d";
    let job = || world.job("init.sh").with("POINTSMAN_EXTENSIONS", "pg_trgm\nhstore\nuuid-ossp");
    let answer = job().done();
    let identity = primary.sql("SELECT system_identifier FROM pg_control_system()");
    assert!(answer.starts_with(&format!("OK systemid={identity} version=1")), "{answer}");
    let before = (primary.sql(catalog), primary.sql(databases));
    assert_eq!(job().done(), answer);
    assert_eq!((primary.sql(catalog), primary.sql(databases)), before);
    assert_eq!(
        primary.sql_in("shop", "SELECT string_agg(extname, ' ' ORDER BY extname) FROM pg_extension"),
        "hstore pg_trgm plpgsql uuid-ossp"
    );
    assert_eq!(primary.sql("SELECT datdba::regrole || ' ' || datacl::text FROM pg_database WHERE datname = 'shop'"), "app {app=CTc/app}");
    assert_eq!(
        primary
            .sql("SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls FROM pg_roles WHERE rolname = 'app'"),
        "f"
    );
}

#[test]
fn init_finishes_a_database_that_a_killed_one_left_closed() {
    let world = World::new();
    let primary = world.primary();
    primary.sql("CREATE DATABASE shop ALLOW_CONNECTIONS false");
    world.job("init.sh").done();
    assert_eq!(
        primary.sql("SELECT datallowconn || ' ' || datacl::text FROM pg_database WHERE datname = 'shop'").split(' ').next(),
        Some("true")
    );
    assert_eq!(primary.sql("SELECT has_database_privilege('public', 'shop', 'CONNECT')"), "f");
}

/// The application owns its database, and what it has made there must not speak as the superuser.
#[test]
fn no_function_of_the_application_is_called_as_the_superuser() {
    let world = World::new();
    let primary = world.primary();
    world.job("init.sh").done();
    let trap = "CREATE SCHEMA evil;
        CREATE FUNCTION evil.format(text, text) RETURNS text LANGUAGE sql AS $$ SELECT 'ALTER ROLE app SUPERUSER' $$;
        CREATE FUNCTION public.format(text, text) RETURNS text LANGUAGE sql AS $$ SELECT 'ALTER ROLE app SUPERUSER' $$;
        ALTER DATABASE shop SET search_path = evil, public, pg_catalog;";
    said(world.client("app", APP_PASSWORD, "shop").args(["-c", trap]).output().expect("psql"));
    world.job("init.sh").with("POINTSMAN_EXTENSIONS", "pg_trgm").done();
    assert_eq!(primary.sql("SELECT rolsuper FROM pg_roles WHERE rolname = 'app'"), "f");
    let made = "SELECT extname || ' ' || extnamespace::regnamespace FROM pg_extension WHERE extname = 'pg_trgm'";
    assert_eq!(primary.sql_in("shop", made), "pg_trgm public");
}

#[test]
fn init_says_what_is_wrong() {
    let world = World::new();
    let primary = world.primary();
    let init = || world.job("init.sh").with("POINTSMAN_PATIENCE", "1");
    init().with("POINTSMAN_DATABASE", "template1").fails("NAME");
    init().with("POINTSMAN_DATABASE", "postgres").fails("NAME");
    init().with("POINTSMAN_DATABASE", "").fails("NAME");
    init().with("POINTSMAN_DATABASE", &"x".repeat(64)).fails("NAME");
    init().with("POINTSMAN_DATABASE", &"ü".repeat(32)).fails("NAME");
    init().with("POINTSMAN_EXTENSIONS", &"x".repeat(64)).fails("NAME");
    let words = init().with("POINTSMAN_EXTENSIONS", "postgis").fails("FAILED");
    assert!(words.contains("extension \"postgis\" is not available"), "{words}");
    assert_eq!(primary.sql("SELECT has_database_privilege('public', 'template1', 'CONNECT')"), "t");
    world.secret("job-secrets", "superuser-password", "wrong");
    let words = init().fails("NO_ANSWER");
    assert!(words.contains("password authentication failed"), "{words}");
    primary.stop();
    init().fails("NO_ANSWER");
}

/// A generator of one's own, so that a failure can be run again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).expect("small")
    }

    /// A name of at most so many bytes.
    fn name(&mut self, bytes: usize) -> String {
        const PARTS: [&str; 30] = [
            "'", "\"", "\\", "$$", "$x$", ";", " ", ":", "%I", "%", "`id`", "$(id)", "ä", "名", "🦀", "--", "/*", "a", "Z", "9", "=",
            "dbname=", "\t", "|", "&", "*", "{", "\\!", "_", ":'role'",
        ];
        let wanted = 1 + self.roll(bytes);
        let mut name = String::new();
        loop {
            let part = PARTS[self.roll(PARTS.len())];
            if name.len() + part.len() > wanted {
                break;
            }
            name.push_str(part);
        }
        if name.is_empty() { "'".to_owned() } else { name }
    }
}

/// Runs init for each line of /pointsman/config/names, twice, and comes in as the role that it made.
const FUZZ: &str = r#"#!/bin/bash
export TMPDIR=/pointsman/run
BIN=$(dirname "$(readlink -f "$(command -v postgres)")")
export POINTSMAN_TERMINATION_LOG=/pointsman/run/log
number=0
while IFS=, read -r role database password extension; do
    number=$((number + 1))
    POINTSMAN_ROLE=$(base64 -d <<<"$role") POINTSMAN_DATABASE=$(base64 -d <<<"$database")
    password=$(base64 -d <<<"$password") extension=$(base64 -d <<<"$extension")
    export POINTSMAN_ROLE POINTSMAN_DATABASE
    export POINTSMAN_NUMBER=$number
    bash /pointsman/scripts/init.sh >/dev/null 2>&1 || echo "$number init: $(cat /pointsman/run/log)"
    came=$(PGUSER=$POINTSMAN_ROLE PGDATABASE=$POINTSMAN_DATABASE PGPASSWORD=$password "$BIN/psql" -XAtq -c "SELECT encode(convert_to(current_user || ',' || current_database(), 'UTF8'), 'base64')" 2>&1 | tr -d '\n')
    [[ $(printf %s "$came" | base64 -d) == "$POINTSMAN_ROLE,$POINTSMAN_DATABASE" ]] || echo "$number login: $came"
    # The second run.
    POINTSMAN_EXTENSIONS=$extension bash /pointsman/scripts/init.sh >/dev/null 2>&1 && echo "$number made an extension"
    grep -qE 'is not available|invalid extension name' /pointsman/run/log || echo "$number extension: $(cat /pointsman/run/log)"
done <"/pointsman/internal/names/list"
echo OK >/dev/termination-log
"#;

#[test]
fn names_and_passwords_of_any_kind_arrive_as_they_are() {
    let world = World::new();
    let primary = world.primary();
    let mut dice = Dice(0x5eed_da7a);
    let init = fs::read_to_string(world.folder.join("scripts/init.sql")).expect("init.sql");
    fs::write(world.folder.join("scripts/init.sql"), init.replace("internal/app-verifier", "internal/names/$POINTSMAN_NUMBER"))
        .expect("a script");
    fs::write(world.folder.join("scripts/fuzz.sh"), FUZZ).expect("a script");
    fs::create_dir(world.folder.join("job-secrets/names")).expect("a folder");
    let rounds = if std::env::var_os("POINTSMAN_LONG").is_some() { 200 } else { 30 };
    let mut list = String::new();
    for number in 1..=rounds {
        let (role, database, password, extension) = match number {
            1 => (
                "ro\"le'$x$; DROP TABLE canary".to_owned(),
                "x".repeat(63),
                r"'; DROP TABLE canary; --".to_owned(),
                "x'; DROP TABLE canary".to_owned(),
            ),
            2 => ("ö".repeat(31), "dbname=postgres user=postgres".to_owned(), "$$".to_owned(), "$$; DROP TABLE canary; $$".to_owned()),
            _ => (format!("r{number}{}", dice.name(59)), format!("d{number}{}", dice.name(59)), dice.name(80), dice.name(63)),
        };
        world.secret("job-secrets/names", &number.to_string(), &password);
        let line: Vec<_> = [role, database, password, extension].iter().map(|text| base64(text)).collect();
        writeln!(list, "{}", line.join(",")).expect("a string");
    }
    world.secret("job-secrets/names", "list", &list);
    primary.sql("CREATE TABLE canary ()");
    let ended = world.job("fuzz.sh").run();
    assert_eq!(ended.log, "", "{}", ended.log);
    assert_eq!(primary.sql("SELECT count(*) FROM pg_database"), (rounds + 3).to_string());
    assert_eq!(primary.sql("SELECT count(*) FROM pg_tables WHERE tablename = 'canary'"), "1");
    println!("{rounds} names, twice each");
}

fn base64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

#[test]
fn a_probe_tells_version_settings_and_extensions_without_a_server() {
    let world = World::new();
    let answer = world
        .job("probe.sh")
        .with(
            "POINTSMAN_SETTINGS",
            "shared_buffers work_mem max_connections no_such_setting pg_stat_statements.max bad'name autovacuum DateStyle",
        )
        .with("POINTSMAN_EXTENSIONS", "pg_trgm pg_stat_statements postgis x';DROP")
        .done();
    let (head, extensions) = answer.rsplit_once(" extensions=").expect("extensions");
    let (version, settings) = head.split_once(" settings=").expect("settings");
    assert!(version.starts_with("OK version=1"), "{answer}");
    assert_eq!(
        settings.split(';').collect::<Vec<_>>(),
        ["poi,8kB,16,1073741823", "usi,kB,64,2147483647", "poi,,1,262143", "?", "poi,,100,1073741823", "?", "sib,,,", "uss,,,"]
    );
    assert_eq!(extensions, "ap--");
    let many = ["autovacuum_vacuum_cost_limit"; 100].join(" ");
    let answer = world.job("probe.sh").with("POINTSMAN_SETTINGS", &many).done();
    assert!(answer.len() < 4096, "{} bytes", answer.len());
    let nothing = world.job("probe.sh").done();
    assert!(nothing.ends_with(" settings= extensions="), "{nothing}");
}

#[test]
fn a_probe_tells_in_the_servers_words_which_values_it_does_not_take() {
    let world = World::new();
    let tried = |configuration: &str| {
        let answer = world.job("probe.sh").with("POINTSMAN_CONFIGURATION", configuration).done();
        answer.split_once(" wrong=").map(|(_, words)| words.trim().to_owned())
    };
    assert_eq!(tried("session_preload_libraries = 'auto_explain'\nmax_connections = '500'\nshared_buffers = '64GB'\n"), None);
    for taken in
        ["", "work_mem = '8MB'\nshared_preload_libraries = 'pg_stat_statements'\n", "a.b = 'it''s $x'\nsearch_path = '\"a b\", c'\n"]
    {
        assert_eq!(tried(taken), None, "{taken}");
    }
    for (wrong, words) in [
        ("work_mem = '8XB'\n", "invalid value for parameter \"work_mem\": \"8XB\" Valid units"),
        ("max_connections = 'many'\nwork_mem = '8MB'\n", "invalid value for parameter \"max_connections\": \"many\""),
        ("max_connections = '0'\n", "0 is outside the valid range for parameter \"max_connections\" (1 .. 262143)"),
        ("max_connections = '3'\n", "must be less than \"max_connections\" (3)"),
        ("shared_preload_libraries = 'no_such_library'\n", "could not access file \"no_such_library\""),
        ("wal_level = 'high'\n", "Available values: minimal, replica, logical."),
        ("timezone = 'Mars/Olympus'\n", "\"TimeZone\": \"Mars/Olympus\""),
        ("log_destination = 'nowhere'\n", "Unrecognized key word: \"nowhere\"."),
        ("session_preload_libraries = 'no_such_library'\n", "could not access file \"no_such_library\""),
        ("no_such = 'x'\n", "unrecognized configuration parameter \"no_such\""),
    ] {
        let said = tried(wrong).unwrap_or_else(|| panic!("{wrong} is taken"));
        assert!(said.contains(words), "{wrong}: {said}");
        assert!(!said.contains("/pointsman") && !said.contains("LOG:") && !said.contains("contains errors"), "{said}");
    }
}

#[test]
fn a_probe_that_cannot_answer_says_so() {
    let world = World::new();
    let words = world.job("probe.sh").program("initdb", "echo 'initdb: error: no such locale' >&2; exit 1").fails("FAILED");
    assert!(words.contains("no such locale"), "{words}");
    world.job("probe.sh").program("postgres", "exit 1").fails("FAILED");
}

#[test]
fn each_server_tells_over_the_network_which_configuration_it_has_read() {
    let world = World::new();
    let primary = world.primary();
    let replica = world.serve(1);
    let ask = || world.job("generation.sh").with("POINTSMAN_PEERS", "0=db-0 1=db-1 2=db-2").with("POINTSMAN_PATIENCE", "1").done();
    let answer = ask();
    assert!(answer.contains("0=g1,primary,1") && answer.contains("1=g1,replica,1") && answer.contains("2=silent"), "{answer}");
    world.configure("pointsman.generation = 'g2'\nmax_connections = 30");
    primary.sql("SELECT pg_reload_conf()");
    let answer = crate::pods::wait_for("the reload", || Some(ask()).filter(|answer| answer.contains("0=g2")).ok_or("g1".to_owned()));
    let fields: Vec<_> = answer.split(' ').nth(1).expect("the first pod").split(',').collect();
    assert_eq!((fields[4], fields.len()), ("1", 6), "a setting waits for a restart: {answer}");
    assert!(answer.contains("1=g1,replica"), "{answer}");
    drop(replica);
}
