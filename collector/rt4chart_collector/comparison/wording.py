"""A comparison in words, and as JSON values."""

from __future__ import annotations

from otel_rt4chart.verify.core.rates import Rate
from rt4chart_collector.comparison.figures import GOAL, ComparedRate, ComparedRates
from rt4chart_collector.core.times import iso
from rt4chart_collector.store.answers.question_pairs import PairedAnswer

LIKE_WITH_LIKE = (
    "each weighs the same in both, so a change of traffic between them is no difference"
)


def difference_words(found: ComparedRate, *, a: str, b: str) -> str:
    """Which version is better and by how much, or that it cannot be told, with what would tell."""
    difference = found.difference
    if difference.value is None or difference.low is None or difference.high is None:
        return "no difference can be told: one of the versions has no decided claims"
    size = abs(difference.value) * 100
    if difference.is_rise or difference.is_fall:
        ends = sorted(abs(end) * 100 for end in (difference.low, difference.high))
        word = "worse" if difference.is_rise else "better"
        return (
            f"{b} is {word} than {a} by {size:.1f} points, between {ends[0]:.1f} and {ends[1]:.1f}"
        )
    return (
        f"no difference can be told: between {signed(difference.low)} and "
        f"{signed(difference.high)} points{_more(found)}"
    )


def signed(share: float) -> str:
    """A difference in points with its sign, as +2.4 or −2.0."""
    written = f"{share * 100:+.1f}"
    return "0.0" if written in ("+0.0", "-0.0") else written.replace("-", "−")


def difference_figures(found: ComparedRate) -> str:
    """A difference with its interval, as "+3.1 (+1.2 to +5.0)"; "–" if it is unknown."""
    difference = found.difference
    if difference.value is None or difference.low is None or difference.high is None:
        return "–"
    return f"{signed(difference.value)} ({signed(difference.low)} to {signed(difference.high)})"


def routes_words(rates: ComparedRates) -> str:
    """Which routes the rates are of."""
    number, left = len(rates.matched), len(rates.unmatched)
    names = "both versions have"
    of = (
        "of no route: they have none with decided claims in common"
        if not number
        else f"of the one route that {names}"
        if number == 1
        else f"of the {number} routes that {names}; {LIKE_WITH_LIKE}"
    )
    if not left:
        return of
    return (
        f"{of}; {left} route{'' if left == 1 else 's'} that only one has {_is_are(left)} left out"
    )


def compared_figures(found: ComparedRate) -> dict[str, object]:
    """A compared rate as JSON values."""
    return {
        "a": _interval_figures(found.a),
        "b": _interval_figures(found.b),
        "difference": {
            "value": found.difference.value,
            "low": found.difference.low,
            "high": found.difference.high,
        },
        "claims": list(found.claims),
        "answers": list(found.answers),
        "more_answers": found.more_answers,
    }


def answer_figures(answer: PairedAnswer) -> dict[str, object]:
    """An answer with its failed claims, and the sentences of the passages, as JSON values."""
    verdict = answer.verdict
    return {
        "trace_id": verdict.trace_id,
        "span_id": verdict.span_id,
        "time": iso(verdict.start_ns),
        "answer": verdict.answer,
        "failed": [
            {
                "text": claim.text,
                "start": claim.answer_range.start,
                "end": claim.answer_range.end,
                "label": str(claim.label),
                "status": str(claim.status),
                "clashes": [
                    {"claimed": clash.claimed, "found": clash.found}
                    for clash in claim.claim.clashes
                ],
                "evidence": [
                    {"passage": one.passage_id, "text": one.text, "relation": one.relation}
                    for one in claim.claim.evidence
                ],
            }
            for claim in answer.failed
        ],
    }


def _interval_figures(rate: Rate) -> dict[str, object]:
    return {"rate": rate.value, "low": rate.low, "high": rate.high}


def _is_are(number: int) -> str:
    return "is" if number == 1 else "are"


def _more(found: ComparedRate) -> str:
    """How many more answers would tell a difference of `GOAL`."""
    points = f"{GOAL * 100:.0f} points"
    if found.more_answers is None:
        return ""
    if not found.more_answers:
        return f"; these answers are enough to tell a difference of {points}"
    number = found.more_answers
    return f"; {number:,} more answer{'' if number == 1 else 's'} of each would tell {points}"
