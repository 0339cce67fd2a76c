//! No password and no verifier stands where somebody else could read it.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::world::{APP_PASSWORD, REPLICATION_PASSWORD, SUPERUSER_PASSWORD, World, verifier};

/// Everything that must not be seen, and the readable middle of each verifier.
fn needles(world: &World) -> Vec<String> {
    let mut needles: Vec<String> = [SUPERUSER_PASSWORD, REPLICATION_PASSWORD, APP_PASSWORD].map(str::to_owned).into();
    for role in ["superuser", "replication", "app"] {
        let verifier = fs::read_to_string(world.folder.join(format!("job-secrets/{role}-verifier"))).expect("a verifier");
        needles.push(verifier.rsplit('$').next().expect("keys").to_owned());
    }
    needles
}

fn find(needles: &[String], text: &str) -> Option<String> {
    // SQL and passfiles write some characters twice.
    let plain = |text: &str| text.replace(['\\', '\''], "");
    let text = plain(text);
    needles.iter().find(|needle| text.contains(&plain(needle))).cloned()
}

/// Reads every command line and environment-free title of the machine until told to end.
fn watch_processes(needles: Vec<String>, end: Arc<AtomicBool>) -> std::thread::JoinHandle<(usize, Option<String>)> {
    std::thread::spawn(move || {
        let mut seen = 0;
        let mut found = None;
        while !end.load(Ordering::Relaxed) {
            for entry in fs::read_dir("/proc").expect("/proc").flatten() {
                let Ok(line) = fs::read(entry.path().join("cmdline")) else { continue };
                seen += 1;
                let text = String::from_utf8_lossy(&line).replace('\0', " ");
                found = found.or_else(|| find(&needles, &text).map(|_| text));
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        (seen, found)
    })
}

#[test]
fn no_secret_is_in_a_log_a_statistic_or_a_process_list() {
    let world = World::new();
    world.configure("log_statement = all\nlog_min_duration_statement = 0\nshared_preload_libraries = 'pg_stat_statements,auto_explain'\nauto_explain.log_min_duration = 0");
    let needles = needles(&world);
    let end = Arc::new(AtomicBool::new(false));
    let watcher = watch_processes(needles.clone(), Arc::clone(&end));
    let primary = world.primary();
    primary.sql("CREATE EXTENSION pg_stat_statements");
    let replica = world.serve(1);
    let mut told = String::new();
    told += &world.job("init.sh").with("POINTSMAN_EXTENSIONS", "pg_stat_statements").run().log;
    told += &world.job("init.sh").run().log;
    told += &world.job("dump.sh").run().log;
    told += &world.job("generation.sh").with("POINTSMAN_PEERS", "0=db-0 1=db-1").run().log;
    primary.sql("DROP DATABASE shop");
    told += &world.job("restore.sh").run().log;
    // Verifiers are written once more, in the private start of a promotion.
    let replica = world.switch_over(primary, 1, replica);
    told += &replica.sql("SELECT string_agg(query, E'\\n') FROM pg_stat_statements");
    told += &replica.log();
    for entry in fs::read_dir(&world.folder).expect("the world").flatten() {
        if entry.path().extension().is_some_and(|kind| kind == "log") {
            told += &fs::read_to_string(entry.path()).expect("a log");
        }
    }
    end.store(true, Ordering::Relaxed);
    let (seen, in_processes) = watcher.join().expect("the watcher");
    assert!(told.contains("pg_control_system"), "statements were logged");
    assert_eq!(find(&needles, &told), None);
    assert_eq!(in_processes, None);
    println!("{seen} command lines and {} bytes of logs were searched", told.len());
    // The search finds what is there.
    let planted = verifier("planted");
    replica.sql(&format!("CREATE ROLE planted PASSWORD '{planted}'"));
    assert!(find(&[planted], &replica.log()).is_some());
}
