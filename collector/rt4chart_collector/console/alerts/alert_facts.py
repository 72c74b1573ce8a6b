"""An alert's facts as a page shows them: JSON of the store, of which nothing is taken for sure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from otel_rt4chart.verify.core.rates import Rate
from rt4chart_collector.console.view.filters import percent
from rt4chart_collector.console.view.urls import answer_url, issue_url, with_query
from rt4chart_collector.notify.alert_facts import Came, what_came

KNOWN = ("before", "after", "changed", "issues", "documents", "worst_answers", "since", "issue")
# Names that say nothing by themselves.
NAMES = {
    "evidence": "logarithm of the evidence, and of what pages",
    "detectable_rise": "smallest rise found in 90 min, of claims",
    "failures_today": "failures in the last 24 h",
    "failures_a_day_before": "failures a day before that",
    "claims_today_over_before": "claims in the last 24 h over those of a day before",
    "seen_today": "of them verified",
}
HEX = re.compile(r"[0-9a-f]{1,16}")
ID = re.compile(r"[0-9A-Za-z_.:-]{1,128}")


@dataclass(frozen=True, slots=True)
class Measured:
    """A rate and what it rests on."""

    rate: Rate
    claims: int
    answers: int


@dataclass(frozen=True, slots=True)
class Grown:
    """Something with more failures an hour than before; `url` is "" where it has no page."""

    name: str
    url: str
    before: float | None
    after: float | None


@dataclass(frozen=True, slots=True)
class Worst:
    """A bad answer with its worst claim; `answers` are those with the same claim, it is one."""

    url: str
    claim: str
    label: str
    unfaithful: int
    decided: int
    answers: int = 1


@dataclass(frozen=True, slots=True)
class AlertFacts:
    """What is known, each part empty where the alert does not say it; `others` name to value.

    `sure` says in words what chance would do, "" for alerts that need no such words.
    """

    sure: str
    before: Measured | None
    after: Measured | None
    changed: tuple[Came, ...]
    issues: tuple[Grown, ...]
    documents: tuple[Grown, ...]
    worst: tuple[Worst, ...]
    others: tuple[tuple[str, str], ...]


def alert_facts(facts: Mapping[str, object]) -> AlertFacts:
    """The facts, sorted out; what has another form than expected is left out or shown as text."""
    return AlertFacts(
        sure=_sure(facts.get("evidence")),
        before=_measured(facts.get("before")),
        after=_measured(facts.get("after")),
        changed=what_came(facts.get("changed"), _text(facts.get("since"))),
        issues=tuple(_issue(one) for one in _rows(facts.get("issues"))),
        documents=tuple(_document(one) for one in _rows(facts.get("documents"))),
        worst=_grouped([_worst(one) for one in _rows(facts.get("worst_answers"))]),
        others=tuple(
            (NAMES.get(name) or name.replace("_", " "), _said(name, value))
            for name, value in facts.items()
            if name not in KNOWN and value not in (None, "", [], {})
        ),
    )


def _measured(value: object) -> Measured | None:
    if not isinstance(value, Mapping) or _number(value.get("rate")) is None:
        return None
    low, high = _number(value.get("low")), _number(value.get("high"))
    rate = Rate(_number(value.get("rate")), low, high)
    return Measured(rate, _count(value.get("claims")), _count(value.get("answers")))


def _issue(one: Mapping[str, object]) -> Grown:
    name = _text(one.get("id"))
    url = issue_url(int(name, 16)) if HEX.fullmatch(name) else ""
    return Grown(_text(one.get("title")) or f"issue {name}", url, *_hourly(one))


def _document(one: Mapping[str, object]) -> Grown:
    return Grown(_text(one.get("id")), "", *_hourly(one))


def _hourly(one: Mapping[str, object]) -> tuple[float | None, float | None]:
    before = _number(one.get("failures_an_hour_before"))
    return before, _number(one.get("failures_an_hour_after"))


def _worst(one: Mapping[str, object]) -> Worst:
    trace, span = _text(one.get("trace_id")), _text(one.get("span_id"))
    index = one.get("claim_index")
    claim = index if isinstance(index, int) and index >= 0 else None
    is_there = ID.fullmatch(trace) and ID.fullmatch(span)
    return Worst(
        answer_url(trace, span, claim) if is_there else with_query("/answers", q=trace),
        _text(one.get("claim")),
        _text(one.get("label")),
        _count(one.get("unfaithful")),
        _count(one.get("decided")),
    )


def _grouped(found: Sequence[Worst]) -> tuple[Worst, ...]:
    """The worst answer of each claim, with the number of those that say the same."""
    groups: dict[str, list[Worst]] = {}
    for one in found:
        groups.setdefault(" ".join(one.claim.split()) or one.url, []).append(one)
    return tuple(replace(group[0], answers=len(group)) for group in groups.values())


def _sure(evidence: object) -> str:
    """How a rise stands against chance; a threshold under 1 is a share, and asks nothing of it."""
    told = evidence if isinstance(evidence, Mapping) else {}
    log, bound = _number(told.get("log")), _number(told.get("threshold"))
    if log is None or bound is None:
        return ""
    if bound < 1:
        return f"{percent(log)}, and {percent(bound)} alarms; that asks nothing of chance"
    times = math.exp(min(max(log - bound, 0.0), 14.0))
    more = f"{times:,.0f} times" if times < 1e6 else "more than a million times"
    return (
        "a rise like this comes by chance less than once a month on all routes together, unless "
        "you allow more false alarms; the evidence is "
        + ("just what pages" if times < 1.5 else f"{more} what pages")
    )


def _rows(value: object) -> list[Mapping[str, object]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return "" if value is None else str(value)[:1000]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _said(name: str, value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_said(str(key), one)}" for key, one in value.items())[:1000]
    if isinstance(value, list):
        return ", ".join(_said(name, one) for one in value)[:1000]
    if isinstance(value, float):
        is_share = any(word in name for word in ("share", "rate", "rise", "threshold_share"))
        return (
            percent(value)
            if is_share and 0 <= value <= 1
            else f"{value:.2f}".rstrip("0").rstrip(".")
        )
    return _text(value)
