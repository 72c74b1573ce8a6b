"""Which answers a list has, as conditions with parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from unicodedata import category

from otel_rt4chart.spans.model.verdict import Decision
from otel_rt4chart.verify.core.model import AnswerLabel, ClaimStatus
from otel_rt4chart.verify.core.rates import Measure
from rt4chart_collector.core.filters.filter_language import (
    FilterKey,
    FilterTerm,
    KeyMatch,
    alternatives,
    searched_words,
)
from rt4chart_collector.store.answers.answers import FAILED_COUNT
from rt4chart_collector.store.engine.scope import (
    MAX_TIME_NS,
    OF_ROUTE,
    TENANT_OF_ROW,
    QueryScope,
    in_scope,
    in_time,
)

CLAIM_STATUSES = tuple(str(one) for one in ClaimStatus if one is not ClaimStatus.NOT_A_CLAIM)
# The keys of the language of filters, in lists of answers.
ANSWER_KEYS = (
    FilterKey("route", "a part of the route"),
    FilterKey("service", "a part of the service"),
    FilterKey("tenant", 'the tenant, "" for none', KeyMatch.WHOLE),
    FilterKey("verdict", "the label of the answer", KeyMatch.CHOICE, tuple(map(str, AnswerLabel))),
    FilterKey("status", "it has a claim of this status", KeyMatch.CHOICE, CLAIM_STATUSES),
    FilterKey("measure", "it has such a claim", KeyMatch.CHOICE, tuple(map(str, Measure))),
    FilterKey("decision", "what became of it", KeyMatch.CHOICE, tuple(map(str, Decision))),
    FilterKey("step", "a claim of it entered in this step of a chain", KeyMatch.WHOLE),
    FilterKey("fails", "it fails this custom criterion", KeyMatch.WHOLE),
    FilterKey("model", "a part of the model's name"),
    FilterKey("release", "the release", KeyMatch.WHOLE),
    FilterKey("prompt", "the prompt version", KeyMatch.WHOLE),
    FilterKey("environment", "the environment", KeyMatch.WHOLE),
    FilterKey("trace", "the trace id, of any time", KeyMatch.WHOLE),
)
# The expression of idx_text, which knows which answers have some characters beside each other.
# FINAL reads what an index skips, so the condition helps where candidates are read.
INDEXED_TEXT, INDEXED_CHARACTERS = "lower(concat(Question, ' ', Answer))", 3
LIKE_SIGN = re.compile(r"[%_\\]")
TRACE_ID = re.compile(r"[0-9a-f]{32}")
_MATCHES = {key.name: key.match for key in ANSWER_KEYS}
_COLUMNS = {
    "route": "Route",
    "service": "ServiceName",
    "tenant": TENANT_OF_ROW,
    "verdict": "toString(Label)",
    "decision": "toString(Decision)",
    "model": "Model",
    "release": "Release",
    "prompt": "PromptVersion",
    "environment": "Environment",
    "trace": "TraceId",
}
# An empty stage is not known.
STEPS = f"""SELECT TraceId, SpanId, VerifierId FROM rt4chart_trails FINAL
    WHERE IsDeleted = 0 AND Label IN ('contradicted', 'baseless') AND {in_scope()}"""  # noqa: S608 - our own names
FAILS = f"""SELECT TraceId, SpanId FROM rt4chart_criteria FINAL
    WHERE IsDeleted = 0 AND Outcome = 'fail' AND {OF_ROUTE} AND {in_time()}"""  # noqa: S608
# The columns of the fields of `AnswerFilter`, whose values are whole.
_FIELDS = {
    "decision": "Decision = {decision:String}",
    "label": "Label = {label:String}",
    "status": "mapContains(Statuses, {status:String})",
    "model": "Model = {model:String}",
    "prompt_version": "PromptVersion = {prompt_version:String}",
    "release": "Release = {release:String}",
    "environment": "Environment = {environment:String}",
}


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """The answers to list; "" matches all, as does a `measure` of None.

    Of a `measure`, the answers with such a claim; of a `status`, those with a claim of that status.
    `terms` are a filter of `ANSWER_KEYS`; its words are searched for in questions and answers,
    ignoring case.
    """

    scope: QueryScope
    decision: str = ""
    label: str = ""
    status: str = ""
    model: str = ""
    prompt_version: str = ""
    release: str = ""
    environment: str = ""
    measure: Measure | None = None
    terms: Sequence[FilterTerm] = ()

    @property
    def counted(self) -> Measure:
        """The measure whose claims make an answer bad: the chosen one, else both."""
        return self.measure or Measure.EITHER

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are searched for."""
        return searched_words(self.terms)

    @property
    def searches_texts(self) -> bool:
        """True if it has words that a text must or must not have."""
        return any(not term.key for term in self.terms)

    @property
    def indexed_conditions(self) -> tuple[str, ...]:
        """Conditions on the texts that follow from `condition`, by which an index skips rows."""
        return tuple(f"{INDEXED_TEXT} LIKE {{{name}:String}}" for name in _patterns(self.words))

    @property
    def condition(self) -> str:
        """The condition on a row of rt4chart_verifications, with `failures` as a column."""
        parts = [in_scope()]
        parts += [text for name, text in _FIELDS.items() if getattr(self, name)]
        if self.measure is not None:
            parts.append("failures > 0")
        names = {id(term): f"term{number}" for number, term in enumerate(self.terms)}
        for group in alternatives(self.terms):
            any_of = " OR ".join(_condition(term, names[id(term)]) for term in group)
            parts.append(f"{'NOT ' * group[0].is_excluded}({any_of})")
        return " AND ".join(parts)

    @property
    def parameters(self) -> Mapping[str, object]:
        """The parameters of the conditions but those of the scope, which `scope` has."""
        values = {name: getattr(self, name) for name in _FIELDS}
        values |= {f"term{number}": term.value for number, term in enumerate(self.terms)}
        return values | _patterns(self.words)


