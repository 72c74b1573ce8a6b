"""Words that a network marked as wrong, and the words that a passage has in their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.language.slots import Slots, read_slots
from otel_rt4chart.verify.language.tokens import token_range
from otel_rt4chart.verify.local.comparison import ComparedClaim, compare
from otel_rt4chart.verify.local.differences import SETTLED, SlotDifference, is_part
from otel_rt4chart.verify.local.features import ClaimReading
from otel_rt4chart.verify.local.joins import stems_in, stretches, text_of
from otel_rt4chart.verify.local.verdict import MarkedWords, is_absent, says_little

# The sentence has this share of the claim's other words, by weight, and at least so many of them.
_FRAMED, _MIN_OTHERS = 0.8, 2
_PRONOUNS = frozenset(("it", "they", "he", "she", "this", "these", "both"))


def read_marks(
    runs: Sequence[str], reading: ClaimReading, sentences: Sequence[Sentence]
) -> MarkedWords:
    """What the marked runs of a claim's words say beside the passages; most probable first."""
    settled = " ".join(one.claimed for one in reading.differences if one.manner in SETTLED)
    open_runs = [run for run in runs if not _is_settled(run, settled)]
    told = {run: _told_phrase(run, sentences) for run in open_runs}
    words = tuple(run for run, phrase in told.items() if not phrase)
    return MarkedWords(
        words, tuple(filter(None, told.values())), tuple(_rivals(words, reading)) if words else ()
    )


def _is_settled(run: str, settled: str) -> bool:
    """True where all content words of the run are settled: `in 2015` by "2015"."""
    words = " ".join(word.text for word in read_slots(run).words) or run
    return bool(settled) and is_part(words, settled)


def _told_phrase(run: str, sentences: Sequence[Sentence]) -> str:
    """The marked words from their first content word to the last, where a sentence has them so.

    Of "to major in biology" it is "major in biology". "" for a single word: it may stand anywhere.
    A number in words is told by its digits.
    """
    slots = read_slots(run)
    for one in slots.quantities:
        if (one.start, one.end, one.written) == (0, len(run), "") and one.plain != run:
            return "" if is_absent(one.plain, sentences) else one.plain
    words = slots.words
    phrase = run[words[0].start : words[-1].end] if len(words) > 1 else ""
    return "" if not phrase or is_absent(phrase, sentences) else phrase


def _rivals(words: Sequence[str], reading: ClaimReading) -> Iterator[SlotDifference]:
    """For each run of words, what the sentence that says the rest of the claim has in its place."""
    comparison = compare(reading.claim, reading.alignment, reading.context)
    for run in words:
        found = (_rival(run, comparison, at) for at in comparison.near)
        if rival := next(filter(None, found), None):
            yield rival


def _rival(run: str, comparison: ComparedClaim, at: int) -> SlotDifference | None:
    """`in euros` beside `are paid in the currency of the invoice`: both follow the same word."""
    claim, sentence = comparison.claim, comparison.sentence(at)
    start = claim.text.find(run)
    marked = token_range(claim.tokens, start, start + len(run))
    found = stretches(comparison, at, marked[0], marked[-1]) if marked else None
    if found is None or _is_light(run):
        return None
    own, told = found
    rest = [word for word, token in enumerate(claim.content) if token not in own]
    if sentence.tokens[0].norm in _PRONOUNS:  # it stands for the subject
        rest = rest[next((n for n, word in enumerate(rest) if comparison.matches[at][word]), 0) :]
    weight = sum(comparison.weights[word] for word in rest)
    if len(rest) < _MIN_OTHERS or comparison.share(at, rest) < _FRAMED * weight:
        return None
    stems = stems_in(sentence, told)
    if not stems and _is_universal(sentence, told):  # "on every" of "on every plan"
        own, told = (range(one[0], one[-1] + 2) for one in found)
    elif stems <= stems_in(claim, own):
        return None
    return SlotDifference("term", "clash", text_of(claim, own), text_of(sentence, told), at)


def _is_light(run: str) -> bool:
    words = read_slots(run).words
    return bool(words) and all(map(says_little, words))


def _is_universal(slots: Slots, stretch: range) -> bool:
    """True for "every" and the like, which leave nothing to be named."""
    ends = slots.tokens[stretch[0]].start, slots.tokens[stretch[-1]].end
    return any(one.kind == "universal" and ends[0] <= one.start < ends[1] for one in slots.scope)
