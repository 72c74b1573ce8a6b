"""The result of a gate run by case, and the file that later runs are compared with."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from otel_rt4chart.core.errors import InputError
from otel_rt4chart.core.strict_json import strict_json
from otel_rt4chart.verify.core.model import ClaimStatus
from otel_rt4chart.verify.core.rates import AnswerSums, Measure, Rate, claim_rate
from otel_rt4chart.verify.criteria.counts import OutcomeCounts
from otel_rt4chart.verify.criteria.model import CriterionOutcome

LISTS = ("wrong", "misled", "returned")
RESULTS_FOLDER = Path(".rt4chart") / "gate"
FORMAT = 2
# Its runs did not look for misleading claims.
FORMER_FORMAT = 1


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The counts of the claims of a case's new answer.

    `error` says why there is no verdict; the counts are 0 then. `wrong` has the unfaithful claims
    as `label: text`, `misled` the misleading ones as `status: text`. `returned` are the statuses
    that the case was recorded for and that the new answer has again. `criteria` has the outcome of
    each custom criterion by its name.
    """

    id: str
    issue: str
    decided: int = 0
    unfaithful: int = 0
    undecided: int = 0
    error: str = ""
    wrong: tuple[str, ...] = ()
    misleading: int = 0
    misled: tuple[str, ...] = ()
    statuses: Mapping[str, int] = field(default_factory=dict)
    returned: tuple[str, ...] = ()
    criteria: Mapping[str, str] = field(default_factory=dict)

    def count(self, measure: Measure) -> int:
        """The number of claims that the measure counts."""
        return {
            Measure.UNFAITHFUL: self.unfaithful,
            Measure.MISLEADING: self.misleading,
            Measure.EITHER: self.unfaithful + self.misleading,
        }[measure]

    def failures(self, measure: Measure) -> tuple[str, ...]:
        """The claims that the measure counts, as text."""
        return {
            Measure.UNFAITHFUL: self.wrong,
            Measure.MISLEADING: self.misled,
            Measure.EITHER: (*self.wrong, *self.misled),
        }[measure]

    def share(self, measure: Measure) -> float | None:
        """The share of these claims among the decided ones; None if none was decided."""
        return self.count(measure) / self.decided if self.decided else None


@dataclass(frozen=True, slots=True)
class GateResult:
    """A run over an eval set by one judge.

    `is_checked` is False for a run of an earlier version, which found no misleading claims.
    `release` is the application's, as its spans name it; "" if it is not known.
    """

    evalset: str
    judge: str
    cases: tuple[CaseResult, ...]
    is_checked: bool = True
    release: str = ""

    def rate(self, measure: Measure) -> Rate:
        """The rate over all decided claims; its interval accounts for claims of the same case."""
        return rate_of(self.cases, measure)

    def criterion(self, name: str) -> OutcomeCounts:
        """How many answers fail a criterion."""
        counts = OutcomeCounts()
        for case in self.cases:
            if name in case.criteria:
                counts = counts.plus(CriterionOutcome(case.criteria[name]))
        return counts

    @property
    def criteria(self) -> tuple[str, ...]:
        """The names of the criteria that judged an answer."""
        return tuple(sorted({name for case in self.cases for name in case.criteria}))

    @property
    def statuses(self) -> Mapping[str, int]:
        """The number of claims by status, in the order of precedence."""
        counts: Counter[str] = Counter()
        for case in self.cases:
            counts.update(case.statuses)
        return {str(status): counts[status] for status in ClaimStatus if counts[status]}

    def by_issue(self) -> Iterator[tuple[str, Sequence[CaseResult]]]:
        """Each issue's cases, by its id; the cases without an issue under an empty one."""
        for issue in sorted({case.issue for case in self.cases}):
            yield issue, [case for case in self.cases if case.issue == issue]


def rate_of(cases: Sequence[CaseResult], measure: Measure) -> Rate:
    """The share of the claims that the measure counts, with its 95% interval."""
    counted = [(case.decided, case.count(measure)) for case in cases if case.decided]
    m, x = sum(one for one, _ in counted), sum(one for _, one in counted)
    mm, xx = sum(m * m for m, _ in counted), sum(x * x for _, x in counted)
    xm = sum(m * x for m, x in counted)
    return claim_rate(AnswerSums(len(counted), m, m, x, m, xx, xm, mm))


def result_path(name: str) -> Path:
    """The file of a result: a path as it is, a bare name in `.rt4chart/gate`."""
    path = Path(name)
    is_path = path.suffix == ".json" or len(path.parts) > 1
    return path if is_path else RESULTS_FOLDER / f"{name}.json"


def save_result(result: GateResult, path: Path) -> None:
    """Write the result."""
    write_atomically(
        path,
        json.dumps(
            {"format": FORMAT if result.is_checked else FORMER_FORMAT} | asdict(result),
            ensure_ascii=False,
            indent=1,
        ),
    )


def write_atomically(path: Path, text: str) -> None:
    """Write a whole file or nothing; InputError if it cannot be written."""
    half = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        half.write_text(text, encoding="utf-8", errors="backslashreplace")
        half.replace(path)
    except OSError as error:
        raise InputError(f"expected a file that can be written: {error}") from error


def load_result(path: Path) -> GateResult:
    """The saved result; InputError if the file has none."""
    try:
        value: Any = strict_json(path.read_text("utf-8"))
    except OSError as error:
        raise InputError(
            f"--baseline: expected a result that --save has written: {error}"
        ) from error
    except ValueError as error:
        raise InputError(f"--baseline: {path}: expected JSON that --save has written") from error
    known = isinstance(value, Mapping) and type(value.get("format")) is int
    if not known or value["format"] not in (FORMER_FORMAT, FORMAT):
        raise InputError(
            f"--baseline: {path}: expected a result of format {FORMAT}, got another file"
        )
    try:
        cases = tuple(
            CaseResult(**(one | {name: tuple(one.get(name, ())) for name in LISTS}))
            for one in value["cases"]
        )
        for case in cases:
            _check_case(case)
        if len({case.id for case in cases}) < len(cases):
            raise InputError(f"--baseline: {path}: expected each case once, got one twice")
        is_checked = value["format"] == FORMAT
        release = value.get("release", "")
        if not isinstance(release, str):
            raise TypeError("the release as text")
        return GateResult(str(value["evalset"]), str(value["judge"]), cases, is_checked, release)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"--baseline: {path}: expected a complete result, got one without {error}"
        ) from error


def _check_case(case: CaseResult) -> None:
    """TypeError for a value of another type, which a file made by hand may have."""
    counts = (case.decided, case.unfaithful, case.undecided, case.misleading)
    texts = (case.id, case.issue, case.error, *case.wrong, *case.misled, *case.returned)
    outcomes = set(map(str, CriterionOutcome))
    is_right = (
        all(type(count) is int and count >= 0 for count in (*counts, *case.statuses.values()))
        and all(isinstance(text, str) for text in (*texts, *case.statuses))
        and case.unfaithful + case.misleading <= case.decided
        and all(isinstance(one, str) for one in case.criteria)
        and outcomes.issuperset(case.criteria.values())
    )
    if not is_right:
        raise TypeError(f"right counts and texts of the case {case.id!r}")
