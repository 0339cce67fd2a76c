//! The lines that outlive an object: one a stored move, and one for its end.

use super::fake::Fake;
use super::{cached, run};
use pointsman::kinds::intervention::id;
use pointsman::telemetry;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tracing_subscriber::fmt::MakeWriter;

/// What was logged.
#[derive(Clone, Default)]
pub struct Lines(Arc<Mutex<Vec<u8>>>);

impl Lines {
    /// Gathers what this thread logs from now on.
    pub fn gathered() -> (Self, tracing::subscriber::DefaultGuard) {
        let lines = Lines::default();
        let guard = tracing::subscriber::set_default(telemetry::json("info", lines.clone()));
        (lines, guard)
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    /// Every line with this message.
    pub fn of(&self, message: &str) -> Vec<Value> {
        let lines = self.text().lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect::<Vec<Value>>();
        lines.into_iter().filter(|line| line["message"] == message).collect()
    }
}

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Lines;
    fn make_writer(&self) -> Lines {
        self.clone()
    }
}

/// The fields that docs/logs.md promises.
fn promised() -> BTreeSet<String> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/logs.md")).unwrap();
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    cells.flat_map(|cell| cell.split(", ")).map(|field| field.trim_matches('`').to_owned()).collect()
}

/// A line as it is promised: what else stands in it is left out.
fn promised_part(line: &Value) -> Value {
    let promised = promised();
    let fields = line.as_object().unwrap().iter().filter(|(field, _)| promised.contains(*field) && *field != "timestamp");
    Value::Object(fields.map(|(field, value)| (field.clone(), value.clone())).collect())
}

fn stored(fake: &Fake) -> Value {
    let mut object = cached();
    object["metadata"]["resourceVersion"] = json!("43");
    object["status"] = fake.writes()[0].body["status"].clone();
    object
}

#[tokio::test(start_paused = true)]
async fn each_stored_move_is_one_line_and_so_is_the_end() {
    let (lines, _log) = Lines::gathered();
    let fake = Fake::new(&[("memcacheds", cached())], |_, _| None);
    let life = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        fake.tell("memcacheds", "MODIFIED", &stored(&fake));
        tokio::time::sleep(Duration::from_secs(5)).await;
        fake.tell("memcacheds", "DELETED", &stored(&fake));
        tokio::time::sleep(Duration::from_mins(1)).await;
    };
    tokio::join!(run(&fake, Duration::from_secs(20)), life);
    let moves = lines.of("moved");
    let [first, end] = moves.as_slice() else { panic!("{moves:#?}") };
    assert!(first["timestamp"].as_str().is_some_and(|time| time.ends_with('Z')), "{first}");
    let begun = json!({
        "message": "moved", "kind": "Memcached", "namespace": "shop", "name": "cache", "uid": "u-1",
        "from": "Pending", "to": "Creating", "cause": "FirstRollout", "generation": 1, "text": "creating 3 pods",
    });
    assert_eq!(promised_part(first), begun);
    let ended = json!({
        "message": "moved", "kind": "Memcached", "namespace": "shop", "name": "cache", "uid": "u-1",
        "from": "Creating", "to": "[*]", "cause": "Removed", "generation": 1, "text": "the object is gone",
    });
    assert_eq!(promised_part(end), ended);
}

#[tokio::test(start_paused = true)]
async fn a_move_whose_storing_was_not_answered_is_told_once_it_is_seen_and_only_then() {
    let (lines, _log) = Lines::gathered();
    // The first answer cannot be read; every later one says that the object has changed since.
    let fake = Fake::new(&[("memcacheds", cached())], |write, before| {
        write.path.ends_with("/status").then(|| if before == 0 { (200, json!("lost")) } else { super::refusal(409, "changed") })
    });
    let later = async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(lines.of("moved"), [Value::Null; 0], "nobody knows yet whether it was stored");
        fake.tell("memcacheds", "MODIFIED", &stored(&fake));
        tokio::time::sleep(Duration::from_mins(1)).await;
    };
    tokio::join!(run(&fake, Duration::from_secs(30)), later);
    let moves = lines.of("moved");
    assert_eq!(moves.len(), 1, "{moves:#?}");
    assert_eq!((&moves[0]["from"], &moves[0]["to"], &moves[0]["text"]), (&json!("Pending"), &json!("Creating"), &json!("creating 3 pods")));
}

#[tokio::test(start_paused = true)]
async fn the_answer_that_caused_a_move_is_in_its_line_and_nothing_of_the_spec() {
    let (lines, _log) = Lines::gathered();
    let answer = format!("retry-{}", id("u-1", 1));
    let mut object = super::scrape::asking();
    object["metadata"]["annotations"] = json!({ "pointsman.dev/answer": answer });
    object["spec"]["podTemplate"] = json!({ "metadata": { "annotations": { "token": "hunter2" } } });
    let fake = Fake::new(&[("memcacheds", object)], |_, _| None);
    run(&fake, Duration::from_secs(20)).await;
    let moves = lines.of("moved");
    assert_eq!((&moves[0]["cause"], &moves[0]["answer"]), (&json!("RetryAnswered"), &json!(answer)), "{moves:#?}");
    assert!(!lines.text().contains("hunter2"), "{}", lines.text());
}
