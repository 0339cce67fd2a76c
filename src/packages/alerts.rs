//! The alerts: one row each. The `PrometheusRule` and `docs/alerts.md` are printed from here.

/// What somebody is called for.
#[derive(Clone, Copy, Debug)]
pub struct Alert {
    /// Its name.
    pub name: &'static str,
    /// When it is so, in `PromQL`.
    pub expression: &'static str,
    /// For how long before somebody is called.
    pub lasts: &'static str,
    /// `critical`: users wait; `warning`: they will.
    pub severity: &'static str,
    /// One line; templates of Prometheus fill in the object.
    pub summary: &'static str,
    /// What is so.
    pub what: &'static str,
    /// Why it matters.
    pub matters: &'static str,
    /// What to type next.
    pub next: &'static str,
    /// What else a person wants to know who reads the page.
    pub more: &'static str,
}

/// Every alert.
pub const ALERTS: &[Alert] = &[
    Alert {
        name: "PointsmanQuestionOpen",
        expression: "pointsman_interventions == 1",
        lasts: "5m",
        severity: "warning",
        summary: "{{ $labels.kind }} {{ $labels.namespace }}/{{ $labels.name }} waits for an answer: {{ $labels.reason }}",
        what: "The operator stopped work on this object and asks a person",
        matters: "What ran before still runs, but no change of the object is made until the question is closed",
        next: "kubectl --namespace {{ $labels.namespace }} describe {{ $labels.kind }} {{ $labels.name }}, which shows the question, what was seen, and the commands that answer it",
        more: "Another spec closes most questions as well. The page of the kind's states, under *Questions*, tells what each reason means, what was not done, and when it closes by itself.",
    },
    Alert {
        name: "PointsmanConditionLost",
        expression: "pointsman_condition == 0",
        lasts: "5m",
        severity: "warning",
        summary: "{{ $labels.kind }} {{ $labels.namespace }}/{{ $labels.name }}: {{ $labels.condition }} is False",
        what: "A condition that objects of this kind have beside the common ones does not hold",
        matters: "The object serves, and something that it was to do beside that is not done: a promise of its spec is not kept",
        next: "kubectl --namespace {{ $labels.namespace }} get {{ $labels.kind }} {{ $labels.name }} --output jsonpath='{range .status.conditions[?(@.status==\"False\")]}{.type}: {.message}{\"\\n\"}{end}'",
        more: "The page of the kind's states, under *Conditions*, tells what each of them means. An Event beside the object was written when it turned, and another is when it holds again.",
    },
    Alert {
        name: "PointsmanStuck",
        expression: "time() - pointsman_deadline_timestamp_seconds > 300 or (pointsman_state_seconds > 300 and on (kind, namespace, name) pointsman_state{state=\"Pending\"})",
        lasts: "5m",
        severity: "warning",
        summary: "{{ $labels.kind }} {{ $labels.namespace }}/{{ $labels.name }} is neither done nor asked about",
        what: "The deadline of the work on this object passed more than 5 minutes ago, or nobody has looked at it since it was made, and the operator did not ask",
        matters: "A deadline ends in progress or in a question; that it did neither means that the operator cannot look at this object, or cannot write its status",
        next: "kubectl --namespace {{ $labels.namespace }} get {{ $labels.kind }} {{ $labels.name }} --output yaml, and the operator's log of that name: kubectl logs --selector app.kubernetes.io/component=operator --prefix --tail=-1 in the operator's namespace",
        more: "The deadline is the one in `.status.deadlineTime`: settings and progress move it, and the alert with it. Look at `rest_client_requests_total` for answers other than 2xx, at `controller_runtime_reconcile_errors_total`, and for an Event `StatusRefused` or `RightMissing` beside the object.",
    },
    Alert {
        name: "PointsmanBlind",
        expression: "max by (namespace, resource) (pointsman_blind) == 1",
        lasts: "5m",
        severity: "warning",
        summary: "the operator may not list {{ $labels.resource }}{{ if $labels.namespace }} in {{ $labels.namespace }}{{ end }}",
        what: "The API server refuses the operator a right that its roles have, in one namespace or, where none is named, in the whole cluster",
        matters: "Nothing is repaired and no change is carried out for the objects there: what stands around them is not known",
        next: "kubectl auth can-i list {{ $labels.resource }} --namespace {{ $labels.namespace }} --as system:serviceaccount:NAMESPACE:pointsman, with the operator's own namespace for NAMESPACE",
        more: "A RoleBinding `pointsman-watched` that is missing in a namespace of `watchNamespaces` is the usual cause. Each object there has an Event `RightMissing` with the API server's words, unless the right to write Events is missing with the rest.",
    },
    Alert {
        name: "PointsmanFlapping",
        expression: "sum by (kind, namespace, name) (changes(pointsman_state_entered_timestamp_seconds[1h])) > 12",
        lasts: "0m",
        severity: "warning",
        summary: "{{ $labels.kind }} {{ $labels.namespace }}/{{ $labels.name }} moved {{ $value }} times within an hour",
        what: "The object goes from state to state and does not come to rest",
        matters: "Pods come and go with it, or somebody changes the spec again and again",
        next: "kubectl --namespace {{ $labels.namespace }} get {{ $labels.kind }} {{ $labels.name }} --output jsonpath='{range .status.history[*]}{.time} {.from} -> {.to} ({.cause}){\"\\n\"}{end}', which names the cause of each move",
        more: "`PodsLost` again and again: look at the pods, their nodes, and evictions. `ReplicasChanged`: an autoscaler that does not settle; give it a longer `stabilizationWindowSeconds`. `TemplateChanged`: two writers of one spec, as two GitOps tools. `ChildrenDrifted`: another writer changes a child; a fight of that sort ends in a question. Moves between two scrapes are counted as one.",
    },
    Alert {
        name: "PointsmanCertificateExpires",
        expression: "min by (certificate) (pointsman_certificate_expiry_timestamp_seconds) - time() < 14 * 24 * 3600",
        lasts: "1h",
        severity: "warning",
        summary: "the webhooks' {{ $labels.certificate }} certificate runs out in {{ $value | humanizeDuration }}",
        what: "The operator renews its certificates long before, and did not",
        matters: "Once it has run out, the API server cannot call the webhooks, and no object of the operator's kinds can be made or changed",
        next: "kubectl logs --selector app.kubernetes.io/component=operator --prefix --tail=-1 in the operator's namespace, and look for lines about the certificates; where cert-manager issues them, kubectl get certificates there",
        more: "A leaf lives for 90 days and is renewed after 60. The replica that leads renews it: see that there is one (PointsmanNoLeader), and that it may update the Secret `pointsman-certificates`.",
    },
    Alert {
        name: "PointsmanCertificateMismatch",
        expression: "max(pointsman_certificate_mismatch) == 1 or absent(pointsman_certificate_expiry_timestamp_seconds{certificate=\"leaf\"})",
        lasts: "5m",
        severity: "critical",
        summary: "the API server does not trust the certificate that the webhooks present, or there is none",
        what: "A caBundle in the webhook configuration or in a definition does not fit the leaf that a replica presents; or no replica has a leaf that can be used, or none is scraped",
        matters: "The API server cannot call the webhooks, and no object of the operator's kinds can be made or changed",
        next: "kubectl logs --selector app.kubernetes.io/component=operator --prefix --tail=-1 in the operator's namespace: the replica that leads writes both bundles, and says why it cannot",
        more: "Somebody else who writes `caBundle`, as a GitOps tool that applies an empty one, is the usual cause: let it leave that field alone.",
    },
    Alert {
        name: "PointsmanNoLeader",
        expression: "(sum(pointsman_leader) or vector(0)) != 1",
        lasts: "5m",
        severity: "critical",
        summary: "{{ $value }} replicas of the operator lead, where one should",
        what: "No replica holds the Lease, or none is scraped; or more than one says that it leads",
        matters: "Without one that leads nothing is repaired, no change is carried out, and no question is asked; what runs keeps running",
        next: "kubectl get pods,leases in the operator's namespace, then kubectl logs --selector app.kubernetes.io/component=operator --prefix --tail=-1 there",
        more: "Where pods run and one of them leads, Prometheus does not reach them: look at its targets, at the PodMonitor, and at the NetworkPolicy. A replica that waits for its caches says in its log what it cannot list.",
    },
    Alert {
        name: "PointsmanVolumesGone",
        expression: "increase(pointsman_volumes_gone_total[1h]) > 0",
        lasts: "0m",
        severity: "warning",
        summary: "volumes of {{ $labels.kind }} objects went with their namespace",
        what: "A namespace was deleted while an object in it, not protected, held data in volumes",
        matters: "Where their PersistentVolumes are not retained, the data is gone, and no last dump was taken",
        next: "kubectl --namespace default get events --field-selector reason=VolumesGo, which names them; whether a PersistentVolume is left says kubectl get persistentvolumes",
        more: "Annotate what holds data with `pointsman.dev/protected: \"true\"`: a namespace that holds a protected object is not deleted.",
    },
    Alert {
        name: "PointsmanPanics",
        expression: "increase(controller_runtime_reconcile_panics_total[1h]) > 0 or increase(controller_runtime_webhook_panics_total[1h]) > 0 or increase(controller_runtime_conversion_webhook_panics_total[1h]) > 0",
        lasts: "0m",
        severity: "warning",
        summary: "the operator met a bug of its own",
        what: "A look at an object, a review or a conversion panicked. It was contained: the look is tried again, ever more seldom, the request was answered with 500, and everything else goes on",
        matters: "That one object, or writes like that one, may not get further until the bug is mended",
        next: "kubectl logs --selector app.kubernetes.io/component=operator --prefix --tail=-1 in the operator's namespace, and look for `a bug: the code panicked here`: the line names the place in the code, and in a look the object. Report it",
        more: "What a panic says may quote what was read, so the log tells its words only where they stand in the code as they are.",
    },
];
