"""Prometheus rules on the monitor's gauges, for those whose alerts begin there."""

from __future__ import annotations

from dataclasses import dataclass

from rt4chart_collector.core.alerts.alert import Rule
from rt4chart_collector.notify.next_step import NEXT

_HEAD = """\
# Written by `rt4chart alerts rules`: change it there, or keep your own beside it.
# Whoever lets rt4chart tell people itself (docs/operate/alerts.md) does not need it.
groups:
  - name: rt4chart-routes
    rules:
"""
_EVIDENCE = (
    'rt4chart_route_drift_log_evidence{{level="page"}} '
    '>= ignoring(level) rt4chart_route_drift_threshold{{level="{0}"}}'
)
_CLAIMS = "sum by (service, route) (rt4chart_route_claims{0}) > {1}"


@dataclass(frozen=True, slots=True)
class PrometheusRule:
    """One alert rule; `lasts` and `keeps` are Prometheus' `for` and `keep_firing_for`."""

    name: str
    expr: str
    severity: str
    summary: str
    action: str
    lasts: str = ""
    keeps: str = ""


def rules(
    *, undecided: float = 0.3, least_claims: int = 100, threshold: float | None = None
) -> list[PrometheusRule]:
    """The rules; with a `threshold`, a share of claims, one on the rate itself too."""
    found = [
        PrometheusRule(
            "Rt4chartRouteDrift",
            _EVIDENCE.format("page"),
            "critical",
            "Answers of {{ $labels.service }} {{ $labels.route }} got worse: evidence {{ $value }}",
            NEXT[Rule.ROUTE_DRIFT],
            keeps="30m",
        ),
        PrometheusRule(
            "Rt4chartRouteDriftBegins",
            _EVIDENCE.format("warn"),
            "warning",
            "Answers of {{ $labels.service }} {{ $labels.route }} may be getting worse",
            "Nothing yet: the next hours tell. By chance it comes once a week.",
            lasts="30m",
            keeps="30m",
        ),
        PrometheusRule(
            "Rt4chartRouteUndecided",
            f"rt4chart_route_undecided_ratio > {undecided:g}",
            "warning",
            "{{ $value | humanizePercentage }} of the claims of {{ $labels.service }} "
            "{{ $labels.route }} are undecided",
            NEXT[Rule.UNDECIDED],
            lasts="30m",
        ),
        PrometheusRule(
            "Rt4chartRouteSilent",
            _CLAIMS.format(" offset 1w", least_claims) + " unless " + _CLAIMS.format("", 0),
            "warning",
            "No verified claim of {{ $labels.service }} {{ $labels.route }} in an hour",
            NEXT[Rule.NO_DATA],
            lasts="30m",
        ),
    ]
    if threshold is not None:
        found.append(
            PrometheusRule(
                "Rt4chartRouteRate",
                f"rt4chart_route_hallucination_rate > {threshold:g} "
                f"and rt4chart_route_claims >= {least_claims}",
                "warning",
                "{{ $value | humanizePercentage }} of the claims of {{ $labels.service }} "
                "{{ $labels.route }} are unfaithful",
                "A fixed bound ignores chance: docs/understand/drift.md has its false alarms.",
                lasts="30m",
            )
        )
    return found


def rule_file(*, threshold: float | None = None) -> str:
    """The rules as Prometheus reads them."""
    return _HEAD + "".join(map(_yaml, rules(threshold=threshold)))


def _yaml(rule: PrometheusRule) -> str:
    """One rule; its texts are our own and have no single quotes."""
    lines = [f"      - alert: {rule.name}", f"        expr: '{rule.expr}'"]
    lines += [f"        for: {rule.lasts}"] if rule.lasts else []
    lines += [f"        keep_firing_for: {rule.keeps}"] if rule.keeps else []
    lines += [f"        labels: {{severity: {rule.severity}}}", "        annotations:"]
    texts = {"summary": rule.summary, "action": rule.action}
    lines += [
        f"          {name}: '{text.replace(chr(39), chr(39) * 2)}'" for name, text in texts.items()
    ]
    return "\n".join(lines) + "\n"
