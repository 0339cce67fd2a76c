//! Somebody who may edit an object, and was not allowed to answer at the risk of data.

use super::attempts::Attempt;
use crate::harness::{Thing, bash, eventually, golden, kubectl};
use pointsman::kinds::annotations::ANSWER;

/// The answer `verb` to the open question is refused to somebody who may edit, in the words of the golden file, and is taken
/// from the same once bound to the packaged role; what stands after the refusal is looked at between.
#[track_caller]
pub fn answers_only_where_allowed(thing: &Thing<'_>, resource: &str, verb: &str, unharmed: impl FnOnce()) {
    let (space, asked) = (thing.space, thing.status()["intervention"].clone());
    let offers = asked["answers"].as_array().unwrap();
    let offer = offers.iter().find(|offer| offer["verb"] == verb).unwrap_or_else(|| panic!("{asked:#}"));
    assert_eq!(offer["risk"], "DataLoss", "{offer}");
    space.kubectl(&["create", "role", "editing", "--verb=get,patch", &format!("--resource={resource}")]).ok();
    space.kubectl(&["create", "rolebinding", "editing", "--role=editing", "--user=deputy"]).ok();
    let (name, answer) = (format!("{verb}.annotate"), format!("{ANSWER}={verb}-{}", asked["id"].as_str().unwrap()));
    let attempt = Attempt::command(&name, &["annotate", &thing.path(), &answer, "--overwrite", "--as=deputy"]);
    let mut refused = attempt.run(space);
    eventually(20, "the deputy's rights are known", || {
        refused = attempt.run(space);
        !refused.err.contains("cannot")
    });
    assert_eq!(refused.code, 1, "{}", refused.text());
    assert_eq!(golden::difference(&format!("risks/{name}.txt"), &attempt.transcript(&refused, space)), None);
    assert_eq!(thing.status()["intervention"]["id"], asked["id"], "an answer that was refused was heard");
    unharmed();
    let deputies = format!("{}-deputies", space.name);
    kubectl(&["create", "clusterrolebinding", &deputies, "--clusterrole=pointsman-answers", "--user=deputy"]).ok();
    let answers = || bash(&format!("{} --as=deputy", offer["command"].as_str().unwrap()));
    if verb == "adopt" {
        // What is taken over is theirs to update and to delete, too.
        eventually(20, "who may answer is believed", || answers().err.contains("and deletes it later"));
        let kinds = "--resource=services,deployments.apps,poddisruptionbudgets.policy";
        space.kubectl(&["create", "role", "owning", "--verb=update,delete", kinds]).ok();
        space.kubectl(&["create", "rolebinding", "owning", "--role=owning", "--user=deputy"]).ok();
    }
    eventually(20, "who may answer is believed", || answers().code == 0);
    kubectl(&["delete", "clusterrolebinding", &deputies]).ok();
}
