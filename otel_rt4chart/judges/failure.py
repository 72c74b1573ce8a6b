"""Why a judge gave no verdict on an answer, and whether it may give one later."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.model import Claim, Label, Report

_OURS = ("local/", "rules/", "link", "decompose")  # in this process: asks no endpoint
# Models in this process too: they say "undecided" on purpose, and fail the same way each time.
_IN_PROCESS = (*_OURS, "onnx/", "cross/")
# A claim may be undecided though the judge is well.
_NO_FAILURE = ("votes without a majority", "the model refused", "over_budget", "no_context")


class _Kind(NamedTuple):
    name: str
    is_passing: bool
    words: re.Pattern[str]


def _kind(name: str, pattern: str, *, is_passing: bool) -> _Kind:
    return _Kind(name, is_passing, re.compile(pattern))


_STATUS = r"^.*?: {}: "
# The first that fits counts. The words are those of `verify/llm` and `verify/compress.py`; a
# refused key and an unknown model are the judge's trouble, not the answer's: they can be mended.
_KINDS = (
    _kind("minute_budget", r"^over_budget: \d+ (?:calls|tokens) a minute", is_passing=True),
    _kind("not_sent", r"^not sent: ", is_passing=True),
    _kind("timeout", r"no reply within [\d.e+]+ s$", is_passing=True),
    _kind("unreachable", r": cannot be reached, or broke off", is_passing=True),
    _kind("key_refused", _STATUS.format("40[13]"), is_passing=True),
    _kind("not_found", _STATUS.format("404"), is_passing=True),
    _kind("rate_limited", _STATUS.format("429"), is_passing=True),
    _kind("server_error", _STATUS.format(r"(?:408|409|425|5\d\d)"), is_passing=True),
    _kind("protocol", r": the reply is not what the protocol says", is_passing=True),
    _kind("too_long", r"context.?(?:length|window)|too.(?:long|large)|: 413: ", is_passing=False),
    _kind("refused", _STATUS.format(r"4\d\d"), is_passing=False),
    _kind("reply_cut", r"reply was cut at its output limit", is_passing=False),
    _kind("unusable_reply", r"reply was not usable|no judgement of this claim", is_passing=False),
)
_BY_TYPE = {"SettingsError": "settings", "InputError": "malformed", "JudgeError": "judge"}
KINDS = (*(kind.name for kind in _KINDS), *_BY_TYPE.values(), "unexpected")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the judge failed on an answer: `kind` is one of `KINDS`, and holds no text of anybody.

    `is_passing` where a later attempt may succeed; `is_total` where the judge said nothing of all
    that it was asked.
    """

    kind: str
    error_type: str
    is_passing: bool
    is_total: bool = True


def failure_in(verdict: Verdict) -> Failure | None:
    """The judge's failure on this answer; None where it did its work, or was not asked.

    A claim that could not be judged for a passing reason is a failure, whatever became of others.
    """
    if verdict.report is not None:
        return _in_report(verdict.report)
    if verdict.decision is not Decision.ERROR:
        return None
    found = _kind_of(verdict.error) if verdict.error_type == "JudgeError" else None
    kind = found.name if found else _BY_TYPE.get(verdict.error_type, "unexpected")
    return Failure(kind, verdict.error_type, found is not None and found.is_passing)


def asked_of(report: Report) -> list[Claim]:
    """The claims that a judge outside this process was asked about."""
    return [one for one in report.claims if not one.decided_by.startswith(_OURS)]


def has_failed(claims: Sequence[Claim]) -> bool:
    """True where the judge gave none of these claims a label, and that was not its word on them."""
    return all(
        one.label is Label.UNDECIDED and not one.reason.startswith(_NO_FAILURE) for one in claims
    )


def _in_report(report: Report) -> Failure | None:
    asked = [one for one in asked_of(report) if not one.decided_by.startswith(_IN_PROCESS)]
    undecided = [one for one in asked if one.label is Label.UNDECIDED]
    known = Counter(kind for one in undecided if (kind := _kind_of(one.reason)))
    # What passes is worth another attempt, and else what is said most often is the reason.
    ordered = sorted(known, key=lambda kind: (not kind.is_passing, -known[kind]))
    if not ordered or not (ordered[0].is_passing or has_failed(asked)):
        return None
    main = ordered[0]
    return Failure(main.name, "JudgeError", main.is_passing, len(undecided) == len(asked))


def _kind_of(reason: str) -> _Kind | None:
    return next((kind for kind in _KINDS if kind.words.search(reason)), None)
