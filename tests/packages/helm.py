"""The few verbs of Helm that the tests type, with its own words when it refuses."""

import argparse
import json
import sys

import helm_python as helm


def template(chart, values, asked):
    rendered = chart.render(values, name=asked.release, namespace=asked.namespace)
    manifests = {path: text for path, text in rendered.items() if not path.endswith("NOTES.txt")}
    for path, text in sorted(manifests.items()):
        print(f"---\n# Source: {path}\n{text}")


def judge(chart, values, asked):
    """Many values in one go, as a list of JSON: what Helm says of each, nothing where it takes it."""
    said = []
    for one in json.load(sys.stdin):
        try:
            chart.render(one, name=asked.release, namespace=asked.namespace)
            said.append("")
        except helm.HelmError as refusal:
            said.append(str(refusal))
    json.dump(said, sys.stdout)


def lint(chart, values, asked):
    report = helm.lint(asked.chart, values, strict=True)
    for message in report["messages"]:
        print(f"{message['path']}: {message['error']}")
    if report["errors"]:
        sys.exit("\n".join(report["errors"]))


def install(chart, values, asked):
    with helm.Config(namespace=asked.namespace) as config:
        release = config.install(
            chart, asked.release, values, namespace=asked.namespace, create_namespace=asked.create_namespace
        )
        print(release["status"])


def upgrade(chart, values, asked):
    with helm.Config(namespace=asked.namespace) as config:
        release = config.upgrade(chart, asked.release, values, namespace=asked.namespace)
        print(release["status"], release["revision"])


def uninstall(asked):
    with helm.Config(namespace=asked.namespace) as config:
        print(config.uninstall(asked.release)["info"].strip())


def main():
    words = argparse.ArgumentParser(prog="helm")
    verbs = words.add_subparsers(dest="verb", required=True)
    for verb in template, judge, lint, install, upgrade, uninstall:
        of = verbs.add_parser(verb.__name__)
        of.set_defaults(run=verb)
        of.add_argument("release")
        if verb is not uninstall:
            of.add_argument("chart")
            of.add_argument("--values", help="- for standard input")
        of.add_argument("--namespace", default="pointsman-system")
        of.add_argument("--create-namespace", action="store_true")
    asked = words.parse_args()
    try:
        if asked.run is uninstall:
            return uninstall(asked)
        values = helm.values_from_yaml(sys.stdin.read()) if asked.values else None
        with helm.Chart.load(asked.chart) as chart:
            asked.run(chart, values, asked)
    except helm.HelmError as refusal:
        sys.exit(f"Error: {refusal}")


main()
