"""The comparison of two releases in the store, to which the gate's report leads."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.core.settings import load
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_clustering.core.settings import ClusteringSettings
from rt4chart_clustering.evalset.case import EvalCase
from rt4chart_clustering.gate.result import GateResult
from rt4chart_collector.comparison.figures import compare_rates
from rt4chart_collector.comparison.sides import (
    ComparisonRequest,
    NoComparisonError,
    choose_sides,
    find_versions,
    known_versions,
)
from rt4chart_collector.console.view.urls import with_query
from rt4chart_collector.core.settings import AlertSettings
from rt4chart_collector.store.engine.connect import Client
from rt4chart_collector.store.engine.open_database import open_database
from rt4chart_collector.store.engine.scope import QueryScope
from rt4chart_collector.store.engine.version_scope import VersionKind
from rt4chart_collector.store.rates.verifiers import main_verifier
from rt4chart_collector.store.rates.version_rates import VersionTraffic, rates_of_versions

# The longest range that the page offers: the release before may be weeks old.
SINCE, SINCE_NS = "30d", 30 * 86_400 * 10**9


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """Two releases with verified answers on one route at least; `service` is "" for all of them.

    `console` is the address under which people open the console, "" if it is not known.
    """

    a: str
    b: str
    service: str
    measure: Measure
    console: str = ""

    @property
    def command(self) -> str:
        """The command that shows both side by side, for a shell."""
        words = ["rt4chart", "compare", "--since", SINCE, "--measure", str(self.measure)]
        if self.service:
            words.append(f"--service={self.service}")
        if self.a.startswith("-") or self.b.startswith("-"):
            words.append("--")
        return shlex.join([*words, self.a, self.b])

    @property
    def url(self) -> str:
        """The page that shows both; "" without a console."""
        if not self.console:
            return ""
        return self.console.rstrip("/") + with_query(
            "/compare",
            service=self.service,
            by=VersionKind.RELEASE,
            a=self.a,
            b=self.b,
            measure=str(self.measure),
            since=SINCE,
        )


def comparison_of(
    result: GateResult,
    before: GateResult | None,
    cases: Sequence[EvalCase],
    measure: Measure,
    dsn: str | None,
) -> StoredComparison:
    """The comparison of the run's release with the baseline's, or with the one before.

    Read in the database of the settings or of `dsn`. RT4ChartError where there is none.
    """
    asked = StoredComparison(
        a=before.release if before else "",
        b=result.release,
        service=service_of(cases),
        measure=measure,
        console=load(AlertSettings).alerts_console,
    )
    place = load(ClusteringSettings, {"dsn": dsn}).dsn
    with open_database(place, needs="rt4chart_verifications") as client:
        return find_stored_comparison(client, asked, now_ns=time.time_ns())


def find_stored_comparison(
    client: Client, asked: StoredComparison, *, now_ns: int
) -> StoredComparison:
    """The comparison that was asked for, with the release before `b` where `a` is "".

    NoComparisonError if the store does not have it: a release without verified answers in the time
    that the command reads, or no route on which both have decided claims.
    """
    scope = QueryScope(
        now_ns - SINCE_NS, now_ns, main_verifier(client, now_ns), asked.service or None
    )
    request = ComparisonRequest(VersionKind.RELEASE, asked.a, asked.b, scope)
    versions = find_versions(client, request)
    if not asked.a:
        request = replace(request, a=release_before(asked.b, versions))
    a, b = choose_sides(request, versions)
    if not compare_rates(*rates_of_versions(client, a, b)).matched:
        raise NoComparisonError(
            f"Releases {a.version} and {b.version} have no route in common with decided claims."
        )
    return replace(asked, a=a.version, b=b.version)


def release_before(release: str, versions: Sequence[VersionTraffic]) -> str:
    """The newest release that is older; `versions` are in the order of their first answers.

    NoComparisonError if there is none.
    """
    names = [one.version for one in versions]
    older = names[names.index(release) + 1 :] if release in names else []
    found = next((name for name in older if name), "")
    if not found:
        raise NoComparisonError(
            f"No release before {release} has verified answers. "
            f"{known_versions(VersionKind.RELEASE, versions)}"
        )
    return found


def service_of(cases: Sequence[EvalCase]) -> str:
    """The service that all cases with a known one come from; "" if there are several or none."""
    names = {case.source.service for case in cases if case.source.service}
    return names.pop() if len(names) == 1 else ""
