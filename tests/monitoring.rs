//! The table of metrics, and what is made of it: every expression is `PromQL` over metrics and labels that the table has.

use pointsman::kinds::{Served, Visitor, visit};
use pointsman::machine::Word;
use pointsman::packages::alerts::ALERTS;
use pointsman::packages::{monitoring, objects};
use pointsman::telemetry::table::TABLE;
use promql_parser::label::Labels;
use promql_parser::parser::{AggregateExpr, BinModifier, Expr, LabelModifier, VectorMatchCardinality, VectorSelector, parse};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap_or_else(|fault| panic!("{path}: {fault}"))
}

/// What an expression asks for: metrics, each with the labels that it is selected by, and labels that it groups or joins by.
#[derive(Debug, Default)]
struct Asked {
    metrics: Vec<(String, Vec<String>)>,
    labels: BTreeSet<String>,
}

impl Asked {
    fn of(expression: &str) -> Self {
        let mut asked = Asked::default();
        asked.walk(&parse(expression).unwrap_or_else(|fault| panic!("{expression}: {fault}")));
        asked
    }

    fn walk(&mut self, expression: &Expr) {
        match expression {
            Expr::Aggregate(AggregateExpr { expr, param, modifier, .. }) => {
                self.walk(expr);
                if let Some(param) = param {
                    self.walk(param);
                }
                if let Some(modifier) = modifier {
                    self.by(modifier);
                }
            }
            Expr::Unary(unary) => self.walk(&unary.expr),
            Expr::Binary(binary) => {
                self.walk(&binary.lhs);
                self.walk(&binary.rhs);
                if let Some(BinModifier { card, matching, .. }) = &binary.modifier {
                    if let Some(matching) = matching {
                        self.by(matching);
                    }
                    if let VectorMatchCardinality::ManyToOne(labels) | VectorMatchCardinality::OneToMany(labels) = card {
                        self.add(labels);
                    }
                }
            }
            Expr::Paren(paren) => self.walk(&paren.expr),
            Expr::Subquery(subquery) => self.walk(&subquery.expr),
            Expr::VectorSelector(selector) => self.select(selector),
            Expr::MatrixSelector(matrix) => self.select(&matrix.vs),
            Expr::Call(call) => {
                for argument in &call.args.args {
                    self.walk(argument);
                }
            }
            Expr::NumberLiteral(_) | Expr::StringLiteral(_) => {}
            Expr::Extension(other) => panic!("this test does not know {other:?}"),
        }
    }

    fn select(&mut self, selector: &VectorSelector) {
        let matched = selector.matchers.matchers.iter().map(|matcher| matcher.name.clone()).collect();
        self.metrics.push((selector.name.clone().expect("a metric is named"), matched));
    }

    fn by(&mut self, modifier: &LabelModifier) {
        match modifier {
            LabelModifier::Include(labels) | LabelModifier::Exclude(labels) => self.add(labels),
        }
    }

    fn add(&mut self, labels: &Labels) {
        self.labels.extend(labels.labels.iter().cloned());
    }
}

/// What an expression says that the table does not know.
fn unknown(expression: &str) -> Vec<String> {
    let asked = Asked::of(expression);
    assert!(!asked.metrics.is_empty(), "{expression} asks for nothing");
    let mut faults = Vec::new();
    for (metric, labels) in &asked.metrics {
        let Some(row) = TABLE.iter().find(|row| row.name == metric) else {
            faults.push(format!("no metric {metric}"));
            continue;
        };
        let all = labels.iter().chain(&asked.labels);
        faults.extend(all.filter(|label| !row.labels.contains(&label.as_str())).map(|label| format!("{metric} has no label {label}")));
    }
    faults
}

#[test]
fn every_expression_is_made_of_metrics_and_labels_that_there_are() {
    assert_eq!(unknown("sum by (kind) (pointsman_stat)"), ["no metric pointsman_stat"]);
    assert_eq!(unknown("sum by (colour) (pointsman_state)"), ["pointsman_state has no label colour"]);
    assert_eq!(unknown("increase(pointsman_state{shape=\"round\"}[5m])"), ["pointsman_state has no label shape"]);
    for alert in ALERTS {
        assert_eq!(unknown(alert.expression), Vec::<String>::new(), "{}", alert.name);
    }
    println!("{} expressions parsed", ALERTS.len());
}

