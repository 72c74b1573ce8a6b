"""Classifies failures of judges as temporary or permanent."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from otel_rt4chart.spans.model.verdict import Decision, Verdict
from otel_rt4chart.verify.core.meter import BUDGET, TOO_LARGE, TOO_SLOW
from otel_rt4chart.verify.core.model import Claim, Label, Report
from otel_rt4chart.verify.llm.spending import BUDGET_UNKNOWN, OVER_BUDGET

_RULE_JUDGES = ("local/", "rules/", "link", "decompose", BUDGET)  # rules in this process
# Models in this process: their "undecided" is a verdict, and their failures are permanent.
_LOCAL_JUDGES = (*_RULE_JUDGES, "onnx/", "onnx-spans/", "cross/")
# A claim may be undecided for these reasons although the judge works.
_LEGITIMATE_REASONS = (
    *("votes without a majority", "the model refused", OVER_BUDGET, "no_context"),
    *(TOO_LARGE, TOO_SLOW),
)


class _FailureKind(NamedTuple):
    name: str
    is_temporary: bool
    words: re.Pattern[str]


def _failure_kind(name: str, pattern: str, *, is_temporary: bool) -> _FailureKind:
    return _FailureKind(name, is_temporary, re.compile(pattern))


_STATUS = r"^.*?: {}: "
# The first match counts. The texts are those of the errors in `verify/llm`. A rejected key, an
# unknown model and an address that redirects are temporary: the operator can correct them, and the
# answer is not the cause.
_KINDS = (
    # First, and from their beginning: what follows is the model's own text, and may say anything.
    _failure_kind("refused", r"^(?:\S+: )?the model refused", is_temporary=False),
    _failure_kind(
        "unusable_reply", r"^(?:\S+: )?the model's reply was not usable", is_temporary=False
    ),
    _failure_kind(
        "minute_budget", r"^over_budget: \d+ (?:calls|tokens) a minute", is_temporary=True
    ),
    _failure_kind("budget_unknown", rf"^{BUDGET_UNKNOWN}: ", is_temporary=True),
    _failure_kind("not_sent", r"^not sent: ", is_temporary=True),
    _failure_kind(
        "timeout", r"no reply within [\d.e+]+ s(?:$|: the model is slow)", is_temporary=True
    ),
    _failure_kind("unreachable", r": cannot be reached, or broke off", is_temporary=True),
    _failure_kind("key_refused", _STATUS.format("40[13]"), is_temporary=True),
    _failure_kind("not_found", _STATUS.format("404"), is_temporary=True),
    _failure_kind("redirected", _STATUS.format(r"3\d\d"), is_temporary=True),
    _failure_kind("rate_limited", _STATUS.format("429"), is_temporary=True),
    _failure_kind("server_error", _STATUS.format(r"(?:408|409|425|5\d\d)"), is_temporary=True),
    _failure_kind("protocol", r": the reply is not what the protocol says", is_temporary=True),
    _failure_kind(
        "too_long",
        r"context.?(?:length|window|size)|too.(?:long|large)|: 413: ",
        is_temporary=False,
    ),
    _failure_kind("refused", _STATUS.format(r"4\d\d"), is_temporary=False),
    _failure_kind("reply_cut", r"reply was cut at its output limit", is_temporary=False),
    _failure_kind("unusable_reply", r"no judgement of this claim", is_temporary=False),
)
_BY_TYPE = {"SettingsError": "settings", "InputError": "malformed", "JudgeError": "judge"}
KINDS = (*dict.fromkeys(kind.name for kind in _KINDS), *_BY_TYPE.values(), "unexpected")


@dataclass(frozen=True, slots=True)
class JudgeFailure:
    """Why the judge failed on an answer. `kind` is one of `KINDS` and holds no user text.

    `is_temporary` if a later attempt may succeed, `is_total` if the judge decided no claim at all.
    """

    kind: str
    error_type: str
    is_temporary: bool
    is_total: bool = True


def find_judge_failure(verdict: Verdict) -> JudgeFailure | None:
    """The judge's failure on this answer; None if it worked or was not called.

    One claim with a temporary failure is enough.
    """
    if verdict.report is not None:
        return failure_in_report(verdict.report)
    if verdict.decision is not Decision.ERROR:
        return None
    found = _kind_of_reason(verdict.error) if verdict.error_type == "JudgeError" else None
    kind = found.name if found else _BY_TYPE.get(verdict.error_type, "unexpected")
    return JudgeFailure(kind, verdict.error_type, found is not None and found.is_temporary)


def remotely_judged_claims(report: Report) -> list[Claim]:
    """The claims that the rules did not decide: a model was called for them."""
    return [claim for claim in report.claims if not claim.decided_by.startswith(_RULE_JUDGES)]


def all_failed(claims: Sequence[Claim]) -> bool:
    """True if every claim is undecided because of a failure, not by the judge's verdict."""
    return all(
        claim.label is Label.UNDECIDED and not claim.reason.startswith(_LEGITIMATE_REASONS)
        for claim in claims
    )


def failure_in_report(report: Report) -> JudgeFailure | None:
    """The judge's failure on the answer of a report; None if it worked or was not called."""
    judged = [
        claim
        for claim in remotely_judged_claims(report)
        if not claim.decided_by.startswith(_LOCAL_JUDGES)
    ]
    undecided = [claim for claim in judged if claim.label is Label.UNDECIDED]
    known = Counter(kind for claim in undecided if (kind := _kind_of_reason(claim.reason)))
    # A temporary reason first, because it justifies a retry; otherwise the most frequent one.
    ordered = sorted(known, key=lambda kind: (not kind.is_temporary, -known[kind]))
    if not ordered or not (ordered[0].is_temporary or all_failed(judged)):
        return None
    main = ordered[0]
    return JudgeFailure(main.name, "JudgeError", main.is_temporary, len(undecided) == len(judged))


def _kind_of_reason(reason: str) -> _FailureKind | None:
    return next((kind for kind in _KINDS if kind.words.search(reason)), None)
