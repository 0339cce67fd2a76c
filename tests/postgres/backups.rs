//! Dumps that are read back, and restores that equal their source.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::pods::{Server, wait_for};
use crate::world::{APP_PASSWORD, SUPERUSER_PASSWORD, World, said};

/// Something of everything that a dump can forget.
const CONTENT: &str = r#"
CREATE ROLE "ro'le ""x"" GRANTED BY y" NOLOGIN CREATEDB;
COMMENT ON ROLE "ro'le ""x"" GRANTED BY y" IS E'two\nCREATE ROLE postgres;\nlines';
CREATE ROLE reader LOGIN PASSWORD 'read;er' CONNECTION LIMIT 3;
CREATE ROLE staff;
GRANT staff TO reader WITH ADMIN OPTION;
GRANT pg_read_all_data TO staff;
GRANT "ro'le ""x"" GRANTED BY y" TO app;
ALTER ROLE reader SET work_mem = '5MB';
ALTER ROLE reader IN DATABASE shop SET statement_timeout = '7s';
ALTER DATABASE shop SET search_path = 'public', 'sales';
ALTER DATABASE shop CONNECTION LIMIT 17;
COMMENT ON DATABASE shop IS 'it''s ours';
GRANT CONNECT ON DATABASE shop TO reader;
CREATE SCHEMA sales AUTHORIZATION app;
CREATE TABLE sales.orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "what? ü" text, data jsonb, tenant name DEFAULT current_user);
INSERT INTO sales.orders ("what? ü", data) SELECT 'öre ' || n || E'\n\\.', jsonb_build_object('n', n) FROM generate_series(1, 2000) n;
CREATE INDEX ON sales.orders USING gin (data);
CREATE UNLOGGED TABLE sales.hot AS SELECT n FROM generate_series(1, 100) n;
ALTER TABLE sales.orders ENABLE ROW LEVEL SECURITY;
ALTER TABLE sales.orders FORCE ROW LEVEL SECURITY;
CREATE POLICY own ON sales.orders USING (tenant = current_user);
GRANT SELECT ON sales.orders TO reader;
ALTER DEFAULT PRIVILEGES FOR ROLE app IN SCHEMA sales GRANT SELECT ON TABLES TO reader;
CREATE SEQUENCE sales.numbers INCREMENT 7;
SELECT setval('sales.numbers', 777);
ALTER TABLE sales.hot OWNER TO app;
CREATE VIEW sales.many WITH (security_barrier) AS SELECT count(*) FROM sales.orders;
CREATE FUNCTION sales.f() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN NULL; END $$;
CREATE EVENT TRIGGER watch ON ddl_command_end EXECUTE FUNCTION sales.f();
SELECT lo_put(lo_create(4711), 0, decode(repeat('00ff', 5000), 'hex'));
ALTER LARGE OBJECT 4711 OWNER TO app;
CREATE PUBLICATION all_of_it FOR ALL TABLES;
CREATE TABLE sales.days (day int, note text) PARTITION BY LIST (day);
DO $do$ BEGIN FOR n IN 1..12 LOOP
    EXECUTE format('CREATE TABLE sales.day_%s PARTITION OF sales.days FOR VALUES IN (%s)', n, n);
END LOOP; END $do$;
INSERT INTO sales.days SELECT 1 + n % 12, 'as written' FROM generate_series(1, 60000) n;
CREATE FUNCTION sales.touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.note := 'touched by a trigger'; RETURN NEW; END $$;
CREATE TRIGGER touch BEFORE INSERT OR UPDATE ON sales.days FOR EACH ROW EXECUTE FUNCTION sales.touch();
CREATE MATERIALIZED VIEW sales.sums AS SELECT day, count(*) FROM sales.days GROUP BY day;
CREATE TABLE sales.refreshed (at timestamptz DEFAULT now());
CREATE FUNCTION sales.saw() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO sales.refreshed DEFAULT VALUES; END $$;
CREATE EVENT TRIGGER refreshed ON ddl_command_end WHEN TAG IN ('REFRESH MATERIALIZED VIEW') EXECUTE FUNCTION sales.saw();
COMMENT ON EVENT TRIGGER refreshed IS 'who refreshed';
CREATE TABLE sales.words AS SELECT ARRAY['a', NULL] AS words, 12.34::money AS price;
ALTER DATABASE shop SET array_nulls = off;
ALTER ROLE ALL SET lock_timeout = '9s';
ALTER ROLE ALL SET search_path = "$user", public, "o""dd, \x";
ALTER ROLE ALL SET my.own = 'it''s \ so';
ALTER ROLE ALL SET temp_tablespaces = '';
"#;

