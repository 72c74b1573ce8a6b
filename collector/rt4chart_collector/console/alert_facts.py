"""An alert's facts as a page shows them: JSON of the store, of which nothing is taken for sure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from otel_rt4chart.rates import Rate
from rt4chart_collector.console.filters import percent
from rt4chart_collector.console.urls import answer_url, issue_url, with_query

KNOWN = ("before", "after", "changed", "issues", "documents", "worst_answers", "since")
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
class Changed:
    """A value of a deployment's attribute, with its share of the answers before and after."""

    attribute: str
    value: str
    before: float | None
    after: float | None
    first_seen: str


@dataclass(frozen=True, slots=True)
class Worst:
    """A bad answer with its worst claim."""

    url: str
    claim: str
    label: str
    unfaithful: int
    decided: int


@dataclass(frozen=True, slots=True)
class AlertFacts:
    """What is known, each part empty where the alert does not say it; `others` name to value."""

    since: str
    before: Measured | None
    after: Measured | None
    changed: tuple[Changed, ...]
    issues: tuple[Grown, ...]
    documents: tuple[Grown, ...]
    worst: tuple[Worst, ...]
    others: tuple[tuple[str, str], ...]


def alert_facts(facts: Mapping[str, object]) -> AlertFacts:
    """The facts, sorted out; what has another form than expected is left out or shown as text."""
    return AlertFacts(
        since=_text(facts.get("since")).replace("T", " ").replace(":00Z", " UTC"),
        before=_measured(facts.get("before")),
        after=_measured(facts.get("after")),
        changed=tuple(_changed(one) for one in _rows(facts.get("changed"))),
        issues=tuple(_issue(one) for one in _rows(facts.get("issues"))),
        documents=tuple(_document(one) for one in _rows(facts.get("documents"))),
        worst=tuple(_worst(one) for one in _rows(facts.get("worst_answers"))),
        others=tuple(
            (name.replace("_", " "), _said(name, value))
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


def _changed(one: Mapping[str, object]) -> Changed:
    return Changed(
        _text(one.get("attribute")).replace("_", " "),
        _text(one.get("value")),
        _number(one.get("share_before")),
        _number(one.get("share_after")),
        _text(one.get("first_seen"))[:16].replace("T", " "),
    )


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
