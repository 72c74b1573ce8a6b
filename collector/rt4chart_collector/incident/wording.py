"""An incident in words, the same on its page and on a terminal. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from otel_rt4chart.core.text import one_line
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.alerts.facts import MeasuredRate
from rt4chart_collector.core.times import lasted, utc_time
from rt4chart_collector.incident.asked_before import AskedBefore, BeforeAndAfter
from rt4chart_collector.incident.changes import (
    ChangeTime,
    DatedChange,
    SteadyAttribute,
    UncomparedValues,
)
from rt4chart_collector.incident.evidence_words import (
    EVIDENCE_HINTS,
    EVIDENCE_WORDS,
    alert_evidence,
    evidence_kind,
)
from rt4chart_collector.incident.onset_range import OnsetRange
from rt4chart_collector.incident.read_incident import RouteIncident
from rt4chart_collector.incident.roll_back import RollBack
from rt4chart_collector.incident.timeline import Timeline
from rt4chart_collector.notify.alert_message import figures
from rt4chart_collector.store.answers.asked_again import MAX_QUESTIONS
from rt4chart_collector.store.answers.passage_use import PassageUse
from rt4chart_collector.store.answers.question_pairs import MAX_ANSWERS

VALUE = 120
# A smaller share of passages may be new on any day.
FEW_UNSEEN = 0.005


def range_words(began: OnsetRange) -> str:
    """The interval of the beginning; "" where it is not known."""
    if began.low_ns >= began.high_ns:
        return ""
    low, high = utc_time(began.low_ns), utc_time(began.high_ns)
    # The date of the end is left out where it is that of the begin.
    end = high[11:] if high[:10] == low[:10] else high
    return f"between {low} and {end} UTC (95%)"


def evidence_words(incident: RouteIncident) -> tuple[str, str]:
    """The evidence in a word, and what it means: when the alert fired, and now.

    Both are empty for an alert of a rule that does not consider chance.
    """
    if incident.facts.evidence is not None and incident.facts.evidence.threshold < 1:
        return "", ""
    then = alert_evidence(incident.facts.evidence)
    words = f"{EVIDENCE_WORDS[then]} when it fired: {EVIDENCE_HINTS[then]}"
    if incident.evidence is None:
        return EVIDENCE_WORDS[then], f"{words}; the monitor wrote nothing in the last hour"
    now = evidence_kind(incident.evidence.state)
    if incident.evidence.state == "cold":
        return EVIDENCE_WORDS[then], f"{words}; now the detector is learning the usual rate"
    if now == then:
        return EVIDENCE_WORDS[now], EVIDENCE_HINTS[now]
    return EVIDENCE_WORDS[now], f"now {EVIDENCE_HINTS[now]}; {words}"


def change_words(one: DatedChange, since_ns: int) -> str:
    """When a value came, compared with the beginning of the rise."""
    if not one.first_ns:
        return (
            "became rarer"
            if one.change.new.change < 0
            else "in use as far back as was read, a week at most"
        )
    seen = f"first seen {utc_time(one.first_ns)} UTC"
    if one.first_ns == since_ns:
        return f"{seen}, when the rise began"
    if one.first_ns < since_ns:
        return f"{seen}, {lasted(one.first_ns, since_ns)} before the rise began"
    after = f"{seen}, {lasted(since_ns, one.first_ns)} after the rise began"
    return after if one.time is ChangeTime.WITH else f"{after}: it did not begin it"


def values_words(one: DatedChange) -> str:
    """The values and their shares of the answers, as "2.3.0 → 2.4.0, 2% → 100% of the answers"."""
    new = one.change.new
    values = [one_line(value, VALUE) for value in (one.change.replaced, new.value) if value]
    shares = f"{new.share_before or 0:.0%} → {new.share_after or 0:.0%} of the answers"
    return f"{' → '.join(values) or '(none)'}, {shares}"


def steady_words(one: SteadyAttribute) -> str:
    """The values of an attribute that did not change."""
    if not one.values:
        return "no answer names one"
    named = ", ".join(one_line(value, VALUE) for value in one.values)
    return f"as before: {named}{f' and {one.more} more' if one.more else ''}"


def uncompared_words(one: UncomparedValues) -> str:
    """How many values of an attribute were not compared."""
    return f"{one.number:,} of {one.values:,} values, those of the fewest answers"


def passages_words(use: PassageUse) -> str:
    """What the store knows of the retriever: how many passages came, and from where."""
    if not use.is_known:
        return "no answers with passages on both sides"
    before = use.passages_before / use.answers_before
    after = use.passages_after / use.answers_after
    new = (
        f"{use.unseen_share:.0%} of those since are of passages that were not used in the day "
        "before"
        if use.unseen_share >= FEW_UNSEEN
        else "the same passages were used in the day before"
    )
    return f"{before:.1f} an answer in the day before, {after:.1f} since; {new}"


def mix_words(incident: RouteIncident) -> str:
    """The part of the rise that another mix of questions explains."""
    lines = dict(figures(incident.facts))
    return lines.get("of the rise", "no part of the rise is surely due to it")


def roll_back_words(found: RollBack, measure: Measure) -> Iterator[str]:
    """What to go back to, sentence by sentence."""
    name = found.attribute.replace("_", " ")
    new, old = one_line(found.of, VALUE) or "(none)", one_line(found.to, VALUE)
    yield f"{new} replaced {name} {old}."
    yield (
        f"It last answered at {utc_time(found.last_ns)} UTC."
        if found.last_ns
        else ("It has not answered in the week before.")
    )
    if not found.before.claims:
        yield "Its rate in the week before the rise is not known."
    else:
        yield f"In the week before the rise, {rate_words(found.before)} were {measure}."
    if found.since.claims:
        yield f"Since the rise, {rate_words(found.since)} are {measure}."
    if found.before.claims and not found.is_better:
        yield "That is not surely better than the rate since the rise."


def rate_words(rate: MeasuredRate) -> str:
    """A rate with its interval and its numbers, as the subject of a sentence."""
    interval = ""
    if rate.low is not None and rate.high is not None:
        interval = f" ({abs(rate.low):.1%} to {rate.high:.1%})"
    claims = f"{rate.claims:,} claim{'' if rate.claims == 1 else 's'}"
    return f"{rate.rate or 0:.1%}{interval} of its {claims} in {_answers(rate.answers)}"


def asked_words(found: AskedBefore, measure: Measure) -> str:
    """How many of the questions with faulty answers were asked before too."""
    if not found.questions and found.is_cut_since:
        return f"None of the newest {MAX_ANSWERS:,} answers since the rise has {measure} claims."
    if not found.questions:
        return f"No answer since the rise has {measure} claims that are still stored."
    questions = f"{found.questions:,} question{'' if found.questions == 1 else 's'}"
    have = "has" if found.questions == 1 else "have"
    again = found.asked_before
    were = (
        "none was"
        if not again
        else "it was"
        if found.questions == 1
        else (
            "all were"
            if again == found.questions
            else f"{again:,} {'was' if again == 1 else 'were'}"
        )
    )
    return (
        f"{questions} {have} answers with {measure} claims since the rise; {were} asked in the "
        f"week before it too.{_searched(found)}"
    )


def _searched(found: AskedBefore) -> str:
    """Which answers were searched, where it were not all."""
    sides = {"since the rise": found.is_cut_since, "from before it": found.is_cut_before}
    named = " and ".join(side for side, is_cut in sides.items() if is_cut)
    words = f" Of the answers {named}, the newest {MAX_ANSWERS:,} were searched." if named else ""
    if found.is_cut_like:
        words += f" Like questions are looked for among the {MAX_QUESTIONS:,} that were asked last."
    return words


def pair_words(pair: BeforeAndAfter, measure: Measure) -> tuple[str, str]:
    """How many answers to the question are faulty, before the rise and since."""
    before, after = (
        f"{one.faulty:,} of {_answers(one.answers)} to this question {measure}"
        for one in (pair.asked_before, pair.asked_after)
    )
    return before if pair.before else "", after


def notified_words(found: Timeline) -> str:
    """Who was notified of this episode, and whom no message reached."""
    missed = f"No message reached {', '.join(found.missed)}." if found.missed else ""
    if found.arrived:
        return f"Notified: {', '.join(found.arrived)}. {missed}".strip()
    return missed or "Nobody was notified: no message about it was sent."


def _answers(number: int) -> str:
    return f"{number:,} answer{'' if number == 1 else 's'}"
