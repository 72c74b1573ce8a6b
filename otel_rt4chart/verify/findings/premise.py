"""Premises: what a question takes for granted, and whether it asks for a yes."""

from __future__ import annotations

import re

from otel_rt4chart.verify.language.question_kind import NO_FORM, form_of
from otel_rt4chart.verify.text.segment import segment

QUESTION_MARKS = ("?", "？", "؟", ";")
_AUXILIARY = (
    r"(?:does|do|did|is|are|was|were|can|could|will|would|should|has|have|had|must|need)n['’]?t"
)
_PRONOUN = r"(?:i|it|he|she|we|you|they|this|that|these|those|there|one)"
_TAG = re.compile(
    r",?\s*\b(?<!\bor\s)(?<!\bis\s)(?<!\bare\s)(?:right|correct|true|yes|no"
    rf"|is\s+that\s+(?:right|correct|so)|{_AUXILIARY}\s+{_PRONOUN}|am\s+i\s+right)\s*[?？]\s*$",
    re.IGNORECASE,
)
_LEADING = re.compile(rf"^\W*(?:so,?\s+|but\s+|and\s+)?{_AUXILIARY}\b", re.IGNORECASE)
# "Why is it free?" takes for granted that it is; "why should I" and "when does it" do not.
_PRESUPPOSED = re.compile(
    rf"""^\W*(?:so,?\s+|but\s+|and\s+)?
    (?:how\s+come\s+(?:that\s+)?|why\s+(?={_AUXILIARY}\b)
      |why\s+(?:is|are|was|were|does|do|did|has|have|had|can|will)\s+(?!not\b)
      |(?:since\s+)?when\s+(?:did|was|were)\s+(?!not\b))""",
    re.IGNORECASE | re.VERBOSE,
)
_BELIEF = re.compile(
    r"^\W*(?:i\s+(?:heard|read|think|thought|assume|believe|understand|know)|as\s+(?:i|we)\s+know"
    r"|confirm|please\s+confirm|is\s+it\s+(?:true|correct|right))\b(?:\s+that)?",
    re.IGNORECASE,
)
# These patterns are narrower than those of a premise, because the sampler keeps every match.
# "Don't know what to do" has no subject.
_CONFIRM = re.compile(
    r"""^\W*(?:so,?\s+|but\s+|and\s+)?
    (?:(?:(?:can|could|would|will)\s+you\s+)?(?:please\s+)?confirm\s+(?:that|if|whether)
      |is\s+(?:it|this|that)\s+(?:true|correct|right|so)\b
      |am\s+i\s+right\b|do\s+i\s+understand\s+(?:correctly|right)
      |(?:do\s+)?you\s+agree\b|don['’]?t\s+you\s+agree)""",
    re.IGNORECASE | re.VERBOSE,
)
_ASKED_FOR = re.compile(
    r"""^\W*(?:so,?\s+|but\s+|and\s+)?
    (?:(?:(?:can|could|would|will)\s+you\s+)?(?:please\s+)?confirm\s+(?:that|if|whether)
      |(?:do\s+)?(?:you\s+agree|i\s+understand\s+correctly)\s+that|don['’]?t\s+you\s+agree\s+that
      |am\s+i\s+right\s+that)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_DETERMINER = r"(?:the|a|an|my|your|our|his|her|its|their|all|every|each)"
_NEGATED = re.compile(
    rf"{_LEADING.pattern}\s+(?:{_PRONOUN}|{_DETERMINER})\b.*[?？]$", re.IGNORECASE
)
_CONCLUDED = re.compile(rf"^\W*so,?\s+((?:{_PRONOUN}|{_DETERMINER})\b[^,]*[?？]$)", re.IGNORECASE)
# "It isn't free, is it?" takes two patterns: one would backtrack over a long sentence.
_DENIED = re.compile(r"n['’]t\b|\b(?:not|never|no)\b", re.IGNORECASE)
_AFFIRMED_TAG = re.compile(
    r",\s*(?:do|does|did|is|are|was|were|can|could|will|would|should|has|have|had)\s+"
    rf"{_PRONOUN}\s*[?？]$",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"^\W*(?:who|whom|whose|what|which|when|where|why|how|do|does|did|is|are|was|were|can|could"
    r"|will|would|should|has|have|had|may|must)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?？])\s+|\n+|\bquestion:\s*", re.IGNORECASE)
# In a long prompt, the question is at the end.
_LOOKED_AT = 2000


def premise_of(question: str) -> str | None:
    """What a question takes for granted; None for an open question. English only.

    Of several sentences the last one with a premise counts.
    """
    sentences = [" ".join(one.split()) for one in _SENTENCE_END.split(question[-_LOOKED_AT:])]
    for at, sentence in reversed(list(enumerate(sentences))):
        premise = _premise_in(sentence)
        if premise == "" and at:  # "The policy covers MRI. Right?"
            premise = sentences[at - 1].strip(" ?？.,")
        if premise:
            return premise
    return None


def statements_in(message: str) -> tuple[str, ...]:
    """The sentences of a user's message that state something.

    A question states nothing, nor does a request or what a user only believes. Those are known in
    English; in other languages a question is known by its mark.
    """
    lines = (" ".join(line.split()) for line in message.splitlines())
    sentences = (one.text for line in lines for one in segment(line))
    return tuple(filter(_is_statement, sentences))


def _is_statement(sentence: str) -> bool:
    if sentence.rstrip("\"'”’)»").endswith(QUESTION_MARKS):
        return False
    return not _BELIEF.match(sentence) and form_of(sentence) == NO_FORM


def _premise_in(asked: str) -> str | None:
    for shape in (_LEADING, _BELIEF, _PRESUPPOSED, _ASKED_FOR):
        if match := shape.match(asked):
            return asked[match.end() :].strip(" ?？.,")
    for tag in (_TAG, _AFFIRMED_TAG):
        if match := tag.search(asked):
            return asked[: match.start()].strip(" ?？.,")
    if match := _CONCLUDED.match(asked):
        return asked[match.start(1) :].strip(" ?？.,")
    return None


def asks_to_confirm(question: str) -> bool:
    """True if a sentence of the question asks for a yes; English only."""
    sentences = _SENTENCE_END.split(question[-_LOOKED_AT:])
    return any(_asks_for_yes(" ".join(one.split())) for one in sentences if one)


def _asks_for_yes(sentence: str) -> bool:
    if any(shape.search(sentence) for shape in (_CONFIRM, _NEGATED, _CONCLUDED)):
        return True
    affirmed = _AFFIRMED_TAG.search(sentence)
    if affirmed is not None:
        return _DENIED.search(sentence, 0, affirmed.start()) is not None
    tag = _TAG.search(sentence)
    # "Can I turn right?" and "which one would be correct?" end like a tag but are not one.
    return tag is not None and (tag.group().startswith(",") or not _OPEN.match(sentence))
