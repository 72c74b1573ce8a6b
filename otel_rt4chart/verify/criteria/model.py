"""Criteria that answers are judged by, beside the labels of their claims, and their verdicts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar, TypeAlias

_VERSION_CHARACTERS = 12


class CriterionOutcome(StrEnum):
    """The verdict of a criterion on an answer; `fail` and `pass` are decided."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    NOT_APPLICABLE = "not_applicable"
    UNDECIDED = "undecided"

    @property
    def is_decided(self) -> bool:
        """True where the answer counts in the share of answers that fail."""
        return self in (CriterionOutcome.PASS, CriterionOutcome.FAIL)


@dataclass(frozen=True, slots=True)
class JudgedCheck:
    """A model at an endpoint decides whether the answer does what `instruction` says.

    It also decides whether `applies_when` holds, "" is always. Without `reads_passages` it sees the
    question and the answer alone.
    """

    kind: ClassVar[str] = "judged"
    instruction: str
    applies_when: str = ""
    reads_passages: bool = True


@dataclass(frozen=True, slots=True)
class RegexCheck:
    """The answer has a match of `must_match`, and none of `must_not_match`; "" is no pattern."""

    kind: ClassVar[str] = "regex"
    must_match: str = ""
    must_not_match: str = ""


@dataclass(frozen=True, slots=True)
class SchemaCheck:
    """The answer is JSON that `schema`, a JSON Schema as text, describes."""

    kind: ClassVar[str] = "json_schema"
    schema: str


@dataclass(frozen=True, slots=True)
class CitationCheck:
    """The answer cites retrieved passages at `least` so many times, and nothing else."""

    kind: ClassVar[str] = "must_cite"
    least: int = 1


AnswerTest: TypeAlias = JudgedCheck | RegexCheck | SchemaCheck | CitationCheck
KINDS = tuple(one.kind for one in (JudgedCheck, RegexCheck, SchemaCheck, CitationCheck))


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion. `routes` are names, or prefixes followed by `*`; none means all.

    `rate` is the share of the verified answers that are judged by it. With `when_question`, a
    regular expression, it applies only where the question has a match.
    """

    name: str
    check: AnswerTest
    routes: tuple[str, ...] = ()
    rate: float = 1.0
    when_question: str = ""

    @property
    def is_judged(self) -> bool:
        """True where a model at an endpoint decides."""
        return isinstance(self.check, JudgedCheck)

    def is_of(self, route: str) -> bool:
        """True if answers of the route are judged by it."""
        return not self.routes or any(_matches(one, route) for one in self.routes)

    def version(self, judge: str) -> str:
        """The identity of what a verdict depends on: the definition, and the `judge` that decides.

        Rate and routes say only which answers are judged.
        """
        defined = [self.check.kind, asdict(self.check), self.when_question]
        parts = [*defined, judge] if self.is_judged else defined
        written = json.dumps(parts, ensure_ascii=True, sort_keys=True)
        return hashlib.sha256(written.encode()).hexdigest()[:_VERSION_CHARACTERS]


def _matches(pattern: str, route: str) -> bool:
    return route.startswith(pattern[:-1]) if pattern.endswith("*") else route == pattern


@dataclass(frozen=True, slots=True)
class Criteria:
    """All criteria of a process, each name once."""

    all: tuple[Criterion, ...] = ()

    @property
    def judged(self) -> tuple[Criterion, ...]:
        """Those that need an endpoint."""
        return tuple(one for one in self.all if one.is_judged)

    def drawn(self, route: str, position: float) -> tuple[Criterion, ...]:
        """Those of an answer of the route, whose trace has this position in [0, 1).

        One position for all: the answers of a low rate are among those of a higher one, so that a
        model is asked about several criteria in one call.
        """
        return tuple(one for one in self.all if one.is_of(route) and position < one.rate)

    def __bool__(self) -> bool:
        """True if there is one."""
        return bool(self.all)

    def __str__(self) -> str:
        """Each name with its kind."""
        return ", ".join(f"{one.name} ({one.check.kind})" for one in self.all)


@dataclass(frozen=True, slots=True)
class CriterionVerdict:
    """What a criterion says of an answer; `version` identifies its definition and its judge.

    `reason` is a sentence: of a rule what it found, of a model what the model says, which nothing
    has checked. `quote` are words of the answer, the question or a passage that a model named, and
    that stand there; `rate` is the share of the verified answers that the criterion judges.
    """

    name: str
    version: str
    kind: str
    outcome: CriterionOutcome
    reason: str = ""
    quote: str = ""
    rate: float = 1.0
    judge: str = ""

    @property
    def score(self) -> float | None:
        """1 for pass, 0 for fail, None where there is no decision."""
        return float(self.outcome is CriterionOutcome.PASS) if self.outcome.is_decided else None


# The criteria of answers that are known by name, as they are switched on by it alone.
KNOWN: Mapping[str, JudgedCheck] = MappingProxyType(
    {
        "Completeness": JudgedCheck(
            "The answer answers every part of the question: each thing that was asked is either "
            "answered, or the answer says that it cannot be answered.",
            reads_passages=False,
        ),
        "ContextAdherence": JudgedCheck(
            "The answer stays within the passages: it states nothing, recommends nothing and "
            "names nothing that is not in them or does not follow from them."
        ),
        "FactualAccuracy": JudgedCheck(
            "Every fact that the answer states about what the passages describe is as the "
            "passages say: numbers, dates, names, conditions and negations are right."
        ),
    }
)


def criterion_rows(verdicts: Iterable[CriterionVerdict]) -> list[dict[str, object]]:
    """The verdicts as JSON values, without empty ones."""
    return [
        {name: value for name, value in row.items() if value != ""}
        for row in (asdict(one) | {"outcome": one.outcome.value} for one in verdicts)
    ]