/// What is compared beside the schema.
const ROLES: &str = "SELECT string_agg(r::text, E'\n' ORDER BY r::text) FROM (SELECT rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb,
    rolcanlogin, rolreplication, rolconnlimit, rolpassword, rolbypassrls, shobj_description(oid, 'pg_authid') FROM pg_authid
    WHERE rolname NOT LIKE 'pg\\_%' AND rolname NOT IN ('postgres', 'pointsman_replication', 'app')
    UNION ALL SELECT roleid::regrole::name, admin_option, false, false, false, false, false, 0, member::regrole::text, false, '' FROM pg_auth_members
    UNION ALL SELECT setrole::text::regrole::name, false, false, false, false, false, false, 0, setconfig::text, false,
        (SELECT coalesce(max('in a database'), '') FROM pg_database WHERE oid = setdatabase) FROM pg_db_role_setting
        WHERE setrole <> 0 OR setdatabase = 0) r";

const ROWS: &str = "SELECT string_agg(digest, ' ') FROM (
    SELECT 'orders' || count(*) || bit_xor(('x' || substr(md5(t::text), 1, 16))::bit(64)::bigint) FROM sales.orders t
    UNION ALL SELECT 'refreshed' || count(*) FROM sales.refreshed
    UNION ALL SELECT 'sums' || sum(count) FROM sales.sums
    UNION ALL SELECT 'words' || array_position(words, NULL) || price FROM sales.words
    UNION ALL SELECT note || count(*) FROM sales.days GROUP BY note
    UNION ALL SELECT 'hot' || count(*) || bit_xor(('x' || substr(md5(t::text), 1, 16))::bit(64)::bigint) FROM sales.hot t
    UNION ALL SELECT 'numbers' || last_value || is_called FROM sales.numbers
    UNION ALL SELECT 'identity' || last_value FROM sales.orders_id_seq
    UNION ALL SELECT 'large' || oid || md5(lo_get(oid)) || lomowner::regrole FROM pg_largeobject_metadata
    UNION ALL SELECT 'extensions' || string_agg(extname || extversion, ',' ORDER BY extname) FROM pg_extension) d(digest)";

fn filled() -> (World, Server) {
    let world = World::new();
    let primary = world.primary();
    world.job("init.sh").with("POINTSMAN_EXTENSIONS", "pg_trgm\nhstore").done();
    primary.sql_in("shop", CONTENT);
    (world, primary)
}

/// A dump of it, and the folder that holds it.
fn dumped(world: &World) -> PathBuf {
    let answer = world.job("dump.sh").done();
    world.folder.join("backups").join(field(&answer, "folder"))
}

fn schema(world: &World, database: &str) -> String {
    let client = world.client("postgres", SUPERUSER_PASSWORD, database);
    let mut dump = Command::new(client.get_program());
    dump.arg(client.get_args().next().expect("the root")).args([
        "sh",
        "-c",
        "exec /usr/lib/postgresql/*/bin/pg_dump --schema-only --create",
    ]);
    dump.env_clear().envs(client.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let text = said(dump.output().expect("pg_dump"));
    text.lines().filter(|line| !line.starts_with("\\restrict") && !line.starts_with("\\unrestrict")).collect::<Vec<_>>().join("\n")
}

fn field<'a>(answer: &'a str, key: &str) -> &'a str {
    answer.split(' ').find_map(|part| part.strip_prefix(key)?.strip_prefix('=')).expect("the field")
}

fn folders(backups: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(backups).expect("backups").map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.retain(|name| name != ".lock");
    names.sort();
    names
}