def _patterns(words: Sequence[str]) -> dict[str, str]:
    """Patterns for LIKE, by the names of their parameters, that a text with the words matches."""
    parts = [part for word in words for part in indexed_parts(word)]
    escaped = (LIKE_SIGN.sub(r"\\\g<0>", part) for part in parts)
    return {f"pattern{number}": f"%{part}%" for number, part in enumerate(escaped)}


def indexed_parts(word: str) -> list[str]:
    """The parts of a word that stand in the indexed text of each answer that has the word.

    The index has small letters for capitals of ASCII, and others as they were written: a word can
    be found where it was written otherwise only if it has letters of other scripts with capitals.
    Such letters end a part.
    """
    runs = groupby(word, key=lambda one: one.isascii() or category(one) == "Lo")
    parts = ("".join(run).lower() for is_same, run in runs if is_same)
    return [part for part in parts if len(part) >= INDEXED_CHARACTERS]


def of_any_time(selection: AnswerFilter) -> AnswerFilter:
    """The same filter; one of a trace finds it at any time and by any verifier.

    A word that is a trace id names a trace.
    """
    terms = tuple(map(_as_trace, selection.terms))
    if not any(term.key == "trace" and not term.is_excluded for term in terms):
        return replace(selection, terms=terms)
    scope = replace(selection.scope, since_ns=0, until_ns=MAX_TIME_NS, verifier=None)
    return replace(selection, terms=terms, scope=scope)


def _as_trace(term: FilterTerm) -> FilterTerm:
    is_id = TRACE_ID.fullmatch(term.value.lower()) is not None
    if term.key == "trace" or (not term.key and is_id):
        return replace(term, key="trace", value=term.value.lower())
    return term


def _condition(term: FilterTerm, name: str) -> str:
    """The condition of one term, whose value is the parameter of this name."""
    if not term.key:
        return f"({_has_part('Question', name)} OR {_has_part('Answer', name)})"
    if term.key == "status":
        return f"mapContains(Statuses, {{{name}:String}})"
    if term.key == "step":
        return f"(TraceId, SpanId, VerifierId) IN ({STEPS} AND Stage = {{{name}:String}})"
    if term.key == "fails":
        return f"(TraceId, SpanId) IN ({FAILS} AND Criterion = {{{name}:String}})"
    if term.key == "measure":
        return f"{FAILED_COUNT[Measure(term.value)]} > 0"
    column = _COLUMNS[term.key]
    if _MATCHES[term.key] is KeyMatch.PART and term.value:
        return _has_part(column, name)
    return f"{column} = {{{name}:String}}"


def _has_part(column: str, name: str) -> str:
    return f"positionCaseInsensitiveUTF8({column}, {{{name}:String}}) > 0"
