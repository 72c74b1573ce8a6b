"""Reports of a gate run: text, Markdown for a pull request, JUnit XML and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from otel_rt4chart.core.text import printable
from otel_rt4chart.verify.core.rates import Rate
from rt4chart_clustering.core.text import code_span
from rt4chart_clustering.gate.compare import failed_cases
from rt4chart_clustering.gate.evaluate import GateOutcome
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
    yield f"hallucination rate {format_rate(result.rate)}, {_counts(outcome)}"
    for issue, cases in result.by_issue():
        if issue:
            yield f"  issue {printable(issue)}: {format_rate(rate_of(cases))}, {len(cases)} cases"
    if (found := outcome.comparison) is not None:
        yield (
            f"baseline: {found.before:.1%} before, {found.now:.1%} now over {found.pairs} cases; "
            f"{len(found.worse)} worse, {len(found.better)} better, p = {found.p_value:.3f}"
        )
    for case in failed_cases(result.cases)[:MAX_CASES]:
        yield f"  {printable(case.id)}: {printable('; '.join(case.wrong))}"
    for reason in outcome.reasons:
        yield f"failed: {printable(reason)}"


def format_markdown(outcome: GateOutcome) -> str:
    """The report for a pull request; untrusted text stands in code spans."""
    result = outcome.result
    lines = [
        f"### {'✅' if outcome.is_open else '❌'} Faithfulness: {_quoted(result.evalset)}",
        "",
        f"Hallucination rate **{format_rate(result.rate)}**, {_counts(outcome)}; "
        f"judge `{result.judge}`.",
    ]
    lines += [f"- {_quoted(reason)}" for reason in outcome.reasons]
    if (found := outcome.comparison) is not None:
        lines.append(
            f"- Against the baseline over {found.pairs} cases: {found.before:.1%} before, "
            f"{found.now:.1%} now, {len(found.worse)} worse, {len(found.better)} better "
            f"(p = {found.p_value:.3f})"
        )
    issues = [(issue, cases) for issue, cases in result.by_issue() if issue]
    if issues:
        lines += ["", "| issue | rate | cases |", "|---|---|---|"]
        lines += [
            f"| {_quoted(issue)} | {format_rate(rate_of(cases))} | {len(cases)} |"
            for issue, cases in issues
        ]
    if failed := failed_cases(result.cases)[:MAX_CASES]:
        lines += ["", "| case | not supported |", "|---|---|"]
        lines += [f"| {_quoted(case.id)} | {_quoted('; '.join(case.wrong))} |" for case in failed]
    return "\n".join(lines) + "\n"


def format_junit(outcome: GateOutcome) -> bytes:
    """The report as JUnit XML: one test for each case, and one for the gate itself."""
    result = outcome.result
    cases = [case for case in result.cases if case.error or case.unfaithful]
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
        elif case.unfaithful:
            failure = SubElement(
                test,
                "failure",
                message=f"{case.unfaithful} of {case.decided} claims not supported",
            )
            failure.text = _xml("\n".join(case.wrong))
    indent(suite)
    found: bytes = tostring(suite, encoding="utf-8", xml_declaration=True)
    return found


def outcome_json(outcome: GateOutcome) -> dict[str, Any]:
    """The report as JSON."""
    result, rate, found = outcome.result, outcome.result.rate, outcome.comparison
    return {
        "open": outcome.is_open,
        "reasons": list(outcome.reasons),
        "evalset": result.evalset,
        "judge": result.judge,
        "rate": rate.value,
        "interval": None if rate.low is None else [rate.low, rate.high],
        "cases": [
            {"id": case.id, "issue": case.issue, "decided": case.decided,
             "unfaithful": case.unfaithful, "undecided": case.undecided, "error": case.error,
             "wrong": list(case.wrong)}
            for case in result.cases
        ],
        "baseline": None if found is None else {
            "pairs": found.pairs, "before": found.before, "now": found.now,
            "p_value": found.p_value, "worse": list(found.worse), "better": list(found.better)
        },
    }  # fmt: skip


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