#[test]
fn a_restore_equals_its_source() {
    let (source, primary) = filled();
    let snapshot = source.job("dump.sh").with("POINTSMAN_DUMP", "snapshot").done();
    let before = (schema(&source, "shop"), primary.sql_in("shop", ROWS), primary.sql_in("shop", ROLES));
    let target = World::new();
    let restored = target.primary();
    let restore = |name: &str| target.job("restore.sh").backups(&source.folder.join("backups")).with("POINTSMAN_DATABASE", name);
    let answer = restore("shop").done();
    assert_eq!(field(&answer, "sha256"), field(&snapshot, "sha256"));
    target.job("init.sh").with("POINTSMAN_EXTENSIONS", "pg_trgm\nhstore").done();
    assert_eq!(schema(&target, "shop"), before.0);
    assert_eq!(restored.sql_in("shop", ROWS), before.1);
    assert_eq!(restored.sql_in("shop", ROLES), before.2);
    println!("{} lines of schema are equal", before.0.lines().count());
    // The roles of this server are its own still, and the application comes in.
    target.job("generation.sh").with("POINTSMAN_PEERS", "0=db-0").done();
    assert_eq!(
        said(target.client("app", APP_PASSWORD, "shop").args(["-c", "SELECT count(*) FROM sales.hot"]).output().expect("psql")),
        "100"
    );
    assert_eq!(said(target.client("reader", "read;er", "shop").args(["-c", "SHOW statement_timeout"]).output().expect("psql")), "7s");
    // A second run finds it done, and does nothing.
    restored.sql_in("shop", "CREATE TABLE since ()");
    restore("shop").done();
    assert_eq!(restored.sql_in("shop", "SELECT count(*) FROM pg_tables WHERE tablename = 'since'"), "1");
}

#[test]
fn a_restore_goes_by_another_name_and_a_half_one_is_begun_anew() {
    let (source, _primary) = filled();
    source.job("dump.sh").with("POINTSMAN_DUMP", "snapshot").done();
    let target = World::new();
    let restored = target.primary();
    let restore = || target.job("restore.sh").backups(&source.folder.join("backups")).with("POINTSMAN_DATABASE", "an-other");
    restore()
        .program("pg_restore", "/pointsman/programs/pg_restore \"$@\" --schema-only && echo 'error: the node went away' >&2; exit 1")
        .fails("FAILED");
    assert_eq!(restored.sql("SELECT count(*) FROM pg_database WHERE datname = 'shop'"), "1");
    // Nor is it dumped: the newest dump would be half of it.
    let dump = || target.job("dump.sh").backups(&source.folder.join("backups")).with("POINTSMAN_DUMP", "snapshot");
    dump().fails("NO_DATABASE");
    dump().with("POINTSMAN_DATABASE", "an-other").fails("NO_DATABASE");
    // What somebody wrote into it would be lost with it.
    let reader = target.client("reader", "read;er", "shop").args(["-c", "SELECT 1"]).output().expect("psql");
    assert!(String::from_utf8_lossy(&reader.stderr).contains("not permitted to log in"), "{reader:?}");
    restore().done();
    assert_eq!(
        restored.sql("SELECT string_agg(datname, ' ' ORDER BY datname) FROM pg_database WHERE NOT datistemplate"),
        "an-other postgres"
    );
    assert_eq!(restored.sql_in("an-other", "SELECT count(*) FROM sales.orders"), "2000");
    assert_eq!(said(target.client("reader", "read;er", "an-other").args(["-c", "SHOW statement_timeout"]).output().expect("psql")), "7s");
    // What was brought back is in use, maybe.
    let words = target.job("restore.sh").backups(&source.folder.join("backups")).with("POINTSMAN_DATABASE", "shop").fails("RESTORED");
    assert!(words.contains(", as an-other)"), "{words}");
    // A database that no restore began is nobody's to drop.
    restored.sql("DROP DATABASE \"an-other\"");
    restored.sql("CREATE DATABASE shop");
    target.job("restore.sh").backups(&source.folder.join("backups")).with("POINTSMAN_DATABASE", "third").fails("DATABASE_EXISTS");
}

