"""The database of `rt4chart issues`, and the issue that a subcommand names."""

from __future__ import annotations

import argparse
import time
from pkgutil import resolve_name

from otel_rt4chart.core.settings import load
from rt4chart_clustering.core.settings import ClusteringSettings
from rt4chart_clustering.triage.find_issue import find_issue
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.issues.issues import Issue, list_issues
from rt4chart_collector.store.schema.migrate import migrate


def run_subcommand(reference: str, options: argparse.Namespace) -> int:
    """Run the function of the reference on the database; its result is the exit status."""
    dsn = load(ClusteringSettings, {"dsn": options.dsn}).dsn
    with open_database(dsn, needs="rt4chart_issues") as client:
        migrate(client)
        return int(resolve_name(reference)(client, options, time.time_ns()))


def issues_from(client: Client, options: argparse.Namespace) -> list[Issue]:
    """The issues that the user named, each once."""
    known = list_issues(client)
    found = [find_issue(known, one) for one in options.id]
    return list({issue.id: issue for issue in found}.values())


def issue_from(client: Client, options: argparse.Namespace) -> Issue:
    """The issue that the user named."""
    return find_issue(list_issues(client), options.id)
