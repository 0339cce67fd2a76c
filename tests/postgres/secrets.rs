//! No password and no verifier stands where somebody else could read it.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

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

/// Asks whoever comes for the password in clear, as a server may; what it is told is kept.
fn greedy(address: &str) -> Arc<Mutex<Vec<Vec<u8>>>> {
    let (told, listener) = (Arc::default(), TcpListener::bind((address, 5432)).expect("an address"));
    let kept: Arc<Mutex<Vec<Vec<u8>>>> = Arc::clone(&told);
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let mut asked = asks_for_the_password(&mut client).unwrap_or_default();
            asked.insert(0, b'!');
            kept.lock().expect("no panic").push(asked);
        }
    });
    told
}

/// What is answered to `AuthenticationCleartextPassword`; no encryption is offered before.
fn asks_for_the_password(client: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    client.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut packet = [0; 1024];
    let mut length = client.read(&mut packet)?;
    // SSLRequest and GSSENCRequest have eight bytes; a startup packet has more.
    while length == 8 {
        client.write_all(b"N")?;
        length = client.read(&mut packet)?;
    }
    client.write_all(&[b'R', 0, 0, 0, 8, 0, 0, 0, 3])?;
    let length = client.read(&mut packet)?;
    Ok(packet[..length].to_vec())
}

#[test]
fn a_server_that_asks_for_the_password_in_clear_is_told_none() {
    let world = World::new();
    let told = greedy(&world.address(2));
    world.point_service(2);
    let words = world.job("dump.sh").with("POINTSMAN_PATIENCE", "2").fails("NO_ANSWER");
    assert!(words.contains("scram-sha-256"), "{words}");
    let by_the_job = told.lock().expect("no panic").len();
    assert!(by_the_job > 0, "nobody came");
    // A replica that is to be cloned asks who is there.
    world.topology(&[("primary", "0"), ("epoch", "1")]);
    let replica = world.start(1);
    crate::pods::wait_for("the replica to ask", || {
        (told.lock().expect("no panic").len() > by_the_job).then_some(()).ok_or_else(|| replica.log())
    });
    drop(replica);
    let told = told.lock().expect("no panic");
    assert!(
        told.iter().all(|answer| answer == b"!"),
        "{:?}",
        told.iter().map(|answer| String::from_utf8_lossy(answer)).collect::<Vec<_>>()
    );
}