#[test]
fn a_name_that_looks_like_a_connection_comes_back() {
    let source = World::new();
    let primary = source.primary();
    let names = ["dbname=postgres user=\"no'body\"", "postgresql://nobody@nowhere/postgres"];
    source.job("init.sh").with("POINTSMAN_DATABASE", names[0]).done();
    primary.sql_in(names[0], "CREATE TABLE here AS SELECT 7 AS number");
    source.job("dump.sh").with("POINTSMAN_DATABASE", names[0]).done();
    let target = World::new();
    let restored = target.primary();
    target.job("restore.sh").backups(&source.folder.join("backups")).with("POINTSMAN_DATABASE", names[1]).done();
    assert_eq!(restored.sql_in(names[1], "SELECT number FROM here"), "7");
    assert_eq!(restored.sql("SELECT to_regclass('here') IS NULL"), "t");
}

/// Where it is no longer asked for, another database is made in its place: dumped as any, and dropped for no restore.
#[test]
fn a_restore_that_was_given_up_leaves_nothing_to_be_served() {
    let (source, primary) = filled();
    // Such a one PostgreSQL does not drop.
    primary.sql("ALTER DATABASE shop IS_TEMPLATE true");
    source.job("dump.sh").done();
    let world = World::new();
    let server = world.primary();
    let restore = || world.job("restore.sh").backups(&source.folder.join("backups"));
    restore()
        .program("pg_restore", "/pointsman/programs/pg_restore \"$@\" --schema-only && echo 'error: the node went away' >&2; exit 1")
        .fails("FAILED");
    world.job("init.sh").done();
    assert_eq!(server.sql_in("shop", "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"), "0");
    server.sql_in("shop", "CREATE TABLE written AS SELECT 7 AS number");
    world.job("init.sh").done();
    world.job("dump.sh").with("POINTSMAN_DUMP", "snapshot").done();
    restore().fails("DATABASE_EXISTS");
    assert_eq!(server.sql_in("shop", "SELECT number FROM written"), "7");
}

#[test]
fn one_dump_is_not_taken_for_another() {
    let (source, primary) = filled();
    let dump = || field(&source.job("dump.sh").with("POINTSMAN_DUMP", "snapshot").done(), "folder").to_owned();
    let first = dump();
    std::thread::sleep(std::time::Duration::from_secs(1));
    primary.sql_in("shop", "DROP TABLE sales.hot");
    let second = dump();
    let target = World::new();
    let restored = target.primary();
    let restore = |folder: &str| target.job("restore.sh").backups(&source.folder.join("backups")).with("POINTSMAN_FOLDER", folder);
    restore(&first).done();
    let words = restore(&second).fails("RESTORED");
    assert!(words.contains(&format!("({first}, as shop)")), "{words}");
    restore(&first).done();
    assert_eq!(restored.sql_in("shop", "SELECT count(*) FROM sales.hot"), "100");
}

/// Who owns a database sets for it what he likes.
#[test]
fn what_is_set_for_a_database_hinders_no_job() {
    let (source, primary) = filled();
    primary.sql_in("shop", "CREATE TABLE of_nobody_else (n int); REVOKE ALL ON of_nobody_else FROM PUBLIC");
    for setting in [
        "default_transaction_read_only = on",
        "statement_timeout = '1ms'",
        "lock_timeout = '1ms'",
        "role = app",
        "local_preload_libraries = 'no_such_library'",
    ] {
        primary.sql(&format!("ALTER DATABASE shop SET {setting}"));
    }
    source.job("init.sh").with("POINTSMAN_EXTENSIONS", "pg_trgm\nhstore\ncitext").done();
    source.job("dump.sh").with("POINTSMAN_DUMP", "snapshot").done();
    let target = World::new();
    target.configure("default_transaction_read_only = on");
    let _restored = target.primary();
    target.job("restore.sh").backups(&source.folder.join("backups")).done();
    target.job("init.sh").with("POINTSMAN_EXTENSIONS", "pg_trgm\nhstore").done();
    let mut client = target.client("postgres", SUPERUSER_PASSWORD, "shop");
    client.env("PGOPTIONS", "-c statement_timeout=0 -c role=none -c local_preload_libraries=");
    let kept = "SELECT count(*) || current_setting('default_transaction_read_only') || current_setting('lock_timeout') FROM sales.orders";
    assert_eq!(said(client.args(["-c", kept]).output().expect("psql")), "2000on1ms");
}

