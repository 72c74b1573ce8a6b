"""Titles of issues and descriptions of failures, made from the labels of the failure taxonomy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from otel_rt4chart.redaction.redactor import build_redactor
from otel_rt4chart.verify.core.model import Label
from otel_rt4chart.verify.core.rates import Measure
from otel_rt4chart.verify.findings.classify import ClaimDifference, MeaningChange
from otel_rt4chart.verify.findings.failure_kinds import UNEXPLAINED, FailureKind
from otel_rt4chart.verify.language.slots import read_slots
from otel_rt4chart.verify.language.word_lists import FINGERPRINT_META
from rt4chart_clustering.description.pattern_names import clean_line, pattern_title

# Finds e-mail addresses, telephone and card numbers, keys and so on.
PRIVATE = build_redactor("mask")
# A title names a value only if this share of the claims, and at least three, have it.
COMMON_SHARE, COMMON_COUNT = 0.8, 3


def template_title(
    fingerprint: str,
    route: str,
    changes: Iterable[MeaningChange],
    claims: int,
    subject: str = "",
) -> str:
    """Such as "Number not as in the source, about “phone support” · support/plans".

    `changes` are those of some or all of the issue's claims, `claims` is their number. A value that
    they share says more than their `subject`. A fingerprint of an unknown version or shape is shown
    as it is.
    """
    about = f", about “{clean_line(subject)}”" if subject else ""
    value = _common_value(changes, claims) or about
    return f"{pattern_title(fingerprint)}{value} · {clean_line(route)}"


def describe_claim(claim: str, label: str, found: ClaimDifference) -> str:
    """The text to embed: the label and each kind found, or the masked claim if none explains it.

    An explained claim is described by its kinds alone, because its topic would divide the group.
    """
    if found.kind in UNEXPLAINED:
        return mask_claim(claim)
    verdict = Measure.MISLEADING if label == Label.ENTAILED else label
    explained = [kind for kind in FailureKind if kind in found.kinds - UNEXPLAINED]
    return f"{verdict}: {'; '.join(one.description for one in explained)}"


def mask_claim(claim: str) -> str:
    """The claim's content words in lower case, with names, numbers and dates masked.

    Values say what a claim is about, not what is wrong with it: left in descriptions, they made .39
    instead of .06 of the failures noise.
    """
    slots = read_slots(claim)
    masks: dict[int, str] = {}
    for mask, spans in (
        ("[name]", [(one.start, one.end) for one in slots.names]),
        ("[number]", [(one.start, one.end) for one in slots.quantities]),
        ("[date]", [(one.start, one.end) for one in slots.moments]),
    ):
        for start, end in spans:
            for at, token in enumerate(slots.tokens):
                if start <= token.start < end:
                    masks[at] = mask
    words: list[str] = []
    for at, token in enumerate(slots.tokens):
        word = masks.get(at, token.norm if token.is_content else "")
        if word and (not words or words[-1] != word or not word.startswith("[")):
            words.append(word)
    return " ".join(words)


def _says_something(value: str) -> bool:
    """False for function words, for words about the text itself, and for personal data.

    A title goes to alerts and tickets, also where they carry no text of users.
    """
    if PRIVATE.text(value) != value:
        return False
    return any(
        token.is_content and token.norm not in FINGERPRINT_META
        for token in read_slots(value).tokens
    )


def _common_value(changes: Iterable[MeaningChange], claims: int) -> str:
    """The most common pair of values, if it is common enough to name the issue."""
    counts = Counter((one.claimed, one.found) for one in changes if one.claimed or one.found)
    if not counts:
        return ""
    (claimed, found), number = min(counts.items(), key=lambda item: (-item[1], item[0]))
    if number < COMMON_COUNT or number < COMMON_SHARE * claims:
        return ""
    if not all(_says_something(value) for value in (claimed, found) if value):
        return ""
    if not claimed:
        return f": “{clean_line(found)}”"
    if not found:
        return f": “{clean_line(claimed)}”"
    return f": “{clean_line(claimed)}” for “{clean_line(found)}”"