#[test]
fn what_an_alert_says_is_filled_in_by_labels_that_its_metrics_have() {
    for alert in ALERTS {
        let asked = Asked::of(alert.expression);
        let rows = asked.metrics.iter().flat_map(|(metric, _)| TABLE.iter().filter(move |row| row.name == metric));
        let known: BTreeSet<&str> = rows.flat_map(|row| row.labels).copied().collect();
        for text in [alert.summary, alert.what, alert.matters, alert.next] {
            for part in text.split("$labels.").skip(1) {
                let label = part.split([' ', '}']).next().unwrap_or_default();
                assert!(known.contains(label), "{}: {label} is no label of its metrics", alert.name);
            }
        }
    }
}

#[test]
fn an_object_that_nobody_looks_at_is_called_stuck_whatever_its_kind() {
    struct Starts(Vec<String>);
    impl Visitor for Starts {
        fn kind<K: Served>(&mut self) {
            self.0.push(K::START.text());
        }
    }
    let mut starts = Starts(Vec::new());
    visit(&mut starts);
    let stuck = ALERTS.iter().find(|alert| alert.name == "PointsmanStuck").expect("the alert");
    assert!(!starts.0.is_empty());
    for start in starts.0 {
        assert!(stuck.expression.contains(&format!("state=\"{start}\"")), "{start} is where a kind starts");
    }
}

#[test]
fn each_alert_has_its_section_and_the_rule_leads_there() {
    let (page, rules) = (read("docs/alerts.md"), monitoring());
    let rule = rules.iter().find(|object| object["kind"] == "PrometheusRule").expect("a rule");
    let alerts = rule["spec"]["groups"][0]["rules"].as_array().expect("rules");
    assert_eq!(alerts.len(), ALERTS.len());
    let headings: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(headings, ALERTS.iter().map(|alert| alert.name).collect::<Vec<_>>());
    for (rule, heading) in alerts.iter().zip(headings) {
        assert_eq!(rule["annotations"]["runbook_url"], format!("docs/alerts.md#{}", heading.to_lowercase()));
        for text in ["summary", "description"] {
            assert!(rule["annotations"][text].as_str().is_some_and(|text| text.len() > 30), "{rule}");
        }
    }
}

#[test]
fn only_who_asks_for_them_gets_kinds_that_a_cluster_may_not_know() {
    let foreign = |object: &Value| object["apiVersion"].as_str().is_some_and(|version| version.starts_with("monitoring.coreos.com/"));
    assert_eq!((monitoring().iter().filter(|object| foreign(object)).count(), monitoring().len()), (2, 2));
    assert_eq!(objects().iter().filter(|object| foreign(object)).count(), 0);
    assert!(!read("deploy/install.yaml").contains("monitoring.coreos.com"));
}

#[test]
fn the_table_says_each_thing_once_and_as_prometheus_spells_it() {
    let names: BTreeSet<&str> = TABLE.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), TABLE.len());
    for row in TABLE {
        assert_eq!(row.name.ends_with("_total"), row.sort == "counter", "{}", row.name);
        assert!(row.help.len() > 20 && !row.help.ends_with('.'), "{}: {}", row.name, row.help);
    }
}

#[test]
fn whatever_can_be_counted_is_counted_somewhere() {
    fn sources(folder: &Path, found: &mut String) {
        for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() && !path.ends_with("telemetry") {
                sources(&path, found);
            } else if path.is_file() {
                *found += &fs::read_to_string(&path).expect("a source file");
            }
        }
    }
    let mut elsewhere = String::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut elsewhere);
    let record = read("src/telemetry/record.rs");
    let functions: Vec<&str> = record.lines().filter_map(|line| line.strip_prefix("pub fn ")?.split('(').next()).collect();
    assert!(functions.len() > 5, "{functions:?}");
    for function in functions {
        // Called, or handed on to be called.
        let ways = [format!("telemetry::{function}("), format!("telemetry::{function})")];
        assert!(ways.iter().any(|way| elsewhere.contains(way)), "nobody calls telemetry::{function}");
    }
}