#[test]
fn a_dump_that_was_damaged_is_noticed_when_it_is_made() {
    let (world, _primary) = filled();
    let dump = || world.job("dump.sh").with("POINTSMAN_DUMP", "snapshot");
    let kept = dump().done();
    let kept = field(&kept, "folder");
    std::thread::sleep(std::time::Duration::from_secs(1));
    // The program writes rubbish; the volume loses or changes a byte.
    let flip = "/pointsman/programs/pg_dump \"$@\" >/pointsman/run/d; printf '\\x5a' | dd of=/pointsman/run/d bs=1 seek=$(($(wc -c </pointsman/run/d) * 2 / 3)) conv=notrunc status=none; cat /pointsman/run/d";
    dump().program("pg_dump", flip).fails("FAILED");
    let cut = "/pointsman/programs/pg_dump \"$@\" | head -c 20000; exit 0";
    dump().program("pg_dump", cut).fails("FAILED");
    let lost = "/pointsman/programs/tee \"$@\"; for last; do :; done; truncate -s -1 \"$last\"";
    dump().program("tee", lost).fails("DAMAGED");
    let changed =
        "/pointsman/programs/tee \"$@\"; for last; do :; done; printf '\\x5a' | dd of=\"$last\" bs=1 seek=100 conv=notrunc status=none";
    dump().program("tee", changed).fails("DAMAGED");
    assert_eq!(folders(&world.folder.join("backups")), [kept]);
}

#[test]
fn a_dump_that_was_damaged_later_is_not_restored() {
    let (world, _primary) = filled();
    let folder = dumped(&world);
    let target = World::new();
    let _restored = target.primary();
    let restore = || target.job("restore.sh").backups(&world.folder.join("backups"));
    for file in ["database.dump", "roles.sql", "about"] {
        let mut bytes = fs::read(folder.join(file)).expect("a file");
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        fs::write(folder.join(file), &bytes).expect("a file");
        restore().fails("DAMAGED");
        bytes[at] ^= 1;
        fs::write(folder.join(file), &bytes).expect("a file");
    }
    restore().with("POINTSMAN_FOLDER", "backup-20200101T000000Z").fails("NO_BACKUP");
    restore().with("POINTSMAN_FOLDER", "../secrets").fails("NO_BACKUP");
    fs::remove_file(folder.join("SHA256SUMS")).expect("a file");
    restore().fails("DAMAGED");
    target.job("restore.sh").fails("NO_BACKUP");
}

/// Whoever may write to the volume of dumps may write digests, too.
#[test]
fn of_roles_only_what_pg_dumpall_writes_is_run() {
    let (world, _primary) = filled();
    let folder = dumped(&world);
    let target = World::new();
    let restored = target.primary();
    let roles = folder.join("roles.sql");
    let before = fs::read_to_string(&roles).expect("roles");
    for strange in [
        "\\! touch /tmp/obeyed",
        "CREATE ROLE a; \\! touch /tmp/obeyed",
        "COMMENT ON ROLE postgres IS 'a'\n\\! touch /tmp/obeyed\n;",
        "ALTER ROLE ALL SET search_path TO E'a\\'; \\! touch /tmp/obeyed --';",
        "COPY pg_class TO PROGRAM 'touch /tmp/obeyed';",
        "GRANT pg_monitor TO postgres; DROP DATABASE shop;",
        "DO $$ BEGIN END $$;",
    ] {
        fs::write(&roles, format!("{before}{strange}\n")).expect("roles");
        let sums = "sha256sum about database.dump list roles.sql >SHA256SUMS";
        assert!(Command::new("sh").args(["-c", sums]).current_dir(&folder).status().expect("sh").success());
        let words = target.job("restore.sh").backups(&world.folder.join("backups")).fails("DAMAGED");
        assert!(words.contains("holds what no pg_dumpall writes of roles"), "{words}");
    }
    assert_eq!(restored.sql("SELECT count(*) FROM pg_roles WHERE rolname = 'a'"), "0");
}

