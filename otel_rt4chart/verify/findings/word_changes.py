"""The kind of change that single words make: tagged words, opposites, restricting words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from otel_rt4chart.verify.findings.failure_kinds import (
    FailureKind,
    kind_of_opposite,
)
from otel_rt4chart.verify.language.context import ContextIndex
from otel_rt4chart.verify.language.negation import are_opposite
from otel_rt4chart.verify.language.slots import Slots
from otel_rt4chart.verify.language.thesaurus import all_synonyms, opposites, relations
from otel_rt4chart.verify.language.tokens import Token, stem
from otel_rt4chart.verify.language.word_lists import (
    FINGERPRINT_CUES,
    FINGERPRINT_NEGATIONS,
    FINGERPRINT_ORDER,
    CueKind,
)

# The order in which the taxonomy lists the kinds.
PRECEDENCE = {kind: at for at, kind in enumerate(FailureKind)}
_LONG = 4  # so many content words in a row are an addition, not a replaced word
_CUE = {
    kind: re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for kind, words in FINGERPRINT_CUES.items()
}
_CLAUSE_END = re.compile(r"[,;:.!?()\n]")
_WORD = re.compile(r"\S+")
_SPAN_WORDS = 8
_AUXILIARIES = frozenset(("is", "are", "was", "were", "be", "been", "has", "have", "had", "also"))
# These deny what precedes them: `cosmetic procedures are excluded from coverage`.
_PASSIVE = re.compile(r"(?:is|are|was|were|not|excluded|excepted)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MeaningChange:
    """A kind of failure with the words of the claim and of the source; either may be ""."""

    kind: FailureKind
    claimed: str = ""
    found: str = ""


@dataclass(frozen=True, slots=True)
class Cue:
    """A restricting word and the words that it governs, both as in the text."""

    word: str
    span: str


def first_change(changes: Sequence[MeaningChange]) -> MeaningChange:
    """The change of the highest precedence; within a kind, one that has a counterpart."""
    return min(
        changes,
        key=lambda one: (PRECEDENCE[one.kind], not (one.claimed and one.found)),
        default=MeaningChange(FailureKind.OTHER),
    )


def cues(text: str, kind: CueKind) -> Iterator[Cue]:
    """The cues of that kind in order, without the month of May."""
    for match in _CUE[kind].finditer(text):
        if match.group() == "May":
            continue
        span = _after(text, match.end())
        if kind == "exclusion" and _PASSIVE.match(match.group()):
            span = _before(text, match.start()) or span
        yield Cue(match.group(), span)


def word_change(written: str, claim: Slots, context: ContextIndex) -> MeaningChange:
    """The change that the words `written` in the claim make, given that they are wrong."""
    inside = _tokens(written, claim)
    by_rule = [_change_of(token, claim, context) for token in inside]
    known = [one for one in by_rule if one is not None]
    if known:
        kind, found = min(known, key=lambda one: PRECEDENCE[one[0]])
        return MeaningChange(kind, written, found)
    content = [token for token in inside if token.is_content]
    if len(content) >= _LONG or not context.sentences:
        return MeaningChange(FailureKind.ADDITION, written)
    if not content:
        return MeaningChange(FailureKind.OTHER, written)
    if all(token.stem in context.holders for token in content):
        return MeaningChange(FailureKind.MISPLACED, written)
    is_graded = any(token.stem in relations().opposites for token in content)
    return MeaningChange(FailureKind.QUALITY if is_graded else FailureKind.TERM, written)


def kind_of_word_pair(claimed: str, found: str) -> FailureKind:
    """The kind of a word that replaces another; a synonym explains nothing."""
    mine, theirs = stem(claimed.lower()), stem(found.lower())
    if are_opposite(mine, theirs):
        return kind_of_opposite(mine)
    is_paraphrase = mine == theirs or theirs in all_synonyms(mine)
    return FailureKind.OTHER if is_paraphrase else FailureKind.TERM


def opposite_in(context: ContextIndex, word_stem: str) -> str:
    """A word of the sentences that is the opposite of this one, as written; "" for none."""
    against = opposites(word_stem)
    for sentence in context.sentences:
        for word in sentence.words:
            if word.stem in against and word.norm.isalpha():
                return word.text
    return ""


def _after(text: str, start: int) -> str:
    end = _CLAUSE_END.search(text, start)
    words = list(_WORD.finditer(text, start, end.start() if end else len(text)))[:_SPAN_WORDS]
    return text[words[0].start() : words[-1].end()] if words else ""


def _before(text: str, end: int) -> str:
    start = max((m.end() for m in _CLAUSE_END.finditer(text, 0, end)), default=0)
    words = list(_WORD.finditer(text, start, end))[-_SPAN_WORDS:]
    while words and words[-1].group().lower() in _AUXILIARIES:
        words.pop()
    return text[words[0].start() : words[-1].end()] if words else ""


def _tokens(written: str, claim: Slots) -> Sequence[Token]:
    start = claim.text.find(written) if written else -1
    end = start + len(written)
    return [token for token in claim.tokens if start < token.end and token.start < end]


def _change_of(token: Token, claim: Slots, context: ContextIndex) -> tuple[FailureKind, str] | None:
    """The kind of one word's change, with its counterpart if there is one; None without a rule."""
    value = _kind_of_value(token, claim)
    if value is not None:
        return value, ""
    if token.norm in FINGERPRINT_NEGATIONS or token.norm.endswith("n't"):
        return None if _is_denied_too(token, claim, context) else (FailureKind.POLARITY, "")
    cue = _kind_of_cue(token)
    if cue is not None:
        return cue, ""
    if any(name.start <= token.start < name.end for name in claim.names):
        return FailureKind.ENTITY, ""
    if not token.is_content:
        return None
    opposite = opposite_in(context, token.stem)
    kind = kind_of_opposite(token.stem)
    if opposite or kind is FailureKind.DIRECTION:
        return kind, opposite
    return None


def _is_denied_too(negation: Token, claim: Slots, context: ContextIndex) -> bool:
    """True if the sentences deny one of the words that the claim denies."""
    denied = {
        claim.tokens[at].stem
        for denial in claim.denials
        if claim.tokens[denial.cue] == negation
        for at in denial.over
    }
    return any(
        sentence.tokens[at].stem in denied
        for sentence in context.sentences
        for denial in sentence.denials
        for at in denial.over
    )


def _kind_of_value(token: Token, claim: Slots) -> FailureKind | None:
    if any(one.start <= token.start < one.end for one in claim.moments):
        return FailureKind.DATE
    if any(one.start <= token.start < one.end for one in claim.quantities):
        return FailureKind.NUMBER
    if any(one.end <= token.start < one.unit_end for one in claim.quantities):
        return FailureKind.UNIT if token.is_content else None
    return None


def _kind_of_cue(token: Token) -> FailureKind | None:
    """The kind of a word that excludes, hedges, quantifies or orders by itself."""
    if any(cues(token.text, "exclusion")):
        return FailureKind.EXCLUSION
    if any(cues(token.text, "hedge")):
        return FailureKind.HEDGE
    if any(cues(token.text, "universal")) or any(cues(token.text, "partial")):
        return FailureKind.SCOPE
    if token.norm in FINGERPRINT_ORDER:
        return FailureKind.ORDER
    return None
