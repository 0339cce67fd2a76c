//! The question that a stopped operator asks: why, the evidence, what was not done, the answers.

use super::annotations::ANSWER;
use super::digest;
use super::reason::{Reason, Risk, Verb, event};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many objects and fields one question may be about.
pub const SUBJECTS: usize = 16;

/// An open question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Intervention {
    /// The generation of the spec that the question is about.
    pub generation: i64,
    /// Names the question; it never repeats, not even for another object of the same name.
    #[schemars(length(max = 16))]
    pub id: String,
    /// How many questions this object has asked, this one included.
    pub number: i64,
    /// Why the operator stopped. A word that a release does not know stands in nobody's way.
    #[schemars(with = "String", length(max = 64))]
    pub reason: Reason,
    /// The question in a sentence.
    #[schemars(length(max = 1024))]
    pub message: String,
    /// What was seen, in the words of those who said it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    pub evidence: Vec<Evidence>,
    /// The objects, or the fields of objects, that the answers are about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = SUBJECTS))]
    pub subjects: Vec<Subject>,
    /// What was not done, and why that is safe.
    #[schemars(length(max = 1024))]
    pub not_done: String,
    /// Where the documentation treats this question.
    #[schemars(length(max = 256))]
    pub runbook: String,
    /// The legal answers, the safe one first.
    #[schemars(length(max = 8))]
    pub answers: Vec<Offer>,
    /// When it was asked.
    pub time: Time,
    /// A digest of the spec that failed, its count aside.
    #[schemars(length(max = 32))]
    pub about: String,
    /// The answer annotation as it stood when the question was asked; that value does not answer it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 1024))]
    pub unheard: Option<String>,
}

/// Something that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// The kind of the object that says it.
    #[schemars(length(max = 64))]
    pub kind: String,
    /// Its name.
    #[schemars(length(max = 256))]
    pub name: String,
    /// Its own words.
    #[schemars(length(max = 1024))]
    pub words: String,
}

/// An object, or a field of one, that an answer is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    /// The kind of the object.
    #[schemars(length(max = 64))]
    pub kind: String,
    /// Its name.
    #[schemars(length(max = 256))]
    pub name: String,
    /// Its uid, where the answer is about this very object and none that took its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 64))]
    pub uid: Option<String>,
    /// The field, as a JSON pointer, where the answer is about no more than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 512))]
    pub field: Option<String>,
    /// A digest of what the operator wanted there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 32))]
    pub wanted: Option<String>,
}

/// One legal answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offer {
    /// The verb.
    #[schemars(length(max = 32))]
    pub verb: String,
    /// What it does.
    #[schemars(length(max = 256))]
    pub effect: String,
    /// What it can cost.
    pub risk: Risk,
    /// The command that gives it.
    #[schemars(length(max = 512))]
    pub command: String,
}

impl Intervention {
    /// Does `annotation` answer this question with `verb`?
    pub fn answered(&self, verb: Verb, annotation: Option<&str>) -> bool {
        annotation != self.unheard.as_deref() && annotation == Some(&format!("{}-{}", verb.word(), self.id)) && self.offers(verb)
    }

    /// What `annotation` answers, where that is legal.
    pub fn offer(&self, annotation: &str) -> Option<&Offer> {
        self.answers.iter().find(|offer| self.value(offer) == annotation)
    }

    /// Is `verb` one of the answers?
    pub fn offers(&self, verb: Verb) -> bool {
        self.answers.iter().any(|offer| offer.verb == verb.word())
    }

    /// Why the operator stopped and what to do, in one text.
    pub fn summary(&self) -> String {
        let message: String = self.message.chars().take(700).collect();
        let message = message.trim_end_matches('.');
        format!("{message}. {}, or annotate {ANSWER}={}", self.remedy(), self.legal().replace(", ", " or "))
    }

    /// What a person can do about it, besides answering. What may hold data is nothing to be deleted.
    pub fn remedy(&self) -> &'static str {
        let holds = |subject: &Subject| ["PersistentVolumeClaim", "Secret"].contains(&subject.kind.as_str());
        if self.reason == Reason::ChildConflict && self.subjects.iter().any(holds) {
            return "It may belong to data that was kept: do not delete it before that is safe; or create this object under another name";
        }
        self.reason.remedy()
    }

    /// The legal values of the answer annotation, for a refusal.
    pub fn legal(&self) -> String {
        let values: Vec<String> = self.answers.iter().map(|offer| self.value(offer)).collect();
        values.join(", ")
    }

    fn value(&self, offer: &Offer) -> String {
        format!("{}-{}", offer.verb, self.id)
    }
}

impl Offer {
    /// The name of the fact that the answer was given.
    pub fn event(&self) -> String {
        event(&self.verb)
    }
}

/// Five characters out of an object's uid and its number of questions.
pub fn id(uid: &str, number: i64) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghjkmnpqrstuvwxyz023456789";
    let mut bits = digest::fnv(format!("{uid}/{number}").as_bytes());
    let mut letters = String::new();
    for _ in 0..5 {
        letters.push(char::from(LETTERS[usize::try_from(bits % 32).unwrap_or(0)]));
        bits /= 32;
    }
    letters
}

/// A digest of a spec, its count aside: what a question is about.
pub fn about(spec: &impl Serialize) -> String {
    let mut spec = serde_json::to_value(spec).unwrap_or_default();
    if let Some(fields) = spec.as_object_mut() {
        fields.remove("replicas");
    }
    digest::of(&spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_between_objects_and_between_questions() {
        let mut ids: Vec<String> = (0..1000).map(|number| id("6f1c", number)).collect();
        ids.extend((0..100).map(|object| id(&format!("uid-{object}"), 1)));
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all);
        assert!(ids.iter().all(|id| id.len() == 5));
    }
}