/// A volume of a size of its own.
struct Small(PathBuf);

impl Small {
    fn new(world: &World, size: &str) -> Self {
        let folder = world.folder.join("small");
        fs::create_dir(&folder).expect("a folder");
        let options = format!("size={size},mode=2775,uid=0,gid=999");
        assert!(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&folder).status().expect("mount").success());
        chown(&folder, Some(999), Some(999)).expect("root");
        Self(folder)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[test]
fn a_full_volume_fails_cleanly_and_keeps_the_old_dumps() {
    let (world, primary) = filled();
    let small = Small::new(&world, "1m");
    let dump = || world.job("dump.sh").backups(&small.0).with("POINTSMAN_RETAIN", "1");
    let kept = dump().done();
    let kept = field(&kept, "folder").to_owned();
    std::thread::sleep(std::time::Duration::from_secs(1));
    primary.sql_in("shop", "CREATE TABLE noise AS SELECT md5(n::text) || md5((-n)::text) AS noise FROM generate_series(1, 60000) n");
    dump().fails("NO_SPACE");
    assert_eq!(folders(&small.0), [kept.as_str()]);
    primary.sql_in("shop", "DROP TABLE noise");
    dump().done();
    assert_eq!(folders(&small.0).len(), 1, "the older one is pruned once there is another");
    assert!(!folders(&small.0).contains(&kept));
}

#[test]
fn backups_are_pruned_and_snapshots_are_not() {
    let (world, _primary) = filled();
    let backups = world.folder.join("backups");
    for name in ["backup-20250101T000000Z", "backup-20250102T000000Z", "snapshot-20240101T000000Z", ".part-backup-20250103T000000Z", "mine"]
    {
        fs::create_dir(backups.join(name)).expect("a folder");
        chown(backups.join(name), Some(999), Some(999)).expect("root");
    }
    let answer = world.job("dump.sh").with("POINTSMAN_RETAIN", "2").done();
    let newest = field(&answer, "folder");
    assert_eq!(folders(&backups), ["backup-20250102T000000Z", newest, "mine", "snapshot-20240101T000000Z"]);
    let files = ["SHA256SUMS", "about", "database.dump", "list", "roles.sql"];
    assert_eq!(folders(&backups.join(newest)), files);
    let about = fs::read_to_string(backups.join(newest).join("about")).expect("about");
    assert!(about.contains("\ndatabase=shop\n") && about.contains(field(&answer, "sha256")), "{about}");
    let words = world.job("dump.sh").with("POINTSMAN_DATABASE", "no-such").fails("FAILED");
    assert!(words.ends_with("there is no database no-such; others: shop"), "{words}");
    // Fewer are to be kept: that makes room first, and what is kept is kept where the new one fails.
    world.job("dump.sh").with("POINTSMAN_RETAIN", "1").program("pg_dump", "echo 'error: no' >&2; exit 1").fails("FAILED");
    assert_eq!(folders(&backups), [newest, "mine", "snapshot-20240101T000000Z"]);
    std::thread::sleep(std::time::Duration::from_secs(1));
    world.job("dump.sh").with("POINTSMAN_DUMP", "snapshot").with("POINTSMAN_RETAIN", "1").done();
    assert_eq!(folders(&backups).len(), 4);
}

#[test]
fn a_dump_is_the_newest_whatever_a_clock_said_before() {
    let (world, _primary) = filled();
    let backups = world.folder.join("backups");
    for name in ["backup-20991231T235959Z", "backup-20250102T000000Z"] {
        fs::create_dir(backups.join(name)).expect("a folder");
        chown(backups.join(name), Some(999), Some(999)).expect("root");
    }
    let answer = world.job("dump.sh").with("POINTSMAN_RETAIN", "1").done();
    assert_eq!(field(&answer, "folder"), "backup-21000101T000000Z");
    assert_eq!(folders(&backups), ["backup-21000101T000000Z"]);
}

/// That there is nothing to dump lets volumes go, so nothing else may pass for it.
#[test]
fn nothing_is_there_only_where_the_server_says_so() {
    let world = World::new();
    let primary = world.primary();
    let dump = || world.job("dump.sh").with("POINTSMAN_DUMP", "snapshot");
    dump().fails("NO_DATABASE");
    let cut = r#"[[ $* != *dump.sql* ]] || { echo 'psql: error: server closed the connection' >&2; exit 2; }
        exec /pointsman/programs/psql "$@""#;
    let words = dump().program("psql", cut).fails("FAILED");
    assert!(words.contains("server closed the connection"), "{words}");
    // Made by the name that the spec had before.
    primary.sql("CREATE DATABASE none");
    assert!(dump().fails("FAILED").ends_with("; others: none"));
}

/// The volume goes after a last dump, and with it all that the dump leaves out.
#[test]
fn a_last_dump_that_would_leave_databases_out_is_refused() {
    let (world, primary) = filled();
    primary.sql("CREATE DATABASE billing");
    primary.sql("CREATE DATABASE \"Old Shop\"");
    let last = || world.job("dump.sh").with("POINTSMAN_DUMP", "snapshot");
    let words = last().fails("OTHER_DATABASES");
    assert!(words.ends_with("holds shop alone, and the server has other databases: Old Shop, billing"), "{words}");
    world.job("dump.sh").done();
    primary.sql("DROP DATABASE billing");
    primary.sql("DROP DATABASE \"Old Shop\"");
    // Where psql goes by itself.
    primary.sql("CREATE TABLE stray (id int)");
    let words = last().fails("OTHER_DATABASES");
    assert!(words.ends_with("other databases: postgres"), "{words}");
    primary.sql("DROP TABLE stray; CREATE EXTENSION pg_stat_statements");
    last().done();
}

/// `pg_dump`, after which `sql` runs where `first` says so.
fn after_a_dump(first: &str, sql: &str) -> String {
    format!(
        "/pointsman/programs/pg_dump \"$@\" || exit\n[[ $1 != -V ]] || exit 0\necho dumped >>/pointsman/run/dumped\n\
         {first} \"${{0%/*}}\"/psql -XAtqc \"{sql}\" >/dev/null"
    )
}

/// The volume goes after a last dump, and with it all that was committed since it began.
#[test]
fn a_last_dump_is_made_anew_where_somebody_has_written_meanwhile() {
    const ONCE: &str = "[[ $(wc -l </pointsman/run/dumped) != 1 ]] ||";
    let (world, primary) = filled();
    let backups = world.folder.join("backups");
    let last = |hook: &str| world.job("dump.sh").with("POINTSMAN_DUMP", "snapshot").program("pg_dump", hook).run();
    primary.sql_in("shop", "CREATE TABLE public.late (n int); CREATE SEQUENCE public.ticket");
    let writes = [
        "INSERT INTO public.late VALUES (1)",
        "CREATE FUNCTION public.later() RETURNS int LANGUAGE sql AS 'SELECT 1'",
        "SELECT nextval('public.ticket')",
        "SELECT lo_create(4712)",
    ];
    for sql in writes {
        let ended = last(&after_a_dump(ONCE, sql));
        assert!(ended.success, "{sql}: {}\n{}", ended.words, ended.log);
        assert_eq!(ended.log.matches("somebody has written meanwhile").count(), 1, "{sql}: {}", ended.log);
    }
    // What the server writes by itself is no word of anybody's.
    let ended = last(&after_a_dump("", "VACUUM ANALYZE"));
    assert!(ended.success && !ended.log.contains("somebody has written"), "{}\n{}", ended.words, ended.log);
    let taken = folders(&backups);
    let ended = last(&after_a_dump("", "INSERT INTO public.late VALUES (2)"));
    assert_eq!(ended.words, "WRITTEN_TO: somebody wrote during each of 3 dumps");
    assert_eq!(folders(&backups), taken, "nothing is left of a dump that does not count");
    // A backup is a moment's picture: whatever is written later comes into the next one.
    world.job("dump.sh").program("pg_dump", &after_a_dump("", "INSERT INTO public.late VALUES (3)")).done();
}

#[test]
fn a_last_dump_sends_away_who_is_connected_and_names_who_comes_back() {
    let (world, primary) = filled();
    primary.sql_in("shop", "CREATE TABLE late (n int); GRANT ALL ON late TO app");
    let replica = world.serve(1);
    let sleeper =
        world.client("app", APP_PASSWORD, "shop").args(["-c", "SELECT pg_sleep(600)"]).stderr(Stdio::null()).spawn().expect("psql");
    let connected = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'app'";
    wait_for("a session", || if primary.sql(connected) == "1" { Ok(()) } else { Err("none".to_owned()) });
    let last = || world.job("dump.sh").with("POINTSMAN_DUMP", "snapshot");
    last().done();
    assert_eq!(primary.sql(connected), "0");
    assert!(!sleeper.wait_with_output().expect("psql").status.success());
    assert_eq!(primary.sql("SELECT count(*) FROM pg_stat_replication"), "1", "a replica follows on");
    replica.stop();

    let stopped = std::sync::atomic::AtomicBool::new(false);
    let stops = std::sync::atomic::Ordering::SeqCst;
    std::thread::scope(|scope| {
        // Ended, it comes back, writes, and stays until it is ended again.
        let comes_back = || {
            while !stopped.load(stops) {
                let writes = ["-c", "INSERT INTO public.late VALUES (1)", "-c", "SELECT pg_sleep(600)"];
                let _ = world.client("app", APP_PASSWORD, "shop").args(writes).output();
            }
        };
        let client = scope.spawn(comes_back);
        // Each dump lasts for as long as that takes on a busy machine.
        let slow = || last().program("pg_dump", "[[ $1 == -V ]] || sleep 2\nexec /pointsman/programs/pg_dump \"$@\"");
        let ended = slow().run();
        let in_a_hurry = slow().with("POINTSMAN_JOB_SECONDS", "4").run();
        stopped.store(true, stops);
        while !client.is_finished() {
            primary.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'app'");
        }
        assert!(ended.words.starts_with("WRITTEN_TO: somebody wrote during each of 3 dumps; connected was app at "), "{}", ended.words);
        assert!(ended.words.ends_with(" (psql)"), "{}", ended.words);
        assert!(in_a_hurry.words.starts_with("WRITTEN_TO: somebody wrote during each of 1 dumps; "), "{}", in_a_hurry.words);
    });
}

#[test]
fn a_last_dump_does_not_leave_out_what_is_prepared() {
    let world = World::new();
    world.configure("max_prepared_transactions = 2\n");
    let primary = world.primary();
    primary.sql("CREATE DATABASE shop");
    primary.sql_in("shop", "CREATE TABLE late (n int)");
    primary.sql_in("shop", "BEGIN; INSERT INTO late VALUES (1); PREPARE TRANSACTION 'order 7'");
    let last = || world.job("dump.sh").with("POINTSMAN_DUMP", "snapshot");
    let words = last().fails("WRITTEN_TO");
    assert!(words.ends_with("transactions are prepared, and neither committed nor rolled back: order 7"), "{words}");
    world.job("dump.sh").done();
    primary.sql_in("shop", "COMMIT PREPARED 'order 7'");
    last().done();
}

#[test]
fn a_replica_is_not_dumped() {
    let world = World::new();
    let _primary = world.primary();
    let _replica = world.serve(1);
    world.job("dump.sh").with("PGHOST", "db-1").fails("NOT_PRIMARY");
}

/// Two that began in one second would be one folder in the other.
#[test]
fn a_dump_has_a_folder_of_its_own() {
    let (world, _primary) = filled();
    let now = jiff::Timestamp::now();
    let taken: Vec<String> =
        (0..8).map(|second| (now + jiff::SignedDuration::from_secs(second)).strftime("backup-%Y%m%dT%H%M%SZ").to_string()).collect();
    for name in &taken {
        fs::create_dir(world.folder.join("backups").join(name)).expect("a folder");
    }
    let folder = field(&world.job("dump.sh").done(), "folder").to_owned();
    assert!(!taken.contains(&folder), "{folder} was there");
    assert!(world.folder.join("backups").join(&folder).join("database.dump").exists());
    assert!(taken.iter().all(|name| fs::read_dir(world.folder.join("backups").join(name)).expect("a folder").next().is_none()));
}
