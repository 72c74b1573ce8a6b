"""Words that a network marked as wrong, and the words that a passage has in their place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_rt4chart.verify.core.model import Sentence
from otel_rt4chart.verify.language.slots import Slots, read_slots
from otel_rt4chart.verify.language.word_lists import SAY_LITTLE
from otel_rt4chart.verify.local.alignment import nearest_path
from otel_rt4chart.verify.local.comparison import ComparedClaim, compare, is_verb
from otel_rt4chart.verify.local.differences import SETTLED, SlotDifference, is_part
from otel_rt4chart.verify.local.features import ClaimReading
from otel_rt4chart.verify.local.joins import AUXILIARIES, PREPOSITIONS
from otel_rt4chart.verify.local.verdict import MarkedWords, is_absent

# The sentence has this share of the claim's other words, by weight, and at least so many of them.
_FRAMED, _MIN_OTHERS = 0.8, 2
_PRONOUNS = frozenset(("it", "they", "he", "she", "this", "these", "both"))
_JOINTS = frozenset(("and", "but", "or"))
_CLAUSES = frozenset("if when unless until while because although which who that so".split())  # noqa: SIM905


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
    """`in euros` beside `are paid in the currency of the invoice`: both follow the same word.

    And both begin with the same preposition, or with none: what is paid within ten days may well be
    paid in euros.
    """
    claim, sentence = comparison.claim, comparison.sentence(at)
    stretches = _in_place(run, comparison, at)
    if stretches is None or _says_little(run):
        return None
    own, told = stretches
    if _preposition(claim, own) != _preposition(sentence, told):
        return None
    rest = [word for word, token in enumerate(claim.content) if token not in own]
    if sentence.tokens[0].norm in _PRONOUNS:  # it stands for the subject
        rest = rest[next((n for n, word in enumerate(rest) if comparison.matches[at][word]), 0) :]
    weight = sum(comparison.weights[word] for word in rest)
    if len(rest) < _MIN_OTHERS or comparison.share(at, rest) < _FRAMED * weight:
        return None
    stems = _stems(sentence, told)
    if not stems and _is_universal(sentence, told):  # "on every" of "on every plan"
        own, told = (range(one[0], one[-1] + 2) for one in stretches)
    elif stems <= _stems(claim, own):
        return None
    return SlotDifference("term", "clash", _text(claim, own), _text(sentence, told), at)


def _says_little(run: str) -> bool:
    words = read_slots(run).words
    return bool(words) and all(one.stem in SAY_LITTLE and one.text.islower() for one in words)


def _in_place(run: str, comparison: ComparedClaim, at: int) -> tuple[range, range] | None:
    """The tokens of the claim around the run, and those of the sentence, between shared words."""
    claim, sentence = comparison.claim, comparison.sentence(at)
    start = claim.text.find(run)
    path = nearest_path(comparison.matches[at])
    held = [(claim.content[word], place) for word, place in enumerate(path) if place is not None]
    before = [pair for pair in held if claim.tokens[pair[0]].end <= start]
    behind = [pair for pair in held if claim.tokens[pair[0]].start >= start + len(run)]
    if not before:
        return None
    first, told_first = before[-1][0] + 1, sentence.content[before[-1][1]] + 1
    last, told_last = _clause_end(claim, first), _clause_end(sentence, told_first)
    if behind and told_first < sentence.content[behind[0][1]] < told_last:
        last, told_last = behind[0][0], sentence.content[behind[0][1]]
    while (
        first < last
        and told_first < told_last
        and claim.tokens[last - 1].norm == sentence.tokens[told_last - 1].norm
    ):
        last, told_last = last - 1, told_last - 1
    if first >= last or told_first >= told_last or claim.tokens[last - 1].end < start + len(run):
        return None
    return range(first, last), range(told_first, told_last)


def _clause_end(slots: Slots, first: int) -> int:
    """The first token behind the clause of the one at `first`."""
    for at in range(first + 1, len(slots.tokens)):
        token = slots.tokens[at]
        is_joint = token.norm in _JOINTS and at + 1 < len(slots.tokens)
        if token.starts_clause or token.norm in _CLAUSES or (is_joint and _acts(slots, at + 1)):
            return at
    return len(slots.tokens)


def _acts(slots: Slots, at: int) -> bool:
    return slots.tokens[at].norm in AUXILIARIES or is_verb(slots, at)


def _preposition(slots: Slots, stretch: range) -> str:
    norm = slots.tokens[stretch[0]].norm
    return norm if norm in PREPOSITIONS else ""


def _stems(slots: Slots, stretch: range) -> frozenset[str]:
    return frozenset(slots.tokens[at].stem for at in stretch if slots.tokens[at].is_content)


def _is_universal(slots: Slots, stretch: range) -> bool:
    """True for "every" and the like, which leave nothing to be named."""
    ends = slots.tokens[stretch[0]].start, slots.tokens[stretch[-1]].end
    return any(one.kind == "universal" and ends[0] <= one.start < ends[1] for one in slots.scope)


def _text(slots: Slots, stretch: range) -> str:
    tokens = slots.tokens[stretch.start : stretch.stop]
    return slots.text[tokens[0].start : tokens[-1].end]
