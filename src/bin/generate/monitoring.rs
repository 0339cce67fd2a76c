//! The pages of metrics and of alerts, printed from their tables.

use pointsman::packages::alerts::{ALERTS, Alert};
use pointsman::packages::manifests::PRINTED;
use pointsman::telemetry::table::{Row, TABLE};

/// Every metric.
pub fn metrics() -> String {
    let row = |row: &Row| {
        let labels: Vec<String> = row.labels.iter().map(|label| format!("`{label}`")).collect();
        let seen = if row.seen { " *" } else { "" };
        format!("| `{}`{seen} | {} | {} | {} |\n", row.name, row.sort, labels.join(" "), escaped(row.help))
    };
    let rows: String = TABLE.iter().map(row).collect();
    format!("<!-- {PRINTED} -->\n\n{BEFORE}| Metric | Type | Labels | What it tells |\n|---|---|---|---|\n{rows}{AFTER}")
}

const BEFORE: &str = "\
# Metrics

Each pod of the operator serves its own at `/metrics` of port `metrics`, 8080 unless set, in plain HTTP and the text format
of OpenMetrics. Names that do not start with `pointsman_` are those of controller-runtime and client-go, with their labels and
bounds: dashboards that were made for these show this operator too.

Metrics with a `*` tell of objects. They are computed at the scrape, out of what the operator holds in memory anyway, and only
by the replica that leads, so that nothing is counted twice and nothing is left of an object that is gone. Their label
`namespace` is the object's: a scrape configuration of your own needs `honor_labels: true`, as the PodMonitor has it, or
Prometheus calls it `exported_namespace`.

";

const AFTER: &str = "
Not here, since it could not be said truly: `requeue` as a result (a look always ends with the time of the next one), the
ages of the work queue (it is a set that hands on everything every 50 ms), native histograms.

The rules made of them: [alerts.md](alerts.md). What a counter cannot tell, the log does: [logs.md](logs.md).
";

/// Every alert, a section each.
pub fn alerts() -> String {
    let section = |alert: &Alert| {
        let Alert { name, expression, lasts, severity, what, matters, next, more, .. } = alert;
        let next = plain(next);
        format!(
            "\n## {name}\n\n```promql\n{expression}\n```\n\nFor {lasts}, {severity}. {what}.\n\n{matters}.\n\nNext: {next}.\n\n{more}\n"
        )
    };
    let sections: String = ALERTS.iter().map(section).collect();
    format!("<!-- {PRINTED} -->\n\n{ALERTING}{sections}")
}

const ALERTING: &str = "\
# Alerts

For clusters with a Prometheus operator: a PodMonitor that scrapes the operator's pods, and a PrometheusRule with these
alerts. Neither is in `deploy/install.yaml`, since the API server of a cluster without that operator does not know them.

| Package | To have them |
|---|---|
| kustomize | `components: [../../components/prometheus]` in an overlay of the base, as in `deploy/kustomize/overlays/monitored` |
| Helm | `podMonitor.enabled: true` and `prometheusRule.enabled: true` |

Prometheus takes what its own `podMonitorSelector` and `ruleSelector` select: where these ask for a label, as those of
kube-prometheus-stack do, put it on both objects. The expressions are made of the metrics in [metrics.md](metrics.md) alone,
and count every pod that is scraped as one of this operator: a Prometheus over many clusters needs its cluster's label in
them.
";

/// The templates of Prometheus as a reader types them.
fn plain(text: &str) -> String {
    ["kind", "namespace", "name"]
        .iter()
        .fold(text.to_owned(), |text, label| text.replace(&format!("{{{{ $labels.{label} }}}}"), &label.to_uppercase()))
}

fn escaped(text: &str) -> String {
    text.replace('<', "&lt;").replace('>', "&gt;")
}
