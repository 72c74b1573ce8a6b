"""Reports of a gate run: text, Markdown for a pull request, JUnit XML and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from otel_rt4chart.core.text import printable
from otel_rt4chart.verify.core.rates import Measure, Rate
from rt4chart_clustering.core.text import code_span
from rt4chart_clustering.gate.compare import failed_cases
from rt4chart_clustering.gate.evaluate import COUNTED, GateOutcome
from rt4chart_clustering.gate.result import rate_of

MAX_CASES = 10
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def format_text(outcome: GateOutcome) -> str:
    """The report for a terminal."""
    return "".join(f"{line}\n" for line in _lines(outcome))


def _lines(outcome: GateOutcome) -> Iterator[str]:
    result = outcome.result
    verdict = "passed" if outcome.is_open else "failed"
    yield f"{verdict}: {printable(result.evalset)}, {result.judge}"
    counted = outcome.limits.count
    for measure in Measure:
        mark = " (counted)" if measure is counted else ""
        yield f"{COUNTED[measure]} {format_rate(result.rate(measure))}{mark}"
    yield _counts(outcome)
    yield f"statuses: {_statuses(outcome)}"
    for name in result.criteria:
        yield f"criterion {name}: {result.criterion(name)}{_allowed(outcome, name)}"
    for issue, cases in result.by_issue():
        if issue:
            rate = format_rate(rate_of(cases, counted))
            yield f"  issue {printable(issue)}: {rate}, {len(cases)} cases"
    if (found := outcome.comparison) is not None:
        yield (
            f"baseline: {found.before:.1%} before, {found.now:.1%} now over {found.pairs} cases; "
            f"{len(found.worse)} worse, {len(found.better)} better, p = {found.p_value:.3f}"
        )
    if (stored := outcome.stored) is not None:
        yield f"releases side by side: {printable(stored.command)}"
        if stored.url:
            yield f"  {stored.url}"
    for case in failed_cases(result.cases, counted)[:MAX_CASES]:
        yield f"  {printable(case.id)}: {printable('; '.join(case.failures(counted)))}"
    for reason in outcome.reasons:
        yield f"failed: {printable(reason)}"


def format_markdown(outcome: GateOutcome) -> str:
    """The report for a pull request; untrusted text stands in code spans."""
    result, counted = outcome.result, outcome.limits.count
    lines = [
        f"### {'✅' if outcome.is_open else '❌'} Faithfulness: {_quoted(result.evalset)}",
        "",
        f"{_counts(outcome)}; judge `{result.judge}`.",
        "",
        "| claims | rate |",
        "|---|---|",
        *(
            f"| {COUNTED[measure]}{' (counted)' * (measure is counted)} "
            f"| {format_rate(result.rate(measure))} |"
            for measure in Measure
        ),
        "",
        f"Statuses: {_statuses(outcome)}.",
        "",
    ]
    if result.criteria:
        lines += ["| criterion | answers |", "|---|---|"]
        lines += [
            f"| {_quoted(name)} | {result.criterion(name)}{_allowed(outcome, name)} |"
            for name in result.criteria
        ]
        lines.append("")
    lines += [f"- {_quoted(reason)}" for reason in outcome.reasons]
    if (found := outcome.comparison) is not None:
        lines.append(
            f"- Against the baseline over {found.pairs} cases: {found.before:.1%} before, "
            f"{found.now:.1%} now, {len(found.worse)} worse, {len(found.better)} better "
            f"(p = {found.p_value:.3f})"
        )
    if (stored := outcome.stored) is not None:
        link = f", [in the console]({stored.url})" if stored.url else ""
        lines.append(f"- Releases side by side: {_quoted(stored.command)}{link}")
    issues = [(issue, cases) for issue, cases in result.by_issue() if issue]
    if issues:
        lines += ["", "| issue | rate | cases |", "|---|---|---|"]
        lines += [
            f"| {_quoted(issue)} | {format_rate(rate_of(cases, counted))} | {len(cases)} |"
            for issue, cases in issues
        ]
    if failed := failed_cases(result.cases, counted)[:MAX_CASES]:
        lines += ["", f"| case | {COUNTED[counted]} |", "|---|---|"]
        lines += [
            f"| {_quoted(case.id)} | {_quoted('; '.join(case.failures(counted)))} |"
            for case in failed
        ]
    return "\n".join(lines) + "\n"


def format_junit(outcome: GateOutcome) -> bytes:
    """The report as JUnit XML: one test for each case, and one for the gate itself."""
    result = outcome.result
    counted = outcome.limits.count
    cases = [case for case in result.cases if case.error or case.count(counted)]
    suite = Element(
        "testsuite",
        name=_xml(f"rt4chart gate {result.evalset}"),
        tests=str(len(result.cases) + 1),
        failures=str(sum(not case.error for case in cases) + (not outcome.is_open)),
        errors=str(sum(bool(case.error) for case in cases)),
    )
    whole = SubElement(suite, "testcase", classname="rt4chart.gate", name="gate")
    if not outcome.is_open:
        SubElement(whole, "failure", message=_xml("; ".join(outcome.reasons)))
    for case in result.cases:
        test = SubElement(
            suite,
            "testcase",
            classname=_xml(f"rt4chart.{case.issue or 'case'}"),
            name=_xml(case.id),
        )
        if case.error:
            SubElement(test, "error", message=_xml(case.error))
        elif case.count(counted):
            failure = SubElement(
                test,
                "failure",
                message=f"{case.count(counted)} of {case.decided} claims {COUNTED[counted]}",
            )
            failure.text = _xml("\n".join(case.failures(counted)))
    indent(suite)
    found: bytes = tostring(suite, encoding="utf-8", xml_declaration=True)
    return found


def outcome_json(outcome: GateOutcome) -> dict[str, Any]:
    """The report as JSON; `rate` and `interval` are those of unfaithful claims."""
    result, found, stored = outcome.result, outcome.comparison, outcome.stored
    rates = {str(measure): _rate_json(result.rate(measure)) for measure in Measure}
    return {
        "open": outcome.is_open,
        "reasons": list(outcome.reasons),
        "evalset": result.evalset,
        "judge": result.judge,
        **rates[Measure.UNFAITHFUL],
        "count": outcome.limits.count,
        "rates": rates,
        "statuses": dict(result.statuses),
        "criteria": {
            name: asdict(counts) | _rate_json(counts.rate)
            for name in result.criteria for counts in [result.criterion(name)]
        },
        "cases": [asdict(case) for case in result.cases],
        "baseline": None if found is None else {
            "pairs": found.pairs, "before": found.before, "now": found.now,
            "p_value": found.p_value, "worse": list(found.worse), "better": list(found.better)
        },
        "releases": None if stored is None else {
            "a": stored.a, "b": stored.b, "command": stored.command, "url": stored.url or None
        },
    }  # fmt: skip


def _allowed(outcome: GateOutcome, name: str) -> str:
    limit = outcome.limits.criteria.get(name)
    return "" if limit is None else f"; at most {limit:.1%} may fail"


def _rate_json(rate: Rate) -> dict[str, Any]:
    return {"rate": rate.value, "interval": None if rate.low is None else [rate.low, rate.high]}


def _statuses(outcome: GateOutcome) -> str:
    counts = outcome.result.statuses
    return ", ".join(f"{number} {status}" for status, number in counts.items()) or "none"


def format_rate(rate: Rate) -> str:
    """The rate with its interval."""
    if rate.value is None or rate.low is None or rate.high is None:
        return "none"
    return f"{rate.value:.1%} (95% interval {rate.low:.1%} to {rate.high:.1%})"


def _counts(outcome: GateOutcome) -> str:
    cases = outcome.result.cases
    claims, undecided = sum(one.decided for one in cases), sum(one.undecided for one in cases)
    silent = sum(not (one.decided or one.error) for one in cases)
    note = f", {silent} cases without a decided claim" if silent else ""
    return f"{len(cases)} cases, {claims} decided claims, {undecided} undecided{note}"


def _quoted(text: str) -> str:
    """A code span for a table cell, in which untrusted text is no link, mention or markup."""
    return code_span(printable(text).replace("\n", " ").replace("|", "\\|") or "–")


def _xml(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
