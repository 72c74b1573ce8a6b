"""Stale support: claims that only superseded passages support."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from otel_rt4chart.verify.core.model import Claim, Exchange, Finding, Label, Passage
from otel_rt4chart.verify.findings.failure_kinds import FindingName

_DOCUMENT = ("document_id", "doc_id", "document", "source_id", "source", "url", "title")
_ENDS = ("valid_to", "valid_until", "expires_at", "expiry")
_UPDATED = ("updated_at", "last_updated", "modified_at", "last_modified")
_NOT_IN_FORCE = frozenset(
    {"superseded", "deprecated", "archived", "expired", "obsolete", "retired"}
)
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2}))?)?")


class Authority(Protocol):
    """The user's own rule for which passages are current."""

    def is_current(self, passage: Passage) -> bool:
        """False if the passage must not be relied on any more."""


def stale(
    exchange: Exchange, claims: Sequence[Claim], authority: Authority | None
) -> Iterator[Finding]:
    """Entailed claims that superseded passages alone support."""
    reasons = superseded(exchange, authority)
    for number, claim in enumerate(claims):
        # One current passage among the evidence is enough: then the claim still holds today.
        used = tuple(dict.fromkeys(one.passage_id for one in claim.evidence))
        if claim.label is Label.ENTAILED and used and all(name in reasons for name in used):
            yield Finding(
                FindingName.STALE,
                f"supported by passage {used[0]} alone, which {reasons[used[0]]}",
                claim=number,
                passage_ids=used,
                evidence=claim.evidence,
            )


def superseded(exchange: Exchange, authority: Authority | None) -> dict[str, str]:
    """The passages that are not current, each with the reason."""
    return {
        passage.id: reason
        for passage in exchange.passages
        if (reason := _superseded(passage, exchange, authority))
    }


def _superseded(passage: Passage, exchange: Exchange, authority: Authority | None) -> str:
    """Why a passage is not current, or "": the authority is asked first, then the metadata."""
    if authority is not None and not authority.is_current(passage):
        return "is not current by the given authority"
    about = passage.metadata
    status = str(about.get("status", "")).lower()
    if status in _NOT_IN_FORCE or about.get("is_current") is False:
        return f"is {status or 'marked as not current'}"
    if about.get("superseded_by"):
        return f"is superseded by {about['superseded_by']}"
    ended, now = _first_date(passage, _ENDS), _date(exchange.as_of)
    if ended and now and ended < now[: len(ended)]:
        return "was valid until " + "-".join(ended[:3])
    return next(filter(None, (_older(passage, other) for other in exchange.passages)), "")


def _older(passage: Passage, other: Passage) -> str:
    """Why another passage of the same document replaces this one, or ""."""
    if other.id == passage.id or not _is_same_document(passage, other):
        return ""
    mine, theirs = _version(passage), _version(other)
    if mine and theirs and mine < theirs:
        return f"passage {other.id} replaces with version {other.metadata['version']}"
    updated, later = _first_date(passage, _UPDATED), _first_date(other, _UPDATED)
    if not (mine and theirs) and updated and later and updated < later:
        return f"passage {other.id} replaces, updated later"
    return ""


def _is_same_document(passage: Passage, other: Passage) -> bool:
    for name in _DOCUMENT:
        mine = passage.metadata.get(name)
        if mine is not None:
            return mine == other.metadata.get(name)
    return False


def _version(passage: Passage) -> tuple[int, ...]:
    """The numbers of a version, so that 1.10 is later than 1.9; empty if it has none."""
    return tuple(int(n) for n in re.findall(r"\d{1,9}", str(passage.metadata.get("version", ""))))


def _first_date(passage: Passage, names: Sequence[str]) -> tuple[str, ...]:
    return next(filter(None, (_date(str(passage.metadata.get(name, ""))) for name in names)), ())


def _date(text: str) -> tuple[str, ...]:
    """The parts of an ISO 8601 date, which sort as text; empty for anything else."""
    match = _DATE.match(text)
    return tuple(filter(None, match.groups())) if match else ()
